"""Volumes that the plugin makes: what is sent, and what a real agent answered."""

import dataclasses

import pytest

from nomad_csi import errors
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
PATH = "/v1/volume/csi/c1"


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


def test_change_accepts_an_empty_body(agent, client):
    """Nomad before 1.10.5 answers with nothing."""
    agent.answer("PUT", PATH, "")

    assert volumes.register(client, dataclasses.replace(BARE, external_id="vol-1")) == ""


def test_secrets_show_nowhere(agent, client):
    """Neither in an error in which Nomad repeats them, nor in the printed document."""
    agent.answer("PUT", CREATE, "the plugin does not like canary-9b2d", status=500)

    with pytest.raises(errors.NomadApiError) as caught:
        volumes.create(client, FULL)

    assert "canary-9b2d" not in f"{caught.value} {FULL!r}"


@pytest.mark.parametrize("volume_id", ["mysql/create", "..", ""])
def test_rejects_ids_that_would_become_another_path(client, volume_id):
    """Nothing is sent for them."""
    with pytest.raises(errors.SpecError):
        volumes.create(client, dataclasses.replace(BARE, volume_id=volume_id))
