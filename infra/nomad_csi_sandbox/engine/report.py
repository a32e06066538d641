"""What one operation did, as data: for ``--json``, for the summary, for tests."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi_sandbox.engine import values

Severity = Literal["info", "warning", "error"]

UNCOUNTED = frozenset({"create-replacement", "delete-replaced", "discard-replaced", "read"})
"""Operations that are parts of others, or that the real summary leaves out."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One step."""

    op: str
    """As the real engine names it: ``create``, ``update``, ``replace``, ``same``, ``delete``, ``import``…"""

    urn: str
    changed: tuple[str, ...] = ()
    """The top-level properties that differ."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        kind, name = kind_and_name(self.urn)
        return {"op": self.op, "urn": self.urn, "type": kind, "name": name, "changed": list(self.changed)}


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """Something said for an operator to read."""

    severity: Severity
    urn: str
    message: str

    def as_dict(self) -> dict[str, str]:
        """Return it as JSON data."""
        return {"urn": self.urn, "message": self.message}


@dataclass
class Report:
    """Everything one phase did; filled from many threads."""

    operations: list[Operation] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    outputs: values.Properties = field(default_factory=dict)
    """Of the stack, markers kept."""

    cancelled: bool = False
    unexpected: bool = False
    """Whether something changed where nothing was to change."""

    duration_s: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, entry: Operation | Diagnostic) -> None:
        """Note *entry*."""
        with self._lock:
            if isinstance(entry, Operation):
                self.operations.append(entry)
            else:
                self.diagnostics.append(entry)

    def of(self, severity: Severity) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of one severity."""
        return tuple(each for each in self.diagnostics if each.severity == severity)

    @property
    def result(self) -> Literal["succeeded", "failed", "changed", "cancelled"]:
        """What the operation came to."""
        if self.cancelled:
            return "cancelled"
        if self.unexpected:
            return "changed"
        return "failed" if self.failed else "succeeded"

    @property
    def failed(self) -> bool:
        """Whether anything went wrong."""
        return bool(self.of("error")) or self.cancelled

    @property
    def changes(self) -> int:
        """How many resources change."""
        return sum(count for op, count in self.counts().items() if op != "same")

    def counts(self) -> dict[str, int]:
        """Return how many resources went through each operation."""
        return _count(each.op for each in self.operations if each.op not in UNCOUNTED)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON data; secrets and unknowns are ``[secret]`` and ``[unknown]``."""
        return {
            "result": self.result,
            "operations": [each.as_dict() for each in self.operations],
            "counts": self.counts(),
            "errors": [each.as_dict() for each in self.of("error")],
            "warnings": [each.as_dict() for each in self.of("warning")],
            "outputs": values.redact(self.outputs),
            "duration_s": round(self.duration_s, 3),
        }


def _count(ops: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for op in ops:
        counts[op] = counts.get(op, 0) + 1
    return counts


def kind_and_name(urn: str) -> tuple[str, str]:
    """Return type and name of the resource with *urn*."""
    _, _, chain, name = urn.split("::", 3)
    return chain.rpartition("$")[2], name


def shown_kind(urn: str) -> str:
    """Return the type as the CLI shows it: ``aws:ebs:Volume`` for ``aws:ebs/volume:Volume``."""
    parts = kind_and_name(urn)[0].split(":")
    if len(parts) == 3:  # noqa: PLR2004  # package, module, name
        parts[1] = parts[1].split("/")[0]
    return ":".join(parts)


def summary(counts: Mapping[str, int], *, dry: bool) -> list[str]:
    """Return the lines under ``Resources:`` as the CLI writes them."""
    verbs = _PLANNED if dry else _DONE
    lines = [f"{_MARKS[op]}{counts[op]} {verbs[op]}" for op in _MARKS if counts.get(op)]
    changes = sum(count for op, count in counts.items() if op != "same")
    same = f"{counts['same']} unchanged" if counts.get("same") else ""
    if len(lines) > 1:
        return [*lines, f"{changes} changes. {same}".rstrip()]
    return [*lines, same] if same else lines


_MARKS = {"import": "= ", "create": "+ ", "refresh": "~ ", "update": "~ ", "delete": "- ", "replace": "+-"}
_PLANNED = {
    "import": "to import",
    "create": "to create",
    "refresh": "to refresh",
    "update": "to update",
    "delete": "to delete",
    "replace": "to replace",
}
_DONE = {
    "import": "imported",
    "create": "created",
    "refresh": "refreshed",
    "update": "updated",
    "delete": "deleted",
    "replace": "replaced",
}
