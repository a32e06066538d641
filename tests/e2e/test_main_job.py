"""The main job: up, up again, down."""

import json
from pathlib import Path

from nomad_csi.deploy import cluster_identity


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


def test_up_makes_proves_and_registers_everything(untouched):
    """The report says what is real, what was made, where the files are, what was proven, and what to type next."""
    done = untouched.run("status")

    assert done.returncode == 0, done.stdout + done.stderr
    for part in ("engine   stand-in", "nomad    stand-in", "aws      moto", "plugins  stand-in"):
        assert part in done.stdout
    assert "  1  aws:ebs/volume:Volume" in done.stdout
    assert "  rendered/volumes/default/mysql.volume.hcl" in done.stdout
    assert "What to type next:" in done.stdout


def test_storage_is_tagged_with_its_cluster(untouched):
    """So that no other cluster takes it for its own when it is to be deleted."""
    with untouched.nomad() as client:
        here = cluster_identity.of(client)
    ebs, efs = untouched.aws("ec2").describe_volumes()["Volumes"], untouched.aws("efs")
    made = [*ebs, *efs.describe_file_systems()["FileSystems"], *efs.describe_access_points()["AccessPoints"]]

    tagged = [{tag["Key"]: tag["Value"] for tag in item.get("Tags", ())} for item in made]
    ours = [tags["nomad-csi:cluster"] for tags in tagged if "nomad-csi:owner" in tags]

    assert here
    assert ours == [here] * 3


def test_up_again_changes_nothing_and_says_so(untouched):
    """The second run sends no write to Nomad."""
    before = untouched.resources()
    seen = len(untouched.requests())

    done = untouched.up()

    assert done.returncode == 0
    assert "Nothing has changed" in done.stdout
    assert essence(untouched.resources()) == essence(before)
    writes = [request for request in untouched.requests()[seen:] if request["method"] != "GET"]
    assert {request["path"].rpartition("/")[2] for request in writes} <= {"parse", "plan"}


def test_down_leaves_nothing_behind(sandbox):
    """No process, no folder, no rendered file."""
    sandbox.up(check=True)
    assert (sandbox.project / "rendered/jobs/aws-ebs0-node.nomad.hcl").exists()
    record = json.loads((sandbox.project / ".sandbox/record.json").read_text())
    pids = [process["pid"] for process in record["processes"].values()]

    done = sandbox.run("down")

    assert done.returncode == 0, done.stdout + done.stderr
    assert not sandbox.data_dir.exists()
    assert not (sandbox.project / ".sandbox").exists()
    assert not (sandbox.project / "rendered").exists()
    assert not any(runs(pid) for pid in pids)
