"""``nomad-csi delete``."""

from collections.abc import Iterable, Mapping

from nomad_csi import errors
from nomad_csi.cli.common import command, documents, inputs, options, output, usage
from nomad_csi.compare import outcome
from nomad_csi.deletion import deletion
from nomad_csi.findings import printing
from nomad_csi.pulumi_state import deletion_state

QUESTION = (
    "delete deregisters {key} and then deletes its storage with all data on it. Storage that is in use is not deleted, "
    "and nothing that this package did not make."
)

NEXT = (
    "next: remove {volumes} from the stack or spec that declares it, and where Pulumi made the storage run "
    "`pulumi refresh`; else the next `pulumi up`, or `nomad-csi create`, makes a new, empty volume"
)


@command.command()
@command.argument("volumes VOLUME...", "volume or namespace/volume to delete", type=inputs.volume_key)
@command.option(
    "--yes-delete-data VOLUME",
    "confirm that this volume is deleted with its data; otherwise its name must be typed. May be repeated",
    type=inputs.volume_key,
    multiple=True,
)
@inputs.asked_aws_region
@command.option(
    "--endpoint ENDPOINT",
    "have the controller of the plugin at this CSI socket delete (default: AWS, for EBS volumes and access points)",
)
@documents.secrets_options()
@command.option(
    "--external-id ID",
    "the storage's id, for one volume: wanted where its tags do not name this cluster, or that does not hold it "
    "any more (default: what is registered, or found by its tag, or in --state)",
)
@command.option("--plugin ID", "plugin of volumes that are not registered any more, with --endpoint")
@command.option(
    "--state FILE",
    "output of `pulumi stack export`: proof of what a stack had plugins make. May be repeated",
    multiple=True,
)
@command.option(
    "--owner PROJECT/STACK", "the stack that the volume belongs to, where its tags or its owner record name one"
)
@command.option(
    "--accept-unregistered",
    "delete what --external-id names, although nothing shows it to be this cluster's; see that no other has it",
)
@command.option(
    "--accept-unguarded",
    "let a plugin delete whose storage does not refuse what is in use; make sure that it is not registered meanwhile",
)
@command.option("--skip-final-snapshot", "take no last snapshot of the data before it goes")
@options.seconds("snapshot-timeout", default=deletion.SNAPSHOT_WAIT_S)
@options.seconds("timeout", " for claims to go, and for EC2 to detach where it is asked", default=0.0)
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Confirm, delete, and print the outcome of each volume."""
    _check(arguments)
    options = _options(arguments)
    keys = tuple(dict.fromkeys(arguments.volumes))
    with inputs.connect(arguments) as client:
        with output.waiting("waiting for Nomad"):
            for key in keys:
                if key not in arguments.yes_delete_data:  # a name that would need a confirmation
                    deletion.refuse_set(client, *key)
        orders = [
            deletion.DeletionRequest(
                namespace=namespace,
                volume_id=volume_id,
                confirmation=_confirmation(f"{namespace}/{volume_id}", map("/".join, arguments.yes_delete_data)),
                external_id=arguments.external_id,
                plugin_id=arguments.plugin,
            )
            for namespace, volume_id in keys
        ]
        with output.waiting("waiting for Nomad"):
            outcomes = deletion.delete(client, orders, options)
    text = outcome.as_text(outcomes, deletion.DeletionOutcome)
    if deleted := ", ".join(item.key for item in outcomes if item.status == "deleted"):
        text += f"\n{printing.fitted(NEXT.format(volumes=deleted))}"
    output.show(arguments, {"volumes": [item.as_json() for item in outcomes]}, text)
    return outcome.exit_code(outcomes)


def _check(arguments: command.Arguments) -> None:
    """Raise `usage.UsageError` for arguments that conflict."""
    keys = {"/".join(key) for key in arguments.volumes}
    problems = [
        errors.Problem(path="--yes-delete-data", got="/".join(key), allowed="one of the volumes named")
        for key in arguments.yes_delete_data
        if key not in arguments.volumes
    ]
    if arguments.external_id and len(keys) > 1:
        problems.append(errors.Problem(path="--external-id", got=f"{len(keys)} volumes", allowed="one volume with it"))
    usage.refuse(problems)


def _options(arguments: command.Arguments) -> deletion.DeletionOptions:
    made: dict[str, deletion.MadeStorage] = {}
    for path in arguments.state:
        made = deletion_state.merge(made, deletion_state.made(inputs.text(path), str(path)), str(path))
    return deletion.DeletionOptions(
        wait_s=arguments.timeout_s,
        aws_region=arguments.aws_region,
        endpoint=arguments.endpoint,
        secrets=_secrets(arguments),
        with_snapshot=not arguments.skip_final_snapshot,
        snapshot_wait_s=arguments.snapshot_timeout_s,
        owner=arguments.owner,
        made=made,
        accepts_unguarded=arguments.accept_unguarded,
        accepts_unregistered=arguments.accept_unregistered,
        tell=output.print_progress,
    )


def _secrets(arguments: command.Arguments) -> Mapping[str, Mapping[str, str]]:
    keys = {"/".join(key) for key in arguments.volumes}
    return {key: values for key, values in documents.secrets(arguments.secrets).items() if key in keys}


def _confirmation(key: str, given: Iterable[str]) -> str:
    """Return the user's confirmation of *key*: given as an option, or typed."""
    return key if key in given else options.typed(QUESTION.format(key=key), f"type {key} to delete its data")
