"""``nomad-csi remove``."""

import functools
import json

from nomad_csi import errors, exit_codes
from nomad_csi.aws import records as aws_records
from nomad_csi.cli.common import command, documents, inputs, output, specs
from nomad_csi.cli.common import options as shared_options
from nomad_csi.jobs import apply as apply_jobs
from nomad_csi.pulumi_state import deletion_state
from nomad_csi.volumes import deletion, deletion_proof, deregistration, outcome

FORCE = (
    "--force deregisters volumes together with the claims on them. It does not unmount them, does not detach "
    "them from their instances, and does not touch their data; what still runs there can go on writing. Nomad refuses "
    "it for a volume that an allocation holds which has not ended."
)

QUESTION = (
    "this deregisters {key} and then deletes its storage with all data on it. Storage that is in use is not deleted, "
    "and nothing that this package did not make."
)

NEXT = (
    "next: remove {volumes} from the stack or spec that declares it, and where Pulumi made the storage run "
    "`pulumi refresh`; else the next `pulumi up`, or `nomad-csi apply`, makes a new, empty volume"
)

SECTION = "with the data"

ACCEPTED = {
    "unregistered": "nothing shows that --external-id is this cluster's",
    "unguarded": "the storage does not refuse to delete what is in use",
}
"""Risks that ``--accept`` takes."""

_of_data = functools.partial(command.option, section=SECTION, needs=("delete_data",))


@command.command()
@command.argument(
    "volumes [VOLUME...]",
    "volume or namespace/volume to deregister",
    **inputs.VOLUME,
)
@command.option(
    "--job JOB",
    "stop and purge this plugin job; may be repeated",
    "jobs",
    **inputs.VOLUME,
    multiple=True,
    without=("delete_data",),
)
@specs.aws_options
@shared_options.duration("timeout", " for claims to go, and for EC2 to detach", default_s=0.0)
@documents.owner("act for this owner; with the data: the one that tags or owner record name")
@command.option("--adopt", "deregister volumes that belong to another stack, too", without=("delete_data",))
@command.option(
    "--force",
    "deregister what is still claimed after that; asks first",
    without=("delete_data",),
)
@shared_options.dry_run(without=("force",))
@shared_options.yes
@command.option(
    "--forget STORAGE",
    "give up the storage that the owner record of one volume keeps",
    without=("delete_data", "force", "jobs"),
)
@command.option("--delete-data", "then delete the storage with its data: only what nomad-csi created")
@_of_data(
    "--confirm VOLUME",
    "instead of typing its name; may be repeated",
    **inputs.VOLUME,
    multiple=True,
)
@_of_data("--endpoint ENDPOINT", "the controller at this CSI socket deletes (default: AWS does)")
@documents.volume_secrets(section=SECTION, needs=("delete_data",))
@_of_data("--external-id ID", "of one volume that is not registered, or whose tags do not name this cluster")
@_of_data("--made-by PLUGIN", "with --endpoint: plugin of volumes that are not registered")
@_of_data("--state FILE", "`pulumi stack export`, as proof; may be repeated", multiple=True)
@_of_data(
    f"--accept {'|'.join(ACCEPTED)}", "; ".join(f"{name}: {text}" for name, text in ACCEPTED.items()), multiple=True
)
@_of_data("--skip-final-snapshot", "take no last snapshot of the data before it goes")
@shared_options.duration(
    "snapshot-timeout", default_s=deletion_proof.SNAPSHOT_WAIT_S, section=SECTION, needs=("delete_data",)
)
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Deregister, with ``--delete-data`` delete, and print the outcome of each volume."""
    if not arguments.volumes and not arguments.jobs:
        raise command.usage("VOLUME", got="nothing", allowed="a volume, or --job JOB")
    documents.resolve(arguments, specs.discover_quietly())
    if arguments.forget:
        return _forget(arguments)
    return _delete(arguments) if arguments.delete_data else _deregister(arguments)


def _deregister(arguments: command.Arguments) -> int:
    if arguments.force and not shared_options.agreed(FORCE, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was deregistered")
    stopped = ", ".join(map("/".join, arguments.jobs))
    question = f"this stops and purges {stopped}: nothing can mount volumes of a plugin that does not run"
    is_asked = bool(arguments.jobs) and not arguments.dry_run
    if is_asked and not shared_options.agreed(question, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was stopped")
    with inputs.connect(arguments) as client:
        region = specs.aws_region(arguments, client, arguments.volumes)
        options = deregistration.DeregistrationOptions(
            wait_s=arguments.timeout_s,
            is_forced=arguments.force,
            is_dry_run=arguments.dry_run,
            aws_region=region.name,
            requester=documents.requester(arguments),
        )
        outcomes = deregistration.deregister(client, arguments.volumes, options, report=output.print_progress)
        freed = [(item.namespace, item.volume_id) for item in outcomes if item.status == "free"]
        for key in arguments.jobs:
            apply_jobs.stop(client, key, options.requester, is_dry_run=arguments.dry_run, without=freed)
            would = "would be " if arguments.dry_run else ""
            output.print_progress(f"job {'/'.join(key)}: {would}stopped and purged")
    has_ebs = any(aws_records.is_ebs(item.external_id) for item in outcomes)
    note = f"; not known whether they are detached in EC2: {region.reason}" if has_ebs and region.reason else ""
    lines = [outcome.as_text(outcomes, deregistration.DeregistrationOutcome, note=note)]
    lines += [_next(item) for item in outcomes if item.status == "deregistered" and item.external_id]
    shown = {"volumes": [item.as_json() for item in outcomes], "asked_ec2": has_ebs and not region.reason}
    shown |= {"jobs": ["/".join(key) for key in arguments.jobs]} if arguments.jobs else {}
    output.show(arguments, shown, "\n".join(lines))
    is_unknown = any(item.status == "gone" for item in outcomes)
    return outcome.exit_code(outcomes) or (exit_codes.CHANGES if is_unknown else 0)


def _forget(arguments: command.Arguments) -> int:
    """Give up the storage that the owner record of a volume keeps, so that its id may get other storage."""
    if len(arguments.volumes) != 1:
        raise command.usage("--forget", got=str(len(arguments.volumes)), allowed="one VOLUME")
    [key] = arguments.volumes
    with inputs.connect(arguments) as client:
        kept = deregistration.give_up_storage(
            client, key, arguments.forget, documents.requester(arguments), is_dry_run=arguments.dry_run
        )
    name, would = "/".join(key), "would be " if arguments.dry_run else ""
    left = f"{name}: storage {kept} {would}given up; it stays where it is, and the id may get other storage"
    output.show(arguments, {"volume": name, "given_up": kept}, left)
    return 0


def _next(item: deregistration.DeregistrationOutcome) -> str:
    """Return where the storage of a deregistered volume is, and how it is used again."""
    if item.is_created:
        again = "`nomad-csi apply` registers it again, `nomad-csi remove --delete-data` deletes it"
    else:
        again = f"to register it again: existing: {{external_id: {json.dumps(item.external_id)}}}"
    return f"{item.key}: storage {item.external_id} stays; {again}"


def _delete(arguments: command.Arguments) -> int:
    """Confirm each volume, and then delete all."""
    keys = tuple(dict.fromkeys(arguments.volumes))
    for key in arguments.confirm:
        if key not in keys:
            raise command.usage("--confirm", got="/".join(key), allowed="one of the volumes named")
    if arguments.external_id and len(keys) > 1:
        raise command.usage("--external-id", got=f"{len(keys)} volumes", allowed="one volume with it")
    created: dict[str, deletion_proof.MadeStorage] = {}
    for path in arguments.state:
        created = deletion_state.merge(created, deletion_state.created_storage(inputs.text(path), str(path)), str(path))
    given = documents.given_secrets(arguments.secrets)
    with inputs.connect(arguments) as client:
        region = specs.aws_region(arguments, client, keys)
        options = deletion_proof.DeletionOptions(
            wait_s=arguments.timeout_s,
            aws_region=region.name,
            endpoint=arguments.endpoint,
            secrets={key: given[key] for key in map("/".join, keys) if key in given},
            with_snapshot=not arguments.skip_final_snapshot,
            snapshot_wait_s=arguments.snapshot_timeout_s,
            owner=arguments.owner,
            created=created,
            accepts_unguarded="unguarded" in arguments.accept,
            accepts_unregistered="unregistered" in arguments.accept,
            is_dry_run=arguments.dry_run,
            report=output.print_progress,
        )
        orders = [
            deletion_proof.DeletionRequest(
                namespace=namespace,
                volume_id=volume_id,
                confirmation=_confirmation(f"{namespace}/{volume_id}", arguments),
                external_id=arguments.external_id,
                plugin_id=arguments.made_by,
            )
            for namespace, volume_id in keys
        ]
        outcomes = deletion.delete(client, orders, options)
    text = outcome.as_text(outcomes, deletion_proof.DeletionOutcome)
    if deleted := ", ".join(item.key for item in outcomes if item.status == "deleted"):
        text += f"\n{NEXT.format(volumes=deleted)}"
    output.show(arguments, {"volumes": [item.as_json() for item in outcomes]}, text)
    return outcome.exit_code(outcomes)


def _confirmation(key: str, arguments: command.Arguments) -> str:
    """Return the user's confirmation of *key*: given as an option, or typed. A dry run needs none."""
    is_given = arguments.dry_run or key in map("/".join, arguments.confirm)
    return key if is_given else shared_options.typed(QUESTION.format(key=key), f"type {key} to delete its data")
