"""Word of a request that takes long, for who waits at a terminal. Nothing is ended by it."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

EVERY_S = 15.0
"""How often word is given."""


@contextlib.contextmanager
def told(tell: Callable[[str], None], what: Callable[[], str]) -> Iterator[None]:
    """
    Call *tell* each `EVERY_S` while the body lasts, from another thread.

    Args:
        tell: told ``<what>, after 15 s``.
        what: what is waited for; asked when it is told.

    """
    is_over, began = threading.Event(), time.monotonic()

    def watch() -> None:
        while not is_over.wait(EVERY_S):
            tell(f"{what()}, after {time.monotonic() - began:.0f} s")

    thread = threading.Thread(target=watch, name="nomad-csi-overdue", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
