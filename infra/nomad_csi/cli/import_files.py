"""``nomad-csi import``."""

import argparse
import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from nomad_csi import errors
from nomad_csi.adoption import adopt
from nomad_csi.cli import lint
from nomad_csi.lint import describe, judge

ABOUT = """\
Prints the spec on standard output, and on standard error what is missing in it, what was left
out, what will be rendered otherwise, and what was found old, unsafe or wrong in the files. No
secret is printed: hand them over as Pulumi config secrets. Exits 1 where something is missing.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.epilog = ABOUT
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="a job file or a volume file, HCL or JSON")
    parser.add_argument("--aws-region", default="", metavar="REGION", help="for plugins of AWS whose jobs name none")
    parser.add_argument("--json", action="store_true", help="print spec, remarks and findings as one JSON document")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the spec and what is to be said about it."""
    read, broken = lint.load(arguments.files)
    for line in broken:
        print(f"error: {line}", file=sys.stderr)
    if broken:
        return errors.EXIT_ERROR
    adoption = adopt.adopt(read, aws_region=arguments.aws_region)
    verdicts = judge.verdicts(read)
    if arguments.json:
        remarks = [dataclasses.asdict(remark) for remark in adoption.remarks]
        found = {"spec": adoption.document, "remarks": remarks, "findings": describe.as_json(verdicts)["findings"]}
        print(json.dumps(found, indent=2))
    else:
        if adoption.document:
            print(_yaml(adoption.document), end="")
        for said in (*adoption.remarks, *verdicts):
            print(said, file=sys.stderr)
    return 0 if adoption.is_complete else errors.EXIT_CHANGES


def _yaml(document: Mapping[str, Any]) -> str:
    """Return *document* as YAML, other scripts than Latin as they are where they come out the same."""
    plain, escaped = (
        yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=allow_unicode, width=120)
        for allow_unicode in (True, False)
    )
    # PyYAML folds U+0085 into a space when it writes it as it is.
    return plain if yaml.safe_load(plain) == document else escaped
