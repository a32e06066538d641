"""EBS volumes. Source: hashicorp/terraform-provider-aws, ``internal/service/ec2/ebs_volume.go``, read 2026-11."""

from nomad_csi_sandbox.aws.provider import clients, refusals
from nomad_csi_sandbox.aws.provider.rows import Properties, Row, Values, call
from nomad_csi_sandbox.aws.provider.table import ec2

GP3_THROUGHPUT_MIB_PER_S = 125
"""What a gp3 volume has by default; moto reports none. Source: EBS user guide, "General Purpose SSD volumes"."""


def gp2_iops(size_gib: int) -> int:
    """Return the baseline of a gp2 volume: 3 for each GiB, 100 to 16,000. Source: as above."""
    return min(max(3 * size_gib, 100), 16_000)


def _performance(_aws: clients.Clients, _identity: str, volume: Values) -> Properties:
    kind = volume["VolumeType"]
    return {
        "iops": volume.get("Iops") or (gp2_iops(volume["Size"]) if kind == "gp2" else 0),
        "throughput": volume.get("Throughput") or (GP3_THROUGHPUT_MIB_PER_S if kind == "gp3" else 0),
    }


def _modify(aws: clients.Clients, identity: str, values: Values) -> None:
    """Send what differs from what the volume is."""
    [volume] = aws.ec2.describe_volumes(VolumeIds=[identity])["Volumes"]
    refusals.smaller_volume(volume["Size"], values.get("size") or volume["Size"])
    names = {"Size": "size", "VolumeType": "type", "Iops": "iops", "Throughput": "throughput"}
    wanted = {name: values[ours] for name, ours in names.items() if values.get(ours)}
    if changes := {name: value for name, value in wanted.items() if value != volume.get(name)}:
        refusals.hasty_modification(aws, identity)
        aws.ec2.modify_volume(VolumeId=identity, **changes)


ROWS = (
    Row(
        token="aws:ebs/volume:Volume",
        client="ec2",
        title="EBS Volume",
        inputs=(
            "availabilityZone! encrypted? finalSnapshot iops? kmsKeyId? multiAttachEnabled size? snapshotId? "
            "throughput? type?"
        ),
        outputs="arn createTime",
        refuse=refusals.unknown_zone,
        create=call("create_volume", MultiAttachEnabled="$multiAttachEnabled"),
        identity="VolumeId",
        changes={"iops size throughput type": _modify},
        unsent="finalSnapshot",
        read=call("describe_volumes", VolumeIds=["$id"]),
        found="Volumes[0]",
        names={"type": "VolumeType", "multiAttachEnabled": "MultiAttachEnabled || `false`"},
        empty="kmsKeyId snapshotId",
        derived={"arn": ec2.ARN + "volume/{id}"},
        more=_performance,
        delete=(call("delete_volume", VolumeId="$id"),),
        tagging=ec2.TAGS,
        tags_in_create=ec2.tagged("volume"),
    ),
)
"""EC2's VolumeInUse is shown at once; the real provider repeats the delete for ten minutes first."""
