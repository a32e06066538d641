"""``nomad-csi claims``."""

import dataclasses

from nomad_csi import errors
from nomad_csi.cli.common import command, documents, inputs, options, output, specs
from nomad_csi.diagnosis import claim_repair, claim_replacement, read_claims
from nomad_csi.plan import model, registration
from nomad_csi.spec import names
from nomad_csi.volumes import outcome


@command.family()
@command.argument("volume [VOLUME]", "only this volume, or namespace/volume", **inputs.VOLUME)
@specs.aws_options
@command.option("--plugin ID", "only volumes of this plugin", without=("volume",))
@command.as_json()
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Print which allocations claim each volume."""
    namespace = inputs.namespace(arguments.namespace, names.EVERYWHERE)
    with inputs.reading(arguments) as nomad:
        report = read_claims.report(
            nomad, namespace, plugin_id=arguments.plugin, volume=arguments.volume, aws=specs.aws_choice(arguments)
        )
    output.show(arguments, report.as_json(), report.as_table(colour=output.has_colours()))
    return report.exit_code


@run.command(
    "repair",
    help="Free a volume of stuck claims, step by step: wait, collect garbage, detach, forget and register again.",
)
@command.argument("volume VOLUME", "volume or namespace/volume", **inputs.VOLUME)
@command.option("--from SPEC|FILE", "spec, volume file or directory with the registration, for the last step", "source")
@documents.volume_secrets(needs=("source",))
@inputs.stack_output_of(needs=("source",))
@specs.aws_options
@options.duration("step-timeout", " until it shows", default_text=options.written(claim_replacement.WAIT_S))
@options.dry_run()
@options.yes
@command.as_json()
@inputs.nomad_connection
def _repair(arguments: command.Arguments) -> int:
    """Repair, with a question before a step that can do harm."""
    namespace, volume_id = arguments.volume
    document = _document(arguments)
    with inputs.connect(arguments) as nomad:
        order = claim_replacement.RepairRequest(
            namespace=namespace,
            volume_id=volume_id,
            document=document,
            source=str(arguments.source or ""),
            aws_region=specs.aws_region(arguments, nomad, [arguments.volume], arguments.source).name,
            wait_s=arguments.step_timeout_s or claim_replacement.WAIT_S,
        )
        if arguments.dry_run:
            return options.show_preview(arguments, claim_repair.preview(nomad, order))
        done = claim_repair.repair(
            nomad,
            order,
            ask=lambda question: options.agreed(question, is_agreed=arguments.yes),
            report=output.print_progress,
        )
    steps = f" (steps: {', '.join(done.steps)})" if done.steps else ""
    output.show(arguments, done.as_json(), f"{order.key}  {done.status}  {done.reason}{steps}")
    return outcome.exit_code([done])


def _document(arguments: command.Arguments) -> registration.VolumeRegistration | None:
    """Return the registration of the volume, with its secrets; ``None`` if none is given."""
    if arguments.source is None:
        return None
    namespace, volume_id = arguments.volume
    key = f"{namespace}/{volume_id}"
    wanted = documents.read_paths([arguments.source], namespace)
    matches = [item for item in wanted.plan.volumes if item.key == key]
    if len(matches) != 1:
        problem = errors.Problem(path="", got=f"{len(matches)} of them", allowed=f"one registration of {key}")
        raise errors.SpecError((problem,), str(arguments.source))
    only = dataclasses.replace(wanted, plan=model.StoragePlan(plugins=(), volumes=tuple(matches)), is_part=True)
    external_ids = inputs.read_external_ids(arguments.stack_output)
    [filled] = only.filled(external_ids, documents.given_secrets(arguments.secrets))
    return filled
