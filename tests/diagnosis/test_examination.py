"""A cluster of the emulator and an account of moto in which something is wrong, checked as a whole."""

import itertools
import json
import shutil
import tempfile
from pathlib import Path

import boto3
import pytest

from nomad_csi import nomad
from nomad_csi.aws import regions
from nomad_csi.diagnosis import doctor
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import iam, registration, storage
from nomad_csi_sandbox.aws import server as moto_server
from nomad_csi_sandbox.nomad import cluster
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes

REGION = "us-east-1"
ZONE = "us-east-1a"
ZONE_KEY = "topology.ebs.csi.aws.com/zone"
PLUGIN = """job "plugin" {
  meta = {
    "nomad-csi.owner" = "shop/prod"
  }
  group "g" {
    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }
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
IN_REGION = regions.Choice(named=REGION)
SPEC = {"plugins": [{"id": "ebs", "driver": "aws-ebs", "aws_region": REGION}], "volumes": []}
V2 = iam.ebs_policy(REGION, kms_key_arns=[f"arn:aws:kms:{REGION}:123456789012:key/*"])
_NUMBERS = itertools.count()


class World:
    """A client on an instance with a role; the EBS driver is planned, and a process without a socket is its plugin."""

    def __init__(self, clients, made, client):
        self.ec2, self.iam, self.kms, self.efs = (clients[name] for name in ("ec2", "iam", "kms", "efs"))
        self.cluster = made
        self.nomad = client
        self.plan = storage.plan_document(SPEC)
        self.made = []

    @property
    def node(self):
        return next(iter(self.cluster.state.nodes.values()))

    def run_plugin(self):
        jobs.register(self.nomad, jobs.parse(self.nomad, PLUGIN), source=PLUGIN, enforce_index=None)

    def ebs(self, *, zone=ZONE, tags=(("ebs.csi.aws.com/cluster", "true"),), encrypted=True, **more):
        """Make a volume, and return its id."""
        tagged = [{"ResourceType": "volume", "Tags": [{"Key": key, "Value": value} for key, value in tags]}]
        wanted = {"TagSpecifications": tagged} if tags else {}
        made = self.ec2.create_volume(AvailabilityZone=zone, Size=1, Encrypted=encrypted, **wanted, **more)
        self.made.append(made["VolumeId"])
        return made["VolumeId"]

    def register(self, volume_id, external_id, zone=ZONE):
        """Register a volume."""
        mode = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
        document = registration.VolumeRegistration(
            volume_id=volume_id,
            name=volume_id,
            external_id=external_id,
            plugin_id="ebs",
            capabilities=(mode,),
            required_topologies=({ZONE_KEY: zone},) if zone else (),
        )
        volumes.register(self.nomad, document)

    def examine(self, aws=IN_REGION):
        return doctor.examine(self.nomad, self.plan, aws=aws)

    def findings(self):
        """Findings besides that nothing serves registered volumes: the plugin here never answers."""
        return tuple(item for item in self.examine().findings if item.code != "volume-unschedulable")

    def codes(self):
        return {item.code for item in self.findings()}


def _instance(ec2, iam_client, name, document, *, hops=2):
    """Run an instance with a role called *name* that has *document*."""
    iam_client.create_role(RoleName=name, AssumeRolePolicyDocument="{}")
    iam_client.put_role_policy(RoleName=name, PolicyName="ebs", PolicyDocument=json.dumps(document))
    iam_client.create_instance_profile(InstanceProfileName=name)
    iam_client.add_role_to_instance_profile(InstanceProfileName=name, RoleName=name)
    made = ec2.run_instances(
        ImageId="ami-1",
        MinCount=1,
        MaxCount=1,
        Placement={"AvailabilityZone": ZONE},
        IamInstanceProfile={"Name": name},
        MetadataOptions={"HttpPutResponseHopLimit": hops},
    )
    return made["Instances"][0]["InstanceId"]


@pytest.fixture(scope="module")
def moto():
    """AWS."""
    with moto_server.Moto() as made:
        made.wait_until_it_answers()
        yield made


@pytest.fixture(scope="module")
def account(moto):
    """Clients of AWS."""
    keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": REGION, "endpoint_url": moto.url}
    made = {name: boto3.client(name, **keys) for name in ("ec2", "iam", "kms", "efs")}
    yield made
    for client in made.values():
        client.close()


@pytest.fixture
def fresh(moto, account, monkeypatch):
    """An account without storage in it, which the code under test finds in its environment."""
    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "ENDPOINT_URL": moto.url}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    return account


@pytest.fixture
def world(fresh, request):
    """A sound world; ``@pytest.mark.parametrize("world", [{"hops": 1}], indirect=True)`` for another instance."""
    wanted = {"document": V2, "hops": 2} | getattr(request, "param", {})
    name = f"nomad-client-{next(_NUMBERS)}"
    instance_id = _instance(fresh["ec2"], fresh["iam"], name, wanted["document"], hops=wanted["hops"])
    folder = Path(tempfile.mkdtemp(prefix="csi-"))
    spec = nodes.NodeSpec(name="client-1", zone=ZONE, instance_id=instance_id)
    made = cluster.Cluster(cluster.Settings(data_dir=folder, nodes=[spec], environment={"PATH": "/usr/bin:/bin"}))
    with agent.Server(made) as serving, nomad.Nomad(nomad.Connection(address=serving.url)) as client:
        found = World(fresh, made, client)
        docker = found.node["Drivers"]["docker"]
        docker |= {"Detected": True, "Healthy": True, "Attributes": {"driver.docker.privileged.enabled": "true"}}
        found.run_plugin()
        found.role = name
        yield found
    for external_id in found.made:
        fresh["ec2"].delete_volume(VolumeId=external_id)
    shutil.rmtree(folder)


def test_volume_of_a_plugin_without_healthy_instances_is_an_error(world):
    """Nothing else is wrong; what is not seen is reported."""
    world.register("mysql", world.ebs())

    report = world.examine()

    assert [(item.code, item.subject, item.found) for item in report.findings] == [
        ("volume-unschedulable", "volume default/mysql", "plugin ebs without enough healthy instances")
    ]
    assert [item.check for item in report.unchecked] == [f"limits of role {world.role} beyond its policies"]
    assert (report.exit_code, report.aws_region) == (1, REGION)


def test_tag_is_missed_and_set(world):
    """By the role that may attach tagged volumes only; afterwards nothing is missed."""
    bare = world.ebs(tags=())
    world.register("mysql", bare)
    report = world.examine()

    done = doctor.fix(report)

    assert [item.code for item in report.findings] == ["volume-unschedulable", "policy-tag-missing"]
    assert done == (bare,)
    assert world.ec2.describe_volumes(VolumeIds=[bare])["Volumes"][0]["Tags"] == [
        {"Key": "ebs.csi.aws.com/cluster", "Value": "true"}
    ]
    assert world.codes() == set()


def test_account_without_credentials_is_said(world, monkeypatch):
    """Every part that AWS would have told; the cluster is checked all the same."""
    world.register("mysql", world.ebs())
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")

    report = world.examine()

    reasons = {item.reason for item in report.unchecked if not item.is_expected}
    assert reasons == {"AWS in us-east-1 could not be asked: Unable to locate credentials"}
    assert ({item.code for item in report.findings}, report.exit_code) == ({"volume-unschedulable"}, 1)
