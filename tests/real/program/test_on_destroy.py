"""Storage that goes with its volume, on Pulumi's own engine: what it reads, records and hands over is enough."""

import json
import shutil
import time

import pytest
import yaml

from nomad_csi.nomad import jobs, plugins, volumes

HOST = "pulumi-language-yaml"
WAIT_S = 120.0
TOKEN = "nomad-csi:index:CreatedVolume"
HOSTPATH = """job "hostpath" {
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

pytestmark = pytest.mark.skipif(shutil.which(HOST) is None, reason=f"not on PATH: {HOST}")


@pytest.fixture
def client(world):
    """The world's Nomad, with a plugin that makes volumes; the plugin goes with the test."""
    with world.nomad() as found:
        jobs.register(found, jobs.parse(found, HOSTPATH), source=HOSTPATH, enforce_index=None)
        deadline = time.monotonic() + WAIT_S
        while not (plugin := plugins.get(found, "hostpath")) or not any(each.healthy for each in plugin.controllers):
            assert time.monotonic() < deadline, plugin
            time.sleep(0.1)
        yield found
        jobs.stop(found, "default", "hostpath", purge=True)


@pytest.fixture
def program(stack, tmp_path):
    """A stack of one volume that the plugin makes; write what it is: ``program.write(onDestroy="keep")``."""
    folder = tmp_path / "scratch"
    folder.mkdir()

    def write(**more):
        given = {
            "volumeId": "scratch",
            "pluginId": "hostpath",
            "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
        }
        resources = {"scratch": {"type": "nomad-csi:CreatedVolume", "properties": given | more}}
        document = {"name": "scratch", "runtime": "yaml", "resources": resources}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(document))

    write()
    made = stack(folder)
    made.command("plugin", "install")
    installed = yaml.safe_load((folder / "Pulumi.yaml").read_text())["plugins"]

    def rewrite(**more):
        write(**more)
        document = yaml.safe_load((folder / "Pulumi.yaml").read_text()) | {"plugins": installed}
        (folder / "Pulumi.yaml").write_text(yaml.safe_dump(document))

    made.write = rewrite
    return made


def recorded(program):
    """Return the outputs of the volume in the state."""
    return next(item["outputs"] for item in program.resources().values() if item["type"] == TOKEN)


def test_word_is_learned_in_place_and_followed(world, client, program):
    """Told in preview; after it nothing differs. Deregistered by hand, the volume is not forgotten by what destroy reads."""
    storage = world.data_dir / "storage/hostpath.csi.k8s.io.json"
    place = f"{world.data_dir}/client/csi/plugins/{{alloc_id}}/csi.sock"
    up = ("up", "--yes", "--skip-preview")
    program.run(*up)
    made = recorded(program)

    program.write(onDestroy="delete", deletion={"endpoint": place, "acceptUnguarded": True, "skipFinalSnapshot": True})
    shown = program.run("preview", "--diff")
    program.run(*up)
    learned = recorded(program)
    program.run("preview", "--expect-no-changes")
    volumes.deregister(client, "default", "scratch")
    left = json.loads(storage.read_text())["volumes"]
    done = program.run("destroy", "--yes", "--skip-preview")

    assert (made["madeStorage"], "onDestroy" in made) == (made["externalId"], False)
    assert f"deletes its storage {made['externalId']} with all data" in shown
    assert "onDestroy" in shown
    assert (learned["externalId"], learned["onDestroy"]) == (made["externalId"], "delete")
    assert set(left) == {made["externalId"]}
    assert json.loads(storage.read_text())["volumes"] == {}
    assert (
        f"is not registered in Nomad any more: `up` registers it again, with its storage {made['externalId']}" in done
    )
    assert f"volume default/scratch and its storage {made['externalId']} are deleted" in done
    assert program.resources() == {}
