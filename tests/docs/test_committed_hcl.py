"""The example of a repository with committed files is one that its own hooks accept."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs/howto/committed-hcl.md").read_text()
EXAMPLE = PROJECT / "examples/committed-hcl"


@pytest.fixture
def checkout(tmp_path):
    """A copy of the repository."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "checkout"))


def run(command, folder):
    """Run *command* as a shell would, in *folder*."""
    environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def steps():
    """Return the commands of the example's pipeline that need no network."""
    jobs = yaml.safe_load((EXAMPLE / ".github/workflows/storage.yml").read_text())["jobs"]
    return [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step and "pip" not in step["run"]]


@pytest.mark.parametrize("command", steps())
def test_the_pipeline_passes(checkout, command):
    """What is committed is what the spec gives, and has no known issue."""
    done = run(command, checkout)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_commands_of_the_page_run_as_written(checkout):
    """Nothing is left to write in a repository that is up to date."""
    [block] = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    files = sum(1 for path in (checkout / "nomad").rglob("*") if path.is_file())

    first, second = (run(command, checkout).stdout for command in block.splitlines())

    assert first == f"unchanged  {files} files\n"
    assert second == f"{files} files up to date\n"
