"""
A stack of one's own: a network and a key, EBS volumes and an EFS volume in them, and a job that uses the volumes.

With ``pulumi config set tagsFrom ORGANIZATION/PROJECT/STACK`` the tags are the output ``tags`` of that stack.
"""

import json
from typing import Any

import pulumi
import pulumi_aws as aws

from nomad_csi import CsiPlugin, EbsVolume, EfsVolume

config = pulumi.Config()
tags = {"team": "shop"}
if tags_from := config.get("tagsFrom"):
    tags = pulumi.StackReference(tags_from).require_output("tags")
task_drivers: dict[str, Any] = config.get_object("taskDrivers") or {
    "ebs": {"name": "docker"},
    "efs": {"name": "docker"},
}

# The network of the Nomad clients: a subnet in each zone.
vpc = aws.ec2.Vpc("clients", cidr_block="10.20.0.0/16", enable_dns_hostnames=True, tags=tags)
subnets = [
    aws.ec2.Subnet(zone, vpc_id=vpc.id, cidr_block=f"10.20.{number}.0/24", availability_zone=zone, tags=tags)
    for number, zone in enumerate(("us-east-1a", "us-east-1b"))
]

# The clients' role, and the key of their volumes. The plugin's policy allows the key.
trust = aws.iam.get_policy_document(
    statements=[
        {"actions": ["sts:AssumeRole"], "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}]}
    ]
)
role = aws.iam.Role("clients", assume_role_policy=trust.json, tags=tags)
key = aws.kms.Key("volumes", description="EBS volumes of the shop", deletion_window_in_days=7, tags=tags)

ebs = CsiPlugin(
    "ebs0",
    driver="aws-ebs",
    aws_region="us-east-1",
    iam={"role_name": role.name, "kms_key_arns": [key.arn]},
    task_driver=task_drivers["ebs"],
)
efs = CsiPlugin("efs0", driver="aws-efs", aws_region="us-east-1", task_driver=task_drivers["efs"])

# One EBS volume for each database, in the zone of the first subnet.
databases = {
    name: EbsVolume(
        name,
        plugin_id=ebs.plugin_id,
        availability_zone=subnets[0].availability_zone,
        size_gib=size_gib,
        kms_key_arn=key.arn,
        tags=tags,
        protect=False,  # leave this out for volumes with data
    )
    for name, size_gib in {"orders": 20, "stock": 10}.items()
}

# One EFS volume that clients in both zones can mount.
uploads = EfsVolume(
    "uploads",
    plugin_id=efs.plugin_id,
    mount_targets=[{"availability_zone": one.availability_zone, "subnet_id": one.id} for one in subnets],
    clients={"cidr_blocks": [vpc.cidr_block]},
    access_point={"path": "/uploads", "uid": 1000, "gid": 1000},
    tags=tags,
    protect=False,
)


def job(claims: list[dict[str, Any]]) -> str:
    """Return a job that mounts the volumes of *claims*: ``nomad job run`` takes it as a file ``shop.nomad.json``."""
    task = {
        "driver": "docker",
        "config": {"image": "example/shop:1"},
        "volume_mount": [claim["volume_mount"] for claim in claims],
    }
    group = {"volume": {claim["name"]: claim["volume"] for claim in claims}, "task": {"shop": task}}
    return json.dumps({"job": {"shop": {"type": "service", "group": {"shop": group}}}}, indent=2)


volumes = [*databases.values(), uploads]
pulumi.export("job", pulumi.Output.all(*[volume.claim for volume in volumes]).apply(job))
pulumi.export("externalIds", {name: volume.external_id for name, volume in databases.items()})
pulumi.export("zone", databases["orders"].availability_zone)
pulumi.export("keyArn", databases["orders"].kms_key_arn)
pulumi.export("mountTargets", uploads.mount_target_ids)
