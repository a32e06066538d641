"""
The commands of ``nomad-csi csi``: the RPC of each, its options, and how they form a request.

Intentionally missing: staging and publishing on a node. They mount, and Nomad does not unmount what it did not mount;
undoing them removes the file system from under a task. A job that claims the volume verifies real mounts. Deleting
volumes and snapshots has guards that a bare RPC lacks: the commands of that name print which command to use.
"""

import functools
import re
import sys
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, options, usage
from nomad_csi.csi import capability, channel, rpc
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.spec import draft

# The commands.


_PUBLISH = (
    "This attaches the volume to the node behind Nomad's back: Nomad neither knows of it nor detaches it, and may fail "
    "to attach the volume elsewhere."
)
_CREATE = (
    "This makes storage that the provider may bill, and that neither Nomad nor a stack knows: only you can remove it."
)
_UNPUBLISH = (
    "This detaches the volume from the node, whatever still uses it there: a task that writes to it loses its disk. "
    "Check first with `nomad-csi claims`; `nomad-csi claims repair` does it in steps that check."
)
_DELETE_VOLUME = (
    "a bare DeleteVolume would not see who uses the storage; `nomad-csi remove NAMESPACE/ID --delete-data "
    "--endpoint ENDPOINT` has the plugin do it, after a check of claims and registrations, with a last snapshot and "
    "your confirmation"
)
_DELETE_SNAPSHOT = "use `nomad-csi snapshot delete SNAPSHOT_ID --plugin ID`, which asks for confirmation"


@dataclass(frozen=True, kw_only=True)
class RpcCommand:
    """One command."""

    name: str
    """Name of the RPC."""

    summary: str
    instead: str = ""
    """Why the RPC is not called this way, and what to use; empty: it is called."""

    question: str = ""
    """Confirmation before the call; empty: none."""

    @property
    def called(self) -> rpc.Rpc:
        """The RPC."""
        return rpc.RPCS[self.name]

    @property
    def is_list(self) -> bool:
        """Whether the response is paged."""
        return "starting_token" in self.called.fields

    def judged(self, reply: rpc.Document) -> tuple[rpc.Document, bool]:
        """Return the response as it is printed, and whether it is positive; a negative one is exit code 1."""
        if self.name == "Probe":  # an absent `ready` means ready; `stated` records whether the plugin sent the field
            is_ready = reply.get("ready", True)
            return {"ready": is_ready, "stated": "ready" in reply}, is_ready
        return reply, self.name != "ValidateVolumeCapabilities" or "confirmed" in reply


SERVICES: Mapping[str, Mapping[str, RpcCommand]] = {
    "identity": {
        "info": RpcCommand(name="GetPluginInfo", summary="The plugin's name and version"),
        "capabilities": RpcCommand(
            name="GetPluginCapabilities", summary="What the plugin can do as a whole, in every role"
        ),
        "probe": RpcCommand(
            name="Probe",
            summary="Whether the plugin is ready; an absent `ready` means that it is",
        ),
    },
    "controller": {
        "delete": RpcCommand(
            name="DeleteVolume",
            summary="Say how volumes are deleted",
            instead=_DELETE_VOLUME,
        ),
        "capabilities": RpcCommand(name="ControllerGetCapabilities", summary="What the controller can do"),
        "create": RpcCommand(
            name="CreateVolume",
            summary="Make a volume, unknown to Nomad until it is registered; the same name makes no second one; "
            "asks first",
            question=_CREATE,
        ),
        "validate": RpcCommand(
            name="ValidateVolumeCapabilities",
            summary="Whether a volume exists and can be used so; exit code 1: it cannot",
        ),
        "list": RpcCommand(name="ListVolumes", summary="All volumes that the plugin knows, page after page"),
        "get": RpcCommand(name="ControllerGetVolume", summary="One volume: its nodes and its condition"),
        "expand": RpcCommand(
            name="ControllerExpandVolume",
            summary="Make a volume larger; its file system follows on the node where node_expansion_required is true",
        ),
        "modify": RpcCommand(name="ControllerModifyVolume", summary="Change parameters of a volume that may change"),
        "capacity": RpcCommand(name="GetCapacity", summary="How much room there is for new volumes"),
        "publish": RpcCommand(
            name="ControllerPublishVolume",
            summary="Attach a volume to a node, behind Nomad's back; asks first",
            question=_PUBLISH,
        ),
        "unpublish": RpcCommand(
            name="ControllerUnpublishVolume",
            summary="Detach a volume from a node, whatever uses it there; asks first",
            question=_UNPUBLISH,
        ),
    },
    "snapshot": {
        "delete": RpcCommand(
            name="DeleteSnapshot",
            summary="Say how snapshots are deleted",
            instead=_DELETE_SNAPSHOT,
        ),
        "create": RpcCommand(
            name="CreateSnapshot", summary="Make a snapshot of a volume; the same name makes no second one"
        ),
        "list": RpcCommand(name="ListSnapshots", summary="All snapshots that the plugin knows, page after page"),
        "get": RpcCommand(name="GetSnapshot", summary="One snapshot"),
    },
    "node": {
        "info": RpcCommand(name="NodeGetInfo", summary="The machine's id, its place and how many volumes fit"),
        "capabilities": RpcCommand(name="NodeGetCapabilities", summary="What the node plugin can do"),
        "stats": RpcCommand(name="NodeGetVolumeStats", summary="How full a mounted volume is"),
        "expand": RpcCommand(
            name="NodeExpandVolume", summary="Make the file system of a mounted volume as large as the volume"
        ),
    },
}
"""The subcommands of each command."""

SUMMARIES: Mapping[str, str] = {
    "identity": "who the plugin is and whether it is ready",
    "controller": "volumes, as the storage provider has them",
    "snapshot": "snapshots of volumes",
    "node": "one machine and what is mounted on it",
}


# The options of ``nomad-csi csi`` as fields of CSI's requests.


MODES: Mapping[str, str] = capability.MODES | {
    name.lower().replace("_", "-"): name for name in csi_pb2.VolumeCapability.AccessMode.Mode.keys()[1:]
}
"""CSI's name of an access mode by Nomad's; modes that only CSI has keep their name."""

ATTACHMENTS: Mapping[str, str] = {
    "file-system": "mount",
    "mount": "mount",
    "block-device": "block",
    "block": "block",
}
UNITS: Mapping[str, int] = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}

_SIZE = re.compile(r"(\d{1,19})\s*([A-Za-z]*)")
_LARGEST = 2**63 - 1


@command.Typed
def use(given: str) -> dict[str, Any]:
    """Return the capability of ``MODE,ATTACHMENT[,FS_TYPE[,MOUNT_FLAG...]]``."""
    mode, _, rest = given.partition(",")
    kind, *more = rest.split(",")
    mode = mode.strip().lower().replace("_", "-")
    attachment = ATTACHMENTS.get(kind.strip().lower(), "")
    if mode not in MODES or not attachment or (attachment == "block" and more):
        form = "MODE,file-system[,FS_TYPE[,MOUNT_FLAG...]] or MODE,block-device"
        raise usage.wrong(f"{form} with a mode of {', '.join(MODES)}", given)
    mounted = {"fs_type": more[0], "mount_flags": more[1:]} if more else {}
    return {"access_mode": {"mode": MODES[mode]}, attachment: mounted}


@command.Typed
def topology(given: str) -> dict[str, Any]:
    """Return the topology of ``KEY=VALUE[,KEY=VALUE...]``."""
    return {"segments": dict(options.pair(part) for part in given.split(","))}


@command.Typed
def size(given: str) -> int:
    """Return the bytes of ``1073741824`` or ``10GiB``; decimal units are refused, as few storage has such sizes."""
    found = _SIZE.fullmatch(given.strip())
    if found is None or found[2] not in UNITS or not 0 < int(found[1]) * UNITS[found[2]] <= _LARGEST:
        units = ", ".join(filter(None, UNITS))
        raise usage.wrong(f"bytes, or a number with {units}, such as 10GiB", given)
    return int(found[1]) * UNITS[found[2]]


@command.Typed
def whole(given: str) -> int:
    """Return an integer above 0."""
    if not given.isascii() or not given.isdigit() or not 0 < int(given) < 2**31:
        raise usage.wrong("a whole number above 0", given)
    return int(given)


def document(arguments: command.Arguments, fields: Mapping[str, Any], secrets: Mapping[str, str]) -> rpc.Document:
    """
    Return the request: the file of ``--request``, overridden by *fields* and *secrets* if they are given.

    Raises `errors.SpecError` for a file that is not a mapping.
    """
    base = {} if arguments.request is None else _read(arguments.request)
    made = {**base, **fields}
    if secrets:
        before = made.get(channel.SECRETS)
        made[channel.SECRETS] = {**(before if isinstance(before, Mapping) else {}), **secrets}
    return made


def _read(path: Path) -> rpc.Document:
    text = sys.stdin.read() if str(path) == "-" else inputs.text(path)
    found = draft.read_yaml(text, str(path))
    if not isinstance(found, Mapping):
        problem = errors.Problem(path="", got=type(found).__name__, allowed="a mapping of CSI's field names")
        raise errors.SpecError((problem,), str(path))
    return dict(found)


# From options to a request.


Add = command.Declare[Any]


def _field(path: str, declared: str, text: str, **settings: Any) -> tuple[str, Add]:
    """Return the field of requests at the dotted *path*, and a function that adds an option for it."""
    return path, command.option(declared, text, field=path, **settings)


_pairs = functools.partial(_field, type=options.pair, multiple=True)
_places = functools.partial(_field, type=topology, multiple=True)

FIELDS: tuple[tuple[str, Add], ...] = (
    _field("max_entries", "--max-entries N", "entries of one page at most", type=whole),
    _field("starting_token", "--starting-token TOKEN", "begin where an earlier page ended"),
    ("starting_token", command.option("--one-page", "ask for one page only, and print its next_token")),
    _field("snapshot_id", "--snapshot-id ID", "the storage provider's id of the snapshot"),
    _field("source_volume_id", "--source-volume-id ID", "the volume that snapshots are of"),
    _field("name", "--name NAME", "the same name means the same volume or snapshot"),
    _field("volume_id", "--volume-id ID", "the storage provider's id of the volume (Nomad: external id)"),
    _field("node_id", "--node-id ID", "what the node plugin calls its machine, see `node info`"),
    _field(
        "volume_capabilities",
        "--capability USE",
        "MODE,file-system[,FS_TYPE[,FLAG...]] or MODE,block-device",
        type=use,
        multiple=True,
    ),
    _field("capacity_range.required_bytes", "--required-size SIZE", "at least this large: bytes, or 10GiB", type=size),
    _field("capacity_range.limit_bytes", "--limit-size SIZE", "at most this large", type=size),
    _field("volume_capability", "--capability USE", "how it is used", type=use),
    _pairs("volume_context", "--context KEY=VALUE", "context of the volume, as the plugin made it"),
    _field("readonly", "--read-only", "attach it read-only"),
    _pairs("parameters", "--parameter KEY=VALUE", "parameter of the plugin"),
    _pairs("mutable_parameters", "--mutable-parameter KEY=VALUE", "parameter that may change later"),
    _field(
        "volume_content_source.snapshot.snapshot_id",
        "--from-snapshot ID",
        "fill it from this snapshot",
        without={"from_volume": ""},
    ),
    _field("volume_content_source.volume.volume_id", "--from-volume ID", "fill it from this volume"),
    _places("accessibility_requirements.requisite", "--required-topology KEY=VALUE[,...]", "a place where it may be"),
    _places("accessibility_requirements.preferred", "--preferred-topology KEY=VALUE[,...]", "a place to try first"),
    _field("accessible_topology", "--topology KEY=VALUE[,...]", "the place that is meant", type=topology),
    _field("volume_path", "--volume-path PATH", "where it is mounted, as the plugin sees it"),
    _field("staging_target_path", "--staging-target-path PATH", "where it is staged"),
)
"""Fields of requests and their options, in the order of the help; each RPC has those of its request."""


def options_of(names: Container[str]) -> Add:
    """Return a function that adds the options for the fields with *names*."""
    return command.together(*(add for path, add in FIELDS if path.partition(".")[0] in names))


def fields(arguments: command.Arguments) -> dict[str, Any]:
    """Return the request fields from the options of the current command; empty ones are not sent."""
    found: dict[str, Any] = {}
    for each in click.get_current_context().command.params:
        value = getattr(arguments, each.name or "", None)
        if isinstance(each, command.Option) and each.field and value:
            *above, last = each.field.split(".")
            inner = functools.reduce(lambda outer, name: outer.setdefault(name, {}), above, found)
            inner[last] = dict(value) if each.type is options.pair else value
    return found
