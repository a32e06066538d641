"""
Where EBS volumes are attached, asked of EC2. A claim that Nomad has freed does not mean that the volume is detached.

Needs ``ec2:DescribeVolumes`` and ``ec2:DescribeInstances``. Source of the states: Amazon EC2 API reference, ``Volume``,
``VolumeAttachment`` and ``InstanceState``, 2026-08.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.aws import asking

MISSING = "missing"
"""Stands for the state of a volume or an instance that EC2 does not know."""

_CHUNK = 200
"""Values of one filter. Source: Amazon EC2 API reference, ``DescribeVolumes``, 2026-08."""

_EBS_ID = re.compile(r"vol-[0-9a-f]{8,17}")


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A volume on an instance."""

    instance_id: str

    state: str
    """``attaching``, ``attached``, ``detaching`` or ``busy``: to be detached, and still mounted."""

    device: str
    instance_state: str
    """``running``, ``stopping``, ``stopped``, ``shutting-down``, ``terminated``, ``pending`` or ``missing``."""

    def __str__(self) -> str:
        """Return ``attached to i-1 (running) as /dev/xvdba``."""
        verb = "attached" if self.state == "attached" else f"attached ({self.state})"
        return f"{verb} to {self.instance_id} ({self.instance_state}) as {self.device}"


@dataclass(frozen=True, kw_only=True)
class EbsVolume:
    """An EBS volume as EC2 sees it."""

    external_id: str
    state: str
    """``available``, ``in-use``, ``creating``, ``deleting``, ``error`` or ``missing``."""

    attachments: tuple[Attachment, ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether it is there, and attached to nothing."""
        return self.state == "available" and not self.attachments

    def __str__(self) -> str:
        """Return ``vol-1 is in-use: attached to i-1 (running) as /dev/xvdba``."""
        where = f": {', '.join(map(str, self.attachments))}" if self.attachments else ""
        return f"{self.external_id} is {self.state}{where}"


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What EC2 said."""

    volumes: Mapping[str, EbsVolume] = field(default_factory=dict)
    """By external id; one for each that was asked for."""

    instances: Mapping[str, str] = field(default_factory=dict)
    """State of an instance by its id; those asked for, and those of the attachments."""


def is_ebs(external_id: str) -> bool:
    """Return whether *external_id* is that of an EBS volume."""
    return _EBS_ID.fullmatch(external_id) is not None


def look(external_ids: Iterable[str], aws_region: str, *, instance_ids: Iterable[str] = ()) -> Seen:
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
    return Seen(volumes={item: _volume(item, described.get(item), states) for item in wanted}, instances=states)


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


def _volume(external_id: str, found: Mapping[str, Any] | None, states: Mapping[str, str]) -> EbsVolume:
    if found is None:
        return EbsVolume(external_id=external_id, state=MISSING)
    places = [place for place in found["Attachments"] if place.get("State") != "detached"]
    return EbsVolume(
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
