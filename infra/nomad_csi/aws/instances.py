"""
EC2 instances as far as storage cares: zone, role, and how far the answers of instance metadata travel.

Needs ``ec2:DescribeInstances``. Source: Amazon EC2 API reference, ``Instance`` and
``InstanceMetadataOptionsResponse``, 2026-08.
"""

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.aws import asking, batches

_ID = re.compile(r"i-[0-9a-f]{8,17}")


@dataclass(frozen=True, kw_only=True)
class Instance:
    """A machine."""

    instance_id: str
    state: str
    zone: str

    hop_limit: int
    """Network hops that an answer of the metadata service survives: 1 ends at the machine, before containers."""

    metadata_enabled: bool
    profile_arn: str
    """Instance profile, which holds the role; empty: it has none."""


def is_instance(text: str) -> bool:
    """Return whether *text* is the id of an instance."""
    return _ID.fullmatch(text) is not None


def look(instance_ids: Iterable[str], aws_region: str, *, ec2: Any = None) -> dict[str, Instance]:
    """Return those of the instances that EC2 knows, by id; *ec2* is a client to use. Raises `errors.AwsError`."""
    with asking.told(aws_region):
        found = batches.described(
            ec2 or asking.client("ec2", aws_region), "describe_instances", "Reservations", "instance-id", instance_ids
        )
    each = itertools.chain.from_iterable(item["Instances"] for item in found)
    return {item["InstanceId"]: _instance(item) for item in each}


def _instance(item: Mapping[str, Any]) -> Instance:
    options = item.get("MetadataOptions") or {}
    return Instance(
        instance_id=item["InstanceId"],
        state=item["State"]["Name"],
        zone=item["Placement"]["AvailabilityZone"],
        hop_limit=int(options.get("HttpPutResponseHopLimit") or 1),
        metadata_enabled=options.get("HttpEndpoint", "enabled") == "enabled",
        profile_arn=(item.get("IamInstanceProfile") or {}).get("Arn", ""),
    )
