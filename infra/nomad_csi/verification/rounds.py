"""Verification round after round: what is found, what changed, and what is not known while Nomad does not answer."""

import datetime as dt
import time
from dataclasses import dataclass
from typing import Any

from nomad_csi import errors, findings
from nomad_csi.text import listing
from nomad_csi.verification import changes, prometheus, report, verification


@dataclass(frozen=True, kw_only=True)
class VerificationRound:
    """One round."""

    number: int
    """The first is 1."""

    at_s: float
    """When it ended, in seconds since 1970."""

    seconds: float
    """How long it took."""

    outcome: report.VerificationReport | errors.NomadApiError
    """What was found; or why Nomad did not answer, and then nothing is known, whatever was found before."""

    last_answer_s: float
    """End of the last round that Nomad answered, this one or an earlier one; 0: none did."""

    changed: tuple[changes.StatusChange, ...] = ()
    """What is otherwise than in the last round that Nomad answered; empty in the first."""

    @property
    def found(self) -> report.VerificationReport | None:
        """What was found; ``None``: nothing is known."""
        return self.outcome if isinstance(self.outcome, report.VerificationReport) else None

    @property
    def error(self) -> errors.NomadApiError | None:
        """Why nothing is known; ``None``: something is."""
        return self.outcome if isinstance(self.outcome, errors.NomadApiError) else None

    @property
    def exit_code(self) -> int:
        """0: as planned; 1: not so; 2: not known."""
        if self.found is None:
            return errors.EXIT_ERROR
        return 0 if self.found.ok else errors.EXIT_CHANGES

    @property
    def in_words(self) -> str:
        """The answer in a line: ``not as planned: 2 errors, 1 warning``; it is the same while nothing changes."""
        if self.found is None:
            last = f"its last answer came {when(self.last_answer_s)}" if self.last_answer_s else "it never answered"
            return f"not known, Nomad gave no answer ({last}): {self.error}"
        bad = len(findings.errors_of(self.found.findings))
        counts = {"error": bad, "warning": len(self.found.findings) - bad}
        sums = ", ".join(listing.counted(count, word) for word, count in counts.items() if count)
        return f"{'as planned' if self.found.ok else 'not as planned'}{f': {sums}' if sums else ''}"

    @property
    def mood(self) -> str:
        """``ok``, or ``error`` where it is not as planned or not known."""
        return "ok" if self.found is not None and self.found.ok else "error"

    @property
    def metrics(self) -> str:
        """The round in Prometheus' text format."""
        return prometheus.text(
            prometheus.RoundMetrics(found=self.found, seconds=self.seconds, last_answer_s=self.last_answer_s)
        )

    def as_json(self) -> dict[str, Any]:
        """
        Return the round as JSON values: what a report has, and what a round adds. Keys are kept once released.

        ``round``, ``at`` (such as ``2026-11-21T18:02:11Z``), ``answered``, ``error``, ``last_answer`` (empty: never)
        and ``changes`` (each ``subject``, ``before``, ``after``, ``detail``). Without an answer ``ok`` is null, and
        there are no ``plugins``, ``volumes`` and ``findings``.
        """
        return {
            "round": self.number,
            "at": when(self.at_s),
            "answered": self.found is not None,
            "error": "" if self.error is None else str(self.error),
            "last_answer": when(self.last_answer_s) if self.last_answer_s else "",
            "changes": [change.as_json() for change in self.changed],
            **(self.found.as_json() if self.found is not None else {"ok": None}),
        }


class Rounds:
    """Runs rounds with one verifier; *last_answer_s* is known from an earlier run, or 0."""

    def __init__(self, verifier: verification.Verifier, *, last_answer_s: float = 0.0) -> None:
        self._verifier = verifier
        self._last: report.VerificationReport | None = None
        self._last_answer_s = last_answer_s
        self._number = 0

    def run(self, *, watch_s: float = 0.0) -> VerificationRound:
        """
        Run a round, with two looks *watch_s* apart where that is not 0.

        That Nomad does not answer, or refuses, is one of its results.
        """
        began = time.monotonic()
        self._number += 1
        outcome = self._ask(watch_s)
        now_s = time.time()
        told: tuple[changes.StatusChange, ...] = ()
        if isinstance(outcome, report.VerificationReport):
            told = changes.between(self._last, outcome) if self._last is not None else ()
            self._last, self._last_answer_s = outcome, now_s
        return VerificationRound(
            number=self._number,
            at_s=now_s,
            seconds=time.monotonic() - began,
            outcome=outcome,
            last_answer_s=self._last_answer_s,
            changed=told,
        )

    def _ask(self, watch_s: float) -> report.VerificationReport | errors.NomadApiError:
        try:
            return self._verifier.verify(watch_s=watch_s)
        except errors.NomadApiError as error:
            return error


def when(at_s: float) -> str:
    """Return a time in seconds since 1970 as ``2026-11-21T18:02:11Z``."""
    return dt.datetime.fromtimestamp(at_s, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
