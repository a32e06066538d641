"""Deadline and retry policy of requests."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from nomad_csi import errors
from nomad_csi.clock import SYSTEM, Clock

_Answer = TypeVar("_Answer")


def _ignore(_line: str) -> None:
    """Report nothing."""


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """How long, and how often, a request is tried."""

    deadline: float
    """Time of *clock* after which nothing is sent any more."""

    attempts: int = 1
    """Maximum number of attempts of a request: again where nothing was done, or where a read shows that it did not
    arrive."""

    wait_s: float = 1.0
    """Seconds before the second attempt; doubled before each further one."""

    report: Callable[[str], None] = _ignore
    """Called for every attempt after the first, for Nomad's warnings, and for slow requests."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """Once set, ends the waiting, and nothing more is sent."""

    clock: Clock = SYSTEM

    def wait(self, error: errors.NomadApiError, attempt: int) -> bool:
        """Wait after the failure of *attempt*, counted from 1; return whether there is to be another."""
        delay_s = self.wait_s * 2 ** (attempt - 1)
        if attempt >= self.attempts or self.clock.now() + delay_s > self.deadline:
            return False
        self.report(f"{error}; trying again in {delay_s:g} s (attempt {attempt + 1} of {self.attempts})")
        return not self.clock.wait(self.cancelled, delay_s)

    def retry(self, read: Callable[[], _Answer]) -> _Answer:
        """Return the result of *read*; again where the response was lost, or Nomad asks to retry later."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return read()
            except errors.NomadApiError as error:
                if error.kind != "retry" or not error.is_connected or not self.wait(error, attempt):
                    raise
