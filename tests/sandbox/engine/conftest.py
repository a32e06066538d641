"""A yard: a Pulumi project with the toy provider, a world of its own, and the emulator engine to run it with."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
INFRA = HERE.parents[2] / "infra"
TIMEOUT_S = 120


class Yard:
    """One project, one world, one state."""

    def __init__(self, folder):
        self.folder = folder
        self.project = folder / "project"
        self.world = folder / "world"
        self.state_file = folder / "state.json"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "NOMAD_CSI_SANDBOX": "engine:emulator",
            "PYTHONPATH": str(INFRA),
            "TOY_WORLD": str(self.world),
            "PYTHONDONTWRITEBYTECODE": "1",  # programs of one size, written within one second, are not the same
        }
        self._make()

    def _make(self):
        (self.project / "plugin").mkdir(parents=True)
        self.world.mkdir()
        document = {"name": "yard", "runtime": "python", "plugins": {"providers": [{"name": "toy", "path": "plugin"}]}}
        (self.project / "Pulumi.yaml").write_text(json.dumps(document), encoding="utf-8")
        shutil.copy(HERE / "toy.py", self.project / "toy.py")
        plugin = self.project / "plugin" / "pulumi-resource-toy"
        plugin.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / "toy_provider.py"} "$@"\n', encoding="utf-8")
        plugin.chmod(0o755)

    # --- before a run
    def program(self, text):
        """Set the program; ``pulumi``, ``options`` and ``toy`` are at hand in it."""
        head = "import pulumi\nimport toy\nfrom pulumi import ResourceOptions as options\n\n"
        (self.project / "__main__.py").write_text(head + textwrap.dedent(text), encoding="utf-8")

    def fault(self, **faults):
        """Make calls go wrong: ``Create_one={"kind": "error", …}``; none given, all go right again."""
        named = {key.replace("_", ":", 1): fault for key, fault in faults.items()}
        (self.world / "faults.json").write_text(json.dumps(named), encoding="utf-8")

    # --- a run
    def command(self, operation, *more):
        files = ["--state", str(self.state_file), "--json", str(self.folder / "result.json")]
        place = ["--project", str(self.project), "--stack", "dev"]
        return [sys.executable, "-m", "nomad_csi_sandbox.engine", operation, *place, *files, *more]

    def start(self, operation, *more):
        """Start a run and return its process."""
        return subprocess.Popen(
            self.command(operation, *more),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, operation, *more):
        """Run to the end and return the result: exit ``code``, ``text`` and what ``--json`` says."""
        (self.folder / "result.json").unlink(missing_ok=True)
        process = self.start(operation, *more)
        text, _ = process.communicate(timeout=TIMEOUT_S)
        return Result(process.returncode, text, self.folder / "result.json")

    def up(self, *more):
        """Run ``up`` without a preview and insist that it succeeds."""
        result = self.run("up", "--skip-preview", *more)
        assert result.code == 0, result.text
        return result

    # --- after a run
    @property
    def deployment(self):
        return json.loads(self.state_file.read_text(encoding="utf-8"))["deployment"]

    def resource(self, name, kind="toy:index:Thing"):
        """Return the one state with this name and type."""
        end = f"{kind}::{name}"
        [found] = [each for each in self.deployment["resources"] if each["urn"].endswith((f"::{end}", f"${end}"))]
        return found

    def names(self):
        """Return the names of all things in the state."""
        resources = self.deployment["resources"]
        return sorted(each["urn"].split("::")[3] for each in resources if each["type"] == "toy:index:Thing")

    def things(self):
        """Return the ids of all things in the world."""
        return sorted(path.stem for path in self.world.glob("*thing-*.json"))

    def calls(self, method=None):
        """Return what the provider was asked, in order."""
        path = self.world / "calls.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        calls = [json.loads(line) for line in lines]
        return [call for call in calls if method in (None, call["method"])]

    def wait_for(self, condition):
        """Wait until *condition* holds."""
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.02)


class Result:
    """What a run came to."""

    def __init__(self, code, text, path):
        self.code = code
        self.text = text
        self.data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def __getattr__(self, name):
        return self.data[name]

    def ops(self):
        """Return (operation, name) of everything that is not left as it is, but for the stack and components."""
        operations = self.data["operations"]
        wanted = [each for each in operations if each["op"] != "same" and each["type"] == "toy:index:Thing"]
        return [(each["op"], each["name"]) for each in wanted]

    def messages(self):
        """Return the error messages, but for the one that only says that all of it failed."""
        summaries = ("preview failed", "update failed")
        return [each["message"] for each in self.data["errors"] if each["message"] not in summaries]


@pytest.fixture
def yard(tmp_path):
    """Return a yard with an empty world."""
    return Yard(tmp_path)
