"""``nomad-csi claims``."""

from collections.abc import Iterator

from nomad_csi import errors
from nomad_csi.claims import claim_repair, reading, repair_steps
from nomad_csi.cli.common import command, documents, inputs, options, output
from nomad_csi.compare import outcome
from nomad_csi.plan import registration
from nomad_csi.registration import given_secrets
from nomad_csi.spec import names


@command.family()
@inputs.asked_aws_region
@command.option("--plugin ID", "only volumes of this plugin")
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Print which allocations claim each volume."""
    namespace = inputs.namespace(arguments.namespace, names.EVERYWHERE)
    with inputs.reading(arguments) as nomad:
        found = reading.report(nomad, namespace, plugin_id=arguments.plugin, aws_region=arguments.aws_region)
    output.show(arguments, found.as_json(), found.as_table(colour=output.has_colours()))
    return found.exit_code


@run.command(
    "repair",
    help="Free a volume of stuck claims, step by step: wait, collect garbage, detach, forget and register again.",
)
@command.argument("volume VOLUME", "volume or namespace/volume", type=inputs.volume_key)
@command.option("--from SPEC|FILE", "spec, volume file or folder with the registration, for the last step", "source")
@documents.secrets_options(needs=("source",))
@inputs.stack_output_of(needs=("source",))
@inputs.asked_aws_region
@options.seconds("step-timeout", " until it shows", default_text=f"{repair_steps.WAIT_S:g}")
@options.yes
@command.as_json()
@inputs.nomad_connection
def _repair(arguments: command.Arguments) -> int:
    """Repair, with a question before a step that can do harm."""
    namespace, volume_id = arguments.volume
    order = repair_steps.RepairRequest(
        namespace=namespace,
        volume_id=volume_id,
        document=_document(arguments),
        source=str(arguments.source or ""),
        aws_region=arguments.aws_region,
        wait_s=arguments.step_timeout_s or repair_steps.WAIT_S,
        options=tuple(_repeated(arguments)),
    )
    with inputs.connect(arguments) as nomad:
        done = claim_repair.repair(
            nomad,
            order,
            ask=lambda question: options.agreed(question, is_agreed=arguments.yes),
            tell=output.print_progress,
        )
    steps = f" (steps: {', '.join(done.steps)})" if done.steps else ""
    output.show(arguments, done.as_json(), f"{order.key}  {done.status}  {done.reason}{steps}")
    return outcome.exit_code([done])


def _repeated(arguments: command.Arguments) -> Iterator[str]:
    """Yield the options that a command must repeat to resume a repair."""
    repeated = ("secrets", "stack_output", *inputs.CONNECTION)
    for name, value in ((name, getattr(arguments, name, None)) for name in repeated):
        if value is not None:
            yield from (f"--{name.replace('_', '-')}", str(value))
    if arguments.insecure_http:
        yield "--insecure-http"


def _document(arguments: command.Arguments) -> registration.VolumeRegistration | None:
    """Return the registration of the volume, with its secrets; ``None`` if none is given."""
    if arguments.source is None:
        return None
    namespace, volume_id = arguments.volume
    wanted = documents.read([arguments.source], arguments.stack_output, namespace)
    named = (*wanted.documents, *wanted.created)
    found = [item for item in named if (item.namespace, item.volume_id) == (namespace, volume_id)]
    if len(found) != 1:
        problem = errors.Problem(
            path="", got=f"{len(found)} of them", allowed=f"one registration of {namespace}/{volume_id}"
        )
        raise errors.SpecError((problem,), str(arguments.source))
    key = f"{namespace}/{volume_id}"
    given = {name: values for name, values in documents.secrets(arguments.secrets).items() if name == key}
    [filled] = given_secrets.filled(found, given, {key: wanted.needed.get(key, ())})
    return filled
