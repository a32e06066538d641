"""Volumes over HTTP, with real controllers behind them: checked, claimed, attached, freed."""

import pytest

ZONE_B = {"Required": [{"Segments": {"topology.ebs.csi.aws.com/zone": "us-east-1b"}}]}


@pytest.fixture
def plugged(api, plugin_job):
    """The agent with a healthy plugin: one controller, two nodes."""
    api.run(plugin_job("nodes", "system", "node"))
    api.run(plugin_job("controller", "service", "controller"))
    api.until_healthy(1, 2)
    return api


@pytest.fixture
def consumer(job):
    """Write a job that uses volume ``v``."""
    block = 'volume "d" {\n type = "csi"\n source = "v"\n access_mode = "single-node-writer"\n'

    def write(job_id, driver="exec"):
        return job(job_id, driver=driver, group=block + ' attachment_mode = "file-system"\n}')

    return write


def put(api, *items):
    """Register volumes; return status and body."""
    return api.call("PUT", "/v1/volumes", {"Volumes": list(items)})[:2]


def test_registered_volume_has_the_recorded_shape(plugged, volume, recording):
    """A volume with a topology, read back and listed."""
    assert put(plugged, volume("v", RequestedTopologies=ZONE_B, Secrets={"a": "b"}))[0] == 200

    found = plugged.get("/v1/volume/csi/v")
    assert set(found) == set(recording("07-ebs-volume-schedulable"))
    assert (found["Topologies"], found["Schedulable"], found["Secrets"]) == (ZONE_B["Required"], True, None)
    assert set(plugged.get("/v1/volumes?type=csi")[0]) == set(recording("03-volumes-list")[0])


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"PluginID": "ghost"}, "no CSI plugin named: ghost could be found"),
        ({"RequestedCapabilities": []}, "validation: must include at least one capability block"),
        ({"ID": ""}, "validation: missing volume id"),
        ({"Namespace": "nope"}, "volume bad is in nonexistent namespace nope"),
        (
            {"RequestedCapabilities": [{"AccessMode": "bogus", "AttachmentMode": "file-system"}]},
            "controller validate volume: CSI.ControllerValidateVolume: unknown volume access mode: bogus",
        ),
        (
            {"ExternalID": "vol-gone"},
            "controller validate volume: CSI.ControllerValidateVolume: controller plugin returned an internal error, "
            "check the plugin allocation logs for more information: rpc error: code = Internal desc = "
            'Could not get volume with ID "vol-gone"',
        ),
    ],
)
def test_one_bad_volume_stores_none(plugged, volume, fields, words):
    """A batch is stored whole or not at all; the sentence is Nomad's."""
    assert put(plugged, volume("good"), volume("bad", **fields)) == (500, words)

    assert plugged.get("/v1/volumes?type=csi") == []


def test_empty_batch_is_refused(api):
    """As Nomad says it."""
    assert put(api) == (500, "missing volume definition")


def test_plugin_without_health_accepts_everything_unchecked(api, plugin_job, volume, faults, calls):
    """Measured on Nomad, and dangerous: nothing is validated before a controller was healthy once."""
    faults(probe="error")
    api.run(plugin_job("controller", "service", "controller"))

    assert put(api, volume("v", ExternalID="vol-gone"))[0] == 200
    assert calls() == []


def test_unhealthy_controller_refuses(plugged, volume, faults):
    """Once a controller is required, one must be healthy."""
    faults(probe="false")
    plugged.until_healthy(0, 0)

    assert put(plugged, volume("v")) == (500, "no healthy controllers for CSI plugin: p")


def test_consumer_claims_its_volume_where_it_can_be_reached(plugged, volume, consumer, calls):
    """Placed in the volume's zone, attached through the controller, and in use."""
    put(plugged, volume("v", RequestedTopologies=ZONE_B))

    plugged.run(consumer("c"))
    [alloc] = plugged.until_status("c", "running")

    found = plugged.get("/v1/volume/csi/v")
    assert alloc["NodeName"] == "two"
    assert (found["WriteAllocs"], found["ReadAllocs"]) == ({alloc["ID"]: None}, {})
    assert (found["AccessMode"], found["AttachmentMode"]) == ("single-node-writer", "file-system")
    assert [one["ID"] for one in found["Allocations"]] == [alloc["ID"]]
    assert calls() == ["validate vol-v", "publish vol-v i-2"]
    assert plugged.call("DELETE", "/v1/volume/csi/v")[:2] == (500, "volume in use: v")


def test_ended_consumer_frees_its_volume_for_the_next(plugged, volume, consumer, calls):
    """The second writer waits, and runs as soon as the first is gone."""
    put(plugged, volume("v"))
    plugged.run(consumer("first"))
    plugged.until_status("first", "running")
    plugged.run(consumer("second"))
    waiting = plugged.until(lambda: plugged.get("/v1/job/second/summary"), lambda one: one["Summary"]["g"]["Queued"])

    plugged.call("DELETE", "/v1/job/first")
    plugged.until_status("second", "running")
    plugged.call("DELETE", "/v1/job/second?purge=true")

    assert waiting["Summary"]["g"]["Queued"] == 1
    plugged.until(lambda: plugged.get("/v1/volume/csi/v")["WriteAllocs"], lambda claims: not claims)
    assert [call.split()[0] for call in calls()] == ["validate", "publish", "unpublish", "publish", "unpublish"]
    status, body, headers = plugged.call("DELETE", "/v1/volume/csi/v")
    assert (status, body, "X-Nomad-Index" in headers) == (200, "", True)


def test_failed_attach_fails_the_allocation(plugged, volume, consumer):
    """The event carries the driver's sentence."""
    put(plugged, volume("v", ExternalID="vol-stuck"))

    plugged.run(consumer("c"))

    [alloc] = plugged.until_status("c", "failed")
    event = alloc["TaskStates"]["t"]["Events"][-1]
    assert event["Type"] == "Setup Failure"
    assert "could not claim volume v" in event["DisplayMessage"]
    assert "code = InvalidArgument desc = Volume capability not supported" in event["DisplayMessage"]


def test_raw_exec_consumer_is_refused_at_its_start(plugged, volume, consumer):
    """No task of the group could see the volume."""
    put(plugged, volume("v"))

    plugged.run(consumer("c", driver="raw_exec"))

    [alloc] = plugged.until_status("c", "failed")
    assert "no task supports CSI" in alloc["TaskStates"]["t"]["Events"][-1]["DisplayMessage"]
    assert plugged.get("/v1/volume/csi/v")["WriteAllocs"] == {}


def test_deregister_of_a_missing_volume_says_so(api):
    """As Nomad says it."""
    assert api.call("DELETE", "/v1/volume/csi/nope")[:2] == (500, "volume not found: nope")
