"""What became of volumes that were to be registered, deregistered or deleted: one shape, and one printer."""

import collections
import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from nomad_csi import errors
from nomad_csi.plan import registration
from nomad_csi.text import listing, table


@dataclass(frozen=True, kw_only=True)
class VolumeOutcome(registration.NamedVolume):
    """What became of one volume."""

    DONE: ClassVar[frozenset[str]]
    """Statuses after which it is as it was to be."""

    BROKEN: ClassVar[frozenset[str]] = frozenset({"failed", "unknown"})
    """Statuses after which that is not known, or was not done for a reason that may pass."""

    COLUMNS: ClassVar[tuple[str, ...]] = ("remarks",)
    """Headings of `cells`."""

    status: str
    reason: str = ""
    """Why it is not as it was to be, or what to know besides; empty where there is nothing."""

    @property
    def is_done(self) -> bool:
        """Whether it is as it was to be."""
        return self.status in self.DONE

    @property
    def is_broken(self) -> bool:
        """Whether that is not known, or was not done for a reason that may pass."""
        return self.status in self.BROKEN

    @property
    def cells(self) -> tuple[str, ...]:
        """What a table shows beside volume and status; empty cells are empty texts."""
        return (self.reason,)

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as data, a key for each field; what is empty is there too."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def exit_code(outcomes: Iterable[VolumeOutcome]) -> int:
    """Return 0 where all is done, 1 where some is refused or held, 2 where some could not be done or found out."""
    found = tuple(outcomes)
    if any(outcome.is_broken for outcome in found):
        return errors.EXIT_ERROR
    return 0 if all(outcome.is_done for outcome in found) else errors.EXIT_CHANGES


def as_text(
    outcomes: Sequence[VolumeOutcome], kind: type[VolumeOutcome], *, rest: Iterable[table.Row] = (), note: str = ""
) -> str:
    """
    Return *outcomes* as text: a line for each volume that something is said of, then *rest*, and the sum with *note*.

    Nothing is said of one that is unchanged and has empty cells.
    """
    shown = (item for item in outcomes if item.status != "unchanged" or any(item.cells))
    rows = [(item.key, item.status, *(cell or "-" for cell in item.cells)) for item in shown]
    rows += rest
    counts = collections.Counter(item.status for item in outcomes)
    sums = ", ".join(f"{count} {status}" for status, count in counts.items())
    total = f"{listing.counted(len(outcomes), 'volume')}{f': {sums}' if sums else ''}{note}"
    return "\n".join([table.columns([("volume", "outcome", *kind.COLUMNS), *rows]), total] if rows else [total])
