"""``/v1/plugins``, ``/v1/plugin``, ``/v1/volumes``, ``/v1/volume``. Part of the Nomad emulator."""

import re
from collections.abc import Callable
from typing import Any

import flask

from nomad_csi_sandbox.nomad import answers, refusals, state
from nomad_csi_sandbox.nomad import cluster as clusters
from nomad_csi_sandbox.nomad.acl import rights
from nomad_csi_sandbox.nomad.hcl import hcl_values
from nomad_csi_sandbox.nomad.routes import snapshots
from nomad_csi_sandbox.nomad.storage import plugins, volume_creation, volume_store, volumes

Json = dict[str, Any]

WRITE = ["PUT", "POST"]
DEFAULT_WAIT_NS = 300_000_000_000
"""How long a blocking query waits when it does not say; also the most."""

_CONTAINS = re.compile(r'ExternalID contains "([^"\\\\]*)"')
"""The one filter of volumes that is read here; tried on Nomad 2.0.6-dev, 2026-11."""


def blueprint(cluster: clusters.Cluster) -> flask.Blueprint:
    """Return the routes."""
    routes = flask.Blueprint("storage", __name__)
    _add_plugins(routes, cluster.state)
    _add_volume_reads(routes, cluster.state)
    _add_volume_changes(routes, cluster.state)
    _add_dangers(routes, cluster.state)
    routes.register_blueprint(snapshots.blueprint(cluster))
    return routes


def _without_type() -> flask.Response | None:
    """Return the answer to a list that names no type; null when it does."""
    return flask.jsonify([]) if flask.request.args.get("type") is None else None


def _is_csi() -> bool:
    return flask.request.args.get("type") == "csi"


def _wait(known: state.State, table: str) -> None:
    """Block as the query says: until the index of *table* has passed ``index``, at most ``wait``."""
    index = flask.request.args.get("index", default=0, type=int)
    if index > 0:
        asked_ns = hcl_values.duration(flask.request.args.get("wait") or DEFAULT_WAIT_NS) or DEFAULT_WAIT_NS
        known.wait_for(lambda: known.table_index[table] > index, min(asked_ns, DEFAULT_WAIT_NS) / 1e9)


def _add_plugins(routes: flask.Blueprint, known: state.State) -> None:
    @routes.get("/v1/plugins")
    def list_plugins() -> flask.Response:
        early = _without_type()
        if early is not None:
            return early
        if not _is_csi():
            return answers.empty()
        prefix = flask.request.args.get("prefix", "")
        _wait(known, plugins.TABLE)
        with known.lock:
            records = [known.plugins[name] for name in sorted(known.plugins) if name.startswith(prefix)]
            return answers.read([plugins.stub(known, record) for record in records], known.table_index[plugins.TABLE])

    @routes.get("/v1/plugin/csi/<path:plugin_id>")
    def get_plugin(plugin_id: str) -> flask.Response:
        _wait(known, plugins.TABLE)
        with known.lock:
            record = known.plugins.get(plugin_id)
            if record is None:
                return answers.missing("plugin")
            found = plugins.document(known, record, _is_shown)
            return answers.read(found, known.table_index[plugins.TABLE])


def _is_shown(namespace: str) -> bool:
    """Return whether the allocations in *namespace* are asked for, and may be read."""
    return answers.namespace() in {"*", namespace} and answers.rights().allows(namespace, "read-job")


def _add_volume_reads(routes: flask.Blueprint, known: state.State) -> None:
    @routes.get("/v1/volumes")
    def list_volumes() -> flask.Response:
        early = _without_type()
        if early is not None:
            return early
        if not _is_csi():
            raise refusals.RefusalError(refusals.NOT_FOUND, "resource not found")
        _wait(known, volume_store.TABLE)
        is_asked = _asked()
        with known.lock:
            records = [known.volumes[key] for key in sorted(known.volumes) if is_asked(known.volumes[key])]
            stubs = volume_store.stubs(known, records)
            return answers.read(stubs, known.table_index[volume_store.TABLE])

    @routes.get("/v1/volume/csi/<volume_id>")
    def get_volume(volume_id: str) -> flask.Response:
        _wait(known, volume_store.TABLE)
        with known.lock:
            record = known.volumes.get((answers.namespace(), volume_id))
            if record is None:
                return answers.missing("volume")
            return answers.read(volume_store.document(known, record), known.table_index[volume_store.TABLE])


def _asked() -> Callable[[state.VolumeRecord], bool]:
    """Return a function that returns whether a volume is asked for; reads the query once for all of them."""
    query, namespace = flask.request.args, answers.namespace()
    plugin_id, node_id = query.get("plugin_id", ""), query.get("node_id", "")
    prefix, expression = query.get("prefix", ""), query.get("filter", "")
    part = _CONTAINS.fullmatch(expression)
    if expression and part is None:
        sentence = f"failed to create result paginator: the emulator takes no {expression}"
        raise refusals.RefusalError(refusals.BAD_REQUEST, sentence)

    def is_asked(record: state.VolumeRecord) -> bool:
        return (
            namespace in {"*", record.spec["Namespace"]}
            and not (plugin_id and namespace == "*")  # measured: Nomad finds nothing then
            and plugin_id in {"", record.spec["PluginID"]}
            and record.spec["ID"].startswith(prefix)
            and (part is None or part[1] in record.spec["ExternalID"])
            and (not node_id or any(claim["NodeID"] == node_id for claim in record.claims.values()))
        )

    return is_asked


def _add_volume_changes(routes: flask.Blueprint, known: state.State) -> None:
    def register() -> flask.Response:
        items = _allowed(_volumes(answers.body(), "CSIVolumeRegisterRequest"))
        return _stored(*volume_store.register(known, items, answers.namespace()))

    @routes.route("/v1/volumes", methods=WRITE)
    def register_volumes() -> flask.Response:
        return register()

    @routes.put("/v1/volume/csi/<_volume_id>")
    def register_volume(_volume_id: str) -> flask.Response:
        return register()  # as in Nomad, the id of the path is not compared with those of the body

    @routes.put("/v1/volume/csi/<_volume_id>/create")
    def create(_volume_id: str) -> flask.Response:
        items = _allowed(_volumes(answers.body(), "CSIVolumeCreateRequest"))
        return _stored(*volume_creation.create(known, items, answers.namespace()))

    @routes.delete("/v1/volume/csi/<volume_id>")
    def deregister(volume_id: str) -> flask.Response:
        is_forced = answers.go_bool(flask.request.args.get("force", ""), refused="invalid force value")
        return answers.forgotten(volume_store.deregister(known, answers.namespace(), volume_id, is_forced=is_forced))


def _stored(index: int, shown: list[Json]) -> flask.Response:
    """Return the answer to a registration or a creation."""
    body = {"KnownLeader": True, "LastContact": 0, "NextToken": "", "Warnings": ""}
    return answers.read(body | {"Index": index, "Volumes": shown}, index)


def _volumes(body: Json, request: str) -> list[Json]:
    given = {name.lower(): value for name, value in body.items()}.get("volumes") or []
    try:
        return volumes.of_objects(given, f"{request}.Volumes", "structs.CSIVolume", "[]*structs.CSIVolume")
    except volumes.DecodeError as error:
        raise refusals.RefusalError(refusals.BAD_REQUEST, str(error)) from error


def _allowed(items: list[Json]) -> list[Json]:
    rights.refuse_volumes(answers.rights(), {item.get("Namespace") or answers.namespace() for item in items})
    return items


def _add_dangers(routes: flask.Blueprint, known: state.State) -> None:
    """What Nomad has, and no one here may use."""

    @routes.delete("/v1/volume/csi/<_volume_id>/delete")
    def delete(_volume_id: str) -> flask.Response:
        text = "this emulator refuses: Nomad would let the driver delete the data, and only then look who uses it"
        raise refusals.RefusalError(refusals.SERVER_ERROR, text)

    @routes.delete("/v1/volume/csi/<volume_id>/detach")
    def detach(volume_id: str) -> flask.Response:
        if not flask.request.args.get("node"):
            raise refusals.RefusalError(refusals.BAD_REQUEST, "detach requires node ID")
        with known.lock:
            if (answers.namespace(), volume_id) not in known.volumes:
                raise refusals.RefusalError(refusals.SERVER_ERROR, "no such volume")
        raise refusals.RefusalError(refusals.SERVER_ERROR, "Unknown allocation")
