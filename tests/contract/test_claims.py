"""Volumes in use: what is refused meanwhile, what consumers get, and how they let go."""

import pytest

from nomad_csi.nomad import jobs, volumes

IN_USE = "can not update mount options while volume is in use"
CAPABILITY = "volume requested capabilities update was not compatible with existing capability in use"
ONE = "unable to update volume: 1 error occurred:\n\t* {}\n\n"
LONE = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
SHARED = [{"AccessMode": "multi-node-multi-writer", "AttachmentMode": "file-system"}]
USED = {"MountOptions": {"MountFlags": ["tls"]}, "Context": {"encryptInTransit": "true"}}


def test_claim_names_its_holder(agent, client):
    """Allocation, node and job, for the refusal that the product shows."""
    [allocation] = jobs.allocations(client, "default", "user")

    [claim] = volumes.get(client, "default", "used").claims

    assert (claim.alloc_id, claim.mode, claim.client_status) == (allocation.alloc_id, "write", "running")
    assert (claim.job_id, claim.namespace, claim.node_name) == ("user", "default", "one")
    assert agent.get("/v1/volume/csi/used")["WriteAllocs"] == {allocation.alloc_id: None}


@pytest.mark.parametrize("query", ["", "?force=true"])
def test_volume_in_use_is_not_forgotten(agent, query):
    """Not by force either, while its user runs."""
    assert agent.refused("DELETE", f"/v1/volume/csi/used{query}") == (500, "volume in use: used")


@pytest.mark.parametrize(
    ("volume_id", "fields"),
    [
        ("used", USED),
        ("plain", {}),
        ("plain", {"RequestedCapabilities": SHARED + LONE}),
        ("plain", {"Secrets": {"a": "b"}}),
    ],
)
def test_volume_in_use_may_be_registered_again_with(agent, volume, volume_id, fields):
    """The same, more capabilities, other secrets: the user is not disturbed."""
    agent.register(volume(volume_id, **fields))

    assert len(agent.get(f"/v1/volume/csi/{volume_id}")["WriteAllocs"]) == 1


@pytest.mark.parametrize(
    ("volume_id", "change", "text"),
    [
        ("plain", {"MountOptions": None}, ONE.format(IN_USE)),
        ("used", {"MountOptions": {"MountFlags": ["other"]}}, ONE.format(IN_USE)),
        ("used", {"RequestedCapabilities": LONE}, ONE.format(CAPABILITY)),
    ],
)
def test_volume_in_use_cannot_be_registered_again_with(agent, volume, volume_id, change, text):
    """Mount options have to be the same, given even where none were stored."""
    item = volume(volume_id, **(USED if volume_id == "used" else {})) | change

    assert agent.refused("PUT", "/v1/volumes", {"Volumes": [item]}) == (500, text)


def test_second_writer_of_a_lone_volume_waits(client, consumer, fresh):
    """The scheduler's sentence."""
    source = consumer(fresh("second"), "zoned", mode="single-node-writer")

    plan = jobs.plan(client, jobs.parse(client, source))

    assert plan.failed_groups == {"g": "CSI volume zoned has exhausted its available writer claims (1 node)"}


def test_volume_of_another_zone_has_no_node(client, consumer, fresh, volume, kept):
    """Its topology is none that the node reports."""
    volume_id = fresh("far")
    kept(volume(volume_id, RequestedTopologies={"Required": [{"Segments": {"topology.kubernetes.io/zone": "mars"}}]}))

    plan = jobs.plan(client, jobs.parse(client, consumer(fresh("job"), volume_id)))

    assert plan.failed_groups == {"g": "did not meet topology requirement (1 node)"}


def test_claim_that_does_not_fit_fails_the_task(agent, client, ran, consumer, fresh):
    """Another attachment mode than the one in use is placed, and then refused."""
    job_id = fresh("block")
    ran(job_id, consumer(job_id, "used", attachment="block-device"))
    agent.until_status(job_id, "failed")

    [allocation] = jobs.allocations(client, "default", job_id)

    event = next(event for event in allocation.task_events if event.type == "Setup Failure")
    refused = "cannot change attachment mode of claimed volume"
    if agent.has("names-refused-claims"):
        refused = f'alloc "{allocation.alloc_id}" failed to claim volume "used": {refused}'
    claim = f"could not claim volume used: rpc error: {refused}"
    assert event.message == f'failed to setup alloc: pre-run hook "csi_hook" failed: claiming volumes: {claim}'
    [found] = [item for item in jobs.failed_mounts(client, "default") if item.job_id == job_id]
    assert (found.alloc_id, found.node_name) == (allocation.alloc_id, allocation.node_name)
    assert (found.group, found.index, found.error) == ("g", 0, f"claiming volumes: {claim}")
    assert jobs.volumes_of(jobs.document(client, "default", job_id), found.group, found.index) == ("used",)


def test_driver_without_mounts_cannot_use_a_volume(agent, client, ran, consumer, fresh, volume, kept):
    """As the raw_exec driver."""
    job_id, volume_id = fresh("raw"), fresh("unused")
    kept(volume(volume_id))
    ran(job_id, consumer(job_id, volume_id, driver="raw_exec"))
    agent.until_status(job_id, "failed")

    [allocation] = jobs.allocations(client, "default", job_id)

    messages = [event.message for event in allocation.task_events if event.type == "Setup Failure"]
    assert messages == ['failed to setup alloc: pre-run hook "csi_hook" failed: no task supports CSI']


def test_stopped_consumer_lets_go(agent, client, ran, consumer, fresh, volume, kept):
    """The claim goes with the task; then the volume may be forgotten."""
    job_id, volume_id = fresh("brief"), fresh("brief")
    kept(volume(volume_id))
    ran(job_id, consumer(job_id, volume_id))
    agent.until_status(job_id, "running")
    held = len(volumes.get(client, "default", volume_id).claims)

    jobs.stop(client, "default", job_id, purge=False)

    agent.until(lambda: volumes.get(client, "default", volume_id), lambda found: not found.claims)
    volumes.deregister(client, "default", volume_id)
    assert (held, volumes.get(client, "default", volume_id)) == (1, None)


def test_ebs_volume_is_attached_for_its_consumer(agent, client, world, ec2, ran, consumer, fresh, volume, kept):
    """EC2 says so, and says available again after it."""
    external = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    job_id, volume_id = fresh("attached"), fresh("attached")
    kept(volume(volume_id, PluginID="ebs", ExternalID=external, RequestedCapabilities=LONE))
    ran(job_id, consumer(job_id, volume_id, mode="single-node-writer"))
    agent.until_status(job_id, "running")
    attached = ec2.describe_volumes(VolumeIds=[external])["Volumes"][0]["State"]

    jobs.stop(client, "default", job_id, purge=False)

    agent.until(lambda: volumes.get(client, "default", volume_id), lambda found: not found.claims)
    agent.until(
        lambda: ec2.describe_volumes(VolumeIds=[external])["Volumes"][0]["State"], lambda state: state == "available"
    )
    assert (attached, external == world.ebs_volume) == ("in-use", False)
