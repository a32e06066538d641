"""
Observed EC2 instances, as far as storage needs them: zone, role, and the hop limit of the instance metadata service.

Needs ``ec2:DescribeInstances``. Source: Amazon EC2 API reference, ``Instance`` and ``InstanceMetadataOptionsResponse``,
2026-08.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.aws import calls
from nomad_csi.aws import records as aws_records


def read_instances(instance_ids: Iterable[str], aws_region: str) -> dict[str, aws_records.Ec2Instance]:
    """Return the instances that EC2 knows, by id. Raises `errors.AwsError`."""
    with calls.aws_errors(aws_region):
        reservations = calls.described(
            calls.client("ec2", aws_region), "describe_instances", "Reservations", "instance-id", instance_ids
        )
        each = itertools.chain.from_iterable(item["Instances"] for item in reservations)
        return {item["InstanceId"]: _instance(item) for item in each}


def _instance(item: Mapping[str, Any]) -> aws_records.Ec2Instance:
    options = item.get("MetadataOptions") or {}
    return aws_records.Ec2Instance(
        instance_id=item["InstanceId"],
        state=item["State"]["Name"],
        zone=item["Placement"]["AvailabilityZone"],
        hop_limit=int(options.get("HttpPutResponseHopLimit") or 1),
        metadata_enabled=options.get("HttpEndpoint", "enabled") == "enabled",
        profile_arn=(item.get("IamInstanceProfile") or {}).get("Arn", ""),
    )


# The permissions of an instance's role, by its policies.
#
# Needs ``iam:GetInstanceProfile``, ``iam:ListAttachedRolePolicies``, ``iam:GetPolicy``, ``iam:GetPolicyVersion``,
# ``iam:ListRolePolicies`` and ``iam:GetRolePolicy``. Source: AWS IAM API reference, 2026-08. Permissions boundaries and
# the organization's policies are not read.


_PROFILE = re.compile(r"arn:[^:]+:iam::[0-9]+:instance-profile/(?:.*/)?([^/]+)")


def read_role(profile_arn: str, aws_region: str) -> aws_records.IamRole:
    """Return the role in an instance profile with its policies. Raises `errors.AwsError`."""
    if not (match := _PROFILE.fullmatch(profile_arn)):
        raise errors.AwsError(f"{profile_arn} is no instance profile")
    with calls.aws_errors(aws_region):
        iam = calls.client("iam", aws_region)
        roles = iam.get_instance_profile(InstanceProfileName=match[1])["InstanceProfile"]["Roles"]
        if not roles:
            raise errors.AwsError(f"instance profile {match[1]} holds no role")
        name, boundary = roles[0]["RoleName"], roles[0].get("PermissionsBoundary", {})
        return aws_records.IamRole(
            name=name,
            arn=roles[0]["Arn"],
            documents=dict(_documents(iam, name)),
            boundary=boundary.get("PermissionsBoundaryArn", ""),
        )


def _documents(iam: Any, role_name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for page in iam.get_paginator("list_attached_role_policies").paginate(RoleName=role_name):
        for item in page["AttachedPolicies"]:
            version = iam.get_policy(PolicyArn=item["PolicyArn"])["Policy"]["DefaultVersionId"]
            response = iam.get_policy_version(PolicyArn=item["PolicyArn"], VersionId=version)
            yield item["PolicyName"], response["PolicyVersion"]["Document"]
    for page in iam.get_paginator("list_role_policies").paginate(RoleName=role_name):
        for name in page["PolicyNames"]:
            response = iam.get_role_policy(RoleName=role_name, PolicyName=name)
            yield name, response["PolicyDocument"]
