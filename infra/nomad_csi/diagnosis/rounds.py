"""Repeated verification: results, changes between runs, and runs without a response of Nomad."""

import dataclasses
import time
from dataclasses import dataclass
from typing import Any

from nomad_csi import errors, exit_codes, findings
from nomad_csi.diagnosis import claims_report, prometheus, verification
from nomad_csi.diagnosis.verification_report import VerificationReport
from nomad_csi.findings import printing

# Changes between two reports: findings that appeared and disappeared.


NOTHING = "-"
"""Instead of the code of a finding: there was none, or there is none any more."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change between two reports."""

    subject: str
    """Such as ``plugin aws-ebs0``, ``node instance of plugin aws-ebs0 on client-2`` or ``volume default/mysql``."""

    before: str
    """The code of a finding, or `NOTHING`."""

    after: str
    detail: str = ""
    """What was found; empty: the finding is gone."""

    def __str__(self) -> str:
        """Return ``volume default/mysql: - -> volume-missing (no such volume)``."""
        return f"{self.subject}: {self.before} -> {self.after}{f' ({self.detail})' if self.detail else ''}"


def changes_between(before: VerificationReport, after: VerificationReport) -> tuple[Change, ...]:
    """Return the findings that are gone, then those that appeared."""
    old, new = ({(item.code, item.subject): item for item in report.findings} for report in (before, after))
    # What could not be checked may be as before.
    gone = [key for key in old if key not in new and after.is_complete]
    return (
        *(Change(subject=subject, before=code, after=NOTHING) for code, subject in gone),
        *(
            Change(subject=item.subject, before=NOTHING, after=item.code, detail=item.found)
            for key, item in new.items()
            if key not in old
        ),
    )


# The rounds.


@dataclass(frozen=True, kw_only=True)
class VerificationRound:
    """One verification run."""

    number: int
    """The first is 1."""

    at_s: float
    """When it ended, in seconds since 1970."""

    seconds: float
    """How long it took."""

    outcome: VerificationReport | errors.NomadApiError
    """The report; or why Nomad did not respond: then the state is unknown, whatever an earlier run found."""

    last_answer_s: float
    """End of the last run with a response of Nomad, this one or an earlier one; 0: none."""

    changed: tuple[Change, ...] = ()
    """Changes since the last run with a response of Nomad; empty in the first."""

    @property
    def report(self) -> VerificationReport | None:
        """The report; ``None``: the state is unknown."""
        return self.outcome if isinstance(self.outcome, VerificationReport) else None

    @property
    def error(self) -> errors.NomadApiError | None:
        """Why the state is unknown; ``None``: it is known."""
        return self.outcome if isinstance(self.outcome, errors.NomadApiError) else None

    @property
    def exit_code(self) -> int:
        """0: as specified; 1: not as specified; 2: unknown, or not all of it could be checked."""
        if self.report is None:
            return exit_codes.ERROR
        if findings.errors_of(self.report.findings):
            return exit_codes.CHANGES
        return 0 if self.report.ok else exit_codes.ERROR

    @property
    def summary(self) -> str:
        """The result in a line: ``not as specified: 2 errors, 1 warning``; the same while nothing changes."""
        if self.report is None:
            last = claims_report.time_text(self.last_answer_s)
            when = f"its last answer came {last}" if last else "it never answered"
            return f"not known, Nomad gave no answer ({when}): {self.error}"
        state = "as specified"
        if findings.errors_of(self.report.findings):
            state = "not as specified"
        elif not self.report.is_complete:
            state = "not all of it could be checked"
        sums = printing.totals(self.report.findings) if self.report.findings else ""
        return f"{state}: {sums}" if sums else state

    @property
    def result(self) -> str:
        """``ok``, or ``error`` if the state is not as specified or unknown."""
        return "ok" if self.report is not None and self.report.ok else "error"

    @property
    def metrics(self) -> str:
        """The run in Prometheus' text format."""
        return prometheus.text(self.report, seconds=self.seconds, last_answer_s=self.last_answer_s)

    def as_json(self) -> dict[str, Any]:
        """
        Return the run as JSON values: the report, and fields of the run. Keys are kept once released.

        ``round``, ``at`` (such as ``2026-11-21T18:02:11Z``), ``answered``, ``error``, ``last_answer`` (empty: never)
        and ``changes`` (each ``subject``, ``before``, ``after``, ``detail``). Without a response, ``ok`` is null, and
        there are no ``plugins``, ``volumes`` and ``findings``.
        """
        return {
            "round": self.number,
            "at": claims_report.time_text(self.at_s),
            "answered": self.report is not None,
            "error": "" if self.error is None else str(self.error),
            "last_answer": claims_report.time_text(self.last_answer_s),
            "changes": [dataclasses.asdict(change) for change in self.changed],
            **(self.report.as_json() if self.report is not None else {"ok": None}),
        }


class Rounds:
    """Repeats verification with one verifier; *last_answer_s* is from an earlier process, or 0."""

    def __init__(self, verifier: verification.Verifier, *, last_answer_s: float = 0.0) -> None:
        self._verifier = verifier
        self._last: VerificationReport | None = None
        self._last_answer_s = last_answer_s
        self._number = 0

    def run(self, *, watch_s: float = 0.0) -> VerificationRound:
        """
        Verify once, with two checks *watch_s* apart if that is not 0.

        A missing response or a refusal of Nomad is a result, too.
        """
        began = time.monotonic()
        self._number += 1
        outcome = self._ask(watch_s)
        now_s = time.time()
        changed: tuple[Change, ...] = ()
        if isinstance(outcome, VerificationReport):
            changed = changes_between(self._last, outcome) if self._last is not None else ()
            self._last, self._last_answer_s = outcome, now_s
        return VerificationRound(
            number=self._number,
            at_s=now_s,
            seconds=time.monotonic() - began,
            outcome=outcome,
            last_answer_s=self._last_answer_s,
            changed=changed,
        )

    def _ask(self, watch_s: float) -> VerificationReport | errors.NomadApiError:
        try:
            return self._verifier.verify(watch_s=watch_s)
        except errors.NomadApiError as error:
            return error
