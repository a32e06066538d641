"""The clock that everything goes by that waits, apart from the deadlines of sockets and gRPC calls."""

import threading
import time


class Clock:
    """The monotonic clock. A test hands in one whose time passes without waiting."""

    def now(self) -> float:
        """Return the time in seconds."""
        return time.monotonic()

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait up to *seconds* for *event*; return whether it is set."""
        return event.wait(seconds)

    def sleep(self, seconds: float) -> None:
        """Wait for *seconds*."""
        time.sleep(seconds)


SYSTEM = Clock()
