"""``nomad-csi snapshot``: create, list and delete."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping

from nomad_csi import exit_codes
from nomad_csi.cli.common import command, documents, inputs, options, output
from nomad_csi.nomad import snapshots
from nomad_csi.text import listing, table
from nomad_csi.volumes import deletion_proof, volume_snapshots

run = command.Group()
REGISTERED = "a registered volume, or namespace/volume"


@run.command("create", help="Create a snapshot of a volume.")
@command.argument("volume VOLUME", REGISTERED, **inputs.VOLUME)
@command.option(
    "--name NAME", "its name: the same name means the same snapshot (default: the volume's id and the time)"
)
@command.option("--parameter KEY=VALUE", "passed to the driver; may be repeated", type=options.pair, multiple=True)
@documents.volume_secrets()
@options.duration("timeout", " until a volume can be created from it", default_s=0.0)
@options.dry_run()
@command.as_json()
@inputs.nomad_connection
def create(arguments: command.Arguments) -> int:
    """Create a snapshot. Exit code 1: it is not ready yet."""
    namespace, volume_id = arguments.volume
    wanted = snapshots.NewSnapshot(
        namespace=namespace,
        volume_id=volume_id,
        name=arguments.name or f"{volume_id}-{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%SZ}",
        parameters=dict(arguments.parameter),
        secrets=documents.given_secrets(arguments.secrets).get(f"{namespace}/{volume_id}", {}),
    )
    with inputs.connect(arguments) as nomad:
        if arguments.dry_run:
            volume = volume_snapshots.registered(nomad, namespace, volume_id)
            step = f"create snapshot {wanted.name} of {namespace}/{volume_id}, storage {volume.external_id}"
            return options.show_preview(arguments, [f"{step}, by plugin {volume.plugin_id}"])
        snapshot = volume_snapshots.create(nomad, wanted, wait_s=arguments.timeout_s, report=output.print_progress)
    _print([snapshot], as_json=arguments.json)
    return 0 if snapshot.is_ready else exit_codes.CHANGES


@run.command("list", help="Show the snapshots of a volume, or all that a plugin knows.")
@command.argument("volume [VOLUME]", REGISTERED, **inputs.VOLUME)
@command.option("--plugin ID", "all snapshots of this plugin")
@command.as_json()
@inputs.nomad_connection
def show(arguments: command.Arguments) -> int:
    """List the snapshots."""
    command.choose("volume", "plugin")
    with inputs.connect(arguments) as nomad:
        if arguments.volume:
            snapshot_list = volume_snapshots.list_of_volume(nomad, *arguments.volume)
        else:
            snapshot_list = volume_snapshots.list_of_plugin(nomad, arguments.plugin)
    _print(snapshot_list, as_json=arguments.json)
    return 0


@run.command("delete", help="Delete snapshots with the data that only they hold.")
@command.argument("snapshots SNAPSHOT_ID...", "the storage provider's ids")
@command.option("--made-by PLUGIN", "the plugin that created them", required=True)
@command.option(
    "--confirm SNAPSHOT_ID",
    "instead of typing its id; may be repeated",
    multiple=True,
)
@command.option(
    "--external-id ID",
    "storage that they were made of, where no volume or owner record here has it; may be repeated",
    multiple=True,
)
@options.dry_run()
@command.as_json()
@inputs.nomad_connection
def delete(arguments: command.Arguments) -> int:
    """Confirm each snapshot, and then delete all."""
    if arguments.dry_run:
        with inputs.connect(arguments) as nomad:
            known = volume_snapshots.refuse_unproven(
                nomad, arguments.made_by, arguments.snapshots, arguments.external_id
            )
        return options.show_preview(arguments, list(_deletions(arguments.snapshots, known)))
    words = {item: _confirmation(item, arguments.confirm) for item in dict.fromkeys(arguments.snapshots)}
    for item, confirmation in words.items():
        deletion_proof.refuse_unconfirmed(item, confirmation)
    with inputs.connect(arguments) as nomad:
        volume_snapshots.refuse_unproven(nomad, arguments.made_by, words, arguments.external_id)
        for item, confirmation in words.items():
            volume_snapshots.delete(nomad, arguments.made_by, item, confirmation=confirmation)
            if not arguments.json:
                print(f"{item}  deleted")
    if arguments.json:
        output.print_json({"deleted": list(words)})
    return 0


def _deletions(wanted: Iterable[str], known: Mapping[str, snapshots.Snapshot] | None) -> Iterator[str]:
    """Yield what would be done to each of the *wanted* snapshots; *known*: the plugin's; ``None``: it lists none."""
    for snapshot_id in dict.fromkeys(wanted):
        if known and snapshot_id in known:
            snapshot = known[snapshot_id]
            created = f"{snapshot.created:%Y-%m-%d %H:%M} UTC"
            yield f"delete snapshot {snapshot_id} of storage {snapshot.external_id}, created {created}"
        else:
            unknown = "cannot list snapshots" if known is None else "knows no such snapshot"
            yield f"delete snapshot {snapshot_id}, if it exists: the plugin {unknown}"


def _confirmation(snapshot_id: str, given: Iterable[str]) -> str:
    question = (
        f"delete removes snapshot {snapshot_id} with the data that only it holds; no volume can be made from it then."
    )
    return snapshot_id if snapshot_id in given else options.typed(question, f"type {snapshot_id} to delete it")


def _print(snapshot_list: Iterable[snapshots.Snapshot], *, as_json: bool) -> None:
    if as_json:
        output.print_json({"snapshots": [item.as_json() for item in snapshot_list]})
        return
    rows = [
        (
            item.snapshot_id,
            item.external_id,
            listing.size(item.size_bytes) if item.size_bytes else "-",
            f"{item.created:%Y-%m-%d %H:%M:%S}",
            "ready" if item.is_ready else "not ready",
        )
        for item in snapshot_list
    ]
    print(table.columns([("snapshot", "of storage", "size", "created (UTC)", "state"), *rows]))
