"""What the metadata service would say of an instance: the emulator's texts by their paths. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

META_DATA = "/latest/meta-data"
IDENTITY_DOCUMENT = "/latest/dynamic/instance-identity/document"


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One EC2 instance, as it sees itself."""

    instance_id: str
    availability_zone: str
    instance_type: str = "m6i.large"
    image_id: str = "ami-0123456789abcdef0"
    account_id: str = "123456789012"
    """moto's account."""

    mac: str = "02:00:00:00:00:01"
    """Of its one network interface."""

    @property
    def region(self) -> str:
        """The region of the zone: without its last letter."""
        return self.availability_zone[:-1]


def texts(instance: Instance) -> Mapping[str, str]:
    """
    Return the body of every path that is answered, without a slash at the end.

    ``outpost-arn`` is missing on purpose: an instance outside of an Outpost gets a 404 for it.
    Source: aws-ebs-csi-driver v1.64.0, ``pkg/cloud/metadata/imds.go`` (``IMDSInstanceInfo``); hashicorp/nomad,
    ``client/fingerprint/env_aws.go``, which looks for EC2 by its ``ami-id``, 2026-11.
    """
    return {
        IDENTITY_DOCUMENT: json.dumps(_identity(instance), indent=2),
        f"{META_DATA}/ami-id": instance.image_id,
        f"{META_DATA}/instance-id": instance.instance_id,
        f"{META_DATA}/instance-type": instance.instance_type,
        f"{META_DATA}/placement/availability-zone": instance.availability_zone,
        f"{META_DATA}/placement/region": instance.region,
        f"{META_DATA}/network/interfaces/macs": f"{instance.mac}/",
        f"{META_DATA}/block-device-mapping": "ami\nroot",
        f"{META_DATA}/block-device-mapping/ami": "/dev/xvda",
        f"{META_DATA}/block-device-mapping/root": "/dev/xvda",
    }


def _identity(instance: Instance) -> dict[str, str]:
    return {
        "accountId": instance.account_id,
        "architecture": "x86_64",
        "availabilityZone": instance.availability_zone,
        "imageId": instance.image_id,
        "instanceId": instance.instance_id,
        "instanceType": instance.instance_type,
        "region": instance.region,
        "version": "2017-09-30",
    }
