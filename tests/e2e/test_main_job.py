"""The main job: up, up again, down."""

import json
import re
from pathlib import Path

from nomad_csi_sandbox.session import folder, processes


def runs(pid):
    """Return whether a process runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


BUILTIN = "pulumi:providers:pulumi default"
"""
What stands for the engine's own functions. It is recorded when a program first calls one: ours does from the second run
on, to compare what AWS holds with the state.
"""


def essence(resources):
    """Return what tells whether resources, by name, are the same ones, unchanged."""
    found = {name: (item.get("id"), item.get("inputs"), item.get("outputs")) for name, item in resources.items()}
    found.pop(BUILTIN, None)
    return found


def masked(text):
    """Return the lines of *text*, with ids of storage as ``ID``."""
    return {re.sub(r"(vol|fs|fsap)-[0-9a-f]+", "ID", line).rstrip() for line in text.splitlines()}


def test_main_job(sandbox):
    """The report of `up` is true, a second `up` sends no write to Nomad, and `down` leaves nothing behind."""
    sandbox.edit(lambda storage: storage.update(protect=True))
    sandbox.up(check=True)
    assert_report_is_true(sandbox)
    assert_second_up_changes_nothing(sandbox)
    assert_down_leaves_nothing(sandbox)


def assert_report_is_true(sandbox):
    """It says what is real, what was made, where the files are, what was verified, and what to type next."""
    done = sandbox.run("status")

    assert done.returncode == 0, done.stdout + done.stderr
    for part in ("engine   emulator", "nomad    emulator", "aws      moto", "plugins  emulator"):
        assert part in done.stdout
    assert "  1  aws:ebs/volume:Volume" in done.stdout
    assert "  rendered/volumes/default/mysql.volume.hcl" in done.stdout
    assert "What to type next:" in done.stdout
    project = Path(__file__).parents[2]
    readme = (project / "README.md").read_text().partition("report of `make up` ends with:")[2].split("```")[1]
    assert masked(readme) - masked(done.stdout) == set()
    outputs = str(folder.Folder(sandbox.project).outputs)
    verified = sandbox.exec("nomad-csi", "verify", sandbox.config, "--stack-output", outputs, "--json")
    assert {item["detail"] for item in json.loads(verified.stdout)["volumes"]} == {""}


def assert_second_up_changes_nothing(sandbox):
    """It says so, too."""
    before = sandbox.resources()
    seen = len(sandbox.requests())

    done = sandbox.up()

    assert done.returncode == 0
    assert "Nothing has changed" in done.stdout
    assert essence(sandbox.resources()) == essence(before)
    writes = [request for request in sandbox.requests()[seen:] if request["method"] != "GET"]
    assert {request["path"].rpartition("/")[2] for request in writes} <= {"parse", "plan"}


def assert_down_leaves_nothing(sandbox):
    """No process, no folder, no rendered file; also given a protected volume, and an emulator that has ended."""
    assert (sandbox.project / "rendered/jobs/aws-ebs0-node.nomad.hcl").exists()
    pids = processes._marked(processes.MARK, str(sandbox.project))
    sandbox.kill("aws-provider")

    done = sandbox.run("down")

    assert done.returncode == 0, done.stdout + done.stderr
    assert not sandbox.data_dir.exists()
    assert not (sandbox.project / ".sandbox").exists()
    assert not (sandbox.project / "rendered").exists()
    assert not any(runs(pid) for pid in pids)
