"""Clocks for tests: none of them has a test wait."""

import threading

from nomad_csi import clock


class Clock(clock.Clock):
    """Begins at 0 in each thread; each wait takes its time at once, and only in its own thread."""

    def __init__(self):
        self._of_thread = threading.local()

    def now(self):
        return getattr(self._of_thread, "time", 0.0)

    def wait(self, event, seconds):
        self.sleep(seconds)
        return event.is_set()

    def sleep(self, seconds):
        self._of_thread.time = self.now() + seconds


class Brisk(clock.Clock):
    """The system's, with short waits: for what waits for a server of this process, whatever the machine's load."""

    WAIT_S = 0.02

    def __init__(self):
        self.ahead_s = 0.0

    def now(self):
        return super().now() + self.ahead_s

    def wait(self, event, seconds):
        return event.wait(min(seconds, self.WAIT_S))

    def sleep(self, seconds):
        super().sleep(min(seconds, self.WAIT_S))
