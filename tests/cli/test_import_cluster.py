"""``nomad-csi import --cluster``: a spec of what Nomad holds, and nothing that Nomad hides taken for a value."""

import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest
import yaml

from nomad_csi import cli, nomad
from nomad_csi.hcl import documents
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import registration, storage
from nomad_csi_sandbox.nomad import cluster
from nomad_csi_sandbox.nomad import server as agent
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_supervisor

HEALTHY_S = 120
SECRET, FLAG = "canary-secret-1f0c", "canary-flag-noatime"
MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
EFS = "fs-0123456789abcdef0"


@contextlib.contextmanager
def served():
    """Run an EFS plugin by rendered files, on an emulator agent: its address and folder, once the plugin is healthy."""
    folder = Path(tempfile.mkdtemp(prefix="csi-"))
    specs = [nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")]
    pace = csi_supervisor.Pace(start_s=0.1, watch_s=2.0)
    made = cluster.Settings(data_dir=folder, nodes=specs, environment=_driver_on_path(folder), pace=pace)
    serving = agent.Server(cluster.Cluster(made))
    with nomad.Nomad(nomad.Connection(address=serving.url)) as client:
        for job in _plan(folder).plugins[0].jobs:
            hcl = documents.job_file(job)
            jobs.register(client, jobs.parse(client, hcl), source=hcl, enforce_index=None)
        until_healthy(client)
        yield serving.url, folder
        for job in _plan(folder).plugins[0].jobs:
            jobs.stop(client, "default", job.job_id, purge=True)
    serving.close()
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def shared():
    """Address and folder of an agent for tests that leave its jobs as they are."""
    with served() as found:
        yield found


def _driver_on_path(folder):
    """Return the environment of an agent that finds the emulator under the name of the driver."""
    driver = folder / "bin/aws-efs-csi-driver"
    driver.parent.mkdir()
    driver.write_text(
        f'#!/bin/sh\nexec {Path(sys.executable).parent}/nomad-csi-sandbox-csi-plugin --driver aws-efs "$@"\n'
    )
    driver.chmod(0o755)
    path = os.pathsep.join([str(driver.parent), os.environ["PATH"]])
    return {"PATH": path, "AWS_REGION": "us-east-1", "NOMAD_CSI_SANDBOX": "nomad:emulator"}


def _plan(folder):
    task_driver = {
        "name": "raw_exec",
        "command": "aws-efs-csi-driver",
        "client_data_dir": str(folder),
    }
    plugin = {"id": "efs", "driver": "aws-efs", "aws_region": "us-east-1", "task_driver": task_driver}
    return storage.plan_document({"plugins": [plugin], "volumes": []})


def until_healthy(client, *, job_id="plugin-efs-nodes", version=0):
    """Wait until the plugin is healthy in Nomad's eyes, run by *version* of its job."""
    deadline = time.monotonic() + HEALTHY_S
    while not _is_healthy(plugins.get(client, "efs"), jobs.allocations(client, "default", job_id), version):
        assert time.monotonic() < deadline, plugins.get(client, "efs")
        time.sleep(0.05)


def _is_healthy(plugin, allocations, version):
    wanted = {each.alloc_id for each in allocations if each.job_version == version}
    return plugin is not None and bool(wanted & {each.alloc_id for each in plugin.nodes if each.healthy})


@pytest.fixture
def client(shared, monkeypatch):
    """A client of the shared agent; the commands find it by their environment."""
    address, _ = shared
    monkeypatch.setenv("NOMAD_ADDR", address)
    with nomad.Nomad(nomad.Connection(address=address)) as found:
        yield found
        for listed in volumes.list_volumes(found, "*"):
            volumes.deregister(found, listed.namespace, listed.volume_id)


def register(client, volume_id, **more):
    """Register a volume of that plugin."""
    document = registration.VolumeRegistration(
        volume_id=volume_id, name=volume_id, external_id=EFS, plugin_id="efs", capabilities=(MODE,), **more
    )
    volumes.register(client, document)


def imported(capsys, *words, code=0):
    """Run the command; return the spec and the lines that were said."""
    assert cli.main(["import", "--cluster", *words]) == code
    printed = capsys.readouterr()
    return yaml.safe_load(printed.out), printed.err.splitlines()


def test_a_cluster_becomes_a_spec_that_registers_nothing_again(client, capsys, tmp_path):
    """Jobs by what they were submitted as, volumes by their detail; jobs, volumes and Raft are as before."""
    register(client, "shared", context={"encryptInTransit": "true"})
    before = client.request("GET", "/v1/volumes", query={"type": "csi"}).index

    spec, _ = imported(capsys)
    (tmp_path / "storage.yaml").write_text(yaml.safe_dump(spec))
    planned = cli.main(["plan", str(tmp_path / "storage.yaml")])

    assert spec["volumes"] == [
        {
            "id": "shared",
            "plugin_id": "efs",
            "existing": {"external_id": EFS},
            "context": {"encryptInTransit": "true"},
        }
    ]
    assert [plugin["id"] for plugin in spec["plugins"]] == ["efs"]
    assert planned == 0, capsys.readouterr()
    assert client.request("GET", "/v1/volumes", query={"type": "csi"}).index == before


def test_what_nomad_hides_is_named_and_no_value(client, capsys):
    """Mount flags are missing, secrets are spoken of once; neither they nor Nomad's word for them is printed."""
    register(client, "shared", mount_options=registration.MountOptions(mount_flags=(FLAG,)), secrets={"key": SECRET})

    spec, said = imported(capsys, code=1)

    assert "mount_options" not in spec["volumes"][0]
    told = "mount_options.mount_flags of default/shared: Nomad has some but hides them"
    assert f"volume default/shared: missing: {told}; fill them in, or they are dropped" in said
    assert sum("shows neither the secrets of volumes" in line for line in said) == 1
    assert not [word for word in (SECRET, FLAG, "REDACTED") if word in json.dumps(spec) + "".join(said)]


def test_what_stands_in_a_file_too_is_taken_from_the_file(client, capsys, tmp_path):
    """It may hold what Nomad hides; a volume is in the spec once, and so is its plugin."""
    register(client, "shared", mount_options=registration.MountOptions(mount_flags=(FLAG,)))
    register(client, "other")
    file = tmp_path / "shared.volume.hcl"
    file.write_text(
        f'id = "shared"\nplugin_id = "efs"\nexternal_id = "{EFS}"\nmount_options {{\n  mount_flags = ["{FLAG}"]\n}}\n'
        f'capability {{\n  access_mode = "{MODE.access_mode}"\n  attachment_mode = "{MODE.attachment_mode}"\n}}\n'
    )

    spec, _ = imported(capsys, str(file))

    assert [volume["id"] for volume in spec["volumes"]] == ["shared", "other"]
    assert spec["volumes"][0]["mount_options"] == {"mount_flags": [FLAG]}
    assert [volume.get("shares_storage") for volume in spec["volumes"]] == [None, True]
    assert [plugin["id"] for plugin in spec["plugins"]] == ["efs"]


def test_nothing_is_written_to_the_cluster(client, capsys):
    """Each request is a GET."""
    register(client, "shared")
    log = client.request("GET", "/v1/sandbox/requests").data

    imported(capsys)

    asked = client.request("GET", "/v1/sandbox/requests").data[len(log) :]
    assert asked
    assert {item["method"] for item in asked} == {"GET"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x.hcl", "--plugin", "efs"], "--plugin: expected it only with --cluster"),
        (["x.hcl", "--stack", "prod"], "--stack: expected it only with --for-pulumi"),
        (["--cluster", "--project", "."], "--project: expected it only with --for-pulumi"),
    ],
)
def test_rejects_options_that_would_be_ignored(words, told, capsys):
    """Each says what it is for."""
    assert cli.main(["import", *words]) == 64

    assert told in capsys.readouterr().err
