"""The GitHub Action and the Dockerfile of the repository, read as a runner and a builder read them."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def action():
    """Return the action."""
    return yaml.safe_load((ROOT / "action.yml").read_text())


def steps():
    """Return its steps that run a script: the first installs."""
    found = [step for step in action()["runs"]["steps"] if "run" in step]
    assert "pip" in found[0]["run"]
    return found


def run_step(step, inputs, folder, temporary, **variables):
    """Run a step in *folder* as GitHub's runner does; *inputs* beside the defaults."""
    given = {name: each["default"] for name, each in action()["inputs"].items()} | inputs
    own = {
        name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], value)
        for name, value in step["env"].items()
    }
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(temporary),
        "RUNNER_TEMP": str(temporary),
        "GITHUB_ACTION_PATH": str(ROOT),
    }
    # Source: https://docs.github.com/actions/reference/workflow-syntax-for-github-actions (shell: bash), 2026-11.
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        command, cwd=folder, env=environment | own | variables, capture_output=True, text=True, check=False
    )


def dockerfile():
    """Return the instructions of the Dockerfile with their words; those with a list must have it on one line."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    split = [line.split(maxsplit=1) for line in lines]
    return [(name, json.loads(rest) if rest.startswith("[") else shlex.split(rest)) for name, rest in split]
