"""Claims that no one lets go of: how they come, what Nomad does about them, and what the product makes of both."""

import pytest

from nomad_csi import errors, nomad
from nomad_csi.diagnosis import claim_repair
from nomad_csi.nomad import nodes, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import deregistration

REGION = "us-east-1"
LONE = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}


@pytest.fixture(autouse=True)
def _account(moto_url, monkeypatch):
    """Where the product finds EC2."""
    for name, value in {"ACCESS_KEY_ID": "sandbox", "SECRET_ACCESS_KEY": "sandbox", "ENDPOINT_URL": moto_url}.items():
        monkeypatch.setenv(f"AWS_{name}", value)


@pytest.fixture
def agent(sticky):
    """One side of the contract."""
    return sticky.agent


@pytest.fixture
def client(agent):
    """The product's own client."""
    with nomad.Nomad(nomad.Connection(address=agent.url)) as made:
        yield made


@pytest.fixture
def state(ec2):
    """Return what EC2 says of a volume."""
    return lambda external: ec2.describe_volumes(VolumeIds=[external])["Volumes"][0]["State"]


@pytest.fixture
def stuck(sticky, agent, ec2, volume, consumer, fresh):
    """A volume whose claim stays, because the controller cannot detach: its id, and its EBS volume."""
    external = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    volume_id, job_id = fresh("stuck"), fresh("holder")
    agent.register(volume(volume_id, PluginID="ebs", ExternalID=external, RequestedCapabilities=[LONE]))
    agent.run(consumer(job_id, volume_id, mode="single-node-writer"))
    agent.until_status(job_id, "running")
    sticky.fault_file.write_text('{"detach": "error"}')
    agent.call("DELETE", f"/v1/job/{job_id}")
    agent.until_status(job_id, "complete")
    yield volume_id, external
    sticky.fault_file.unlink(missing_ok=True)
    agent.call("DELETE", f"/v1/volume/csi/{volume_id}?force=true")


def collect(agent):
    """Collect garbage, as the product does."""
    with nomad.Nomad(nomad.Connection(address=agent.url)) as client:
        volumes.collect_garbage(client)


def vanish(agent, volume_id):
    """Let Nomad forget the allocation, and return the volume."""
    collect(agent)
    return agent.until(lambda: agent.get(f"/v1/volume/csi/{volume_id}"), lambda found: not found["Allocations"])


def test_ended_allocation_keeps_its_claim(agent, client, stuck, state):
    """Where the controller cannot detach, with the times by which the claim is judged."""
    volume_id, external = stuck

    [claim] = volumes.get(client, "default", volume_id).claims

    assert (claim.client_status, claim.desired_status, claim.mode) == ("complete", "stop", "write")
    assert 0 < claim.since_ns < claim.changed_ns
    assert state(external) == "in-use"
    assert agent.refused("DELETE", f"/v1/volume/csi/{volume_id}") == (500, f"volume in use: {volume_id}")


def test_forgotten_allocation_keeps_its_claim_too(agent, client, stuck):
    """Then no one knows who it was; the list still counts it."""
    volume_id, _ = stuck
    vanish(agent, volume_id)

    [claim] = volumes.get(client, "default", volume_id).claims
    [listed] = [item for item in volumes.list_volumes(client, "*") if item.volume_id == volume_id]

    assert (claim.node_id, claim.job_id, claim.since_ns) == ("", "", 0)
    assert (listed.readers, listed.writers) == (0, 1)
    assert agent.refused("DELETE", f"/v1/volume/csi/{volume_id}") == (500, f"volume in use: {volume_id}")


def test_garbage_collection_frees_when_the_controller_can(sticky, agent, stuck, state):
    """It is tried again, and EC2 detaches."""
    volume_id, external = stuck
    sticky.fault_file.unlink()

    collect(agent)

    agent.until(lambda: agent.get(f"/v1/volume/csi/{volume_id}"), lambda found: not found["WriteAllocs"])
    assert state(external) == "available"


def test_force_forgets_and_does_not_detach(agent, client, stuck, state, volume):
    """What is registered again is free for Nomad, and attached for EC2: the danger of the last step."""
    volume_id, external = stuck

    volumes.deregister(client, "default", volume_id, is_forced=True)
    gone = volumes.get(client, "default", volume_id)
    agent.register(volume(volume_id, PluginID="ebs", ExternalID=external, RequestedCapabilities=[LONE]))

    assert gone is None
    assert volumes.get(client, "default", volume_id).claims == ()
    assert state(external) == "in-use"


def test_this_version_cannot_detach_by_hand(agent, client, stuck, state):
    """Whoever holds it, and whether it is held or not."""
    volume_id, external = stuck
    [node] = nodes.list_nodes(client)

    with pytest.raises(errors.NomadApiError, match="Unknown allocation"):
        volumes.detach(client, "default", volume_id, node.node_id)
    assert agent.refused("DELETE", f"/v1/volume/csi/{volume_id}/detach?node=x") == (500, "Unknown allocation")
    assert agent.refused("DELETE", f"/v1/volume/csi/{volume_id}/detach") == (400, "detach requires node ID")
    assert state(external) == "in-use"


def test_deregistration_waits_and_forces(client, stuck):
    """Without force it gives up with the holder's name; with it, it says what is left in EC2."""
    volume_id, external = stuck
    key = ("default", volume_id)

    [held] = deregistration.deregister(
        client, [key], deregistration.DeregistrationOptions(wait_s=0.1, aws_region=REGION)
    )
    forced = deregistration.DeregistrationOptions(is_forced=True, aws_region=REGION)
    [gone] = deregistration.deregister(client, [key], forced)

    assert (held.status, "complete on node one" in held.reason) == ("claimed", True)
    assert gone.status == "deregistered"
    assert gone.storage.startswith(f"{external} is in-use: attached to i-")


def test_repair_frees_with_garbage_collection(sticky, client, stuck, state):
    """The second step is enough as soon as the controller can."""
    volume_id, external = stuck

    def agree(_question):
        sticky.fault_file.unlink()
        return True

    order = claim_repair.RepairRequest(namespace="default", volume_id=volume_id, aws_region=REGION, wait_s=0.1)
    for _ in range(50):  # Nomad answers before it has collected
        done = claim_repair.repair(
            client, order, ask=lambda q: not sticky.fault_file.exists() or agree(q), report=print
        )
        if done.status == "free":
            break

    assert (done.status, done.reason) == ("free", f"nothing claims it; {external} is available")
    assert state(external) == "available"


def test_repair_forces_only_what_ec2_says_is_free(agent, client, stuck, ec2, state):
    """Refused while it is attached; registered again once someone has detached it."""
    volume_id, external = stuck
    document = registration.VolumeRegistration(
        volume_id=volume_id,
        name=volume_id,
        external_id=external,
        plugin_id="ebs",
        capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
    )
    parts = {"document": document, "source": "f", "aws_region": REGION, "wait_s": 0.1}
    order = claim_repair.RepairRequest(namespace="default", volume_id=volume_id, **parts)

    refused = claim_repair.repair(client, order, ask=lambda _question: True, report=print)
    [place] = ec2.describe_volumes(VolumeIds=[external])["Volumes"][0]["Attachments"]
    ec2.detach_volume(VolumeId=external, InstanceId=place["InstanceId"], Device=place["Device"])
    done = claim_repair.repair(client, order, ask=lambda _question: True, report=print)

    assert (refused.status, refused.reason.startswith(f"{external} is in-use: attached to i-")) == ("refused", True)
    assert (done.status, done.steps[-2:]) == ("registered", ("force", "register"))
    assert agent.get(f"/v1/volume/csi/{volume_id}")["WriteAllocs"] == {}
    assert state(external) == "available"
