"""SIGTERM ends a command as Ctrl-C does: it removes its temporary objects from the cluster before the process ends."""

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM: from a service manager, a CI runner, or ``kill``."""


@contextlib.contextmanager
def terminated() -> Iterator[None]:
    """
    Raise `Terminated` in the block on SIGTERM.

    An existing handler, or an ignored signal, is kept; so it is outside of the main thread, the only one that gets
    signals.
    """
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(_number: int, _frame: Any) -> None:
    """Interrupt once: a CI runner sends SIGINT first and SIGTERM a little later, which must not end the removal."""
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return
        error = error.__context__
    raise Terminated
