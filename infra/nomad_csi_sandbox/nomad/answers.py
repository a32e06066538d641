"""HTTP answers in Nomad's form: JSON with index headers, or one sentence. Part of the Nomad emulator."""

import json
from typing import Any

import flask

from nomad_csi_sandbox.nomad import refusals
from nomad_csi_sandbox.nomad.acl import acl_rules

Json = dict[str, Any]


def read(data: Any, index: int) -> flask.Response:
    """Return the answer of a query, with the index of the table that it read."""
    return _with_index(flask.jsonify(data), index, known_leader=True)


def written(data: Any, index: int) -> flask.Response:
    """Return the answer of a change; null data is an empty body."""
    return _with_index(empty() if data is None else flask.jsonify(data), index, known_leader=False)


def forgotten(index: int) -> flask.Response:
    """Return the answer of a deregistration: an empty body, with the headers of a query."""
    return _with_index(empty(), index, known_leader=True)


def empty(status: int = 200) -> flask.Response:
    """Return an answer without a body, and so without a type of it."""
    response = flask.Response("", status)
    del response.headers["Content-Type"]
    return response


def _with_index(response: flask.Response, index: int, *, known_leader: bool) -> flask.Response:
    response.headers["X-Nomad-Index"] = str(index)
    if known_leader:
        response.headers["X-Nomad-Knownleader"] = "true"
        response.headers["X-Nomad-Lastcontact"] = "0"
    return response


def refusal(error: refusals.RefusalError) -> flask.Response:
    """Return one sentence as plain text."""
    return flask.Response(error.message, error.status, content_type="text/plain; charset=utf-8")


def missing(what: str) -> flask.Response:
    """Return ``404 <what> not found`` with the headers of a query."""
    response = refusal(refusals.RefusalError(refusals.NOT_FOUND, f"{what} not found"))
    return _with_index(response, 0, known_leader=True)


def body() -> Json:
    """Return the JSON object of the request. Raises `RefusalError` with Go's words."""
    text = flask.request.get_data(as_text=True)
    if not text:
        raise refusals.RefusalError(refusals.BAD_REQUEST, "Request body is empty")
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        at = text[error.pos : error.pos + 1]
        words = f"invalid character '{at}' looking for beginning of value" if at else "unexpected EOF"
        raise refusals.RefusalError(refusals.BAD_REQUEST, words) from error
    if not isinstance(found, dict):
        raise refusals.RefusalError(refusals.BAD_REQUEST, "json: cannot unmarshal into Go value of type struct")
    return found


def namespace() -> str:
    """Return the namespace of the request; ``*`` means all."""
    return flask.request.args.get("namespace") or "default"


def token() -> str:
    """Return the token of the request."""
    bearer = flask.request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    return flask.request.headers.get("X-Nomad-Token") or bearer


def rights() -> acl_rules.Rights:
    """Return what the token of the request grants."""
    found: acl_rules.Rights = flask.g.rights
    return found


def flag(name: str) -> bool:
    """Return a boolean of the query, such as ``purge``."""
    return flask.request.args.get(name, "").lower() in {"1", "t", "true"}


_GO_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_GO_FALSE = frozenset({"", "0", "f", "F", "FALSE", "false", "False"})


def go_bool(text: str, *, refused: str) -> bool:
    """Return *text* as Go's ``strconv.ParseBool`` reads it, nothing as false. Raises `RefusalError` with *refused*."""
    if text not in _GO_TRUE | _GO_FALSE:
        raise refusals.RefusalError(refusals.BAD_REQUEST, refused)
    return text in _GO_TRUE
