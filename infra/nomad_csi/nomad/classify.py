"""
Classify error replies: the call can be retried (`volumes.sending` does), was refused, or has an unknown outcome.

Nomad returns almost all errors with status 500 and a message, so messages are matched, by substring.
Source: the messages are those of a real agent (Nomad 2.0.6-dev, 2026-08) and of hashicorp/nomad,
``nomad/structs/errors.go``, ``nomad/csi_endpoint.go`` and ``nomad/state/state_store.go``, 2026-08-21.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus

from nomad_csi import errors
from nomad_csi.nomad import permissions


@dataclass(frozen=True, kw_only=True)
class Classification:
    """Kind of an error reply, and what to do about it."""

    kind: errors.ReplyKind
    advice: str = ""


@dataclass(frozen=True, kw_only=True)
class Call:
    """The call that failed."""

    method: str
    path: str
    namespace: str
    has_token: bool


_BUSY_CLOUD = "the cloud answers later: it limits how often it is asked, or has no room now"

SENTENCES: tuple[tuple[str, errors.ReplyKind, str], ...] = (
    # The cloud's API throttles; drivers report that with various codes.
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html, 2026-08: RequestLimitExceeded.
    ("RequestLimitExceeded", "retry", _BUSY_CLOUD),
    ("Throttling", "retry", _BUSY_CLOUD),
    ("code = ResourceExhausted", "retry", _BUSY_CLOUD),
    # Not delivered to a leader, or to a controller before anything is stored: a retry may succeed.
    ("failed to get conn", "retry", ""),
    ("connection refused", "retry", ""),
    ("No cluster leader", "retry", ""),
    ("Not ready to serve consistent reads", "retry", ""),
    ("node is not the leader", "retry", ""),
    ("leadership transfer in progress", "retry", ""),
    ("timed out enqueuing operation", "retry", ""),
    ("no healthy controllers for CSI plugin", "retry", "check the plugin's job: its controller is not healthy"),
    ("failed to find instances of controller plugin", "retry", "check the plugin's job: no controller runs"),
    ("failed to find clients running controller plugin", "retry", "check the plugin's job: no controller runs"),
    ("timeout while connecting to gRPC socket", "retry", "the plugin's controller does not answer: see its log"),
    ("CSI client error (retryable)", "retry", ""),
    # Delivered, and the reply was lost.
    ("rpc error: EOF", "ambiguous", ""),
    ("connection reset by peer", "ambiguous", ""),
    ("broken pipe", "ambiguous", ""),
    ("i/o timeout", "ambiguous", ""),
    ("context deadline exceeded", "ambiguous", ""),
    ("session shutdown", "ambiguous", ""),
    ("stream closed", "ambiguous", ""),
    ("leadership lost while committing log", "ambiguous", ""),
    ("code = Unavailable", "ambiguous", "check the plugin's job: its process may have ended during the call"),
    ("code = Aborted", "retry", "the plugin is still busy with an earlier call for the same volume"),
    # Received and refused.
    ("ACL token", "refused", "check NOMAD_TOKEN: the token is expired, deleted or of another cluster"),
    ("no CSI plugin named", "refused", "run the plugin's job first and wait until it is healthy, or correct plugin_id"),
    ("volume in use", "refused", "stop the jobs that claim it and wait until the claims are free"),
    ("can not update mount options while volume is in use", "refused", "stop the jobs that claim it first"),
    ("Client sent an HTTP request to an HTTPS server", "refused", "write https:// in NOMAD_ADDR"),
)
"""
Part of the message -> kind and advice; any other message is a refusal.

The first match applies: ``failed to get conn: ... i/o timeout``.
"""

_DENIED = "Permission denied"

_BEFORE_STORING = "controller validate volume:"
"""Nomad calls the controller before it stores anything: after any failure there, nothing was registered."""

_STATUSES: dict[int, tuple[errors.ReplyKind, str]] = {
    HTTPStatus.UNAUTHORIZED: ("refused", "something in front of Nomad asks for a password: set NOMAD_HTTP_AUTH"),
    HTTPStatus.TOO_MANY_REQUESTS: ("retry", "use fewer connections at a time; a Nomad agent takes 100 of one address"),
    HTTPStatus.BAD_GATEWAY: ("ambiguous", ""),
    HTTPStatus.SERVICE_UNAVAILABLE: ("retry", ""),
    HTTPStatus.GATEWAY_TIMEOUT: ("ambiguous", ""),
}

_READS = re.compile(r"(GET|HEAD) .*|\w+ /v1/(jobs/parse|job/[^/]+/plan)")


def answered(call: Call, status: int, text: str) -> Classification:
    """Return what *status*, which is not a success, and its *text* mean for *call*."""
    if status_of(status, text) == HTTPStatus.FORBIDDEN and _DENIED in text:
        return Classification(kind="refused", advice=_missing_permission(call))
    from_text = next(((kind, advice) for sentence, kind, advice in SENTENCES if sentence in text), ("refused", ""))
    kind, advice = _STATUSES.get(status, from_text)
    return _classified(call, "retry" if kind == "ambiguous" and _BEFORE_STORING in text else kind, advice)


def status_of(status: int, text: str) -> int:
    """Return *status*, or 403 where an older Nomad refuses with 500: ``logs-denied-as-such`` in ``releases.yaml``."""
    return HTTPStatus.FORBIDDEN if text.strip() == _DENIED else status


def unanswered(call: Call) -> Classification:
    """Return the classification of *call* if it was sent and there was no reply."""
    return _classified(call, "ambiguous", "")


def changes_nothing(call: Call) -> bool:
    """Return whether *call* only reads, so that it can be retried after any outcome."""
    return _READS.fullmatch(f"{call.method} {call.path}") is not None


def _classified(call: Call, kind: errors.ReplyKind, advice: str) -> Classification:
    """Return the classification; a lost read is never ambiguous."""
    if kind == "ambiguous" and changes_nothing(call):
        return Classification(kind="retry", advice=advice)
    return Classification(kind=kind, advice=advice)


def _missing_permission(call: Call) -> str:
    needs = permissions.needed(call.method, call.path, call.namespace) or "the rights for this call"
    if not call.has_token:
        return f"set NOMAD_TOKEN to a token that has {needs}"
    return f"the token needs {needs}; or it is expired, deleted or of another cluster"
