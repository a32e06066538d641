"""
What an operator's AWS account holds before our stack: the role of the Nomad clients, and the clients themselves.

Part of the sandbox: speaks to moto on loopback only, with credentials that are worth nothing anywhere else.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import botocore.config
from botocore import exceptions

from nomad_csi_sandbox.aws import process, session

CREDENTIAL = "sandbox"
"""Access key and secret key of the sandbox."""

MARK = "nomad-csi-sandbox"
"""Tag that says which instances are ours; its value is ``client``."""

TRUST_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"},
    ],
}
"""EC2 instances may take the role on. Source: AWS IAM user guide, "IAM roles for Amazon EC2", read 2026-11."""

IMAGE_NAME = "nomad-client"
INSTANCE_TYPE = "m6i.large"


@dataclass(frozen=True, kw_only=True)
class SeededAccount:
    """What was found or made."""

    instances: Mapping[str, str]
    """Instance id by availability zone."""

    role_name: str
    """Name of the instance role, to which the stack attaches its policies."""


def seed(
    endpoint_url: str,
    region: str = "us-east-1",
    role_name: str = "nomad-client",
    zones: Sequence[str] = ("us-east-1a", "us-east-1b"),
) -> SeededAccount:
    """
    Make the role and one instance for each zone in its default subnet, unless they are there.

    Raises `errors.RefusedError` when *endpoint_url* is not on this machine, botocore's errors when moto refuses.
    """
    ec2, iam = _client("ec2", endpoint_url, region), _client("iam", endpoint_url, region)
    _ensure_role(iam, role_name)
    known = _instances(ec2)
    instances = {zone: known.get(zone) or _run_instance(ec2, zone, role_name) for zone in zones}
    return SeededAccount(instances=instances, role_name=role_name)


def detach_volumes(endpoint_url: str, region: str, instance_ids: Sequence[str]) -> tuple[str, ...]:
    """
    Detach what is attached to the clients beside their system disks, and return these volume ids.

    For clients that have ended with everything they ran: no one is left who would detach.
    """
    ec2 = _client("ec2", endpoint_url, region)
    pages = ec2.get_paginator("describe_instances").paginate(InstanceIds=list(instance_ids))
    found = [item for page in pages for reservation in page["Reservations"] for item in reservation["Instances"]]
    attached = sorted(
        (mapping["Ebs"]["VolumeId"], instance["InstanceId"])
        for instance in found
        for mapping in instance["BlockDeviceMappings"]
        if mapping["DeviceName"] != instance["RootDeviceName"]
    )
    for volume_id, instance_id in attached:
        ec2.detach_volume(VolumeId=volume_id, InstanceId=instance_id)
    return tuple(volume_id for volume_id, _ in attached)


def _client(service: str, endpoint_url: str, region: str) -> Any:
    # No proxies: those of the operator's environment are not asked for what is on this machine.
    config = botocore.config.Config(connect_timeout=5, read_timeout=30, retries={"total_max_attempts": 3}, proxies={})
    address = process.loopback_url(endpoint_url)
    isolated = session.isolated(CREDENTIAL, CREDENTIAL)
    return isolated.client(service, endpoint_url=address, region_name=region, config=config)


def _ensure_role(iam: Any, role_name: str) -> None:
    """Make the role and the instance profile of the same name; what exists stays as it is."""
    _unless_it_exists(iam.create_role, RoleName=role_name, AssumeRolePolicyDocument=json.dumps(TRUST_POLICY))
    _unless_it_exists(iam.create_instance_profile, InstanceProfileName=role_name)
    profile = iam.get_instance_profile(InstanceProfileName=role_name)["InstanceProfile"]
    if not profile["Roles"]:
        iam.add_role_to_instance_profile(InstanceProfileName=role_name, RoleName=role_name)


def _unless_it_exists(create: Any, **arguments: str) -> None:
    try:
        create(**arguments)
    except exceptions.ClientError as error:
        if error.response["Error"]["Code"] != "EntityAlreadyExists":
            raise


def _instances(ec2: Any) -> dict[str, str]:
    """Return the ids of our running instances by zone."""
    filters = [
        {"Name": f"tag:{MARK}", "Values": ["client"]},
        {"Name": "instance-state-name", "Values": ["pending", "running"]},
    ]
    pages = ec2.get_paginator("describe_instances").paginate(Filters=filters)
    found = [item for page in pages for reservation in page["Reservations"] for item in reservation["Instances"]]
    return {item["Placement"]["AvailabilityZone"]: item["InstanceId"] for item in found}


def _run_instance(ec2: Any, zone: str, role_name: str) -> str:
    """
    Start one client in the default subnet of *zone*, set up as the EBS driver wants it.

    Two hops to the metadata service, so that a container behind a bridge reaches it.
    """
    tags = [{"Key": "Name", "Value": f"nomad-client-{zone}"}, {"Key": MARK, "Value": "client"}]
    reply = ec2.run_instances(
        ImageId=_image_id(ec2),
        InstanceType=INSTANCE_TYPE,
        MinCount=1,
        MaxCount=1,
        SubnetId=_default_subnet_id(ec2, zone),
        IamInstanceProfile={"Name": role_name},
        MetadataOptions={"HttpEndpoint": "enabled", "HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
    )
    return str(reply["Instances"][0]["InstanceId"])


def _image_id(ec2: Any) -> str:
    """Return the id of the operator's own machine image; registered when missing, booted by no one."""
    found = ec2.describe_images(Owners=["self"], Filters=[{"Name": "name", "Values": [IMAGE_NAME]}])["Images"]
    return str(found[0]["ImageId"] if found else ec2.register_image(Name=IMAGE_NAME, Architecture="x86_64")["ImageId"])


def _default_subnet_id(ec2: Any, zone: str) -> str:
    filters = [{"Name": "availability-zone", "Values": [zone]}, {"Name": "default-for-az", "Values": ["true"]}]
    [subnet] = ec2.describe_subnets(Filters=filters)["Subnets"]
    return str(subnet["SubnetId"])
