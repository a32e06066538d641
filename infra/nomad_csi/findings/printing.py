"""Findings for people and programs: one printer for all commands."""

import contextlib
import dataclasses
import re
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from nomad_csi.findings.model import Finding
from nomad_csi.text import table

COMPARED = ("code", "subject", "severity", "expected", "found", "advice")
"""Keys of findings in the JSON of verify, claims and probe."""

LINTED = ("code", "severity", "file", "line", "subject", "found", "fix")
EXAMINED = ("code", "severity", "subject", "evidence", "fix", "external_ids")
REPORTED = ("found_by", "code", "severity", "subject", "expected", "found", "advice")
"""Those of lint, of doctor and of report. All keys are kept once released."""

_ATTRIBUTES = {"evidence": "found", "fix": "advice"}
"""Of keys that are named otherwise."""


_HAS_PULUMI = ContextVar("has_pulumi", default=True)


@contextlib.contextmanager
def without_pulumi() -> Iterator[None]:
    """In this block, advise what a sandbox without the ``pulumi`` command has in its place."""
    before = _HAS_PULUMI.set(False)
    try:
        yield
    finally:
        _HAS_PULUMI.reset(before)


def fitted(text: str) -> str:
    """Return *text* with the commands that whoever reads it has."""
    return text if _HAS_PULUMI.get() else re.sub(r"\bpulumi (up|preview|refresh)\b", r"nomad-csi sandbox \1", text)


def as_json(findings: Iterable[Finding], keys: Iterable[str] = COMPARED) -> list[dict[str, Any]]:
    """Return *findings* as JSON values with these *keys*."""
    names = {key: _ATTRIBUTES.get(key, key) for key in keys}
    return [{key: _plain(getattr(_fitted(item), name)) for key, name in names.items()} for item in findings]


def as_text(findings: Iterable[Finding], width: int, *, colour: bool = False) -> str:
    """Return *findings* as text, each in some lines of at most *width* columns where that can be."""
    return "\n".join(line for item in findings for line in _lines(_fitted(item), width, colour=colour))


def as_line(finding: Finding) -> str:
    """Return ``FILE:LINE: severity: CODE: subject: found; advice``; without a place where it stands in no file."""
    where = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return f"{f'{where}: ' if where else ''}{finding.severity}: {_fitted(finding)}"


def _fitted(finding: Finding) -> Finding:
    return dataclasses.replace(finding, advice=fitted(finding.advice))


def _lines(finding: Finding, width: int, *, colour: bool) -> Iterator[str]:
    yield f"{table.painted(finding.severity, colour=colour)}  {finding.code}  {finding.subject}"
    for label, text in (("expected", finding.expected), ("found", finding.found), ("advice", finding.advice)):
        if text:
            yield from table.wrapped(f"  {label:<8}  ", text, width)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
