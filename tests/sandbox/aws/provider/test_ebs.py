"""EBS volumes through the wire."""

import grpc
import pytest


@pytest.mark.parametrize(
    "changes",
    [{"size": 20}, {"iops": 4000}, {"throughput": 250}, {"type": "gp2"}, {"tags": {"a": "b"}}, {"tags": {}}],
)
def test_change_in_place(engine, volume, by_hand, changes):
    """Size, type, iops, throughput and tags change without a new volume."""
    news = volume.program | changes

    diff = engine.diff(volume, news)
    updated = engine.update(volume, news)

    assert (list(diff.diffs), list(diff.replaces)) == (list(changes), [])
    assert {name: updated.outputs[name] for name in changes} == changes
    assert engine.refresh(updated).inputs == updated.inputs
    assert by_hand("ec2").describe_volumes(VolumeIds=[volume.id])["Volumes"][0]["State"] == "available"


@pytest.mark.parametrize(
    "changes",
    [
        {"availabilityZone": "us-east-1b"},
        {"encrypted": False},
        {"kmsKeyId": "arn:aws:kms:us-east-1:123456789012:key/other"},
        {"snapshotId": "snap-0aaaaaaaaaaaaaaaa"},
        {"multiAttachEnabled": True},
        {"region": "eu-west-1"},
    ],
)
def test_change_that_needs_a_new_volume(engine, volume, changes):
    """Zone, encryption, key, snapshot, multi-attach and region replace; the new volume is made before the old one goes."""
    news = volume.program | changes

    diff = engine.diff(volume, news)

    assert (list(diff.replaces), diff.deleteBeforeReplace) == (list(changes), False)
    assert [detail.inputDiff for detail in diff.detailedDiff.values()] == [True]


def test_attached_volume_is_not_deleted(engine, volume, by_hand):
    """EC2's own refusal reaches the operator in the words of the real provider."""
    ec2 = by_hand("ec2")
    image_id = ec2.register_image(Name=volume.name)["ImageId"]
    [instance] = ec2.run_instances(ImageId=image_id, MinCount=1, MaxCount=1)["Instances"]
    ec2.attach_volume(VolumeId=volume.id, InstanceId=instance["InstanceId"], Device="/dev/xvdba")

    with pytest.raises(grpc.RpcError) as refused:
        engine.delete(volume)

    ec2.detach_volume(VolumeId=volume.id, InstanceId=instance["InstanceId"])
    assert refused.value.details() == (
        f"deleting EBS Volume ({volume.id}): operation error EC2: DeleteVolume, https response error StatusCode: 400, "
        f"api error VolumeInUse: Volume {volume.id} is currently attached to {instance['InstanceId']}"
    )


def test_rejects_a_smaller_volume(engine, volume, by_hand):
    """EBS cannot shrink a volume; moto could."""
    news = volume.program | {"size": 5}

    with pytest.raises(grpc.RpcError) as refused:
        engine.update(volume, news)

    assert refused.value.details() == (
        f"updating EBS Volume ({volume.id}): operation error EC2: ModifyVolume, https response error StatusCode: 400, "
        "api error InvalidParameterValue: New size cannot be smaller than existing size"
    )
    assert by_hand("ec2").describe_volumes(VolumeIds=[volume.id])["Volumes"][0]["Size"] == 10


def test_rejects_the_fifth_modification_of_a_day(engine, volume, by_hand):
    """EC2 takes four in 24 hours and says when the next one may begin; moto takes any number."""
    made = volume
    for size in (11, 12, 13, 14):
        made = engine.update(made, volume.program | {"size": size})

    with pytest.raises(grpc.RpcError, match=r"api error VolumeModificationRateExceeded: .* Try again after 20\d\d-"):
        engine.update(made, volume.program | {"size": 15})

    assert by_hand("ec2").describe_volumes(VolumeIds=[volume.id])["Volumes"][0]["Size"] == 14
