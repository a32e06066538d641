"""The options of ``nomad-csi csi``, and what those of one command become in its request."""

import functools
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, options, usage
from nomad_csi.csi import capability, channel, rpc
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.spec import draft

# What the options of ``nomad-csi csi`` say, as fields of CSI's requests.


MODES: Mapping[str, str] = capability.MODES | {
    name.lower().replace("_", "-"): name for name in csi_pb2.VolumeCapability.AccessMode.Mode.keys()[1:]
}
"""CSI's name of an access mode by Nomad's; the modes that only CSI has, written alike."""

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
    """Return the bytes of ``1073741824`` or ``10GiB``; decimal units are refused, as few storage makes such sizes."""
    found = _SIZE.fullmatch(given.strip())
    if found is None or found[2] not in UNITS or not 0 < int(found[1]) * UNITS[found[2]] <= _LARGEST:
        units = ", ".join(filter(None, UNITS))
        raise usage.wrong(f"bytes, or a number with {units}, such as 10GiB", given)
    return int(found[1]) * UNITS[found[2]]


@command.Typed
def whole(given: str) -> int:
    """Return a whole number above 0."""
    if not given.isascii() or not given.isdigit() or not 0 < int(given) < 2**31:
        raise usage.wrong("a whole number above 0", given)
    return int(given)


def document(arguments: command.Arguments, fields: Mapping[str, Any], secrets: Mapping[str, str]) -> rpc.Document:
    """
    Return the request: the file of ``--request``, with *fields* and *secrets* over it where they are given.

    Raises `errors.SpecError` for a file that is no mapping.
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


def field(declared: str, text: str, name: str = "", **settings: Any) -> Add:
    """Return what adds an option for the field *name* of a request, with dots; empty: that of the option's name."""
    own = declared.partition(" ")[0].removeprefix("--").replace("-", "_")
    return command.option(declared, text, field=name or own, **settings)


def pairs(name: str, text: str, of_request: str) -> Add:
    """Return what adds an option for ``KEY=VALUE`` that may be repeated."""
    return field(f"--{name} KEY=VALUE", text, of_request, type=options.pair, multiple=True)


def place(name: str, text: str, of_request: str, **settings: Any) -> Add:
    """Return what adds an option for a topology."""
    return field(f"--{name} KEY=VALUE[,...]", text, of_request, type=topology, **settings)


VOLUME = field("--volume-id ID", "the storage provider's id of the volume (Nomad: external id)")
SNAPSHOT = field("--snapshot-id ID", "the storage provider's id of the snapshot")
USES = field(
    "--capability USE",
    "MODE,file-system[,FS_TYPE[,FLAG...]] or MODE,block-device",
    "volume_capabilities",
    type=use,
    multiple=True,
)
USE = field("--capability USE", "how it is used", "volume_capability", type=use)
PARAMETERS = pairs("parameter", "parameter of the plugin", "parameters")
MUTABLE = pairs("mutable-parameter", "parameter that may change later", "mutable_parameters")
CONTEXT = pairs("context", "context of the volume, as the plugin made it", "volume_context")
REQUIRED = field(
    "--required-size SIZE",
    "at least this large: bytes, or 10GiB",
    "capacity_range.required_bytes",
    type=size,
)
LIMIT = field("--limit-size SIZE", "at most this large", "capacity_range.limit_bytes", type=size)
NAME = field("--name NAME", "the same name means the same volume or snapshot")
NODE_ID = field("--node-id ID", "what the node plugin calls its machine, see `node info`")
SOURCE = field("--source-volume-id ID", "the volume that snapshots are of")
MOUNTED = (
    field("--volume-path PATH", "where it is mounted, as the plugin sees it"),
    field("--staging-target-path PATH", "where it is staged"),
)
LIST = (
    field("--max-entries N", "entries of one page at most", type=whole),
    field("--starting-token TOKEN", "begin where an earlier page ended"),
    command.option("--one-page", "ask for one page only, and print its next_token"),
)
SOURCES = (
    field(
        "--from-snapshot ID",
        "fill it from this snapshot",
        "volume_content_source.snapshot.snapshot_id",
        without={"from_volume": ""},
    ),
    field("--from-volume ID", "fill it from this volume", "volume_content_source.volume.volume_id"),
)
"""One of them may say what a volume is filled from."""
PLACES = (
    place("required-topology", "a place where it may be", "accessibility_requirements.requisite", multiple=True),
    place("preferred-topology", "a place to try first", "accessibility_requirements.preferred", multiple=True),
)


def fields(arguments: command.Arguments) -> dict[str, Any]:
    """Return the fields of the request that the options of the command that runs say; what is empty is not sent."""
    found: dict[str, Any] = {}
    for each in click.get_current_context().command.params:
        value = getattr(arguments, each.name or "", None)
        if isinstance(each, command.Option) and each.field and value:
            *above, last = each.field.split(".")
            inner = functools.reduce(lambda outer, name: outer.setdefault(name, {}), above, found)
            inner[last] = dict(value) if each.type is options.pair else value
    return found
