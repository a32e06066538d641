"""``nomad-csi doctor``."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from nomad_csi.cli.common import codes, confirm, inputs, strict
from nomad_csi.doctor import examination, report
from nomad_csi.plan import iam


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    text = "a spec, or a Pulumi stack config that holds one: what is to be there is looked at besides what is"
    parser.add_argument("spec", type=Path, nargs="?", metavar="SPEC", help=text)
    inputs.add_stack_output(parser)
    inputs.add_nomad(parser)
    _add_aws(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    strict.add(parser)
    text = f"give the tag {iam.CLUSTER_TAG}=true to EBS volumes that cannot be attached without it, after asking"
    parser.add_argument("--fix", action="store_true", help=text)
    parser.add_argument("--yes", action="store_true", help="do not ask before a fix")
    codes.add(parser, "all findings of the doctor, the end of docs/doctor.md")
    parser.set_defaults(run=run)


def _add_aws(parser: argparse.ArgumentParser) -> None:
    aws = parser.add_mutually_exclusive_group()
    text = "where AWS is asked, with the SDK's usual credentials (default: the region of the clients and volumes)"
    aws.add_argument("--aws-region", default="", metavar="REGION", help=text)
    aws.add_argument("--no-aws", action="store_true", help="do not ask AWS")


def run(arguments: argparse.Namespace) -> int:
    """Run the checks and print findings; fix what can be fixed, after confirmation; or explain a code."""
    if codes.explain(arguments, "doctor"):
        return 0
    found = _examine(arguments)
    if arguments.fix and found.untagged and _fixed(found, arguments):
        found = _examine(arguments)
    print(json.dumps(found.as_json(), indent=2, ensure_ascii=False) if arguments.json else found.as_table(), end="")
    if arguments.json:
        print()
    return strict.exit_code(arguments, found.exit_code, found.findings)


def _examine(arguments: argparse.Namespace) -> report.DoctorReport:
    plan = inputs.read_plan(arguments.spec) if arguments.spec else None
    external_ids = inputs.read_external_ids(arguments.stack_output)
    nomad: Any
    with inputs.connect(arguments, [arguments.spec] if arguments.spec else ()) as nomad:
        return examination.examine(
            nomad, plan, external_ids, aws_region=arguments.aws_region, asks_aws=not arguments.no_aws
        )


def _fixed(found: report.DoctorReport, arguments: argparse.Namespace) -> bool:
    """Set the tag after asking; return whether it was done."""
    count = len(found.untagged)
    question = (
        f"give {count} EBS volume{'' if count == 1 else 's'} in {found.aws_region} the tag {iam.CLUSTER_TAG}=true: "
        f"{', '.join(found.untagged)}. Every role with the policy V2 of the EBS driver may then attach, detach and "
        "delete them"
    )
    if not confirm.agreed(question, is_agreed=arguments.yes):
        return False
    done = examination.fix(found)
    print(f"tagged {len(done)}", file=sys.stderr)
    return True
