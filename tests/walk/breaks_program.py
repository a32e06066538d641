"""The program of a row of `breaks.yaml`, which ``wanted.json`` beside it has."""

import json
import re
from pathlib import Path

import pulumi
import pulumi_aws as aws

from nomad_csi import components
from nomad_csi.components import resources

PRELUDE = """
ebs = CsiPlugin("ebs", driver="aws-ebs", aws_region="us-east-1", iam={"role_name": role}, opts=opts)
efs = CsiPlugin("efs", driver="aws-efs", aws_region="us-east-1", opts=opts)
"""
NETWORK = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/8"]}}

wanted = json.loads(Path(__file__).with_name("wanted.json").read_text(encoding="utf-8"))
folder = Path(__file__).parent
provider = resources.Provider("nomad", address=wanted["address"], root=str(folder))
clients = aws.iam.Role("clients", assume_role_policy="{}")
given = {name: getattr(components, name) for name in components.__all__} | {
    "opts": pulumi.ResourceOptions(providers=[provider]),
    "role": clients.name,
    "late": clients.arn,  # which no preview knows
    "known": pulumi.Output.from_input,
    "KEY": "arn:aws:kms:us-east-1:123456789012:key/1",
    "VOLUME": "vol-0123456789abcdef0",
    "NETWORK": NETWORK,
    "POINT": {"path": "/x", "uid": 1000, "gid": 1000},
    "HAS": {"plugin_id": "aws-ebs0", "driver": "aws-ebs", "availability_zone": "us-east-1a"},
    **wanted["storage"],
}
source = wanted["source"]
is_plugin_used = re.search(r"\b(ebs|efs)\b|CsiPlugin", source.replace("aws-", "aws_"))
exec((PRELUDE if is_plugin_used else "") + source, given)  # noqa: S102  # the table's own
