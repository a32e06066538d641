"""``nomad-csi deregister``."""

import argparse
import json
import sys

from nomad_csi import errors
from nomad_csi.cli import claims
from nomad_csi.cli.common import confirm, inputs, owners, waits
from nomad_csi.compare import outcome
from nomad_csi.registration import deregistration, deregistration_outcome

FORCE = (
    "--force makes Nomad forget volumes together with the claims on them. It does not unmount them, does not detach "
    "them from their instances, and does not touch their data; what still runs there can go on writing. Nomad refuses "
    "it for a volume that an allocation holds which has not ended."
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("volumes", type=inputs.volume_key, nargs="+", metavar="NAMESPACE/ID", help="volumes to forget")
    inputs.add_nomad(parser)
    claims.add_aws(parser)
    waits.add(parser, "timeout", " for claims to go, and for EC2 to detach where it is asked", default=0.0)
    owners.add(parser, adopt="deregister volumes that belong to another stack, too")
    parser.add_argument("--force", action="store_true", help="forget what is still claimed after that; asks first")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Deregister, and print what became of each volume."""
    if arguments.force and not confirm.agreed(FORCE, is_agreed=arguments.yes):
        raise errors.RefusedError("nothing was deregistered")
    manner = deregistration.DeregistrationOptions(
        wait_s=arguments.timeout_s,
        is_forced=arguments.force,
        aws_region=arguments.aws_region,
        claimant=owners.claimant(arguments),
    )
    with inputs.connect(arguments) as nomad:
        outcomes = deregistration.deregister(
            nomad, arguments.volumes, manner, tell=lambda line: print(line, file=sys.stderr)
        )
    if arguments.json:
        shown = {"volumes": [item.as_json() for item in outcomes], "asked_ec2": bool(arguments.aws_region)}
        print(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        note = "" if arguments.aws_region else "; EC2 was not asked whether they are detached (--aws-region)"
        print(outcome.as_text(outcomes, deregistration_outcome.DeregistrationOutcome, note=note))
    return outcome.exit_code(outcomes)
