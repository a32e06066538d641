"""``nomad-csi snapshot``: create, list and delete."""

import argparse
import datetime as dt
import json
import sys
from collections.abc import Iterable

from nomad_csi import errors
from nomad_csi.cli.common import confirm, documents, inputs, waits
from nomad_csi.deletion import volume_snapshots
from nomad_csi.nomad import snapshots
from nomad_csi.text import table

WIDTH = 120
GIB = 2**30


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    steps = parser.add_subparsers(metavar="STEP", required=True)
    _configure_create(steps.add_parser("create", help="make a snapshot of a volume"))
    _configure_list(steps.add_parser("list", help="show the snapshots of a volume, or all that a plugin knows"))
    _configure_delete(steps.add_parser("delete", help="delete snapshots with the data that only they hold"))


def _configure_create(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("volume", type=inputs.volume_key, metavar="NAMESPACE/ID", help="a registered volume")
    text = "its name: the same name means the same snapshot (default: the volume's id and the time)"
    parser.add_argument("--name", default="", help=text)
    text = "what the driver makes it by; may be repeated"
    parser.add_argument("--parameter", type=_pair, action="append", default=[], metavar="KEY=VALUE", help=text)
    documents.add_secrets(parser)
    waits.add(parser, "timeout", " until a volume can be made from it", default=0.0)
    _add_common(parser)
    parser.set_defaults(run=create)


def _configure_list(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("volume", type=inputs.volume_key, nargs="?", metavar="NAMESPACE/ID", help="a registered volume")
    which.add_argument("--plugin", default="", metavar="ID", help="all snapshots of this plugin")
    _add_common(parser)
    parser.set_defaults(run=show)


def _configure_delete(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("snapshots", nargs="+", metavar="SNAPSHOT_ID", help="the storage provider's ids")
    parser.add_argument("--plugin", required=True, metavar="ID", help="the plugin that made them")
    text = "the user's word: this snapshot may go; otherwise its id is to be typed. May be repeated"
    parser.add_argument("--yes-delete-data", action="append", default=[], metavar="SNAPSHOT_ID", help=text)
    _add_common(parser)
    parser.set_defaults(run=delete)


def _add_common(parser: argparse.ArgumentParser) -> None:
    inputs.add_nomad(parser)
    parser.add_argument("--json", action="store_true", help="print data as JSON")


def _pair(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, got {given!r}")
    return name, value


def create(arguments: argparse.Namespace) -> int:
    """Make a snapshot. Exit code 1: it is not ready yet."""
    namespace, volume_id = arguments.volume
    wanted = snapshots.NewSnapshot(
        namespace=namespace,
        volume_id=volume_id,
        name=arguments.name or f"{volume_id}-{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%SZ}",
        parameters=dict(arguments.parameter),
        secrets=documents.secrets(arguments.secrets).get(f"{namespace}/{volume_id}", {}),
    )
    with inputs.connect(arguments) as nomad:
        made = volume_snapshots.create(nomad, wanted, wait_s=arguments.timeout_s, tell=_told)
    _print([made], as_json=arguments.json)
    return 0 if made.is_ready else errors.EXIT_CHANGES


def show(arguments: argparse.Namespace) -> int:
    """List."""
    with inputs.connect(arguments) as nomad:
        if arguments.volume:
            found = volume_snapshots.of_volume(nomad, *arguments.volume)
        else:
            found = volume_snapshots.of_plugin(nomad, arguments.plugin)
    _print(found, as_json=arguments.json)
    return 0


def delete(arguments: argparse.Namespace) -> int:
    """Ask for the word for each, and only then delete."""
    words = {item: _word(item, arguments.yes_delete_data) for item in dict.fromkeys(arguments.snapshots)}
    for item, word in words.items():
        volume_snapshots.refuse_without_word(item, word)
    with inputs.connect(arguments) as nomad:
        for item, word in words.items():
            volume_snapshots.delete(nomad, arguments.plugin, item, word=word)
            if not arguments.json:
                print(f"{item}  deleted")
    if arguments.json:
        print(json.dumps({"deleted": list(words)}, indent=2))
    return 0


def _word(snapshot_id: str, given: Iterable[str]) -> str:
    question = (
        f"delete removes snapshot {snapshot_id} with the data that only it holds; no volume can be made from it then."
    )
    return snapshot_id if snapshot_id in given else confirm.typed(question, f"type {snapshot_id} to delete it")


def _told(line: str) -> None:
    print(line, file=sys.stderr)


def _print(found: Iterable[snapshots.Snapshot], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"snapshots": [item.as_json() for item in found]}, indent=2, ensure_ascii=False))
        return
    rows = [
        (
            item.snapshot_id,
            item.external_id,
            f"{item.size_bytes / GIB:g} GiB" if item.size_bytes else "-",
            f"{item.created:%Y-%m-%d %H:%M:%S}",
            "ready" if item.is_ready else "not ready",
        )
        for item in found
    ]
    print(table.columns([("snapshot", "of storage", "size", "made (UTC)", "state"), *rows], WIDTH))
