"""A world for programs of one's own on the real engine: moto, the attached aws provider and the Nomad emulator."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import jobs, variables, volumes
from nomad_csi.volumes import ownership
from nomad_csi_sandbox.aws import account
from tests import acl, servers

PROGRAMS = ("pulumi", "pulumi-language-python")
OWN_PROGRAMS = Path(sys.executable).parent
DEADLINE_S = 240
MARK = "aws:moto,engine:real,nomad:emulator"
TOKEN = "0c0ffee0-0000-4000-8000-000000000000"
ASLEEP = """job "asleep" {
  group "g" {
    task "t" {
      driver = "raw_exec"
      csi_plugin {
        id   = "asleep"
        type = "node"
      }
      config {
        command = "sleep"
        args    = ["600"]
      }
    }
  }
}
"""
ABSENT = [name for name in PROGRAMS if shutil.which(name) is None]


def pytest_collection_modifyitems(items):
    """Mark what is here, and skip it where the engine is not at hand."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.real_pulumi)
            item.add_marker(pytest.mark.timeout(900))
            item.add_marker(pytest.mark.skipif(bool(ABSENT), reason=f"not on PATH: {', '.join(ABSENT)}"))


@dataclass
class World:
    """What a program finds outside of itself."""

    data_dir: Path
    environment: dict

    @property
    def task_driver(self):
        """``task_driver`` of a plugin that runs here."""
        command, arguments = "nomad-csi-sandbox-csi-plugin", ["--driver", "aws-ebs"]
        return {
            "name": "raw_exec",
            "command": command,
            "arguments": arguments,
            "client_data_dir": str(self.data_dir),
        }

    def nomad(self):
        """Return a client of its Nomad."""
        return nomad.Nomad(nomad.Connection.from_environment(self.environment))


@dataclass
class Stack:
    """A project with one stack."""

    folder: Path
    environment: dict

    def run(self, *words, code=0):
        """Run ``pulumi`` and return its output. Fails when it ends otherwise than with *code*."""
        command = [shutil.which("pulumi"), *words, "--non-interactive", "--color", "never"]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        text = done.stdout + done.stderr
        assert done.returncode == code, text
        return text

    def command(self, *words, code=0):
        """Run ``nomad-csi`` of this environment in the project, and return its output."""
        command = [str(OWN_PROGRAMS / "nomad-csi"), *words]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        text = done.stdout + done.stderr
        assert done.returncode == code, text
        return text

    def resources(self):
        """Return the resources in the state, providers left out, by URN."""
        found = json.loads(self.run("stack", "export"))["deployment"].get("resources", ())
        return {item["urn"]: item for item in found if not item["type"].startswith("pulumi:providers:")}


@pytest.fixture(scope="session")
def _world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    data_dir = Path(tempfile.mkdtemp(prefix="ncw"))
    environment = {
        "PATH": os.pathsep.join([str(OWN_PROGRAMS), os.environ["PATH"]]),
        "HOME": str(folder),
        "NO_PROXY": "*",
        "NOMAD_CSI_SANDBOX": MARK,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    running = []

    def begin(name, *arguments):
        process, port, _ = servers.start(name, folder, *arguments, environment=environment)
        running.append(process)
        return port

    try:
        environment["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{begin('nomad_csi_sandbox.aws.moto')}"
        instances = account.seed(environment["AWS_ENDPOINT_URL"], region="us-east-1").instances
        environment["PULUMI_DEBUG_PROVIDERS"] = f"aws:{begin('nomad_csi_sandbox.aws.provider')}"
        nodes = [f"--node=client-{zone}={zone}={instance}" for zone, instance in sorted(instances.items())]
        (folder / "token").write_text(TOKEN)
        words = ("--data-dir", str(data_dir), "--token-file", str(folder / "token"), "--guarded")
        port = begin("nomad_csi_sandbox.nomad", *words, *nodes)
        environment |= {"NOMAD_ADDR": f"http://127.0.0.1:{port}"} | acl.of_sandbox(MARK, TOKEN)
        yield World(data_dir=data_dir, environment=environment)
    finally:
        for process in reversed(running):
            servers.end(process)
        shutil.rmtree(data_dir, ignore_errors=True)


@pytest.fixture
def world(_world):
    """
    The world that the tests share; each leaves no job and no volume in it.

    Owner marks of what Nomad was asked to forget by hand are removed here: another stack may have the ids.
    """
    yield _world
    with _world.nomad() as client:
        for _, path in variables.list_all(client, "default", f"{ownership.FOLDER}/"):
            client.request("DELETE", f"/v1/var/{path}")
        left = [job["ID"] for job in client.request("GET", "/v1/jobs", query={"namespace": "*"}).data]
        kept = [item["ID"] for item in client.request("GET", "/v1/volumes", query={"type": "csi"}).data]
    assert (left, kept) == ([], []), "left behind"


@pytest.fixture
def stack(world, tmp_path):
    """
    Make a stack of the project in a folder: ``stack(folder)``. The environment's own bin is not on its PATH.

    With ``init=False`` there is no project in the folder yet, and no stack.
    """
    programs = os.pathsep.join(
        place for place in os.environ["PATH"].split(os.pathsep) if Path(place).resolve() != OWN_PROGRAMS.resolve()
    )
    made = []

    def make(folder, init=True, **environment):
        state = tmp_path / f"state-{len(made)}"
        state.mkdir()
        own = {
            "PATH": programs,
            "PULUMI_HOME": str(tmp_path / "pulumi-home"),
            "PULUMI_BACKEND_URL": state.as_uri(),
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        }
        one = Stack(folder=folder, environment=world.environment | own | environment)
        if init:
            one.run("stack", "init", "dev")
            made.append(one)
        return one

    yield make
    for one in made:
        if one.resources():  # the test failed, or leaves its stack up
            _unprotect(one)
            one.run("destroy", "--yes", "--skip-preview")


def _unprotect(one):
    """Lift the protection in the state: of each resource, and of the storage of each registration."""
    state = json.loads(one.run("stack", "export"))
    for item in state["deployment"]["resources"]:
        item.pop("protect", None)
        for properties in (item.get("inputs", {}), item.get("outputs", {})):
            if "protect" in properties:
                properties["protect"] = False
    changed = one.folder.parent / "unprotected.json"
    changed.write_text(json.dumps(state))
    one.run("stack", "import", "--file", str(changed))


@pytest.fixture
def asleep(world):
    """A Nomad that knows a plugin, and takes what is registered for it; nothing of it is left in the end."""
    with world.nomad() as client:
        jobs.register(client, jobs.parse(client, ASLEEP), source=ASLEEP, enforce_index=None)
        yield client
        volumes.deregister(client, "default", "kept")
        jobs.stop(client, "default", "asleep", purge=True)
