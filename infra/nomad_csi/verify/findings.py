"""A finding: one thing that is not as planned, as data with a code, a subject and what to do."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from nomad_csi.text import redaction, visible

Severity = Literal["error", "warning"]

TEXT_LIMIT = 600
"""Characters kept of a foreign text: enough for AWS's ``AccessDenied`` with user, action and resource."""

WINDOW = 8_192
"""Characters at each end of a foreign text in which secrets are looked for."""

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
    line = " ".join(redaction.redact(_window(text)).split())
    clean = "".join(character for character in line if character.isprintable())
    return shortened(clean, TEXT_LIMIT)


def _window(text: str) -> str:
    """Return beginning and end of a *text* that is far too long, cut between words; what is shown is less."""
    if len(text) <= 2 * WINDOW:
        return text
    end = text[-WINDOW:]
    return f"{visible.cut(text, WINDOW)} {end.partition(' ')[2] or end}"


def shortened(text: str, limit: int) -> str:
    """Return *text* in at most *limit* characters. The middle goes: a chain of errors ends with the cause."""
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = limit - head - len(_GAP)
    return f"{text[:head].rstrip()}{_GAP}{text[-tail:].lstrip()}"
