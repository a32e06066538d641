"""The examples are programs that run: each in a copy, against a sandbox, from nothing to nothing."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from nomad_csi.nomad import jobs, plugins, volumes
from tests.e2e import shop

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def bare(sandbox):
    """A sandbox that is up and leaves the id of the example's plugin free."""

    def keep_efs(storage):
        storage["plugins"] = [plugin for plugin in storage["plugins"] if plugin["driver"] == "aws-efs"]
        storage["volumes"] = []

    sandbox.edit(keep_efs)
    sandbox.up(check=True)
    return sandbox


def task_driver(sandbox, driver):
    """Return the task driver of a plugin in the sandbox."""
    return {
        "name": "raw_exec",
        "command": "nomad-csi-sandbox-csi-plugin",
        "arguments": ["--driver", driver],
        "client_data_dir": str(sandbox.data_dir),
    }


def engine_of(sandbox, folder, example, **config):
    """Return a function that runs an operation on a copy of *example*, with *config*."""
    program = shutil.copytree(EXAMPLES / example, folder / example)
    words = ["--project", program, "--stack", "dev", "--state", folder / "state.json"]
    settings = [word for name, value in config.items() for word in ("--config", f"{name}={json.dumps(value)}")]

    def engine(operation, *more):
        command = [sys.executable, "-m", "nomad_csi_sandbox.engine", operation, *words, *settings, *more]
        done = sandbox.exec(*command, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return engine


def test_the_ebs_volume_example_makes_verifies_registers_and_removes(bare, tmp_path):
    """As it stands in the repository, with the task driver of the sandbox in its config."""
    engine = engine_of(bare, tmp_path, "ebs-volume", taskDriver=task_driver(bare, "aws-ebs"))

    made = engine("up", "--json", tmp_path / "up.json")
    with bare.nomad() as client:
        plugin, volume = plugins.get(client, "aws-ebs0"), volumes.get(client, "default", "mysql")
    again = engine("up", "--expect-no-changes", "--skip-preview")
    engine("destroy", "--skip-preview")

    outputs = json.loads((tmp_path / "up.json").read_text())["outputs"]
    assert outputs == {"externalId": volume.external_id, "registrationId": "default/mysql"}
    assert volume.external_id.startswith("vol-")
    assert volume.schedulable
    assert [instance.healthy for instance in (*plugin.controllers, *plugin.nodes)] == [True] * 4
    assert "nomad-csi:index:EbsVolume mysql created" in made
    assert "error" not in again
    with bare.nomad() as client:
        assert volumes.get(client, "default", "mysql") is None
        assert plugins.list_ids(client) == ("aws-efs0",)
    assert not json.loads((tmp_path / "state.json").read_text())["deployment"].get("resources")


def test_the_example_with_a_network_stands_up_and_a_job_uses_its_volumes(bare, tmp_path):
    """The network, key, role and storage of one program; the job in its outputs holds a claim on all three volumes."""
    drivers = {name: task_driver(bare, f"aws-{name}") for name in ("ebs", "efs")}
    engine = engine_of(bare, tmp_path, "own-stack", taskDrivers=drivers)

    engine("up", "--json", tmp_path / "up.json")
    outputs = json.loads((tmp_path / "up.json").read_text())["outputs"]
    with bare.nomad() as client:
        mounted = shop.mounted(client, jobs.parse(client, shop.as_hcl(outputs["job"])))
    engine("up", "--expect-no-changes", "--skip-preview")
    engine("destroy", "--skip-preview")

    assert mounted == ["orders", "stock", "uploads"]
    assert sorted(outputs["mountTargets"]) == ["us-east-1a", "us-east-1b"]
    assert outputs["keyArn"].startswith("arn:aws:kms:us-east-1:")
    assert not json.loads((tmp_path / "state.json").read_text())["deployment"].get("resources")
