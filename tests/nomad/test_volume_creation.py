"""Volumes that the plugin makes: what is sent, and what a real agent answered."""

import dataclasses

from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

WRITER = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
ZONE_A = {"topology.ebs.csi.aws.com/zone": "eu-west-1a"}
ZONE_B = {"topology.ebs.csi.aws.com/zone": "eu-west-1b"}
BARE = registration.VolumeRegistration(
    volume_id="c1", namespace="storage", name="c1", plugin_id="aws-ebs", capabilities=(WRITER,)
)
FULL = dataclasses.replace(
    BARE,
    mount_options=registration.MountOptions(fs_type="ext4", mount_flags=("noatime",)),
    required_topologies=(ZONE_A, ZONE_B),
    preferred_topologies=(ZONE_B,),
    parameters={"type": "gp3"},
    secrets={"key": "canary-9b2d"},
    capacity_min_bytes=5 << 30,
    capacity_max_bytes=6 << 30,
    snapshot_id="snap-1",
)
CREATE = "/v1/volume/csi/c1/create"


def test_create_sends_one_volume_and_returns_what_the_plugin_made(agent, client):
    """A recorded answer: id, size and place, with the nulls that Nomad writes into the list of places."""
    agent.recorded("07-ebs-create-reply.json", method="PUT", path=CREATE)

    created = volumes.create(client, FULL)

    [asked] = agent.asked
    assert (asked.method, asked.query) == ("PUT", {"namespace": "storage"})
    assert asked.body == {"Volumes": [volumes.payload(FULL)]}
    assert created.warnings == ""
    assert created.volume.external_id == "vol-9d3d1cfebd7445e52"
    assert created.volume.capacity_bytes == 5368709120
    assert created.volume.context == {}
    assert created.volume.topologies == ({"topology.kubernetes.io/zone": "eu-west-1a"},)
