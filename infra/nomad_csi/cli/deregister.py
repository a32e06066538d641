"""``nomad-csi deregister``."""

import argparse
import collections
import json
import sys
from collections.abc import Iterable, Sequence

from nomad_csi import errors
from nomad_csi.cli import claims, confirm, inputs, owners, waits
from nomad_csi.deploy import deregistration, deregistration_outcome
from nomad_csi.text import table

FORCE = (
    "--force makes Nomad forget volumes together with the claims on them. It does not unmount them, does not detach "
    "them from their instances, and does not touch their data; what still runs there can go on writing. Nomad refuses "
    "it for a volume that an allocation holds which has not ended."
)
WIDTH = 120


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
    manner = deregistration.Manner(
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
        shown = {"volumes": [outcome.as_json() for outcome in outcomes], "asked_ec2": bool(arguments.aws_region)}
        print(json.dumps(shown, indent=2, ensure_ascii=False))
    else:
        print(_as_table(outcomes, asked_ec2=bool(arguments.aws_region)))
    return exit_code(outcomes)


def exit_code(outcomes: Iterable[deregistration_outcome.Outcome]) -> int:
    """Return 0 where Nomad holds none of them any more, 1 where one is held or refused, 2 where that is not known."""
    found = tuple(outcomes)
    if any(outcome.is_broken for outcome in found):
        return errors.EXIT_ERROR
    return 0 if all(outcome.is_done for outcome in found) else errors.EXIT_CHANGES


def _as_table(outcomes: Sequence[deregistration_outcome.Outcome], *, asked_ec2: bool) -> str:
    rows = [
        (outcome.key, outcome.status, "; ".join(part for part in (outcome.reason, outcome.storage) if part) or "-")
        for outcome in outcomes
    ]
    counts = collections.Counter(outcome.status for outcome in outcomes)
    told = ", ".join(f"{count} {status}" for status, count in counts.items())
    asked = "" if asked_ec2 else "; EC2 was not asked whether they are detached (--aws-region)"
    total = f"{len(outcomes)} volume{'' if len(outcomes) == 1 else 's'}: {told}{asked}"
    return "\n".join([table.columns([("volume", "outcome", "remarks"), *rows], WIDTH), total])
