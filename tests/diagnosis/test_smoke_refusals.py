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
    for kind, mode in (("WriteAllocs", "write"), ("ReadAllocs", "read")):
        assert refusal(**{kind: {"alloc-1": None}, "Allocations": [CLAIM], "Schedulable": False}) == (
            f"volume default/mysql cannot be tried: it is in use by job default/db ({mode}, allocation alloc-1, running on "
            "node n): stop these jobs first, or try a volume of the same class that is not in use; Nomad counts no healthy "
            f"instances of plugin efs for it: see `nomad-csi verify`; {UNFIT}; nothing was run"
        )


def test_block_device_is_refused(refusal):
    """Its data would be destroyed."""
    assert refusal(BLOCK) == (
        "volume default/mysql cannot be tried: its capabilities (single-node-writer block-device) hold none in which files "
        "can be written (single-node-writer, multi-node-single-writer, multi-node-multi-writer, each with file-system): a "
        f"block device is not tried, because that would destroy what is on it; {UNFIT}; nothing was run"
    )
    assert refusal() == f"volume default/mysql cannot be tried: {UNFIT}; nothing was run"


def test_volume_that_is_not_registered_is_refused(context, scripted):
    """The refusal names the command to look with."""
    scripted.reply("GET", "/v1/volume/csi/mysql", 404, "volume not found")
    message = "volume default/mysql is not registered: see `nomad volume status -type csi`"
    with pytest.raises(errors.RefusedError, match=message):
        smoke.try_out(context.connect(), ("default", "mysql"))


UNFIT = "no ready client in a topology of the volume (anywhere) has a healthy node instance of plugin efs"


@pytest.mark.parametrize(
    ("state", "is_healthy", "reason"),
    [
        ({}, True, "none of its clients (n) has the task driver docker, podman, exec"),
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

    assert refusal() == f"volume default/mysql cannot be tried: {reason}; nothing was run"
