"""The page of the AWS permissions of whoever runs `pulumi up`: from the table beside this module."""

import json
import re
from pathlib import Path

from tests import tables
from tests.pages import table

COMPONENTS = Path(__file__).parents[2] / "docs/reference/components.md"
TABLE = tables.load(Path(__file__).with_suffix(".yaml"))
STEPS = ("create", "read", "change", "delete")
ALWAYS = ("sts:GetCallerIdentity",)
"""What the provider of AWS asks for whatever it does."""

ALL_VOLUMES = ("ec2:DescribeVolumes",)
"""What each component of a volume asks for: which volumes of this stack there are already."""

INTRODUCTION = """# AWS permissions

The IAM actions of whoever runs `pulumi up`, `preview`, `refresh` and `destroy`: a person, or the role of a pipeline. They
are not those of the plugins, whose policy `iam.role_name` makes, nor those of [`doctor`](doctor.md).

Take the actions of the components that the program or spec has. `preview` and `refresh` need those of *read* alone.
Resources are `*` here: AWS gives ids when it creates them. Narrow them by tags or names as your account wants it.
"""

KEYS = """## What nomad-csi itself reads

- Before a first EBS volume is made, EC2 is queried for volumes of the stack that its state does not have:
  `ec2:DescribeVolumes`. Without `ec2:DescribeSnapshots` a preview warns that it did not look for last snapshots.
- A volume with existing storage of EBS or EFS is looked for before it is registered: `ec2:DescribeVolumes`, or
  `elasticfilesystem:DescribeFileSystems` and `elasticfilesystem:DescribeAccessPoints`. Without them a warning says so.

## Customer keys

With `kms_key_arn` on a volume or file system, the key's policy or an IAM policy allows, for that key: `kms:CreateGrant`,
`kms:Decrypt`, `kms:DescribeKey`, `kms:GenerateDataKeyWithoutPlaintext` and `kms:ReEncrypt*`. Source: EBS user guide,
"Requirements for Amazon EBS encryption"; EFS user guide, "Using AWS KMS keys".

## Storage that a plugin made

A `CsiVolume` makes nothing in AWS itself. With `on_destroy: delete` and `deletion.aws_region`, `pulumi destroy` asks EC2:
`ec2:DescribeVolumes`, `ec2:CreateSnapshot`, `ec2:CreateTags`, `ec2:DescribeSnapshots` and `ec2:DeleteVolume`.
"""


def actions(token):
    """Return all actions of a resource type."""
    found = TABLE["types"][token]
    return {action for step in STEPS for action in found.get(step, ())} | set(found.get("more", ()))


def components():
    """Return the AWS types that each component makes, as the page of the components says."""
    text = COMPONENTS.read_text(encoding="utf-8")
    made = re.findall(r"^## `(\w+)`.*?^Creates: (.*?)$", text, re.DOTALL | re.MULTILINE)
    found = {name: set(re.findall(r"`(aws:[^`]+)`", tokens)) for name, tokens in made}
    for token, names in TABLE["only_with"].items():
        for name in names:
            found[name].add(token)
    return {name: sorted(tokens) for name, tokens in found.items()}


def policy(tokens):
    """Return the policy for resources of the types *tokens*."""
    wanted = set(ALWAYS).union(ALL_VOLUMES if "aws:ebs/volume:Volume" in tokens else (), *map(actions, tokens))
    if "aws:efs/mountTarget:MountTarget" in tokens:
        wanted.update(TABLE["functions"]["aws.ec2.get_subnet_output"]["read"])
    statement = {"Effect": "Allow", "Action": sorted(wanted), "Resource": "*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, indent=2)


def lines():
    """Yield the lines of the page."""
    yield INTRODUCTION
    yield "## By component\n"
    for name, tokens in components().items():
        if tokens:
            yield f"### `{name}`\n\nFor {', '.join(f'`{token}`' for token in tokens)}:\n"
            yield f"```json\n{policy(tokens)}\n```\n"
    yield KEYS
    yield "## By resource type\n\nSources are files below `internal/service` of hashicorp/terraform-provider-aws, which\nPulumi's provider wraps, and AWS's own pages.\n"
    yield from table(("type", "create", "read", "change", "delete", "source"), map(_row, TABLE["types"]))
    yield "AWS asks for these as well:\n"
    more = (
        (token, action, why) for token, found in TABLE["types"].items() for action, why in found.get("more", {}).items()
    )
    yield from table(
        ("type", "action", "why, source"), ((f"`{token}`", f"`{action}`", why) for token, action, why in more)
    )


def _row(token):
    found = TABLE["types"][token]
    cells = (", ".join(f"`{action}`" for action in sorted(found.get(step, ()))) or "-" for step in STEPS)
    return f"`{token}`", *cells, found["source"]


def page():
    """Return the page."""
    return "\n".join(lines())
