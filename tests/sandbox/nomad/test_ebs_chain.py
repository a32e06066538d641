"""The whole chain on a laptop: our rendered arguments, the EBS emulator, moto behind it, an attachment that EC2 sees."""

import os
import sys
from pathlib import Path

import boto3
import pytest

from nomad_csi_sandbox.aws import server as moto
from nomad_csi_sandbox.nomad.clients import nodes

REGION = "us-east-1"
KEYS = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox", "region_name": REGION}
TOPOLOGY_KEY = "topology.ebs.csi.aws.com/zone"


@pytest.fixture
def ec2():
    """EC2 of a fresh moto server, with its URL."""
    with moto.Moto() as server:
        server.wait_until_it_answers()
        client = boto3.client("ec2", endpoint_url=server.url, **KEYS)
        yield client, server.url
        client.close()


@pytest.fixture
def instance_ids(ec2):
    """One instance in each of two zones."""
    client, _ = ec2
    return [
        client.run_instances(ImageId="ami-1", MinCount=1, MaxCount=1, Placement={"AvailabilityZone": zone})[
            "Instances"
        ][0]["InstanceId"]
        for zone in ("us-east-1a", "us-east-1b")
    ]


@pytest.fixture
def agent(start, ec2, instance_ids):
    """An agent whose two clients are the instances."""
    names = (("one", "us-east-1a"), ("two", "us-east-1b"))
    specs = [
        nodes.NodeSpec(name=name, zone=zone, instance_id=instance_id)
        for (name, zone), instance_id in zip(names, instance_ids, strict=True)
    ]
    environment = {
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": ec2[1],
        "AWS_REGION": REGION,
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    return start(nodes=specs, environment=environment)


@pytest.fixture
def ebs_job(job):
    """Write a job that runs the EBS driver's emulator."""

    def write(job_id, kind, role):
        block = f'csi_plugin {{\n id = "p"\n type = "{role}"\n}}'
        args = ["--driver", "aws-ebs", role, "--endpoint=${CSI_ENDPOINT}", "--v=2"]
        return job(job_id, kind=kind, task=block, command="nomad-csi-sandbox-csi-plugin", args=args)

    return write


def test_volume_is_attached_for_its_consumer_and_detached_after(agent, ec2, instance_ids, ebs_job, job, volume):
    """Registered in its zone, attached to that zone's instance, available again when the consumer is gone."""
    client, _ = ec2
    volume_id = client.create_volume(AvailabilityZone="us-east-1b", Size=1)["VolumeId"]
    agent.run(ebs_job("nodes", "system", "node"))
    agent.run(ebs_job("controller", "service", "controller"))
    found = agent.until_healthy(1, 2)
    zone = {"Required": [{"Segments": {TOPOLOGY_KEY: "us-east-1b"}}]}
    item = volume("v", ExternalID=volume_id, RequestedTopologies=zone)

    registered = agent.call("PUT", "/v1/volumes", {"Volumes": [item]})
    block = 'volume "d" {\n type = "csi"\n source = "v"\n access_mode = "single-node-writer"\n'
    agent.run(job("c", driver="exec", group=block + ' attachment_mode = "file-system"\n}'))
    agent.until_status("c", "running")

    assert (found["Provider"], registered[0]) == ("ebs.csi.aws.com", 200)
    [attachment] = client.describe_volumes(VolumeIds=[volume_id])["Volumes"][0]["Attachments"]
    assert attachment["InstanceId"] == instance_ids[1]
    agent.call("DELETE", "/v1/job/c")
    agent.until(lambda: agent.get("/v1/volume/csi/v")["WriteAllocs"], lambda claims: not claims)
    assert client.describe_volumes(VolumeIds=[volume_id])["Volumes"][0]["State"] == "available"


def test_missing_ebs_volume_is_refused_by_its_driver(agent, ebs_job, volume):
    """The refusal carries EC2's own words."""
    agent.run(ebs_job("controller", "service", "controller"))
    agent.until_healthy(1, 0)

    item = volume("v", ExternalID="vol-0123456789abcdef0")
    status, body, _ = agent.call("PUT", "/v1/volumes", {"Volumes": [item]})

    assert status == 500
    assert "controller validate volume: CSI.ControllerValidateVolume: controller plugin returned an internal" in body
    assert "InvalidVolume.NotFound" in body
