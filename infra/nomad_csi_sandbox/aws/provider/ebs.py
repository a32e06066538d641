"""EBS volumes. Source: hashicorp/terraform-provider-aws, ``internal/service/ec2/ebs_volume.go``, read 2026-11."""

from collections.abc import Mapping
from typing import Any

from nomad_csi_sandbox.aws.provider import clients, kinds, refusals, tags

GP3_THROUGHPUT_MIB_PER_S = 125
"""What a gp3 volume has unless told; moto reports none. Source: EBS user guide, "General Purpose SSD volumes"."""


def gp2_iops(size_gib: int) -> int:
    """Return the baseline of a gp2 volume: 3 for each GiB, 100 to 16,000. Source: as above."""
    return min(max(3 * size_gib, 100), 16_000)


def _create(aws: clients.Clients, inputs: kinds.Properties) -> str:
    refusals.unknown_zone(aws, inputs["availabilityZone"])
    reply = aws.ec2.create_volume(
        AvailabilityZone=inputs["availabilityZone"],
        **kinds.present(
            Encrypted=inputs.get("encrypted"),
            Iops=inputs.get("iops"),
            KmsKeyId=inputs.get("kmsKeyId"),
            MultiAttachEnabled=inputs.get("multiAttachEnabled"),
            Size=inputs.get("size"),
            SnapshotId=inputs.get("snapshotId"),
            TagSpecifications=tags.to_specifications("volume", inputs),
            Throughput=inputs.get("throughput"),
            VolumeType=inputs.get("type"),
        ),
    )
    return str(reply["VolumeId"])


def _read(aws: clients.Clients, identity: str) -> kinds.Properties:
    [volume] = aws.ec2.describe_volumes(VolumeIds=[identity])["Volumes"]
    return {
        "arn": aws.arn("ec2", f"volume/{identity}"),
        "availabilityZone": volume["AvailabilityZone"],
        "createTime": volume["CreateTime"].isoformat(),
        "encrypted": volume["Encrypted"],
        "iops": volume.get("Iops") or (gp2_iops(volume["Size"]) if volume["VolumeType"] == "gp2" else 0),
        "kmsKeyId": volume.get("KmsKeyId", ""),
        "multiAttachEnabled": volume.get("MultiAttachEnabled", False),
        "size": volume["Size"],
        "snapshotId": volume.get("SnapshotId", ""),
        "tagsAll": tags.to_map(volume.get("Tags")),
        "throughput": volume.get("Throughput") or (GP3_THROUGHPUT_MIB_PER_S if volume["VolumeType"] == "gp3" else 0),
        "type": volume["VolumeType"],
    }


def _update(aws: clients.Clients, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    [volume] = aws.ec2.describe_volumes(VolumeIds=[identity])["Volumes"]
    refusals.smaller_volume(volume["Size"], inputs.get("size") or volume["Size"])
    changes = _modification(volume, inputs)
    if changes:
        refusals.hasty_modification(aws, identity)
        aws.ec2.modify_volume(VolumeId=identity, **changes)
    retag(aws, identity, old_inputs, inputs)


def _modification(volume: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ModifyVolume that differ from what the volume is."""
    wanted = {
        "Size": inputs.get("size"),
        "VolumeType": inputs.get("type"),
        "Iops": inputs.get("iops"),
        "Throughput": inputs.get("throughput"),
    }
    return {name: value for name, value in wanted.items() if value and value != volume.get(name)}


def retag(aws: clients.Clients, identity: str, old_inputs: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Give an EC2 object the wanted tags and take away those no longer wanted."""
    dropped = tags.dropped(old_inputs, inputs)
    if dropped:
        aws.ec2.delete_tags(Resources=[identity], Tags=[{"Key": name} for name in dropped])
    wanted = tags.to_list(inputs)
    if wanted:
        aws.ec2.create_tags(Resources=[identity], Tags=wanted)


def _delete(aws: clients.Clients, identity: str, _state: kinds.Properties) -> None:
    """Delete it, or show EC2's VolumeInUse at once; the real provider repeats the call for ten minutes first."""
    aws.ec2.delete_volume(VolumeId=identity)


VOLUME = kinds.Kind(
    token="aws:ebs/volume:Volume",  # noqa: S106  # a type token, no secret
    service="EC2",
    title="EBS Volume",
    inputs=frozenset(
        {
            "availabilityZone",
            "encrypted",
            "finalSnapshot",
            "iops",
            "kmsKeyId",
            "multiAttachEnabled",
            "size",
            "snapshotId",
            "throughput",
            "type",
        }
    ),
    outputs=frozenset({"arn", "createTime"}),
    required=frozenset({"availabilityZone"}),
    fixed=frozenset({"availabilityZone", "encrypted", "kmsKeyId", "multiAttachEnabled", "snapshotId"}),
    filled_in=frozenset({"encrypted", "iops", "kmsKeyId", "size", "snapshotId", "throughput", "type"}),
    create=_create,
    read=_read,
    update=_update,
    delete=_delete,
)
