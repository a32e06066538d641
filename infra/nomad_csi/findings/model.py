"""A finding: one result of a check, as data with a code, a subject and advice."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nomad_csi.findings import registry
from nomad_csi.findings.registry import Severity

_NO_NAMES: Mapping[str, str] = {}


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One condition of the registry, found on one subject. Never holds the value of a secret."""

    code: str
    severity: Severity
    """Severity of its row in the registry."""

    subject: str
    """The object concerned, such as ``plugin aws-ebs0`` or ``volume default/mysql``."""

    found: str
    """The observed state, or what was read and where."""

    expected: str = ""
    """Expected state; empty where `found` implies it."""

    advice: str = ""
    """The likely next step, as an imperative phrase."""

    file: str = ""
    line: int = 0
    """Line in the file; 0: not in a file."""

    external_ids: tuple[str, ...] = ()
    """External ids of the storage that a fix by this package would change."""

    about: tuple[str, ...] = ()
    """All subjects of a combined finding; empty: only its own."""

    found_by: str = ""
    """The command that reports it, where the results of several are combined."""

    links: tuple[str, ...] = ()
    """What it shares with findings that explain it, or that it explains: see `causes`. Empty: its subject."""

    cause: str = ""
    """``CODE: SUBJECT`` of the finding that explains it, as set by `causes.assign`; empty: none does."""

    def __str__(self) -> str:
        """Return ``node-missing: plugin aws-ebs0 on client-2: expected ..., found ...; <advice>``."""
        compared = f"expected {self.expected}, found {self.found}" if self.expected else self.found
        return f"{self.code}: {self.subject}: {compared}{f'; {self.advice}' if self.advice else ''}"


def finding(
    code: str,
    subject: str,
    *,
    found: str,
    expected: str = "",
    advice: str = "",
    names: Mapping[str, str] = _NO_NAMES,
    external_ids: tuple[str, ...] = (),
    about: tuple[str, ...] = (),
    links: tuple[str, ...] = (),
) -> Finding:
    """
    Return the finding *code* with severity and fix of its row. Raises `KeyError` for an unknown code.

    *advice* replaces the fix. *names* are the known values of its placeholders: ``{"ALLOC": "1f7e74ec"}``.
    """
    row = registry.codes()[code]
    text = advice or row.fix
    for name, value in names.items():
        text = re.sub(rf"\b{name}\b", value.replace("\\", r"\\"), text) if value else text
    return Finding(
        code=code,
        severity=row.severity,
        subject=subject,
        found=found,
        expected=expected,
        advice=text,
        external_ids=external_ids,
        about=about,
        links=links,
    )


def errors_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the *findings* with severity error."""
    return tuple(finding for finding in findings if finding.severity == "error")
