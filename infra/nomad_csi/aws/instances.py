"""
Observed EC2 instances, as far as storage needs them: zone, role, and the hop limit of the instance metadata service.

Needs ``ec2:DescribeInstances``. Source: Amazon EC2 API reference, ``Instance`` and ``InstanceMetadataOptionsResponse``,
2026-08.
"""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi.aws import asking
from nomad_csi.aws import records as aws_records

Ec2Instance = aws_records.Ec2Instance
is_instance = aws_records.is_instance


def read_instances(instance_ids: Iterable[str], aws_region: str, *, ec2: Any = None) -> dict[str, Ec2Instance]:
    """Return the instances that EC2 knows, by id; *ec2* is a client to use. Raises `errors.AwsError`."""
    with asking.aws_errors(aws_region):
        found = asking.described(
            ec2 or asking.client("ec2", aws_region), "describe_instances", "Reservations", "instance-id", instance_ids
        )
        each = itertools.chain.from_iterable(item["Instances"] for item in found)
        return {item["InstanceId"]: _instance(item) for item in each}


def _instance(item: Mapping[str, Any]) -> Ec2Instance:
    options = item.get("MetadataOptions") or {}
    return Ec2Instance(
        instance_id=item["InstanceId"],
        state=item["State"]["Name"],
        zone=item["Placement"]["AvailabilityZone"],
        hop_limit=int(options.get("HttpPutResponseHopLimit") or 1),
        metadata_enabled=options.get("HttpEndpoint", "enabled") == "enabled",
        profile_arn=(item.get("IamInstanceProfile") or {}).get("Arn", ""),
    )
