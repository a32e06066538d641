"""
What of Nomad is known to the product and reached by no test of this folder or of tests/real, and why.

`SENTENCES` are those of `nomad_csi.nomad.classify`; `ROUTES` are paths that `nomad_csi.nomad` asks for. A line that is
reached by now fails the tests, and so does a sentence or route that is not reached and has no line. `THROUGH` are routes
that no test writes out, and what the tests call instead.
"""

_DYING = "said while a server or the way to it dies during a call, at a moment that no test can choose"
_ELECTION = "said for moments during an election; tests/real/test_leader_loss.py sees others of the kind"
_CLIENTS = "wants a client that is gone while its plugin is still counted as healthy"

SENTENCES = {
    "connection refused": _DYING,
    "connection reset by peer": _DYING,
    "broken pipe": _DYING,
    "i/o timeout": _DYING,
    "session shutdown": _DYING,
    "stream closed": _DYING,
    "Not ready to serve consistent reads": _ELECTION,
    "leadership transfer in progress": _ELECTION,
    "timed out enqueuing operation": _ELECTION,
    "leadership lost while committing log": _ELECTION,
    "failed to find instances of controller plugin": _CLIENTS,
    "failed to find clients running controller plugin": _CLIENTS,
    "CSI client error (retryable)": _CLIENTS,
    "Client sent an HTTP request to an HTTPS server": "Go's own sentence, of an agent with TLS; tests/nomad serves TLS",
}
"""Sentence -> why no test reaches it."""

ROUTES: dict[str, str] = {}
"""Path, with ``:`` for what varies -> why no test reaches it."""

THROUGH = {
    "/v1/acl/role/:": "token_rights.own(",
    "/v1/client/fs/logs/:": "jobs.tail_log(",
}
