"""A volume that must not be written to is not tried: no job is run."""

import pytest

from nomad_csi import errors, nomad
from nomad_csi.diagnosis import smoke
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

FILES = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
BLOCK = registration.Capability(access_mode="single-node-writer", attachment_mode="block-device")
CLAIM = {
    "ID": "alloc-1",
    "JobID": "db",
    "Namespace": "default",
    "NodeID": "n",
    "NodeName": "n",
    "ClientStatus": "running",
}


@pytest.fixture
def refusal(scripted):
    """Try a volume that Nomad has like this, and return why it is refused."""
    scripted.reply("GET", "/v1/nodes", 200, [])

    def tried(capability=FILES, **held):
        document = registration.VolumeRegistration(
            volume_id="mysql", name="mysql", external_id="fs-1", plugin_id="efs", capabilities=(capability,)
        )
        body = volumes.payload(document) | {"Schedulable": True} | held
        scripted.replies["GET", "/v1/volume/csi/mysql"] = [(200, body)]
        with (
            nomad.Nomad(nomad.Connection(address=scripted.address)) as client,
            pytest.raises(errors.RefusedError) as caught,
        ):
            smoke.try_out(client, ("default", "mysql"))
        assert [verb for verb, _, _ in scripted.requests if verb != "GET"] == []
        return str(caught.value)

    return tried


def test_volume_that_a_job_uses_is_refused(refusal):
    """It names the job. That the plugin is healthy changes nothing."""
    assert "it is in use by " in refusal(WriteAllocs={"alloc-1": None}, Allocations=[CLAIM])
    assert "in use by job default/db (read" in refusal(ReadAllocs={"alloc-1": None}, Allocations=[CLAIM])


def test_block_device_is_refused(refusal):
    """Its data would be destroyed."""
    assert "a block device is not tried" in refusal(BLOCK)
    assert "a block device" not in refusal()


UNFIT = "no ready client in a topology of the volume (anywhere) has a healthy node instance of plugin efs"


@pytest.mark.parametrize(
    ("state", "is_healthy", "reason"),
    [
        ({}, True, "none of its clients (n) has the task driver"),
        ({"Status": "down"}, True, UNFIT),
        ({"SchedulingEligibility": "ineligible"}, True, UNFIT),
        ({"Drain": True}, True, UNFIT),
        ({}, False, UNFIT),
    ],
)
def test_client_that_cannot_take_the_job_is_not_used(refusal, scripted, state, is_healthy, reason):
    """The job would wait there, and the volume would look broken."""
    node = {"ID": "n", "Name": "n", "Status": "ready", "SchedulingEligibility": "eligible", "Drain": False}
    scripted.replies["GET", "/v1/nodes"] = [(200, [node | state])]
    scripted.reply("GET", "/v1/plugin/csi/efs", 200, {"ID": "efs", "Nodes": {"n": {"Healthy": is_healthy}}})

    assert reason in refusal()
