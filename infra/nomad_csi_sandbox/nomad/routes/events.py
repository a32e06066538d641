"""
``/v1/event/stream``. Part of the Nomad emulator.

It says that something of a topic changed, and when; a real agent says what, and looks at the keys behind a topic too.
Source: hashicorp/nomad, ``command/agent/event_endpoint.go``, ``nomad/stream/ndjson.go``, 2026-08-21.
"""

import functools
import json
from collections.abc import Iterable, Iterator, Mapping

import flask

from nomad_csi_sandbox.nomad import cluster as clusters
from nomad_csi_sandbox.nomad import state

TABLES = {
    "Allocation": "allocs",
    "CSIPlugin": "csi_plugins",
    "CSIVolume": "csi_volumes",
    "Job": "jobs",
    "Node": "nodes",
}
"""Topic -> table."""

HEARTBEAT_S = 10.0
HEARTBEAT = b"{}\n"
END_POLL_S = 0.2
"""How late the end of the emulator is noticed."""


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("events", __name__)

    @routes.get("/v1/event/stream")
    def stream() -> flask.Response:
        asked = {topic.partition(":")[0] for topic in flask.request.args.getlist("topic")} or {"*"}
        topics = sorted(TABLES if "*" in asked else asked & set(TABLES))
        return flask.Response(_lines(cluster, topics), mimetype="application/json")

    return routes


def _lines(cluster: clusters.Cluster, topics: Iterable[str]) -> Iterator[bytes]:
    known = cluster.state
    seen = _indexes(known, topics)
    yield HEARTBEAT
    silent_s = 0.0
    while not cluster.is_closed:
        before = seen
        known.wait_for(functools.partial(_has_moved, known, before), END_POLL_S)
        seen = _indexes(known, topics)
        moved = {topic: index for topic, index in seen.items() if index > before[topic]}
        silent_s = 0.0 if moved or silent_s >= HEARTBEAT_S else silent_s + END_POLL_S
        if moved:
            events = [{"Topic": topic, "Index": index, "Key": "", "Payload": None} for topic, index in moved.items()]
            yield json.dumps({"Index": max(moved.values()), "Events": events}).encode() + b"\n"
        elif not silent_s:
            yield HEARTBEAT


def _indexes(known: state.State, topics: Iterable[str]) -> dict[str, int]:
    with known.lock:
        return {topic: known.table_index[TABLES[topic]] for topic in topics}


def _has_moved(known: state.State, before: Mapping[str, int]) -> bool:
    return any(known.table_index[TABLES[topic]] > index for topic, index in before.items())
