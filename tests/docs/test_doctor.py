"""The commands of docs/reference/doctor.md work as written, and the page is that of the rules."""

import json
import shlex

import boto3
import pytest

from nomad_csi import cli
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import iam, registration
from nomad_csi_sandbox.aws import account as aws
from nomad_csi_sandbox.nomad.clients import nodes
from tests.docs import page

PAGE = page.read("reference/doctor.md")
COMMANDS = page.commands(PAGE)
ZONE = "us-east-1a"
SPEC = f"""plugins:
  - {{id: ebs, driver: aws-ebs, aws_region: us-east-1}}
volumes:
  - id: mysql
    plugin_id: ebs
    existing: {{external_id: VOLUME, availability_zone: {ZONE}}}
"""
PLUGIN = """job "plugin-ebs-controller" {
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "ebs"
        type = "controller"
      }
      config {
        command = "sleep"
        args    = ["60"]
      }
    }
  }
}
"""


@pytest.fixture
def seeded(account):
    """An account with a client on an instance, whose role has the policy of this package, and an untagged volume."""
    found = aws.seed(account, zones=[ZONE])
    keys = {"endpoint_url": account, "region_name": "us-east-1"}
    client = boto3.client("iam", **keys)
    document = json.dumps(iam.ebs_policy("us-east-1"))
    client.put_role_policy(RoleName=found.role_name, PolicyName="ebs", PolicyDocument=document)
    client.close()
    ec2 = boto3.client("ec2", **keys)
    yield ec2.create_volume(AvailabilityZone=ZONE, Size=1)["VolumeId"], found.instances[ZONE]
    ec2.close()


@pytest.fixture
def folder(tmp_path, emulated, seeded):
    """A folder with the spec of the page, and an emulator agent with its volume, registered."""
    external_id, instance_id = seeded
    (tmp_path / "storage.yaml").write_text(SPEC.replace("VOLUME", external_id))
    made, client = emulated(nodes=[nodes.NodeSpec(name="client-1", zone=ZONE, instance_id=instance_id)])
    [node] = made.state.nodes.values()
    privileged = {"driver.docker.privileged.enabled": "true"}
    node["Drivers"]["docker"] |= {"Detected": True, "Healthy": True, "Attributes": privileged}
    mode = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
    document = registration.VolumeRegistration(
        volume_id="mysql",
        name="mysql",
        external_id=external_id,
        plugin_id="ebs",
        capabilities=(mode,),
        required_topologies=({"topology.ebs.csi.aws.com/zone": ZONE},),
    )
    jobs.register(client, jobs.parse(client, PLUGIN), source=PLUGIN, enforce_index=None)
    volumes.register(client, document)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_commands_run_as_written(capsys):
    """One after the other, with the spec of the directory: a tag is missing, until it is set.

    The plugin is not healthy there, which is an error in each run.
    """
    told = []
    for line in COMMANDS:
        code = cli.main(shlex.split(line)[1:])
        told.append((code, "policy-tag-missing" in capsys.readouterr().out))

    assert [line.split()[:2] for line in COMMANDS] == [["nomad-csi", "doctor"]] * 3
    assert told == [(1, True), (1, False), (1, False)]
