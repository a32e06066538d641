"""A clock whose time passes without waiting."""

import threading

from nomad_csi.registration import retry


class Clock(retry.Clock):
    """Begins at 0 in each thread; each wait takes its time at once, and only in its own thread."""

    def __init__(self):
        self._of_thread = threading.local()

    def now(self):
        return getattr(self._of_thread, "time", 0.0)

    def wait(self, event, seconds):
        self._of_thread.time = self.now() + seconds
        return event.is_set()
