"""The two engines side by side, each with a project of the toy provider and a world of its own."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
TOY = REPOSITORY / "tests" / "sandbox" / "engine"


@dataclass
class Side:
    """One engine with a world of its own."""

    folder: Path
    environment: dict
    command: list

    @property
    def world(self):
        return self.folder / "world"

    def run(self, *arguments):
        return subprocess.run(
            [*self.command, *arguments],
            cwd=self.folder / "project",
            env=self.environment | {"TOY_WORLD": str(self.world)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def fault(self, **faults):
        (self.world / "faults.json").write_text(json.dumps(faults), encoding="utf-8")

    def resources(self):
        return self.deployment().get("resources", [])


class Real(Side):
    """The pulumi CLI."""

    def preview(self, step):
        done = self.run("preview", "--json", *config(step))
        steps = json.loads(done.stdout[done.stdout.index("{") :])["steps"] if done.returncode == 0 else []
        return {(each["op"], each["urn"]) for each in steps}, done.returncode == 0

    def up(self, step):
        return self.run("up", "--yes", "--non-interactive", "--skip-preview", *config(step))

    def refresh(self, step):
        return self.run("refresh", "--yes", "--non-interactive", "--skip-preview", *config(step))

    def destroy(self, _step):
        return self.run("destroy", "--yes", "--non-interactive", "--skip-preview")

    def deployment(self):
        return json.loads(self.run("stack", "export").stdout)["deployment"]


class Emulator(Side):
    """Ours."""

    def operate(self, operation, step):
        files = ["--state", str(self.folder / "state.json"), "--json", str(self.folder / "result.json")]
        place = ["--project", ".", "--stack", "dev"]
        return self.run(operation, *place, *files, "--skip-preview", *config(step))

    def preview(self, step):
        done = self.operate("preview", step)
        result = json.loads((self.folder / "result.json").read_text(encoding="utf-8"))
        return {(each["op"], each["urn"]) for each in result["operations"]}, done.returncode == 0

    def up(self, step):
        return self.operate("up", step)

    def refresh(self, step):
        return self.operate("refresh", step)

    def destroy(self, step):
        return self.operate("destroy", step)

    def deployment(self):
        return json.loads((self.folder / "state.json").read_text(encoding="utf-8"))["deployment"]


def config(step):
    return ["--config", f"step={step}"]


def make_project(folder, program):
    """Make a project of the toy provider with *program*, a file beside the provider, and an empty world."""
    project = folder / "project"
    (project / "plugin").mkdir(parents=True)
    (folder / "world").mkdir()
    runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
    plugins = {"providers": [{"name": "toy", "path": "./plugin"}]}
    document = {"name": "yard", "runtime": runtime, "plugins": plugins, "config": {"toy:prefix": ""}}
    (project / "Pulumi.yaml").write_text(json.dumps(document), encoding="utf-8")
    stack = {"config": {"yard:storage": {"sizes": [1, 2], "fast": True}}}
    (project / "Pulumi.dev.yaml").write_text(json.dumps(stack), encoding="utf-8")
    shutil.copy(TOY / "toy.py", project / "toy.py")
    shutil.copy(TOY / program, project / "__main__.py")
    plugin = project / "plugin" / "pulumi-resource-toy"
    plugin.write_text(f'#!/bin/sh\nexec {sys.executable} {TOY / "toy_provider.py"} "$@"\n', encoding="utf-8")
    plugin.chmod(0o755)


def make_real(folder, program):
    """Make a project below *folder* and a stack of the pulumi CLI for it."""
    make_project(folder / "real", program)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_BACKEND_URL": f"file://{folder}",
        "PULUMI_CONFIG_PASSPHRASE": "yard",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
    side = Real(folder / "real", environment, ["pulumi"])
    side.run("stack", "init", "dev")
    return side


def make_emulator(folder, program):
    """Make a project below *folder* for the emulator of the engine."""
    make_project(folder / "ours", program)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "NOMAD_CSI_SANDBOX": "engine:emulator",
        "PYTHONPATH": str(REPOSITORY / "infra"),
    }
    return Emulator(folder / "ours", environment, [sys.executable, "-m", "nomad_csi_sandbox.engine"])
