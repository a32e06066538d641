"""The example of a repository with committed files is one that its own hooks accept."""

import os
import re
import shlex
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


def hooks():
    """Return the hooks of the example by their id."""
    config = yaml.safe_load((EXAMPLE / ".pre-commit-config.yaml").read_text())
    return {hook["id"]: hook for repo in config["repos"] for hook in repo["hooks"]}


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


def test_the_hook_refuses_a_spec_without_its_files(checkout):
    """Whoever changes the spec and forgets the files is told which."""
    spec = checkout / "storage.yaml"
    spec.write_text(spec.read_text().replace("[noatime]", "[noatime, nodiratime]"))
    hook = hooks()["nomad-csi-render"]

    done = run(hook["entry"], checkout)

    assert done.returncode == 1
    assert "3 stale files; render again without --check" in done.stdout
    assert hook["pass_filenames"] is False


@pytest.mark.parametrize(
    "name", ["storage.yaml", "nomad/jobs/aws-ebs0-node.nomad.hcl", "nomad/volumes/default/kafka[0].volume.hcl"]
)
def test_the_hook_runs_when_one_of_its_files_changes(name):
    """Spec and files alike."""
    assert re.search(hooks()["nomad-csi-render"]["files"], name)


def test_the_lint_hook_takes_every_committed_file(checkout):
    """As pre-commit calls it: with the names of the files."""
    names = [str(path.relative_to(checkout)) for path in (checkout / "nomad").rglob("*.hcl")]
    hook = hooks()["nomad-csi-lint"]

    done = run(f"{hook['entry']} {shlex.join(names)}", checkout)

    assert all(re.search(hook["files"], name) for name in names)
    assert done.returncode == 0, done.stdout + done.stderr
