"""
``/v1/var``: Nomad variables, which templates of tasks read. Kept in clear, in memory. Part of the stand-in for Nomad.

Source: hashicorp/nomad, ``command/agent/variable_endpoint.go``, 2026-08-21.
"""

from typing import Any

import flask

from nomad_csi_sandbox.nomad import answers, clock, refusals
from nomad_csi_sandbox.nomad import cluster as clusters

Json = dict[str, Any]

TABLE = "variables"


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("variables", __name__)
    known = cluster.state

    @routes.route("/v1/var/<path:path>", methods=["PUT", "POST"])
    def write(path: str) -> flask.Response:
        body = answers.body()
        items = body.get("Items")
        if not items:
            raise refusals.RefusalError(refusals.BAD_REQUEST, "variable missing required Items object")
        with known.lock:
            key = (answers.namespace(), path)
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
        with known.lock:
            variable = known.variables.get((answers.namespace(), path))
            return answers.missing("variable") if variable is None else answers.read(variable, known.table_index[TABLE])

    @routes.delete("/v1/var/<path:path>")
    def forget(path: str) -> flask.Response:
        with known.lock:
            known.variables.pop((answers.namespace(), path), None)
            response = answers.empty(204)
            response.headers["X-Nomad-Index"] = str(known.commit(TABLE))
            return response

    return routes
