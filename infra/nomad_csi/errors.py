"""
Every error that this package raises on purpose. Catch `NomadCsiError` to catch them all.

A failed *verification* is not here: it is a result, a list of findings.
No class carries an HTTP header, a token or a CSI secret.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi.text import foreign, redaction

EXIT_CHANGES = 1
"""Exit code of a command whose answer is "no": findings, stale files, a refused change."""
EXIT_ERROR = 2
"""Exit code of a command that could not find its answer out: a broken call, a missing file."""
EXIT_USAGE = 64
"""Exit code of a command that was typed wrong (``EX_USAGE`` of ``sysexits.h``)."""

MESSAGE_LIMIT = 512
"""Characters kept of a foreign message: enough for Nomad's sentence, too little for a log that may hold secrets."""


INTERRUPTED = "interrupted while"
"""How a question that the operator interrupted says so."""


class NomadCsiError(Exception):
    """Base class of all errors of this package."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing wrong with what an operator wrote."""

    path: str
    """Where: ``volumes[0].ebs.size_gib``. Empty when the whole document is meant."""

    got: str
    """The value as written, as short text; ``[secret]`` in place of a secret, empty when nothing was given."""

    allowed: str
    """What is allowed there, as a phrase that follows "expected"; empty where *got* says what is wrong."""

    fix: str = ""
    """The likely fix, as an imperative phrase; empty when *allowed* says it."""

    code: str = field(default="", compare=False, repr=False)
    """Code of the finding that is this problem in a file of somebody's own; empty: `lint` does not say it."""

    def __str__(self) -> str:
        """Return ``volumes[0].ebs.size_gib: expected 1 to 65536 for gp3, got 0; <fix>``."""
        where = f"{self.path}: " if self.path else ""
        allowed = f"expected {self.allowed}" if self.allowed else ""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{where}{', got '.join(filter(None, (allowed, self.got)))}{fix}"


_ITEM = re.compile(r"\b(?:plugins|volumes)\[\d+\]")


class SpecError(NomadCsiError, ValueError):
    """The operator asked for something that cannot work. Holds *all* problems found."""

    def __init__(self, problems: tuple[Problem, ...], source: str = "", ids: Mapping[str, str] | None = None) -> None:
        self.problems = problems
        self.source = source
        """Where the document came from: a file name, ``nomad-csi:storage`` of a stack, a component's name."""
        self.ids = ids or {}
        """Ids of plugins and volumes by their paths: ``volumes[0]`` is printed as ``volumes[0] (mysql)``."""
        self.lines = tuple(self.named(str(problem)) for problem in problems)
        """The problems as they are printed."""
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        head = f"{source or 'the storage spec'}: {count}"
        super().__init__("\n".join([head, *(f"  {line}" for line in self.lines)]))

    def named(self, text: str) -> str:
        """Return *text* with the id of each plugin and volume beside its index."""
        return _ITEM.sub(lambda found: f"{found[0]} ({self.ids[found[0]]})" if found[0] in self.ids else found[0], text)


ReplyKind = Literal["retry", "refused", "ambiguous"]


class NomadApiError(NomadCsiError):
    """
    Nomad did not do what was asked. *secrets* of the request are taken out of its *message*.

    ``kind`` tells what may be done about it:
    ``retry``: nothing was done, the same call may succeed later (unreachable, too many connections, no leader);
    ``refused``: Nomad understood and said no, the same call will be refused again;
    ``ambiguous``: the request went out and no answer came back; read the state before sending anything again.
    """

    def __init__(
        self,
        method: str,
        path: str,
        message: str,
        *,
        status: int | None = None,
        kind: ReplyKind,
        advice: str = "",
        is_connected: bool = True,
        secrets: Iterable[str] = (),
    ) -> None:
        self.method = method
        self.path = path
        self.status = status
        """HTTP status, or ``None`` when no answer came."""
        self.message = _short(message, secrets)
        self.kind = kind
        self.advice = advice
        self.is_connected = is_connected
        """Whether anybody was there: false where no connection came about, as with a wrong address."""
        status_text = f" status {status}:" if status is not None else ""
        super().__init__(f"{method} {path}:{status_text} {self.message}{f'; {advice}' if advice else ''}")


class CsiError(NomadCsiError):
    """A CSI plugin did not answer as it should. *secrets* of the request are taken out of its *message*."""

    def __init__(
        self,
        endpoint: str,
        message: str,
        *,
        code: str = "",
        advice: str = "",
        is_answer: bool = True,
        secrets: Iterable[str] = (),
    ) -> None:
        self.endpoint = endpoint
        self.message = _short(message, secrets, short_words=True)
        self.code = code
        """gRPC status name such as ``DEADLINE_EXCEEDED``; empty when no call was made."""
        self.is_answer = is_answer
        """Whether a plugin may have said so; ``False``: nobody was reached, or what is there is no plugin."""
        self.advice = advice
        super().__init__(f"{endpoint}: {self.message}{f'; {advice}' if advice else ''}")


def _short(message: str, secrets: Iterable[str], *, short_words: bool = False) -> str:
    """Return so much of a foreign *message* as is shown, without *secrets*: they could not be found after the cut."""
    return foreign.cut(redaction.mask(message, secrets, short_words=short_words), MESSAGE_LIMIT)


class AwsError(NomadCsiError):
    """AWS could not be asked, or answered with an error."""


class RefusedError(NomadCsiError):
    """The step would take or lose something that is not ours to take or lose. Says what to do instead."""


class CancelledError(NomadCsiError):
    """The operator interrupted the step; says what was done and what was not."""
