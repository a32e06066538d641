"""The scheduler's thread: evaluates jobs when something changed, starts and stops allocations. Part of the emulator."""

import heapq
import threading
import time
from collections.abc import Callable

from nomad_csi_sandbox.nomad import state

EVALUATION_DELAY_S = 0.05
"""From a registration to its evaluation: long enough that the record of a plugin is seen at 0/0, as with Nomad."""


class Worker:
    """Calls *evaluate* for each job that was put in, in a thread of its own."""

    def __init__(self, evaluate: Callable[[state.Key], None]) -> None:
        self._evaluate = evaluate
        self._condition = threading.Condition()
        self._queue: list[tuple[float, state.Key]] = []
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="scheduler", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the evaluation under way."""
        with self._condition:
            self._stopping = True
            self._condition.notify_all()
        self._thread.join()

    def put(self, key: state.Key, delay_s: float = EVALUATION_DELAY_S) -> None:
        """Have the job evaluated after *delay_s* seconds."""
        with self._condition:
            if not self._stopping:
                heapq.heappush(self._queue, (time.monotonic() + delay_s, key))
                self._condition.notify_all()

    def _run(self) -> None:
        while (key := self._next()) is not None:
            self._evaluate(key)

    def _next(self) -> state.Key | None:
        with self._condition:
            while not self._stopping:
                wait_s = self._queue[0][0] - time.monotonic() if self._queue else None
                if wait_s is not None and wait_s <= 0:
                    return heapq.heappop(self._queue)[1]
                self._condition.wait(wait_s)
            return None
