"""Print findings as text and as JSON, for all commands."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from nomad_csi.findings import causes
from nomad_csi.findings.model import Finding, errors_of
from nomad_csi.text import listing, table

COMPARED = ("code", "subject", "severity", "expected", "found", "advice", "cause")
"""Keys of findings in the JSON of verify, claims and probe."""

LINTED = ("code", "severity", "file", "line", "subject", "found", "fix")
EXAMINED = ("code", "severity", "subject", "evidence", "fix", "external_ids", "cause")
REPORTED = ("found_by", "code", "severity", "subject", "expected", "found", "advice", "cause")
"""Keys of lint, of doctor and of report. Released keys are never removed."""

_ATTRIBUTES = {"evidence": "found", "fix": "advice"}
"""Attributes of keys that have another name."""


def as_json(findings: Iterable[Finding], keys: Iterable[str] = COMPARED) -> list[dict[str, Any]]:
    """Return *findings* as JSON values with these *keys*."""
    names = {key: _ATTRIBUTES.get(key, key) for key in keys}
    return [{key: _plain(getattr(item, name)) for key, name in names.items()} for item in findings]


def as_text(findings: Iterable[Finding], width: int, *, colour: bool = False) -> str:
    """Return *findings* as text, in lines of at most *width* columns where possible; consequences below their cause."""
    lines: list[str] = []
    for item, consequences in causes.roots(findings):
        lines += _lines(item, width, colour=colour)
        for group in alike(consequences):
            first, subjects = group[0], listing.shortened([each.subject for each in group])
            lines += table.wrapped(f"  {'so':<8}  ", f"{first.severity} {first.code} of {subjects}", width)
            lines += table.wrapped(" " * 12, first.found, width)
    return "\n".join(lines)


def alike(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group *findings* that differ in their subject only."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for item in findings:
        groups.setdefault((item.code, item.expected, item.found), []).append(item)
    return list(groups.values())


def as_lines(findings: Iterable[Finding]) -> list[str]:
    """Return a line for each cause, with all its subjects and what follows from it."""
    groups: dict[tuple[str, ...], list[tuple[Finding, tuple[Finding, ...]]]] = {}
    for item, consequences in causes.roots(causes.assign(findings)):
        groups.setdefault((item.code, item.expected, item.found, item.advice), []).append((item, consequences))
    lines = []
    for group in groups.values():
        subject = listing.shortened([item.subject for item, _ in group])
        following = "; ".join(
            f"{same[0].code}: {listing.shortened([each.subject for each in same])}"
            for same in alike(each for _, consequences in group for each in consequences)
        )
        line = str(dataclasses.replace(group[0][0], subject=subject))
        lines.append(f"{line}; so: {following}" if following else line)
    return lines


def totals(findings: Iterable[Finding]) -> str:
    """Return ``5 errors, 0 warnings (4 are consequences)``."""
    items = tuple(findings)
    errors, following = len(errors_of(items)), sum(bool(item.cause) for item in items)
    counted = f"{listing.counted(errors, 'error')}, {listing.counted(len(items) - errors, 'warning')}"
    noun = "is a consequence" if following == 1 else "are consequences"
    return f"{counted} ({following} {noun})" if following else counted


def as_line(finding: Finding) -> str:
    """Return ``FILE:LINE: severity: CODE: subject: found; advice``; without file and line where it has none."""
    where = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"{f'{where}: ' if where else ''}{finding.severity}: {finding}"


def _lines(finding: Finding, width: int, *, colour: bool) -> Iterator[str]:
    yield f"{table.painted(finding.severity, colour=colour)}  {finding.code}  {finding.subject}"
    for label, text in (("expected", finding.expected), ("found", finding.found), ("advice", finding.advice)):
        if text:
            yield from table.wrapped(f"  {label:<8}  ", text, width)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
