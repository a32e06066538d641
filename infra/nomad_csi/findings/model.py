"""A finding: one result of a check, as data with a code, a subject and advice."""

from collections.abc import Iterable
from dataclasses import dataclass

from nomad_csi.findings import registry
from nomad_csi.findings.registry import Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One condition of the registry, found on one subject. Never holds the value of a secret."""

    code: str
    severity: Severity
    """Severity of the registry, or another one that its row allows."""

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

    def __post_init__(self) -> None:
        """Raise `KeyError` for an unknown code, `ValueError` for a severity that its row does not allow."""
        row = registry.codes()[self.code]
        if self.severity != row.severity and not row.otherwise:
            raise ValueError(f"{self.code} is never a {self.severity}")

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
    severity: Severity | None = None,
    external_ids: tuple[str, ...] = (),
    about: tuple[str, ...] = (),
) -> Finding:
    """Return the finding *code*; *advice* and *severity* override those of the registry."""
    row = registry.codes()[code]
    return Finding(
        code=code,
        severity=severity or row.severity,
        subject=subject,
        found=found,
        expected=expected,
        advice=advice or row.fix,
        external_ids=external_ids,
        about=about,
    )


def errors_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the *findings* with severity error."""
    return tuple(finding for finding in findings if finding.severity == "error")
