"""Outcomes of registering, deregistering or deleting volumes: one type, and one printer."""

import collections
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from nomad_csi import errors, exit_codes
from nomad_csi.plan import registration
from nomad_csi.text import listing, table

STATUS_OF_KIND: Mapping[errors.ReplyKind, Literal["refused", "failed", "unknown"]] = {
    "refused": "refused",
    "retry": "failed",
    "ambiguous": "unknown",
}
"""
The status of a volume after an error of Nomad. ``refused``: Nomad refuses it. ``failed``: not done, a retry may
succeed. ``unknown``: sent, no response.
"""


@dataclass(frozen=True, kw_only=True)
class VolumeOutcome(registration.NamedVolume):
    """Outcome for one volume."""

    DONE: ClassVar[frozenset[str]]
    """Statuses of success."""

    BROKEN: ClassVar[frozenset[str]] = frozenset({"failed", "unknown"})
    """Statuses of an unknown outcome, or of a failure that may be temporary."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("remarks",)
    """Headings of `cells`."""

    status: str
    reason: str = ""
    """Why it did not succeed, or a note; empty where there is none."""

    @property
    def is_done(self) -> bool:
        """Whether it succeeded."""
        return self.status in self.DONE

    @property
    def is_broken(self) -> bool:
        """Whether the outcome is unknown, or a failure that may be temporary."""
        return self.status in self.BROKEN

    @property
    def cells(self) -> tuple[str, ...]:
        """Further cells of the table, after volume and status; empty strings for empty cells."""
        return (self.reason,)

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as data, one key for each field, empty ones included."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def exit_code(outcomes: Iterable[VolumeOutcome]) -> int:
    """Return 0: all succeeded; 1: some refused or held; 2: some failed or could not be determined."""
    outcomes = tuple(outcomes)
    if any(outcome.is_broken for outcome in outcomes):
        return exit_codes.ERROR
    return 0 if all(outcome.is_done for outcome in outcomes) else exit_codes.CHANGES


def as_text(
    outcomes: Sequence[VolumeOutcome], kind: type[VolumeOutcome], *, rest: Iterable[table.Row] = (), note: str = ""
) -> str:
    """
    Return *outcomes* as text: a line for each volume to report, then *rest*, and the totals with *note*.

    Unchanged volumes with empty cells are not reported.
    """
    shown = (item for item in outcomes if item.status != "unchanged" or any(item.cells))
    rows = [(item.key, item.status, *(cell or "-" for cell in item.cells)) for item in shown]
    rows += rest
    counts = collections.Counter(item.status for item in outcomes)
    sums = ", ".join(f"{count} {status}" for status, count in counts.items())
    total = f"{listing.counted(len(outcomes), 'volume')}{f': {sums}' if sums else ''}{note}"
    return "\n".join([table.columns([("volume", "outcome", *kind.COLUMNS), *rows]), total] if rows else [total])
