"""
The main job on each combination of engine and agent with a real one: what holds on one holds on all.

With both emulators, tests/e2e has its parts: test_main_job.py, test_drift.py and test_claims.py.
"""

import os
import shutil
import socket
from contextlib import suppress
from pathlib import Path

import pytest

from nomad_csi.nomad import jobs, volumes
from nomad_csi_sandbox.session import mounts
from tests.e2e import sandboxes

ENGINE_ABSENT = [name for name in ("pulumi", "pulumi-language-python") if shutil.which(name) is None]
REAL_ENGINE = (
    pytest.mark.real_pulumi,
    pytest.mark.skipif(bool(ENGINE_ABSENT), reason=f"not on PATH: {', '.join(ENGINE_ABSENT)}"),
)
REAL_NOMAD = (
    pytest.mark.real_nomad,
    pytest.mark.skipif(shutil.which("nomad") is None, reason="not on PATH: nomad"),
    pytest.mark.skipif(os.geteuid() != 0, reason="a Nomad client mounts: needs root"),
)
COMBINATIONS = [
    pytest.param("emulator", "real", marks=REAL_NOMAD),
    pytest.param("real", "emulator", marks=REAL_ENGINE),
    pytest.param("real", "real", marks=[*REAL_ENGINE, *REAL_NOMAD]),
]

CONSUMER = """\
job "mysql-server" {
  group "mysql-server" {
    volume "data" {
      type            = "csi"
      source          = "mysql"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }
    task "mysql-server" {
      driver = "exec"
      config {
        command = "/bin/sh"
        args    = ["-c", "trap 'exit 0' INT TERM; while :; do sleep 0.2; done"]
      }
      volume_mount {
        volume      = "data"
        destination = "/data"
      }
    }
  }
}
"""


@pytest.fixture
def sandbox(tmp_path):
    """A sandbox of the test's own, not up yet; whatever becomes of it, nothing of it stays."""
    made = sandboxes.make(tmp_path)
    yield made
    sandboxes.end(made)


def drop(sandbox):
    """Deregister ``mysql`` behind the engine's back."""
    with sandbox.nomad() as client:
        volumes.deregister(client, "default", "mysql")


def claim(sandbox):
    """Run a job that claims ``mysql``."""
    with sandbox.nomad() as client:
        jobs.register(client, jobs.parse(client, CONSUMER), source=CONSUMER, enforce_index=None)
        sandboxes.until(lambda: [item.client_status for item in allocations(client)] == ["running"])


def allocations(client):
    return jobs.allocations(client, "default", "mysql-server")


def started_in(project):
    """Return the command lines of the processes that run in the sandbox of *project*."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile, or someone else's
            if f"NOMAD_CSI_ROOT={project}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_text().replace("\0", " "))
    return found


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("engine", "agent"), COMBINATIONS)
def test_sandbox_is_made_mended_and_taken_down(sandbox, engine, agent):
    """Up, up again, a drift, a refresh, a claim, down: the same sentences, and nothing left."""
    config = sandbox.config.read_text()

    up = sandbox.run("up", "--engine", engine, "--nomad", agent, check=True)
    assert f"  engine   {engine:8}  " in up.stdout
    assert f"  nomad    {agent:8}  " in up.stdout
    assert "    + 27 created\n" in up.stdout
    lowered = "controllers of aws-ebs0: 1 instead of 2, as the agent has one client"
    assert (lowered in up.stdout) == (agent == "real")
    count = "1/1" if agent == "real" else "2/2"
    assert f"aws-ebs0 healthy {count} {count} csi ebs.csi.aws.com" in " ".join(up.stdout.split())

    client = socket.gethostname() if agent == "real" else "client-1"
    assert f"aws-ebs0     controller  {client}  " in up.stdout

    assert "Nothing has changed" in sandbox.run("up", check=True).stdout

    drop(sandbox)
    preview = sandbox.run("preview", check=True).stdout
    assert "    ~ 1 to update\n    26 unchanged\n" in preview
    assert (
        "volume default/mysql is not registered in Nomad any more: `up` registers it again, with its storage" in preview
    )
    assert "    ~ 1 updated\n    26 unchanged\n" in sandbox.run("up", check=True).stdout

    assert "Resources:\n    27 unchanged\n" in sandbox.run("up", "--refresh", check=True).stdout

    claim(sandbox)
    down = sandbox.run("down", check=True).stdout
    assert "Gone: no process, port or file of the sandbox is left." in down
    assert sandbox.config.read_text() == config
    left = sorted(path.name for path in sandbox.project.iterdir())
    assert left == [".venv", "Pulumi.sandbox.yaml", "Pulumi.yaml", "infra", "templates"]
    assert not sandbox.data_dir.exists()
    assert (started_in(sandbox.project), mounts.below(sandbox.data_dir)) == ([], [])
