"""The HTTP side of the Nomad emulator: routes, tokens, the log of requests."""

import flask
from werkzeug import exceptions

from nomad_csi_sandbox.nomad import answers, refusals
from nomad_csi_sandbox.nomad import cluster as clusters
from nomad_csi_sandbox.nomad.acl import rights
from nomad_csi_sandbox.nomad.routes import acl, agent, files, jobs, sandbox, storage, variables

OPEN_PATHS = frozenset({"/v1/agent/health", "/v1/status/leader"})
"""What needs no token. Measured on Nomad 2.0.6-dev."""

_METHOD_NOT_ALLOWED = 405


def create_app(cluster: clusters.Cluster) -> flask.Flask:
    """Return the WSGI application that serves *cluster*."""
    app = flask.Flask(__name__)
    for module in (acl, agent, jobs, files, storage, variables, sandbox):
        app.register_blueprint(module.blueprint(cluster))
    app.register_error_handler(refusals.RefusalError, answers.refusal)
    app.register_error_handler(exceptions.MethodNotAllowed, _method_not_allowed)
    app.register_error_handler(exceptions.NotFound, _not_found)

    @app.before_request
    def note_and_authorize() -> None:
        _note(cluster)
        granted = cluster.acl.rights(answers.token())
        if flask.request.path in OPEN_PATHS:
            return
        if granted is None:
            raise refusals.RefusalError(refusals.FORBIDDEN, "Permission denied")
        flask.g.rights = granted
        rights.refuse(granted, _call(cluster))

    return app


def _call(cluster: clusters.Cluster) -> rights.Call:
    found = cluster.state.allocs.get((flask.request.view_args or {}).get("alloc_id", ""))
    return rights.Call(
        words=f"{flask.request.method} {flask.request.path}",
        namespace=answers.namespace(),
        of_allocation=str(found.job["Namespace"]) if found else "",
        is_purge=answers.flag("purge"),
    )


def _note(cluster: clusters.Cluster) -> None:
    request = flask.request
    if not request.path.startswith("/v1/sandbox/"):
        query = {name: value for name, value in request.args.items() if name != "token"}
        cluster.requests.append({"method": request.method, "path": request.path, "query": query})


def _method_not_allowed(_: Exception) -> flask.Response:
    return answers.refusal(refusals.RefusalError(_METHOD_NOT_ALLOWED, "Invalid method"))


def _not_found(_: Exception) -> flask.Response:
    return answers.empty(refusals.NOT_FOUND)
