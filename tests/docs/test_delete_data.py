"""The commands of howto/delete-data.md and howto/snapshots.md work as written, their specs too; every outcome is named."""

import contextlib
import os
import re
import shlex
import shutil
import sys
import tempfile
import typing
from pathlib import Path

import boto3
import pytest

from nomad_csi import cli
from nomad_csi.frame import resource
from nomad_csi.nomad import cluster_identity, jobs, volumes
from nomad_csi.plan import registration, storage
from nomad_csi.spec import draft
from nomad_csi.volumes import deletion_proof, volume_resource, volume_snapshots
from nomad_csi_sandbox.nomad.storage import csi_supervisor, plugins
from tests.docs import page

PAGE = page.read("howto/delete-data.md", "howto/delete-with-its-stack.md", "howto/snapshots.md")
COMMANDS = page.commands(PAGE)
DESTROYED, SPEC = page.blocks(PAGE, "yaml")
CAPABILITY = {"accessMode": "single-node-writer", "attachmentMode": "file-system"}
EBS = """job "ebs" {
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "ebs"
        type = "node"
      }
      config {
        command = "sleep"
        args    = ["60"]
      }
    }
  }
}
"""
HOSTPATH = """job "hostpath" {
  type = "system"
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "hostpath"
        type = "monolith"
      }
      config {
        command = "nomad-csi-sandbox-csi-plugin"
        args    = ["--driver", "csi-hostpath", "--nodeid=n1", "--endpoint=${CSI_ENDPOINT}"]
      }
    }
  }
}
"""


@pytest.fixture
def short_folder():
    """A folder with a short name: the path of a socket may have 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="nc"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def ebs_volume(account):  # noqa: ARG001  # the client finds it by its variables
    """An EBS volume with the tags of ``default/mysql``."""
    ec2 = boto3.client("ec2", region_name="us-east-1")  # more patient with moto, which loads EC2 when it is asked
    tags = [{"Key": "nomad-csi:volume", "Value": "default/mysql"}, {"Key": "nomad-csi:owner", "Value": "shop/prod"}]
    spec = [{"ResourceType": "volume", "Tags": tags}]
    yield ec2.create_volume(AvailabilityZone="us-east-1a", Size=1, TagSpecifications=spec)["VolumeId"]
    ec2.close()


@pytest.fixture
def client(short_folder, ebs_volume, emulated):
    """An emulator agent with both plugins, and ``default/mysql`` registered."""
    pace = csi_supervisor.Pace(start_s=0.1, watch_s=2.0)
    environment = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    made, found = emulated(data_dir=short_folder, pace=pace, environment=environment)
    mode = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
    document = registration.VolumeRegistration(
        volume_id="mysql",
        name="mysql",
        external_id=ebs_volume,
        plugin_id="ebs",
        capabilities=(mode,),
        required_topologies=({"topology.ebs.csi.aws.com/zone": "us-east-1a"},),
    )
    for source in (EBS, HOSTPATH):
        jobs.register(found, jobs.parse(found, source), source=source, enforce_index=None)
    volumes.register(found, document)
    _tag(ebs_volume, cluster_identity.cluster_id(found, make=True))
    assert made.state.wait_for(lambda: _is_healthy(made.state), 120)
    return found


def _tag(ebs_volume, cluster_id):
    """Say of which cluster the volume is, as the components do."""
    with contextlib.closing(boto3.client("ec2", region_name="us-east-1")) as ec2:
        ec2.create_tags(Resources=[ebs_volume], Tags=[{"Key": "nomad-csi:cluster", "Value": cluster_id}])


def _is_healthy(known):
    plugin = known.plugins.get("hostpath")
    return plugin is not None and plugins.health(known, plugin)["ControllersHealthy"] == 1


def _create(client, **more):
    """Have a volume made, as `pulumi up` does it."""
    made = volume_resource.CreatedVolumeResource()
    inputs, failures = made.check({"pluginId": "hostpath", "capabilities": [CAPABILITY]} | more)
    assert failures == ()
    return made.create(resource.Context(connect=lambda: client), inputs)[1]


def test_commands_run_as_written(client, capsys):
    """The EBS volume goes; a volume of the plugin is snapshotted, restored and cloned; the snapshot goes."""
    source = _create(client, volumeId="scratch", capacityMinBytes=2**30)
    ran = {line: _ran(client, line, capsys) for line in COMMANDS}

    assert [line.split()[1:3] for line in COMMANDS] == [
        ["remove", "default/mysql"],
        ["snapshot", "create"],
        ["snapshot", "list"],
        ["snapshot", "list"],
        ["snapshot", "delete"],
    ]
    assert [code for code, _ in ran.values()] == [0] * 5, ran
    assert volumes.get(client, "default", "mysql") is None
    assert volume_snapshots.list_of_plugin(client, "hostpath") == ()
    assert source["madeStorage"] == source["externalId"]


def _ran(client, line, capsys):
    """Run a command of the page; before the snapshot is deleted, volumes are made from it as the spec says."""
    if "SNAPSHOT_ID" in line:
        [snapshot] = volume_snapshots.list_of_volume(client, "default", "scratch")
        line = line.replace("SNAPSHOT_ID", snapshot.snapshot_id)
        _restore(client, snapshot)
    return cli.main(shlex.split(line)[1:]), capsys.readouterr().out


def _restore(client, snapshot):
    """Make what the spec of the page asks for."""
    text = SPEC.replace("SNAPSHOT_ID", snapshot.snapshot_id).replace("EXTERNAL_ID", snapshot.external_id)
    plan = storage.plan_document(draft.read_yaml(text, "page"), source="page")
    ids = set()
    for item in plan.volumes:
        asked = item.registration
        sources = {"snapshotId": asked.snapshot_id, "cloneId": asked.clone_id}
        wanted = {name: value for name, value in sources.items() if value}
        made = _create(
            client,
            volumeId=item.registration.volume_id,
            capacityMinBytes=asked.capacity_min_bytes,
            **wanted,
        )
        ids.add(made["externalId"])
        found = volumes.get(client, "default", item.registration.volume_id)
        assert (found.snapshot_id, found.clone_id) == (asked.snapshot_id, asked.clone_id)
    assert len(ids | {snapshot.external_id}) == 3


def test_storage_goes_with_its_stack(client, short_folder):
    """As the page's other spec says, but for the place: the client is this machine."""
    text = DESTROYED.replace("ssh://root@{node_name}/opt/nomad/data", str(short_folder))
    [planned] = storage.plan_document(draft.read_yaml(text, "page"), source="page").volumes
    how = planned.source.deletion
    deletion = {"endpoint": how.endpoint, "acceptUnguarded": how.accept_unguarded}
    made = _create(
        client,
        volumeId=planned.registration.volume_id,
        capacityMinBytes=planned.registration.capacity_min_bytes,
        onDestroy=planned.source.on_destroy,
        deletion=deletion,
    )
    said = []

    context = resource.Context(connect=lambda: client, warn=said.append)
    volume_resource.CreatedVolumeResource().delete(context, "default/passing", made)

    [snapshot] = volume_snapshots.list_of_plugin(client, "hostpath")
    assert planned.protect is False
    assert said == [
        f"volume default/passing and its storage {made['externalId']} are deleted; its last snapshot is "
        f"{snapshot.snapshot_id} (read back with ListSnapshots: ready)"
    ]
    assert volumes.get(client, "default", "passing") is None


def test_every_outcome_is_explained():
    """A new one needs a line."""
    told = set(re.findall(r"`([a-z-]+)`", PAGE))

    assert set(typing.get_args(deletion_proof.Status)) <= told
