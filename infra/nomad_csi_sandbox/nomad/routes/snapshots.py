"""``/v1/volumes/snapshot``. Part of the Nomad emulator."""

from typing import Any

import flask

from nomad_csi_sandbox.nomad import answers, refusals
from nomad_csi_sandbox.nomad import cluster as clusters
from nomad_csi_sandbox.nomad.storage import volume_snapshots, volumes

Json = dict[str, Any]

PATH = "/v1/volumes/snapshot"


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("snapshots", __name__)
    known = cluster.state

    @routes.route(PATH, methods=["PUT", "POST"])
    def create() -> flask.Response:
        made = volume_snapshots.create(known, _snapshots(answers.body()), answers.namespace())
        return answers.read(_meta() | {"Snapshots": made or None}, 0)

    @routes.get(PATH)
    def listed() -> flask.Response:
        query = flask.request.args
        per_page = query.get("per_page", default=0, type=int)
        found = volume_snapshots.page(
            known, query.get("plugin_id", ""), per_page, query.get("next_token", ""), _secrets()
        )
        return answers.read(_meta() | found, 0)

    @routes.delete(PATH)
    def delete() -> flask.Response:
        query = flask.request.args
        volume_snapshots.delete(known, query.get("plugin_id", ""), query.get("snapshot_id", ""), _secrets())
        return answers.forgotten(0)

    return routes


def _meta() -> Json:
    return {"Index": 0, "KnownLeader": True, "LastContact": 0, "NextToken": ""}


def _snapshots(body: Json) -> list[Json]:
    given = {name.lower(): value for name, value in body.items()}.get("snapshots") or []
    try:
        return volumes.of_objects(
            given, "CSISnapshotCreateRequest.Snapshots", "structs.CSISnapshot", "[]*structs.CSISnapshot"
        )
    except volumes.DecodeError as error:
        raise refusals.RefusalError(refusals.BAD_REQUEST, str(error)) from error


def _secrets() -> dict[str, str]:
    """Return the secrets of the header, as Nomad reads them: pairs behind each other, with commas between."""
    parts = flask.request.headers.get("X-Nomad-CSI-Secrets", "").split(",")
    return dict(part.split("=", 1) for part in parts if "=" in part)
