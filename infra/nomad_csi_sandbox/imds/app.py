"""
The HTTP side of the emulator of the instance metadata service: tokens, and texts for those who have one.

Source of statuses and limits: EC2 User Guide, "How Instance Metadata Service Version 2 works" (a token lives for one
second to six hours, in the header that is checked here; none for what was forwarded), 2026-11.
"""

import secrets
import time
from collections.abc import Callable
from http import HTTPStatus

import flask

from nomad_csi_sandbox.imds import documents

TOKEN_HEADER = "X-aws-ec2-metadata-token"  # noqa: S105  # the name of a header
TTL_HEADER = f"{TOKEN_HEADER}-ttl-seconds"
TTL_MAX_S = 21_600


class Tokens:
    """The tokens that were given out. *clock* returns seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[str, float] = {}

    def give(self, ttl_s: int) -> str:
        """Return a new token, good for *ttl_s* seconds."""
        token = secrets.token_urlsafe(40)
        self._ends[token] = self._clock() + ttl_s
        return token

    def is_good(self, token: str) -> bool:
        """Return whether *token* was given out and has not expired."""
        return self._clock() < self._ends.get(token, float("-inf"))


def create_app(instance: documents.Instance, tokens: Tokens | None = None) -> flask.Flask:
    """Return the WSGI application that speaks for *instance*."""
    app = flask.Flask(__name__)
    known = tokens or Tokens()
    texts = documents.texts(instance)

    @app.put("/latest/api/token")
    def token() -> flask.Response:
        if "X-Forwarded-For" in flask.request.headers:
            return _refusal(HTTPStatus.FORBIDDEN)
        ttl = flask.request.headers.get(TTL_HEADER, "")
        if not ttl.isdecimal() or not 1 <= int(ttl) <= TTL_MAX_S:
            return _refusal(HTTPStatus.BAD_REQUEST)
        reply = _text(known.give(int(ttl)))
        reply.headers[TTL_HEADER] = ttl
        return reply

    @app.get("/latest/<path:_>", strict_slashes=False)
    def text(_: str) -> flask.Response:
        if not known.is_good(flask.request.headers.get(TOKEN_HEADER, "")):
            return _refusal(HTTPStatus.UNAUTHORIZED)
        found = texts.get(flask.request.path.rstrip("/"))
        return _refusal(HTTPStatus.NOT_FOUND) if found is None else _text(found)

    return app


def _text(body: str) -> flask.Response:
    return flask.Response(body, mimetype="text/plain")


def _refusal(status: HTTPStatus) -> flask.Response:
    return flask.Response(f"{status.value} - {status.phrase}\n", status=status, mimetype="text/plain")
