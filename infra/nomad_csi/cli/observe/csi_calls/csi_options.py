"""The options of ``nomad-csi csi``, and what those of one command become in its request."""

import functools
from typing import Any

import click

from nomad_csi.cli.common import command
from nomad_csi.cli.observe.csi_calls import csi_arguments

Add = command.Declare[Any]


def field(declared: str, text: str, name: str = "", **settings: Any) -> Add:
    """Return what adds an option for the field *name* of a request, with dots; empty: that of the option's name."""
    own = declared.partition(" ")[0].removeprefix("--").replace("-", "_")
    return command.option(declared, text, field=name or own, **settings)


def pairs(name: str, text: str, of_request: str) -> Add:
    """Return what adds an option for ``KEY=VALUE`` that may be repeated."""
    return field(f"--{name} KEY=VALUE", text, of_request, type=csi_arguments.pair, multiple=True)


def place(name: str, text: str, of_request: str, **settings: Any) -> Add:
    """Return what adds an option for a topology."""
    return field(f"--{name} KEY=VALUE[,...]", text, of_request, type=csi_arguments.topology, **settings)


VOLUME = field("--volume-id ID", "the storage provider's id of the volume (Nomad: external id)")
SNAPSHOT = field("--snapshot-id ID", "the storage provider's id of the snapshot")
USES = field(
    "--capability USE",
    "MODE,file-system[,FS_TYPE[,FLAG...]] or MODE,block-device",
    "volume_capabilities",
    type=csi_arguments.use,
    multiple=True,
)
USE = field("--capability USE", "how it is used", "volume_capability", type=csi_arguments.use)
PARAMETERS = pairs("parameter", "parameter of the plugin", "parameters")
MUTABLE = pairs("mutable-parameter", "parameter that may change later", "mutable_parameters")
CONTEXT = pairs("context", "context of the volume, as the plugin made it", "volume_context")
REQUIRED = field(
    "--required-size SIZE",
    "at least this large: bytes, or 10GiB",
    "capacity_range.required_bytes",
    type=csi_arguments.size,
)
LIMIT = field("--limit-size SIZE", "at most this large", "capacity_range.limit_bytes", type=csi_arguments.size)
NAME = field("--name NAME", "the same name means the same volume or snapshot")
NODE_ID = field("--node-id ID", "what the node plugin calls its machine, see `node info`")
SOURCE = field("--source-volume-id ID", "the volume that snapshots are of")
MOUNTED = (
    field("--volume-path PATH", "where it is mounted, as the plugin sees it"),
    field("--staging-target-path PATH", "where it is staged"),
)
LIST = (
    field("--max-entries N", "entries of one page at most", type=csi_arguments.whole),
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
            inner[last] = dict(value) if each.type is csi_arguments.pair else value
    return found
