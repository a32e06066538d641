"""A finding: one thing that is not as planned, as data with a code, a subject and what to do."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from nomad_csi.verify import redaction

Severity = Literal["error", "warning"]

TEXT_LIMIT = 600
"""Characters kept of a foreign text: enough for AWS's ``AccessDenied`` with user, action and resource."""

_GAP = " ... "


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One difference between what is planned and what is there."""

    code: str
    """What kind of difference, such as ``plugin-missing``. Codes are kept once released."""

    subject: str
    """What it is about, such as ``plugin aws-ebs0`` or ``volume default/mysql``."""

    severity: Severity
    """``error``: not as planned. ``warning``: worth knowing, and no reason to fail."""

    expected: str
    found: str
    advice: str = ""
    """The likely next step, as an imperative phrase."""

    def __str__(self) -> str:
        """Return ``node-missing: plugin aws-ebs0 on client-2: expected ..., found ...; <advice>``."""
        advice = f"; {self.advice}" if self.advice else ""
        return f"{self.code}: {self.subject}: expected {self.expected}, found {self.found}{advice}"


def errors_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return those of *findings* that say "not as planned"."""
    return tuple(finding for finding in findings if finding.severity == "error")


def foreign(text: str) -> str:
    """
    Return a *text* of Nomad or of a plugin fit to be shown: one line, without control characters and secrets, cut.

    ``foreign("token=abc  rest")`` is ``"token=[secret] rest"``.
    """
    line = " ".join(redaction.without_secrets(text).split())
    clean = "".join(character for character in line if character.isprintable())
    return shortened(clean, TEXT_LIMIT)


def shortened(text: str, limit: int) -> str:
    """Return *text* in at most *limit* characters. The middle goes: a chain of errors ends with the cause."""
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = limit - head - len(_GAP)
    return f"{text[:head].rstrip()}{_GAP}{text[-tail:].lstrip()}"
