"""
What web pages and other users may not do: a WSGI application in front of the sandbox's HTTP servers.

All users of a machine can connect to 127.0.0.1; whose a connection is, the kernel says (`peers`).
A page in the operator's browser can send requests to 127.0.0.1. It cannot forge the headers that are checked here:
``Host`` (a name that an attacker points at 127.0.0.1 is still that name, DNS rebinding), ``Origin`` and
``Sec-Fetch-Site`` (a request from another site says so). Real parts check none of it; this is the sandbox's own.
Source: Fetch, https://fetch.spec.whatwg.org, "CORS-safelisted request-header" and "forbidden request-header";
Fetch Metadata, https://www.w3.org/TR/fetch-metadata/, 2026-11.
"""

import os
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from nomad_csi_sandbox import peers

Environment = dict[str, Any]
"""What a WSGI server says of a request. Source: PEP 3333."""

StartResponse = Callable[..., Any]
Application = Callable[[Environment, StartResponse], Iterable[bytes]]

NAMES = ("127.0.0.1", "localhost")
"""Hosts that the servers answer to; each with its port."""

SAME_SITE = frozenset({"", "none", "same-origin"})
"""Values of ``Sec-Fetch-Site`` of what no other site sent; programs send none."""

ENDS = (("REMOTE_ADDR", "REMOTE_PORT"), ("SERVER_NAME", "SERVER_PORT"))
"""Both ends of a connection, as werkzeug's server names them: its own is the address that it is bound to."""

JSON = "application/json"


class Guard:
    """
    Hands requests on to *behind* that a program of this user has sent, and no web page of another site.

    *token_header*: the server takes JSON only, or, from a client that names no media type, what carries this header. A
    browser asks the server before it sends either for another site.
    """

    def __init__(
        self,
        behind: Application,
        *,
        token_header: str = "",
        is_own_user: Callable[[peers.Address, peers.Address], bool | None] = peers.is_own_user,
    ) -> None:
        self._is_own_user = is_own_user
        self._behind = behind
        self._token_header = token_header

    def __call__(self, environment: Environment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request."""
        status, why = self._objection(environment)
        if status is HTTPStatus.OK:
            return self._behind(environment, start_response)
        content = f"{why}; this is a server of the nomad-csi sandbox\n".encode()
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(content)))]
        start_response(f"{status.value} {status.phrase}", headers)
        return [content]

    def _objection(self, environment: Environment) -> tuple[HTTPStatus, str]:
        peer, here = ((environment[host], int(environment[port])) for host, port in ENDS)
        if not self._is_own_user(peer, here):
            return HTTPStatus.FORBIDDEN, f"expected a connection of the user who runs it, user id {os.getuid()}"
        hosts = [f"{name}:{environment['SERVER_PORT']}" for name in NAMES]
        if environment.get("HTTP_HOST", "") not in hosts:
            return HTTPStatus.FORBIDDEN, f"expected Host {' or '.join(hosts)}"
        origin = environment.get("HTTP_ORIGIN", "")
        if origin and origin not in {f"http://{host}" for host in hosts}:
            return HTTPStatus.FORBIDDEN, "expected no Origin of another site"
        if environment.get("HTTP_SEC_FETCH_SITE", "") not in SAME_SITE:
            return HTTPStatus.FORBIDDEN, "expected no request of another site"
        if self._token_header and _has_body(environment) and not self._is_json(environment):
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"expected Content-Type {JSON}"
        return HTTPStatus.OK, ""

    def _is_json(self, environment: Environment) -> bool:
        kind = environment.get("CONTENT_TYPE", "").partition(";")[0].strip().lower()
        has_token = f"HTTP_{self._token_header.upper().replace('-', '_')}" in environment
        return kind == JSON or (not kind and has_token)


def _has_body(environment: Environment) -> bool:
    return environment.get("CONTENT_LENGTH", "") not in {"", "0"} or "HTTP_TRANSFER_ENCODING" in environment
