"""What explains that a plugin is not well, beside its task's events: its last words, and known issues of its driver."""

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi.drivers import model as drivers
from nomad_csi.health import events
from nomad_csi.text import foreign, redaction

Kind = Literal["event", "log", "known-issue", "job", "note"]

LINES = 8
"""Of a log, the last ones."""


@dataclass(frozen=True, kw_only=True)
class Cause:
    """One thing that explains."""

    kind: Kind
    """
    What it is.

    ``event``: of a task, as Nomad recorded it; ``log``: a line of the plugin's; ``known-issue``: of the driver;
    ``job``: seen in the job; ``note``: not asked.
    """

    where: str
    """Such as ``on client-1 (allocation 910c3a48)``, ``job plugin-aws-efs0-nodes``, or the issue's source."""

    text: str

    def __str__(self) -> str:
        """Return ``log on client-1 (allocation 910c3a48): <text>``."""
        return f"{self.kind} {self.where}: {self.text}"


def of_events(told: Iterable[events.Explanation]) -> tuple[Cause, ...]:
    """Return what Nomad recorded of tasks that have no healthy instance."""
    return tuple(Cause(kind="event", where=item.where, text=item.text) for item in told)


def of_log(where: str, text: str) -> tuple[Cause, ...]:
    """Return the last lines of a log, without secrets."""
    whole = redaction.redact(text)  # a private key has many lines
    lines = [foreign.clean(line) for line in whole.splitlines() if line.strip()]
    return tuple(Cause(kind="log", where=where, text=line) for line in lines[-LINES:])


def of_known_issues(
    driver: drivers.Driver | None, rules: Mapping[str, str], evidence: Iterable[str]
) -> Iterator[Cause]:
    """
    Yield the known issues of *driver* that what was found fits.

    *rules* are the rules of `nomad-csi lint` that the running job breaks, each with what was found; *evidence* are
    task events and lines of logs.
    """
    lines = tuple(evidence)
    for issue in driver.known_issues if driver else ():
        if issue.rule in rules:
            yield Cause(kind="known-issue", where=f"({issue.source})", text=f"{issue.text}; found {rules[issue.rule]}")
        elif _is_shown(issue.signs, lines):
            yield Cause(kind="known-issue", where=f"({issue.source})", text=issue.text)


def as_json(cause: Cause) -> dict[str, str]:
    """Return *cause* as JSON values: ``kind``, ``where``, ``text``."""
    return dataclasses.asdict(cause)


def _is_shown(signs: Collection[str], lines: Collection[str]) -> bool:
    return any(re.search(sign, line) for sign in signs for line in lines)
