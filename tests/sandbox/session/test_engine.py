"""The engine of a sandbox: `pulumi`, emulated by a script that records its arguments."""

import json
import os

import pytest

from nomad_csi import errors
from nomad_csi_sandbox.session import engine, folder

SCRIPT = """\
#!/bin/sh
echo "$PWD $*" >> "$HOME/calls"
test "$2" != export || echo '{"deployment": {}}'
test ! -e "$HOME/broken" || { echo "error: it is broken" >&2; exit 1; }
"""


@pytest.fixture
def paths(tmp_path):
    """The folder of a sandbox that is not up."""
    (tmp_path / "Pulumi.yaml").write_text("name: the-project\nruntime: python\nmain: infra/\n")
    made = folder.Folder(tmp_path)
    made.make()
    return made


@pytest.fixture
def environment(tmp_path):
    """An environment that has only the script."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "pulumi").write_text(SCRIPT)
    (home / "pulumi").chmod(0o755)
    return {"PATH": f"{home}{os.pathsep}{os.defpath}", "HOME": str(home)}


def lock(paths, pid):
    """Write a lock as pulumi does."""
    path = paths.backend / f".pulumi/locks/organization/the-project/sandbox/{pid}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"pid": pid, "username": "root", "hostname": "here", "timestamp": "2026-11-21"}))
    return path


def test_stack_is_made_beside_the_config_that_the_engine_reads(paths, environment, tmp_path):
    """So the salt of its secrets comes there, and not into the project's own config."""
    code = engine.run(paths, "up", environment, real=True)

    made, run = (tmp_path / "home/calls").read_text().splitlines()
    assert code == 0
    assert made == f"{paths.path} stack select --create sandbox"
    assert run == f"{tmp_path} up --stack sandbox --config-file {paths.engine_config} --suppress-progress --yes"
    assert (paths.path / "Pulumi.yaml").read_text() == "name: the-project\nruntime: python\n"


def test_lock_of_a_killed_run_is_forgotten_and_that_of_a_running_one_kept(paths, environment, capfd):
    """A process id that no one has: Linux has none above 2**22."""
    dead, alive = lock(paths, 2**22 + 1), lock(paths, os.getpid())

    engine.run(paths, "preview", environment, real=True)

    assert (dead.exists(), alive.exists()) == (False, True)
    assert f"forgetting the lock of pulumi's process {2**22 + 1}, which has ended" in capfd.readouterr().out


def test_pulumi_that_fails_is_quoted(paths, environment, tmp_path):
    """What it says is the cause."""
    (tmp_path / "home/broken").touch()

    with pytest.raises(errors.NomadCsiError, match="pulumi stack select --create sandbox: error: it is broken"):
        engine.resources(paths, environment, real=True)


def test_pulumi_that_has_gone_is_missed(paths, environment):
    """A sandbox keeps the engine that it was made with."""
    with pytest.raises(errors.NomadCsiError, match="made with pulumi, which is not on PATH now"):
        engine.run(paths, "up", environment | {"PATH": "/nonexistent"}, real=True)
