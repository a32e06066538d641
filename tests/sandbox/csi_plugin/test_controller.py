import pytest

from nomad_csi.csi import services
from tests import csi_calls

WRITER = services.volume_capability(access_mode="single-node-writer", attachment_mode="file-system")
SHARED_FILES = services.volume_capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
SHARED_BLOCK = services.volume_capability(access_mode="multi-node-multi-writer", attachment_mode="block-device")
READER = services.volume_capability(access_mode="single-node-reader-only", attachment_mode="file-system")
GIB = 1 << 30


def validate(connection, volume_id, *uses):
    return services.validate_volume_capabilities(
        connection, volume_id=volume_id, capabilities=uses, timeout_s=60
    ).confirmed


def publish(connection, volume_id, node_id, use=WRITER):
    found = csi_calls.call(connection, "ControllerPublishVolume", use, volume_id=volume_id, node_id=node_id)
    return found.publish_context["devicePath"]


def unpublish(connection, volume_id, node_id):
    csi_calls.call(connection, "ControllerUnpublishVolume", volume_id=volume_id, node_id=node_id)


@pytest.mark.parametrize(
    ("uses", "confirmed"),
    [
        ([WRITER], True),
        ([SHARED_BLOCK], True),
        ([SHARED_FILES], False),
        ([READER], False),
        ([WRITER, READER], False),
    ],
)
def test_existing_volume_is_confirmed_for_what_works(ebs_controller, new_volume, uses, confirmed):
    """A use that cannot work is left unconfirmed, and is no error."""
    assert validate(ebs_controller, new_volume(), *uses) is confirmed


@pytest.mark.parametrize("use", [SHARED_FILES, READER])
def test_unsupported_use_is_refused_when_it_is_claimed(ebs_controller, new_volume, instances, use):
    """What registration let pass fails here, with the driver's words."""
    error = csi_calls.refused(publish, ebs_controller, new_volume(), instances["us-east-1a"], use)

    assert (error.code, error.message) == ("INVALID_ARGUMENT", "INVALID_ARGUMENT: Volume capability not supported")


def test_volume_is_made_once_and_deleted(ebs_controller, ec2):
    """The same name is the same volume; tags, size and zone are right; deleting twice succeeds."""
    made = csi_calls.create_volume(
        ebs_controller,
        "made-once",
        WRITER,
        required_bytes=GIB + 1,
        parameters={"type": "gp3", "encrypted": "true", "tagSpecification_1": "team=storage"},
        required_topologies=({"topology.ebs.csi.aws.com/zone": "us-east-1b"},),
    )

    assert made.capacity_bytes == 2 * GIB
    assert [each.segments for each in made.accessible_topology] == [{"topology.kubernetes.io/zone": "us-east-1b"}]
    [volume] = ec2.describe_volumes(VolumeIds=[made.volume_id])["Volumes"]
    assert (volume["Size"], volume["VolumeType"], volume["Encrypted"]) == (2, "gp3", True)
    assert {tag["Key"]: tag["Value"] for tag in volume["Tags"]} == {
        "CSIVolumeName": "made-once",
        "ebs.csi.aws.com/cluster": "true",
        "team": "storage",
    }
    for _ in range(2):
        services.delete_volume(ebs_controller, volume_id=made.volume_id, timeout_s=60)


def test_volume_in_use_is_not_deleted(ebs_controller, new_volume, instances):
    """EC2 saves what is attached."""
    volume_id = new_volume()
    publish(ebs_controller, volume_id, instances["us-east-1a"])

    error = csi_calls.refused(services.delete_volume, ebs_controller, volume_id=volume_id, timeout_s=60)

    assert error.code == "INTERNAL"
    assert error.message.startswith(
        f'INTERNAL: Could not delete volume ID "{volume_id}": DeleteDisk could not delete volume: '
        "operation error EC2: DeleteVolume, "
    )
    assert "VolumeInUse" in error.message
    unpublish(ebs_controller, volume_id, instances["us-east-1a"])


def test_volume_attached_elsewhere_is_refused(start, new_volume, instances, ec2):
    """EC2's refusal, which moto does not make: without it the sandbox would take a volume from a running task."""
    connection = start("aws-ebs", "controller")
    other = ec2.run_instances(
        ImageId="ami-12c6146b", MinCount=1, MaxCount=1, Placement={"AvailabilityZone": "us-east-1a"}
    )
    volume_id = new_volume()
    publish(connection, volume_id, instances["us-east-1a"])

    error = csi_calls.refused(publish, connection, volume_id, other["Instances"][0]["InstanceId"])

    assert f"api error VolumeInUse: {volume_id} is already attached to an instance" in error.message
    unpublish(connection, volume_id, other["Instances"][0]["InstanceId"])
    assert ec2.describe_volumes(VolumeIds=[volume_id])["Volumes"][0]["State"] == "in-use"
    unpublish(connection, volume_id, instances["us-east-1a"])


def test_volume_of_another_zone_is_refused(start, new_volume, instances):
    """EC2's refusal, which moto does not make: a volume without topology meets it on the wrong client."""
    volume_id = new_volume(zone="us-east-1b")

    error = csi_calls.refused(publish, start("aws-ebs", "controller"), volume_id, instances["us-east-1a"])

    assert "api error InvalidVolume.ZoneMismatch" in error.message
