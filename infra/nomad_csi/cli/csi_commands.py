"""
The commands of ``nomad-csi csi``: which RPC each calls, what it takes, and how that becomes a request.

Not here, on purpose: staging and publishing on a node. They mount, and what Nomad did not mount it does not unmount;
undoing them takes the file system from under a task. What mounts really do, a job that claims the volume proves.
Deleting volumes and snapshots has guards that a bare RPC has not: the commands of that name say which to use.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.cli import csi_arguments
from nomad_csi.csi import rpc as wire

Add = Callable[[argparse.ArgumentParser], None]
Fields = Callable[[argparse.Namespace], Mapping[str, Any]]

_PUBLISH = (
    "This attaches the volume to the node behind Nomad's back: Nomad neither knows of it nor detaches it, and may fail "
    "to attach the volume elsewhere."
)
_UNPUBLISH = (
    "This detaches the volume from the node, whatever still uses it there: a task that writes to it loses its disk. "
    "Look first with `nomad-csi claims`; `nomad-csi claims --repair` does it in steps that check."
)


_DELETE_VOLUME = (
    "a bare DeleteVolume would not see who uses the storage; `nomad-csi delete NAMESPACE/ID --endpoint ENDPOINT` has "
    "the plugin do it, after a look at claims and registrations, with a last snapshot and on your word"
)
_DELETE_SNAPSHOT = "use `nomad-csi snapshot delete SNAPSHOT_ID --plugin ID`, which asks for your word"


def _as_it_is(reply: wire.Document) -> wire.Document:
    return reply


def _readiness(reply: wire.Document) -> wire.Document:
    """Return the answer to Probe with what its absence means: ``stated`` tells whether the plugin said so itself."""
    return {"ready": reply.get("ready", True), "stated": "ready" in reply}


def _always(_: wire.Document) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command."""

    rpc: wire.Rpc
    summary: str
    arguments: tuple[Add, ...] = ()
    fields: Fields = lambda _: {}
    """The request's fields from the arguments; what is empty is not sent."""

    is_list: bool = False
    """Whether the answer comes in pages."""

    instead: str = ""
    """Why the RPC is not called like this, and what to use; empty: it is called."""

    question: str = ""
    """What is asked before the call; empty: nothing is."""

    shown: Callable[[wire.Document], wire.Document] = _as_it_is
    """The answer as it is printed."""

    is_good: Callable[[wire.Document], bool] = _always
    """Whether an answer is a yes; a no is exit code 1."""


def _option(name: str, help_text: str, **more: Any) -> Add:
    return lambda parser: _add(parser, f"--{name}", help=help_text, **more)


def _add(parser: argparse.ArgumentParser, name: str, **more: Any) -> None:
    parser.add_argument(name, **more)


def _many(name: str, help_text: str, kind: Callable[[str], Any], metavar: str) -> Add:
    return _option(name, help_text, action="append", default=[], type=kind, metavar=metavar)


_VOLUME = _option("volume-id", "the storage provider's id of the volume (Nomad: external id)", metavar="ID")
_SNAPSHOT = _option("snapshot-id", "the storage provider's id of the snapshot", metavar="ID")
_USES = _many("capability", "MODE,file-system[,FS_TYPE[,FLAG...]] or MODE,block-device", csi_arguments.use, "USE")
_USE = _option("capability", "how it is used", type=csi_arguments.use, metavar="USE")
_PARAMETERS = _many("parameter", "parameter of the plugin", csi_arguments.pair, "KEY=VALUE")
_MUTABLE = _many("mutable-parameter", "parameter that may change later", csi_arguments.pair, "KEY=VALUE")
_CONTEXT = _many("context", "context of the volume, as the plugin made it", csi_arguments.pair, "KEY=VALUE")
_REQUIRED = _option("required-size", "at least this large: bytes, or 10GiB", type=csi_arguments.size, metavar="SIZE")
_LIMIT = _option("limit-size", "at most this large", type=csi_arguments.size, metavar="SIZE")
_NODE_ID = _option("node-id", "what the node plugin calls its machine, see `node info`", metavar="ID")
_MAX = _option("max-entries", "entries of one page at most", type=csi_arguments.whole, metavar="N")
_TOKEN = _option("starting-token", "begin where an earlier page ended", metavar="TOKEN")
_ONE_PAGE = _option("one-page", "ask for one page only, and print its next_token", action="store_true")
_LIST = (_MAX, _TOKEN, _ONE_PAGE)


def _range(given: argparse.Namespace) -> Mapping[str, Any]:
    ends = {"required_bytes": given.required_size, "limit_bytes": given.limit_size}
    return {name: value for name, value in ends.items() if value}


def _list_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    return {"max_entries": given.max_entries, "starting_token": given.starting_token}


def _create_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    places = {"requisite": given.required_topology, "preferred": given.preferred_topology}
    source: Mapping[str, Any] = {}
    if given.from_snapshot:
        source = {"snapshot": {"snapshot_id": given.from_snapshot}}
    elif given.from_volume:
        source = {"volume": {"volume_id": given.from_volume}}
    return {
        "name": given.name,
        "capacity_range": _range(given),
        "volume_capabilities": given.capability,
        "parameters": dict(given.parameter),
        "mutable_parameters": dict(given.mutable_parameter),
        "accessibility_requirements": {name: value for name, value in places.items() if value},
        "volume_content_source": source,
    }


def _sources(parser: argparse.ArgumentParser) -> None:
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--from-snapshot", metavar="ID", help="fill it from this snapshot")
    either.add_argument("--from-volume", metavar="ID", help="fill it from this volume")


def _expand_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    return {"volume_id": given.volume_id, "capacity_range": _range(given), "volume_capability": given.capability}


def _publish_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    return {
        "volume_id": given.volume_id,
        "node_id": given.node_id,
        "volume_capability": given.capability,
        "readonly": given.read_only,
        "volume_context": dict(given.context),
    }


def _capacity_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    return {
        "volume_capabilities": given.capability,
        "parameters": dict(given.parameter),
        "accessible_topology": given.topology,
    }


IDENTITY: Mapping[str, Command] = {
    "info": Command(rpc=wire.RPCS["GetPluginInfo"], summary="The plugin's name and version"),
    "capabilities": Command(
        rpc=wire.RPCS["GetPluginCapabilities"], summary="What the plugin can do as a whole, in every role"
    ),
    "probe": Command(
        rpc=wire.RPCS["Probe"],
        summary="Whether the plugin is ready; an absent `ready` means that it is",
        shown=_readiness,
        is_good=lambda reply: bool(reply["ready"]),
    ),
}
CONTROLLER: Mapping[str, Command] = {
    "delete": Command(
        rpc=wire.RPCS["DeleteVolume"],
        summary="Say how volumes are deleted",
        instead=_DELETE_VOLUME,
        arguments=(_VOLUME,),
    ),
    "capabilities": Command(rpc=wire.RPCS["ControllerGetCapabilities"], summary="What the controller can do"),
    "create": Command(
        rpc=wire.RPCS["CreateVolume"],
        summary="Make a volume, which Nomad does not know until it is registered; the same name makes no second one",
        arguments=(
            _option("name", "the same name means the same volume", metavar="NAME"),
            *(_USES, _REQUIRED, _LIMIT, _PARAMETERS, _MUTABLE, _sources),
            _many("required-topology", "a place where it may be", csi_arguments.topology, "KEY=VALUE[,...]"),
            _many("preferred-topology", "a place to try first", csi_arguments.topology, "KEY=VALUE[,...]"),
        ),
        fields=_create_fields,
    ),
    "validate": Command(
        rpc=wire.RPCS["ValidateVolumeCapabilities"],
        summary="Whether a volume exists and can be used so; exit code 1: it cannot",
        arguments=(_VOLUME, _USES, _CONTEXT, _PARAMETERS),
        fields=lambda given: {
            "volume_id": given.volume_id,
            "volume_capabilities": given.capability,
            "volume_context": dict(given.context),
            "parameters": dict(given.parameter),
        },
        is_good=lambda reply: "confirmed" in reply,
    ),
    "list": Command(
        rpc=wire.RPCS["ListVolumes"],
        summary="All volumes that the plugin knows, page after page",
        arguments=_LIST,
        fields=_list_fields,
        is_list=True,
    ),
    "get": Command(
        rpc=wire.RPCS["ControllerGetVolume"],
        summary="One volume: its nodes and its condition",
        arguments=(_VOLUME,),
        fields=lambda given: {"volume_id": given.volume_id},
    ),
    "expand": Command(
        rpc=wire.RPCS["ControllerExpandVolume"],
        summary="Make a volume larger; its file system follows on the node where node_expansion_required is true",
        arguments=(_VOLUME, _REQUIRED, _LIMIT, _USE),
        fields=_expand_fields,
    ),
    "modify": Command(
        rpc=wire.RPCS["ControllerModifyVolume"],
        summary="Change parameters of a volume that may change",
        arguments=(_VOLUME, _MUTABLE),
        fields=lambda given: {
            "volume_id": given.volume_id,
            "mutable_parameters": dict(given.mutable_parameter),
        },
    ),
    "capacity": Command(
        rpc=wire.RPCS["GetCapacity"],
        summary="How much room there is for new volumes",
        arguments=(
            *(_USES, _PARAMETERS),
            _option("topology", "the place that is meant", type=csi_arguments.topology, metavar="KEY=VALUE[,...]"),
        ),
        fields=_capacity_fields,
    ),
    "publish": Command(
        rpc=wire.RPCS["ControllerPublishVolume"],
        summary="Attach a volume to a node, behind Nomad's back; asks first",
        arguments=(
            *(_VOLUME, _NODE_ID, _USE, _CONTEXT),
            _option("read-only", "attach it read-only", action="store_true"),
        ),
        fields=_publish_fields,
        question=_PUBLISH,
    ),
    "unpublish": Command(
        rpc=wire.RPCS["ControllerUnpublishVolume"],
        summary="Detach a volume from a node, whatever uses it there; asks first",
        arguments=(_VOLUME, _NODE_ID),
        fields=lambda given: {"volume_id": given.volume_id, "node_id": given.node_id},
        question=_UNPUBLISH,
    ),
}
SNAPSHOT: Mapping[str, Command] = {
    "delete": Command(
        rpc=wire.RPCS["DeleteSnapshot"],
        summary="Say how snapshots are deleted",
        instead=_DELETE_SNAPSHOT,
        arguments=(_SNAPSHOT,),
    ),
    "create": Command(
        rpc=wire.RPCS["CreateSnapshot"],
        summary="Make a snapshot of a volume; the same name makes no second one",
        arguments=(
            _option("source-volume-id", "the volume", metavar="ID"),
            _option("name", "the same name means the same snapshot", metavar="NAME"),
            _PARAMETERS,
        ),
        fields=lambda given: {
            "source_volume_id": given.source_volume_id,
            "name": given.name,
            "parameters": dict(given.parameter),
        },
    ),
    "list": Command(
        rpc=wire.RPCS["ListSnapshots"],
        summary="All snapshots that the plugin knows, page after page",
        arguments=(*_LIST, _SNAPSHOT, _option("source-volume-id", "only those of this volume", metavar="ID")),
        fields=lambda given: {
            **_list_fields(given),
            "snapshot_id": given.snapshot_id,
            "source_volume_id": given.source_volume_id,
        },
        is_list=True,
    ),
    "get": Command(
        rpc=wire.RPCS["GetSnapshot"],
        summary="One snapshot",
        arguments=(_SNAPSHOT,),
        fields=lambda given: {"snapshot_id": given.snapshot_id},
    ),
}
NODE: Mapping[str, Command] = {
    "info": Command(rpc=wire.RPCS["NodeGetInfo"], summary="The machine's id, its place and how many volumes fit"),
    "capabilities": Command(rpc=wire.RPCS["NodeGetCapabilities"], summary="What the node plugin can do"),
    "stats": Command(
        rpc=wire.RPCS["NodeGetVolumeStats"],
        summary="How full a mounted volume is",
        arguments=(
            _VOLUME,
            _option("volume-path", "where it is mounted, as the plugin sees it", metavar="PATH"),
            _option("staging-target-path", "where it is staged", metavar="PATH"),
        ),
        fields=lambda given: {
            "volume_id": given.volume_id,
            "volume_path": given.volume_path,
            "staging_target_path": given.staging_target_path,
        },
    ),
    "expand": Command(
        rpc=wire.RPCS["NodeExpandVolume"],
        summary="Make the file system of a mounted volume as large as the volume",
        arguments=(
            *(_VOLUME, _REQUIRED, _LIMIT, _USE),
            _option("volume-path", "where it is mounted, as the plugin sees it", metavar="PATH"),
            _option("staging-target-path", "where it is staged", metavar="PATH"),
        ),
        fields=lambda given: {
            **_expand_fields(given),
            "volume_path": given.volume_path,
            "staging_target_path": given.staging_target_path,
        },
    ),
}
SERVICES: Mapping[str, Mapping[str, Command]] = {
    "identity": IDENTITY,
    "controller": CONTROLLER,
    "snapshot": SNAPSHOT,
    "node": NODE,
}
SUMMARIES: Mapping[str, str] = {
    "identity": "who the plugin is and whether it is ready",
    "controller": "volumes, as the storage provider has them",
    "snapshot": "snapshots of volumes",
    "node": "one machine and what is mounted on it",
}
