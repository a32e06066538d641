"""The options of ``nomad-csi csi``, and what those of one command become in its request."""

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi.cli.csi_calls import csi_arguments

Add = Callable[[argparse.ArgumentParser], None]


def option(name: str, help_text: str, **more: Any) -> Add:
    """Return what adds the option ``--name``."""
    return lambda parser: _add(parser, f"--{name}", help=help_text, **more)


def _add(parser: argparse.ArgumentParser, name: str, **more: Any) -> None:
    parser.add_argument(name, **more)


def many(name: str, help_text: str, kind: Callable[[str], Any], metavar: str) -> Add:
    """Return what adds an option that may be repeated."""
    return option(name, help_text, action="append", default=[], type=kind, metavar=metavar)


VOLUME = option("volume-id", "the storage provider's id of the volume (Nomad: external id)", metavar="ID")
SNAPSHOT = option("snapshot-id", "the storage provider's id of the snapshot", metavar="ID")
USES = many("capability", "MODE,file-system[,FS_TYPE[,FLAG...]] or MODE,block-device", csi_arguments.use, "USE")
USE = option("capability", "how it is used", type=csi_arguments.use, metavar="USE")
PARAMETERS = many("parameter", "parameter of the plugin", csi_arguments.pair, "KEY=VALUE")
MUTABLE = many("mutable-parameter", "parameter that may change later", csi_arguments.pair, "KEY=VALUE")
CONTEXT = many("context", "context of the volume, as the plugin made it", csi_arguments.pair, "KEY=VALUE")
REQUIRED = option("required-size", "at least this large: bytes, or 10GiB", type=csi_arguments.size, metavar="SIZE")
LIMIT = option("limit-size", "at most this large", type=csi_arguments.size, metavar="SIZE")
NODE_ID = option("node-id", "what the node plugin calls its machine, see `node info`", metavar="ID")
MAX = option("max-entries", "entries of one page at most", type=csi_arguments.whole, metavar="N")
TOKEN = option("starting-token", "begin where an earlier page ended", metavar="TOKEN")
ONE_PAGE = option("one-page", "ask for one page only, and print its next_token", action="store_true")
LIST = (MAX, TOKEN, ONE_PAGE)


def size_range(given: argparse.Namespace) -> Mapping[str, Any]:
    """Return CSI's capacity range, with the ends that are given."""
    ends = {"required_bytes": given.required_size, "limit_bytes": given.limit_size}
    return {name: value for name, value in ends.items() if value}


def list_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    """Return what a list is asked by."""
    return {"max_entries": given.max_entries, "starting_token": given.starting_token}


def create_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    """Return what a volume is made by."""
    places = {"requisite": given.required_topology, "preferred": given.preferred_topology}
    source: Mapping[str, Any] = {}
    if given.from_snapshot:
        source = {"snapshot": {"snapshot_id": given.from_snapshot}}
    elif given.from_volume:
        source = {"volume": {"volume_id": given.from_volume}}
    return {
        "name": given.name,
        "capacity_range": size_range(given),
        "volume_capabilities": given.capability,
        "parameters": dict(given.parameter),
        "mutable_parameters": dict(given.mutable_parameter),
        "accessibility_requirements": {name: value for name, value in places.items() if value},
        "volume_content_source": source,
    }


def sources(parser: argparse.ArgumentParser) -> None:
    """Add the two options of which one may say what a volume is filled from."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--from-snapshot", metavar="ID", help="fill it from this snapshot")
    either.add_argument("--from-volume", metavar="ID", help="fill it from this volume")


def expand_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    """Return what a volume is made larger by."""
    return {"volume_id": given.volume_id, "capacity_range": size_range(given), "volume_capability": given.capability}


def publish_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    """Return what a volume is attached by."""
    return {
        "volume_id": given.volume_id,
        "node_id": given.node_id,
        "volume_capability": given.capability,
        "readonly": given.read_only,
        "volume_context": dict(given.context),
    }


def capacity_fields(given: argparse.Namespace) -> Mapping[str, Any]:
    """Return what room is asked for."""
    return {
        "volume_capabilities": given.capability,
        "parameters": dict(given.parameter),
        "accessible_topology": given.topology,
    }
