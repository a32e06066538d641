"""
Where EBS volumes are attached, asked of EC2. A claim that Nomad has freed does not mean that the volume is detached.

Needs ``ec2:DescribeVolumes`` and ``ec2:DescribeInstances``. Source of the states: Amazon EC2 API reference, ``Volume``,
``VolumeAttachment`` and ``InstanceState``, 2026-08.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nomad_csi.aws import asking
from nomad_csi.aws.records import attachments as records

MISSING = records.MISSING
Attachment = records.Attachment
AttachedVolume = records.AttachedVolume
ObservedAttachments = records.ObservedAttachments
is_ebs = records.is_ebs


_CHUNK = 200
"""Values of one filter. Source: Amazon EC2 API reference, ``DescribeVolumes``, 2026-08."""


def look(external_ids: Iterable[str], aws_region: str, *, instance_ids: Iterable[str] = ()) -> ObservedAttachments:
    """
    Return what EC2 knows of the EBS volumes among *external_ids*, of the instances they are attached to, and of others.

    Raises `errors.AwsError`.
    """
    wanted = sorted({item for item in external_ids if is_ebs(item)})
    with asking.told(aws_region):
        ec2 = asking.client("ec2", aws_region)
        described = {item["VolumeId"]: item for item in _volumes(ec2, wanted)}
        attached = {
            place["InstanceId"] for item in described.values() for place in item["Attachments"] if "InstanceId" in place
        }
        asked = sorted(attached | set(instance_ids))
        states = dict.fromkeys(asked, MISSING) | dict(_instances(ec2, asked))
    return ObservedAttachments(
        volumes={item: _volume(item, described.get(item), states) for item in wanted}, instances=states
    )


def _volumes(ec2: Any, ids: list[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the volumes that exist. By filter: asked by id, one that is gone makes EC2 answer nothing at all."""
    for page in _pages(ec2, "describe_volumes", "volume-id", ids):
        yield from page["Volumes"]


def _instances(ec2: Any, ids: list[str]) -> Iterator[tuple[str, str]]:
    for page in _pages(ec2, "describe_instances", "instance-id", ids):
        for instance in itertools.chain.from_iterable(item["Instances"] for item in page["Reservations"]):
            yield instance["InstanceId"], instance["State"]["Name"]


def _pages(ec2: Any, operation: str, name: str, ids: list[str]) -> Iterator[Mapping[str, Any]]:
    for start in range(0, len(ids), _CHUNK):
        chosen = {"Name": name, "Values": ids[start : start + _CHUNK]}
        yield from ec2.get_paginator(operation).paginate(Filters=[chosen])


def _volume(external_id: str, found: Mapping[str, Any] | None, states: Mapping[str, str]) -> AttachedVolume:
    if found is None:
        return AttachedVolume(external_id=external_id, state=MISSING)
    places = [place for place in found["Attachments"] if place.get("State") != "detached"]
    return AttachedVolume(
        external_id=external_id,
        state=found["State"],
        attachments=tuple(
            Attachment(
                instance_id=place.get("InstanceId", ""),
                state=place.get("State", ""),
                device=place.get("Device", ""),
                instance_state=states.get(place.get("InstanceId", ""), MISSING),
            )
            for place in places
        ),
    )
