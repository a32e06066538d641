"""``nomad-csi doctor``."""

import sys

from nomad_csi.cli.common import command, inputs, options, output, specs
from nomad_csi.diagnosis import doctor
from nomad_csi.plan import iam
from nomad_csi.text import listing


@command.command()
@specs.optional("; with one, what is to be there is checked, too")
@inputs.stack_output
@specs.aws_options
@command.as_json()
@options.strict
@command.option(
    "--fix", f"give the tag {iam.CLUSTER_TAG}=true to EBS volumes that cannot be attached without it, after asking"
)
@options.dry_run(needs=("fix",))
@options.yes
@inputs.nomad_connection
def run(arguments: command.Arguments) -> int:
    """Run the checks and print findings; fix what can be fixed, after confirmation."""
    report = _examine(arguments)
    if arguments.fix and report.untagged and _fixed(report, arguments):
        report = _examine(arguments)
    output.show(arguments, report.as_json(), report.as_table(colour=output.has_colours()))
    return options.exit_code(arguments, report.exit_code, report.findings)


def _examine(arguments: command.Arguments) -> doctor.DoctorReport:
    plan = inputs.read_plan(arguments.spec) if arguments.spec else None
    external_ids = inputs.read_external_ids(arguments.stack_output)
    with inputs.connect(arguments, [arguments.spec] if arguments.spec else ()) as nomad:
        return doctor.examine(nomad, plan, external_ids, aws=specs.aws_choice(arguments, arguments.spec))


def _fixed(report: doctor.DoctorReport, arguments: command.Arguments) -> bool:
    """Set the tag after confirmation; return whether it was set."""
    question = (
        f"give {listing.counted(len(report.untagged), 'EBS volume')} in {report.aws_region} the tag "
        f"{iam.CLUSTER_TAG}=true: {', '.join(report.untagged)}. Every role with the policy V2 of the EBS driver may "
        "then attach, detach and delete them"
    )
    if arguments.dry_run:
        output.print_progress(f"would {question}")
        return False
    if not options.agreed(question, is_agreed=arguments.yes):
        return False
    done = doctor.fix(report)
    print(f"tagged {len(done)}", file=sys.stderr)
    return True
