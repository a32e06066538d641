"""
The commands of ``nomad-csi csi``: which RPC each calls, what it takes, and how that becomes a request.

Not here, on purpose: staging and publishing on a node. They mount, and what Nomad did not mount it does not unmount;
undoing them takes the file system from under a task. What mounts really do, a job that claims the volume verifies.
Deleting volumes and snapshots has guards that a bare RPC has not: the commands of that name say which to use.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from nomad_csi.cli.observe.csi_calls import csi_options
from nomad_csi.csi import rpc as wire

_PUBLISH = (
    "This attaches the volume to the node behind Nomad's back: Nomad neither knows of it nor detaches it, and may fail "
    "to attach the volume elsewhere."
)
_CREATE = (
    "This makes storage that the provider may bill, and that neither Nomad nor a stack knows: only you can remove it."
)
_UNPUBLISH = (
    "This detaches the volume from the node, whatever still uses it there: a task that writes to it loses its disk. "
    "Check first with `nomad-csi claims`; `nomad-csi claims --repair` does it in steps that check."
)
_DELETE_VOLUME = (
    "a bare DeleteVolume would not see who uses the storage; `nomad-csi delete NAMESPACE/ID --endpoint ENDPOINT` has "
    "the plugin do it, after a check of claims and registrations, with a last snapshot and your confirmation"
)
_DELETE_SNAPSHOT = "use `nomad-csi snapshot delete SNAPSHOT_ID --plugin ID`, which asks for confirmation"


def _as_it_is(reply: wire.Document) -> wire.Document:
    return reply


def _readiness(reply: wire.Document) -> wire.Document:
    """Return the answer to Probe with what its absence means: ``stated`` tells whether the plugin said so itself."""
    return {"ready": reply.get("ready", True), "stated": "ready" in reply}


def _always(_: wire.Document) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class RpcCommand:
    """One command."""

    rpc: wire.Rpc
    summary: str
    arguments: tuple[csi_options.Add, ...] = ()
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


IDENTITY: Mapping[str, RpcCommand] = {
    "info": RpcCommand(rpc=wire.RPCS["GetPluginInfo"], summary="The plugin's name and version"),
    "capabilities": RpcCommand(
        rpc=wire.RPCS["GetPluginCapabilities"], summary="What the plugin can do as a whole, in every role"
    ),
    "probe": RpcCommand(
        rpc=wire.RPCS["Probe"],
        summary="Whether the plugin is ready; an absent `ready` means that it is",
        shown=_readiness,
        is_good=lambda reply: bool(reply["ready"]),
    ),
}
CONTROLLER: Mapping[str, RpcCommand] = {
    "delete": RpcCommand(
        rpc=wire.RPCS["DeleteVolume"],
        summary="Say how volumes are deleted",
        instead=_DELETE_VOLUME,
        arguments=(csi_options.VOLUME,),
    ),
    "capabilities": RpcCommand(rpc=wire.RPCS["ControllerGetCapabilities"], summary="What the controller can do"),
    "create": RpcCommand(
        rpc=wire.RPCS["CreateVolume"],
        summary="Make a volume, unknown to Nomad until it is registered; the same name makes no second one; asks first",
        arguments=(
            *(csi_options.NAME, csi_options.USES, csi_options.REQUIRED, csi_options.LIMIT),
            *(csi_options.PARAMETERS, csi_options.MUTABLE, *csi_options.SOURCES, *csi_options.PLACES),
        ),
        question=_CREATE,
    ),
    "validate": RpcCommand(
        rpc=wire.RPCS["ValidateVolumeCapabilities"],
        summary="Whether a volume exists and can be used so; exit code 1: it cannot",
        arguments=(csi_options.VOLUME, csi_options.USES, csi_options.CONTEXT, csi_options.PARAMETERS),
        is_good=lambda reply: "confirmed" in reply,
    ),
    "list": RpcCommand(
        rpc=wire.RPCS["ListVolumes"],
        summary="All volumes that the plugin knows, page after page",
        arguments=csi_options.LIST,
        is_list=True,
    ),
    "get": RpcCommand(
        rpc=wire.RPCS["ControllerGetVolume"],
        summary="One volume: its nodes and its condition",
        arguments=(csi_options.VOLUME,),
    ),
    "expand": RpcCommand(
        rpc=wire.RPCS["ControllerExpandVolume"],
        summary="Make a volume larger; its file system follows on the node where node_expansion_required is true",
        arguments=(csi_options.VOLUME, csi_options.REQUIRED, csi_options.LIMIT, csi_options.USE),
    ),
    "modify": RpcCommand(
        rpc=wire.RPCS["ControllerModifyVolume"],
        summary="Change parameters of a volume that may change",
        arguments=(csi_options.VOLUME, csi_options.MUTABLE),
    ),
    "capacity": RpcCommand(
        rpc=wire.RPCS["GetCapacity"],
        summary="How much room there is for new volumes",
        arguments=(
            *(csi_options.USES, csi_options.PARAMETERS),
            csi_options.place("topology", "the place that is meant", "accessible_topology"),
        ),
    ),
    "publish": RpcCommand(
        rpc=wire.RPCS["ControllerPublishVolume"],
        summary="Attach a volume to a node, behind Nomad's back; asks first",
        arguments=(
            *(csi_options.VOLUME, csi_options.NODE_ID, csi_options.USE, csi_options.CONTEXT),
            csi_options.field("--read-only", "attach it read-only", "readonly"),
        ),
        question=_PUBLISH,
    ),
    "unpublish": RpcCommand(
        rpc=wire.RPCS["ControllerUnpublishVolume"],
        summary="Detach a volume from a node, whatever uses it there; asks first",
        arguments=(csi_options.VOLUME, csi_options.NODE_ID),
        question=_UNPUBLISH,
    ),
}
SNAPSHOT: Mapping[str, RpcCommand] = {
    "delete": RpcCommand(
        rpc=wire.RPCS["DeleteSnapshot"],
        summary="Say how snapshots are deleted",
        instead=_DELETE_SNAPSHOT,
        arguments=(csi_options.SNAPSHOT,),
    ),
    "create": RpcCommand(
        rpc=wire.RPCS["CreateSnapshot"],
        summary="Make a snapshot of a volume; the same name makes no second one",
        arguments=(csi_options.SOURCE, csi_options.NAME, csi_options.PARAMETERS),
    ),
    "list": RpcCommand(
        rpc=wire.RPCS["ListSnapshots"],
        summary="All snapshots that the plugin knows, page after page",
        arguments=(*csi_options.LIST, csi_options.SNAPSHOT, csi_options.SOURCE),
        is_list=True,
    ),
    "get": RpcCommand(
        rpc=wire.RPCS["GetSnapshot"],
        summary="One snapshot",
        arguments=(csi_options.SNAPSHOT,),
    ),
}
NODE: Mapping[str, RpcCommand] = {
    "info": RpcCommand(rpc=wire.RPCS["NodeGetInfo"], summary="The machine's id, its place and how many volumes fit"),
    "capabilities": RpcCommand(rpc=wire.RPCS["NodeGetCapabilities"], summary="What the node plugin can do"),
    "stats": RpcCommand(
        rpc=wire.RPCS["NodeGetVolumeStats"],
        summary="How full a mounted volume is",
        arguments=(csi_options.VOLUME, *csi_options.MOUNTED),
    ),
    "expand": RpcCommand(
        rpc=wire.RPCS["NodeExpandVolume"],
        summary="Make the file system of a mounted volume as large as the volume",
        arguments=(csi_options.VOLUME, csi_options.REQUIRED, csi_options.LIMIT, csi_options.USE, *csi_options.MOUNTED),
    ),
}
SERVICES: Mapping[str, Mapping[str, RpcCommand]] = {
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
