"""A finding: one thing that is not as it should be, as data with a code, a subject and what to do."""

from collections.abc import Iterable
from dataclasses import dataclass

from nomad_csi.findings import registry
from nomad_csi.findings.registry import Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One condition of the registry, met by one subject. Never the value of a secret."""

    code: str
    severity: Severity
    """That of the registry, or another one where its row says when."""

    subject: str
    """What it is about, such as ``plugin aws-ebs0`` or ``volume default/mysql``."""

    found: str
    """What is there, or what was read and where."""

    expected: str = ""
    """Empty where `found` says it."""

    advice: str = ""
    """The likely next step, as an imperative phrase."""

    file: str = ""
    line: int = 0
    """Where it stands; 0: in no file."""

    external_ids: tuple[str, ...] = ()
    """Storage that a fix by this package would change."""

    about: tuple[str, ...] = ()
    """The subjects that it stands for together; empty: its own."""

    found_by: str = ""
    """The command that reports it by itself, where several are put together."""

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
    """Return the finding *code*; *advice* and *severity* where they are better known than in the registry."""
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
    """Return those of *findings* that are errors."""
    return tuple(finding for finding in findings if finding.severity == "error")
