"""What an account holds before the stack."""

from nomad_csi_sandbox.aws import account


def test_seed_makes_role_and_one_instance_for_each_zone(endpoint_url, by_hand, unique):
    """Each client runs in its zone's default subnet, with the role, and lets containers reach the metadata."""
    seeded = account.seed(endpoint_url, role_name=unique, zones=("us-east-1c", "us-east-1d"))

    assert (sorted(seeded.instances), seeded.role_name) == (["us-east-1c", "us-east-1d"], unique)
    ids = list(seeded.instances.values())
    reservations = by_hand("ec2").describe_instances(InstanceIds=ids)["Reservations"]
    instances = [instance for reservation in reservations for instance in reservation["Instances"]]
    assert {item["InstanceId"]: item["Placement"]["AvailabilityZone"] for item in instances} == {
        instance_id: zone for zone, instance_id in seeded.instances.items()
    }
    assert {item["MetadataOptions"]["HttpPutResponseHopLimit"] for item in instances} == {2}
    trusted = by_hand("iam").get_role(RoleName=unique)["Role"]["AssumeRolePolicyDocument"]
    assert trusted == account.TRUST_POLICY


def test_volumes_of_clients_are_detached_and_their_system_disks_stay(endpoint_url, by_hand, unique):
    """What a client that has ended leaves attached can be deleted again."""
    ec2, zone = by_hand("ec2"), "us-east-1f"
    instance_id = account.seed(endpoint_url, role_name=unique, zones=(zone,)).instances[zone]
    volume_id = ec2.create_volume(AvailabilityZone=zone, Size=1)["VolumeId"]
    ec2.attach_volume(VolumeId=volume_id, InstanceId=instance_id, Device="/dev/xvdaa")

    detached = account.detach_volumes(endpoint_url, "us-east-1", [instance_id])

    assert detached == (volume_id,)
    assert ec2.describe_volumes(VolumeIds=[volume_id])["Volumes"][0]["State"] == "available"
    [mapping] = ec2.describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"][0][
        "BlockDeviceMappings"
    ]
    assert mapping["DeviceName"] == "/dev/sda1"
    assert account.detach_volumes(endpoint_url, "us-east-1", [instance_id]) == ()
