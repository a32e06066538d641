"""
All errors that this package raises on purpose. Catch `NomadCsiError` to catch all of them.

A failed *verification* is no error: it is a result, a list of findings.
No error carries an HTTP header, a token or a CSI secret.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nomad_csi.text import foreign, redaction

MESSAGE_LIMIT = 512
"""Characters kept of a foreign message: enough for an error of Nomad, too few for a log that may hold secrets."""


INTERRUPTED = "interrupted while"
"""Start of the message when the operator interrupts a request."""


class NomadCsiError(Exception):
    """Base class of all errors of this package."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One problem in a document that an operator wrote."""

    path: str
    """Path of the value: ``volumes[0].ebs.size_gib``. Empty: the whole document."""

    got: str
    """The value given, as short text; ``[secret]`` instead of a secret, empty when nothing was given."""

    allowed: str
    """The allowed values, as a phrase that follows "expected"; empty where *got* describes the problem."""

    fix: str = ""
    """The likely fix, as an imperative phrase; empty when *allowed* implies it."""

    code: str = field(default="", compare=False, repr=False)
    """Code of the finding that `lint` reports for this problem in a hand-written file; empty: none."""

    def __str__(self) -> str:
        """Return ``volumes[0].ebs.size_gib: expected 1 to 65536 for gp3, got 0; <fix>``."""
        where = f"{self.path}: " if self.path else ""
        allowed = f"expected {self.allowed}" if self.allowed else ""
        fix = f"; {self.fix}" if self.fix else ""
        return f"{where}{', got '.join(filter(None, (allowed, self.got)))}{fix}"


def path_of(path: str, location: tuple[Any, ...]) -> str:
    """
    Return the path of *location* below *path*: ``path_of("", ("volumes", 0, "id"))`` is ``volumes[0].id``.

    An empty key is written as two quotes: an empty path is that of the whole document.
    """
    for step in location:
        name = str(step) or "''"
        path = f"{path}[{step}]" if isinstance(step, int) else f"{path}.{name}" if path else name
    return path


_ITEM = re.compile(r"\b(?:plugins|volumes)\[\d+\]")


class SpecError(NomadCsiError, ValueError):
    """The operator's document is invalid. Holds *all* problems found."""

    def __init__(self, problems: tuple[Problem, ...], source: str = "", ids: Mapping[str, str] | None = None) -> None:
        self.problems = problems
        self.source = source
        """Where the document came from: a file name, ``nomad-csi:storage`` of a stack, a component's name."""
        self.ids = ids or {}
        """Ids of plugins and volumes by their paths: ``volumes[0]`` is printed as ``volumes[0] (mysql)``."""
        self.lines = tuple(self.named(str(problem)) for problem in problems)
        """The problems as printed."""
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        head = f"{source or 'the storage spec'}: {count}"
        super().__init__("\n".join([head, *(f"  {line}" for line in self.lines)]))

    def named(self, text: str) -> str:
        """Return *text* with the id of each plugin and volume beside its index."""
        return _ITEM.sub(lambda match: f"{match[0]} ({self.ids[match[0]]})" if match[0] in self.ids else match[0], text)


ReplyKind = Literal["retry", "refused", "ambiguous"]


class NomadApiError(NomadCsiError):
    """
    A request to Nomad failed. *secrets* of the request are removed from the *message*.

    ``kind`` is how to handle it:
    ``retry``: nothing was done, the same request may succeed later (unreachable, too many connections, no leader);
    ``refused``: Nomad refused the request, and will refuse it again;
    ``ambiguous``: the request was sent and no response was received; read the state before sending anything again.
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
        """HTTP status, or ``None`` when no response was received."""
        self.message = _short(message, secrets)
        self.kind = kind
        self.advice = advice
        self.is_connected = is_connected
        """Whether a connection was established: false as with a wrong address."""
        status_text = f" status {status}:" if status is not None else ""
        super().__init__(f"{method} {path}:{status_text} {self.message}{f'; {advice}' if advice else ''}")

    def ambiguous(self, message: str = "", advice: str = "") -> "NomadApiError":
        """Return it as one whose outcome is not known, with another *message* and *advice* where these are given."""
        said, fix = message or self.message, advice or self.advice
        return NomadApiError(self.method, self.path, said, status=self.status, kind="ambiguous", advice=fix)


class CsiError(NomadCsiError):
    """A request to a CSI plugin failed. *secrets* of the request are removed from the *message*."""

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
        """gRPC status name such as ``DEADLINE_EXCEEDED``; empty when no request was sent."""
        self.is_answer = is_answer
        """Whether the error may be a plugin's response; ``False``: no server was reached, or it is no CSI plugin."""
        self.advice = advice
        super().__init__(f"{endpoint}: {self.message}{f'; {advice}' if advice else ''}")


def _short(message: str, secrets: Iterable[str], *, short_words: bool = False) -> str:
    """Return a foreign *message* without *secrets* and likely ones, then cut to the limit."""
    return foreign.cut(redaction.redact(message, secrets, short_words=short_words), MESSAGE_LIMIT)


class AwsError(NomadCsiError):
    """A request to AWS could not be sent, or AWS responded with an error."""


class RefusedError(NomadCsiError):
    """The step would take over or delete an object that this stack may not. The message names what to do instead."""


class CancelledError(NomadCsiError):
    """The operator interrupted the step; the message lists what was done and what was not."""
