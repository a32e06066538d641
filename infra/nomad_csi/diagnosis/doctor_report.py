"""The result of ``doctor``, as data and as a table."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nomad_csi import exit_codes
from nomad_csi.diagnosis.facts import Unchecked
from nomad_csi.findings import Finding, errors_of, printing
from nomad_csi.text import table

WIDTH = 100


@dataclass(frozen=True, kw_only=True)
class DoctorReport:
    """Findings, and checks that could not be made."""

    findings: tuple[Finding, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    aws_region: str = ""
    """Region of the requests to AWS; empty: none were made."""

    @property
    def ok(self) -> bool:
        """Whether there is no finding with severity error, and no check failed."""
        return not self.exit_code

    @property
    def exit_code(self) -> int:
        """0: no errors. 1: findings with severity error. 2: no such finding, but a check could not be made."""
        if errors_of(self.findings):
            return exit_codes.CHANGES
        return exit_codes.ERROR if any(not item.is_expected for item in self.unchecked) else 0

    @property
    def untagged(self) -> tuple[str, ...]:
        """EBS volumes that lack the tag of the policy."""
        return tuple(sorted({key for item in self.findings for key in item.external_ids}))

    def as_json(self) -> dict[str, Any]:
        """
        Return the report as JSON values. Keys are kept once released.

        ``{"ok": bool, "findings": [...], "not_checked": [...]}``. A finding has ``code``, ``severity``, ``subject``,
        ``evidence``, ``fix`` and ``external_ids``; what was not checked has ``check``, ``reason`` and ``is_expected``.
        """
        return {
            "ok": self.ok,
            "findings": printing.as_json(self.findings, printing.EXAMINED),
            "not_checked": [dataclasses.asdict(item) for item in self.unchecked],
        }

    def as_table(self, width: int = WIDTH, *, colour: bool = False) -> str:
        """Return the report as text of at most *width* columns if possible, ending in a newline."""
        parts = [printing.as_text(self.findings, width, colour=colour)] if self.findings else []
        parts += ["\n".join(_unchecked(item, width)) for item in self.unchecked]
        return "\n".join([*parts, self._total()]) + "\n"

    def _total(self) -> str:
        skipped = sum(item.is_expected for item in self.unchecked)
        parts = {"not checked": len(self.unchecked) - skipped, "left out": skipped}
        return ", ".join(
            [printing.totals(self.findings), *(f"{count} {name}" for name, count in parts.items() if count)]
        )


def _unchecked(item: Unchecked, width: int) -> Iterator[str]:
    yield from table.wrapped("left out     " if item.is_expected else "not checked  ", item.check, width)
    yield from table.wrapped("  reason    ", item.reason, width)
