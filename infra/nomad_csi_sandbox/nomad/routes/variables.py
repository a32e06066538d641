"""
``/v1/var`` and ``/v1/vars``: Nomad variables, which templates of tasks read. Part of the Nomad emulator.

They are kept in clear, in memory.

Source: hashicorp/nomad, ``command/agent/variable_endpoint.go``, ``nomad/variables_endpoint.go``,
``nomad/structs/variables.go`` (``ValidatePath``) and ``nomad/state/state_store_variables.go``, 2026-08-21.
"""

import re
from collections.abc import Mapping
from typing import Any

import flask

from nomad_csi_sandbox.nomad import answers, clock, refusals, state
from nomad_csi_sandbox.nomad import cluster as clusters

Json = dict[str, Any]

TABLE = "variables"
MOST_BYTES = 65_536

_CONFLICT = 409
_PATH = re.compile(r"[a-zA-Z0-9_~/-]{1,128}")


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("variables", __name__)
    known = cluster.state

    @routes.route("/v1/var/<path:path>", methods=["PUT", "POST"])
    def write(path: str) -> flask.Response:
        items = answers.body().get("Items")
        if not items:
            raise refusals.RefusalError(refusals.BAD_REQUEST, "variable missing required Items object")
        asked = _asked_index()
        _check_right(path, "write")
        _check(path, items)
        with known.lock:
            key = (answers.namespace(), path)
            if (conflict := _conflict(cluster, key, asked)) is not None:
                return conflict
            index, now = known.commit(TABLE), clock.now_ns()
            old = known.variables.get(key, {"CreateIndex": index, "CreateTime": now})
            created = {name: old[name] for name in ("CreateIndex", "CreateTime")}
            variable = {
                "Items": dict(items),
                "ModifyIndex": index,
                "ModifyTime": now,
                "Namespace": key[0],
                "Path": path,
            }
            known.variables[key] = created | variable
            return answers.written(known.variables[key], index)

    @routes.get("/v1/var/<path:path>")
    def read(path: str) -> flask.Response:
        _check_right(path, "read")
        with known.lock:
            variable = known.variables.get((answers.namespace(), path))
            return answers.missing("variable") if variable is None else answers.read(variable, known.table_index[TABLE])

    @routes.delete("/v1/var/<path:path>")
    def forget(path: str) -> flask.Response:
        asked = _asked_index()
        _check_right(path, "destroy")
        with known.lock:
            key = (answers.namespace(), path)
            if (conflict := _conflict(cluster, key, asked)) is not None:
                return conflict
            known.variables.pop(key, None)
            response = answers.empty(204)
            response.headers["X-Nomad-Index"] = str(known.commit(TABLE))
            return response

    @routes.get("/v1/vars")
    def list_all() -> flask.Response:
        """Answer without the items, and without what the token may not list: it is not refused."""
        namespace, prefix, rights = answers.namespace(), flask.request.args.get("prefix", ""), answers.rights()
        with known.lock:
            found = [
                {name: value for name, value in variable.items() if name != "Items"}
                for (of, path), variable in sorted(known.variables.items())
                if namespace in {of, "*"} and path.startswith(prefix) and rights.allows_variable(of, path, "list")
            ]
            return answers.read(found, known.table_index[TABLE])

    return routes


def _asked_index() -> int | None:
    """Return the index of the variable that the call is about; null: of any."""
    text = flask.request.args.get("cas", "")
    if not text:
        return None
    if not text.isdecimal():
        words = f'can not parse cas: strconv.ParseUint: parsing "{text}": invalid syntax'
        raise refusals.RefusalError(refusals.BAD_REQUEST, words)
    return int(text)


def _check_right(path: str, right: str) -> None:
    if not answers.rights().allows_variable(answers.namespace(), path, right):
        raise refusals.RefusalError(refusals.FORBIDDEN, "Permission denied")


def _check(path: str, items: Mapping[str, str]) -> None:
    if not _PATH.fullmatch(path):
        raise refusals.RefusalError(refusals.BAD_REQUEST, f'RPC Error:: 400,invalid path "{path}"')
    if sum(len(text.encode()) for item in items.items() for text in item) > MOST_BYTES:
        words = "RPC Error:: 400,variables are limited to 64KiB in total size"
        raise refusals.RefusalError(refusals.BAD_REQUEST, words)


def _conflict(cluster: clusters.Cluster, key: state.Key, asked: int | None) -> flask.Response | None:
    """Return the answer to a change of a variable that is not as it was at *asked*; null where it is."""
    found = cluster.state.variables.get(key)
    index = found["ModifyIndex"] if found else 0
    if asked is None or asked == index:
        return None
    empty = {"CreateIndex": 0, "CreateTime": 0, "ModifyIndex": 0, "ModifyTime": 0, "Namespace": key[0], "Path": key[1]}
    shown = dict(found or empty)
    if not answers.rights().allows_variable(*key, "read"):
        shown.pop("Items", None)
    response = answers.written(shown, index)
    response.status_code = _CONFLICT
    response.content_type = "text/plain; charset=utf-8"  # JSON all the same, as in Nomad
    return response
