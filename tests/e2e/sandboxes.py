"""Sandboxes as a person makes them: a project of its own for each, the installed command."""

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import boto3
import yaml

from nomad_csi import nomad
from nomad_csi.plan import volumes as volume_plans
from nomad_csi_sandbox.session import folder, processes

PROJECT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).parent / "nomad-csi"
DEADLINE_S = 240
OWNER_TAG = volume_plans.OWNER_TAG


class Sandbox:
    """A copy of the project with a data directory of its own. Engine and agent: emulators, unless a test says otherwise."""

    def __init__(self, project, data_dir):
        self.project = project
        self.data_dir = data_dir
        self._known_of, self._known = None, {}
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(project.parent)}

    @property
    def config(self):
        return self.project / "Pulumi.sandbox.yaml"

    @property
    def state(self):
        """The state file of the engine emulator."""
        return self.project / ".sandbox/state.json"

    def run(self, *words, check=False, environment=None):
        """Run ``nomad-csi sandbox ...`` and return what it did."""
        variables = self.environment | (environment or {})
        command = [str(COMMAND), "sandbox", "--project", str(self.project), *words]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    def up(self, *, check=False, **options):
        """
        Bring it up with the emulators for engine and agent, whatever is on PATH.

        Where it must succeed (*check*), there is no preview before it: what one refuses is for other tests.
        """
        words = ["--skip-preview"] if check else []
        return self.run("up", "--engine", "emulator", "--nomad", "emulator", *words, check=check, **options)

    def start(self, *words):
        """Start ``nomad-csi sandbox ...`` and return the process, for tests that interrupt it."""
        command = [str(COMMAND), "sandbox", "--project", str(self.project), *words]
        return subprocess.Popen(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def exec(self, *command, check=True):
        """Run a command in the sandbox's environment."""
        return self.run("exec", "--", *map(str, command), check=check)

    def edit(self, change):
        """Apply *change* to the storage spec in the stack's config."""
        document = yaml.safe_load(self.config.read_text())
        change(document["config"]["nomad-csi:storage"])
        self.config.write_text(yaml.safe_dump(document, sort_keys=False))

    def played(self, plugin, player=""):
        """Return *plugin* with its task played by an emulator; *player* names it where the plugin has a driver of its own."""
        task = {
            "name": "raw_exec",
            "command": "nomad-csi-sandbox-csi-plugin",
            "arguments": ["--driver", player or plugin["driver"]],
            "client_data_dir": str(self.data_dir),
        }
        return copy.deepcopy(plugin) | {"task_driver": task, "verify": {"stable_s": 0.5}}

    def variables(self):
        """Return the environment that the sandbox builds for itself; asked anew after its record or config changed."""
        known_of = (folder.Folder(self.project).load(), self.config.read_text())
        if known_of != self._known_of:
            done = self.exec("env", "-0")
            self._known = dict(line.split("=", 1) for line in done.stdout.split("\0") if "=" in line)
            self._known_of = known_of
        return self._known

    def nomad(self):
        """Return a client of the sandbox's Nomad."""
        return nomad.Nomad(nomad.Connection.from_environment(self.variables()))

    def engine(self, operation, *words):
        """Run the engine emulator itself, which starts nothing that has ended. Return what it did."""
        place = ("--project", self.project, "--stack", "sandbox", "--state", self.state)
        return self.exec(sys.executable, "-m", "nomad_csi_sandbox.engine", operation, *place, *words, check=False)

    def aws(self, service):
        """Return a boto3 client of the sandbox's AWS."""
        found = self.variables()
        return boto3.client(
            service,
            region_name=found["AWS_REGION"],
            endpoint_url=found["AWS_ENDPOINT_URL"],
            aws_access_key_id=found["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=found["AWS_SECRET_ACCESS_KEY"],
        )

    def owned(self):
        """Return the ids of the EBS volumes and of the file systems in AWS that carry our owner tag."""
        volumes = self.aws("ec2").describe_volumes(Filters=[{"Name": "tag-key", "Values": [OWNER_TAG]}])["Volumes"]
        systems = self.aws("efs").describe_file_systems()["FileSystems"]
        return (
            [volume["VolumeId"] for volume in volumes],
            [system["FileSystemId"] for system in systems if OWNER_TAG in {tag["Key"] for tag in system["Tags"]}],
        )

    def process(self, name):
        """Return the recorded process ``moto``, ``aws-provider`` or ``nomad``."""
        return folder.Folder(self.project).load().processes[name]

    def kill(self, name):
        """End one of the sandbox's processes outright, and wait until it has ended."""
        process = self.process(name)
        os.kill(process.pid, signal.SIGKILL)
        until(lambda: not processes.alive(process))

    def requests(self):
        """Return every request that Nomad has seen."""
        with self.nomad() as client:
            return client.request("GET", "/v1/sandbox/requests").data

    def resources(self):
        """Return the resources in the engine emulator's state, by ``type name``."""
        state = json.loads(self.state.read_text())
        found = state["deployment"]["resources"]
        return {f"{item['type']} {item['urn'].rpartition('::')[2]}": item for item in found}


def make(tmp_path):
    """Return a sandbox that is not up yet."""
    project = tmp_path / "project"
    project.mkdir()
    for part in ("Pulumi.yaml", "Pulumi.sandbox.yaml"):
        shutil.copy(PROJECT / part, project / part)
    for part in ("infra", "templates"):
        shutil.copytree(PROJECT / part, project / part)  # with what is compiled of it
    (project / ".venv").symlink_to(Path(sys.prefix))
    data_dir = Path(tempfile.mkdtemp(prefix="nce"))
    data_dir.rmdir()
    sandbox = Sandbox(project, data_dir)
    sandbox.edit(lambda storage: move(storage, str(data_dir)))
    return sandbox


def move(storage, data_dir):
    """Give every plugin of *storage* the data directory."""
    for plugin in storage["plugins"]:
        plugin["task_driver"]["client_data_dir"] = data_dir
        plugin.setdefault("verify", {})["stable_s"] = 0.5


def until(look):
    """Call *look* until it returns something true, and return that."""
    deadline = time.monotonic() + DEADLINE_S
    while not (found := look()):
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.05)
    return found


def end(made):
    """End it, whatever state it is in."""
    made.run("down", check=True)
