"""``/v1/client/fs/logs``: what tasks wrote. Part of the Nomad emulator."""

from pathlib import Path

import flask

from nomad_csi_sandbox.nomad import cluster as clusters
from nomad_csi_sandbox.nomad import refusals

_TYPES = ("stdout", "stderr")


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("files", __name__)

    @routes.get("/v1/client/fs/logs/<alloc_id>")
    def logs(alloc_id: str) -> flask.Response:
        query = flask.request.args
        _check(cluster, alloc_id)
        content = _content(cluster.settings.data_dir / "alloc" / alloc_id / "alloc" / "logs", query.get("task", ""))
        offset = query.get("offset", default=0, type=int)
        at_end = query.get("origin") == "end"
        part = content[max(len(content) - offset, 0) :] if at_end else content[offset:]
        return flask.Response(part, content_type="text/plain")

    return routes


def _check(cluster: clusters.Cluster, alloc_id: str) -> None:
    """Refuse as Nomad does; that what is not asked in plain text is streamed in frames stays unplayed."""
    query = flask.request.args
    if not query.get("task"):
        raise refusals.RefusalError(refusals.BAD_REQUEST, "must provide task name")
    if query.get("type") not in _TYPES:
        raise refusals.RefusalError(refusals.BAD_REQUEST, "must provide log type (stdout/stderr)")
    if query.get("plain") != "true" or "follow" in query:
        raise refusals.RefusalError(refusals.SERVER_ERROR, "the emulator answers plain text without follow only")
    with cluster.state.lock:
        found = cluster.state.allocs.get(alloc_id)
    if found is None:
        raise refusals.RefusalError(refusals.NOT_FOUND, f'Unknown allocation "{alloc_id}"')
    if query["task"] not in found.tasks:
        raise refusals.RefusalError(refusals.BAD_REQUEST, f'unknown task name "{query["task"]}"')


def _content(folder: Path, task: str) -> bytes:
    path = folder / f"{task}.{flask.request.args['type']}.0"
    return path.read_bytes() if path.exists() else b""
