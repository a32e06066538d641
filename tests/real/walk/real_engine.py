"""The pulumi CLI as the engine of walks, with a backend in the folder of each stack. It attaches to the same providers."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from unittest import mock

from tests.walk import engines

DEADLINE_S = 300
"""For one operation."""


class Real:
    """One home of the CLI."""

    def __init__(self, folder, environment, providers):
        self._gate, self._of_providers = providers.gate, environment
        self._environment = environment | {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_CONFIG_PASSPHRASE": "walk",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_DEBUG_PROVIDERS": providers.attached,
            "PULUMI_DEBUG_COMMANDS": "true",
        }

    def init(self, place):
        """Make a stack."""
        (place.folder / "backend").mkdir(parents=True)
        self._name_project(place)
        self._pulumi(place, "stack", "init", place.name)
        self._configure(place)

    def _name_project(self, place):
        runtime = {"name": "python", "options": {"toolchain": "pip", "virtualenv": sys.prefix}}
        (place.folder / "Pulumi.yaml").write_text(json.dumps({"name": place.project, "runtime": runtime}))

    def _configure(self, place):
        self._pulumi(place, "config", "set", "aws:region", self._environment["AWS_REGION"], "--stack", place.name)

    def _pulumi(self, place, *words):
        return _text(self._process(place, *words))

    def _process(self, place, *words):
        return subprocess.Popen(
            [shutil.which("pulumi"), *words, "--non-interactive", "--color", "never"],
            cwd=place.folder,
            env=self._environment | {"PULUMI_BACKEND_URL": (place.folder / "backend").as_uri()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, place, operation, fault=None):
        """Run *operation*; a *fault* may kill it."""
        log = place.folder / "events.json"
        log.unlink(missing_ok=True)
        started = []
        self._gate.reset(fault)
        self._gate.kill_engine = lambda: os.killpg(started[0].pid, signal.SIGKILL)
        yes = () if operation == "preview" else ("--yes", "--skip-preview")
        words = (operation, *yes, "--stack", place.name, "--parallel", "1", "--suppress-progress", "--event-log", log)
        with mock.patch.dict(os.environ, self._of_providers):
            started.append(self._process(place, *map(str, words)))
            text = _text(started[0])
        if self._gate.is_killed:
            self._pulumi(place, "cancel", "--yes", "--stack", place.name)
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        key = "resourcePreEvent" if operation == "preview" else "resOutputsEvent"
        events = [event[key]["metadata"] for event in map(json.loads, filter(_is_whole, lines)) if key in event]
        operations = tuple((each["op"], each["urn"]) for each in events)
        return engines.Told(is_done=started[0].returncode == 0, text=text, operations=operations)

    def export(self, place):
        """Return the state."""
        return json.loads(self._pulumi(place, "stack", "export", "--stack", place.name))

    def put(self, place, document):
        """Import a state."""
        file = place.folder / "imported.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        self._pulumi(place, "stack", "import", "--force", "--file", str(file), "--stack", place.name)

    def rename(self, place, name, project_name):
        """Rename the stack and its project."""
        said = self._pulumi(place, "stack", "rename", f"organization/{project_name}/{name}", "--stack", place.name)
        assert re.search("Renamed", said), said
        place.name, place.project = name, project_name
        self._name_project(place)
        self._configure(place)

    def drop(self, place, urn):
        """Have the state forget a resource and all that depends on it."""
        words = ("--force", "--target-dependents", "--yes", "--stack", place.name)
        self._pulumi(place, "state", "delete", urn, *words)


def _text(process):
    """Return what *process* writes until it ends, which it does within the deadline."""
    try:
        return "".join(process.communicate(timeout=DEADLINE_S))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise


def _is_whole(line):
    return line.startswith("{") and line.endswith("}")
