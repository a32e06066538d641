"""
The real hostpath driver under a real agent, run by our job as a process.

Verified here is what the catalogue says of it; its job in a container is in docker/.
"""

import os
import shutil
import signal
import subprocess
import sys

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.diagnosis import smoke
from nomad_csi.drivers import catalogue
from nomad_csi.nomad import volumes
from nomad_csi.spec import names

COMMAND = shutil.which("hostpathplugin")
DRIVER = catalogue.DRIVERS["csi-hostpath"]
MIB, GIB = 2**20, 2**30
NODE = "node-of-tests"
UNKNOWN_ID = "0e7f2c4a-c6c5-11f0-9d5c-0242ac110002"

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(
        not (shutil.which("nomad") and COMMAND) or os.geteuid() != 0,
        reason="needs `nomad` and `hostpathplugin` on PATH, and root to start a Nomad client",
    ),
]


@pytest.fixture(scope="module")
def command():
    """The driver; one that was built without its version answers no name and is never healthy."""
    printed = subprocess.run(
        [COMMAND, "--version"], capture_output=True, text=True, check=True, timeout=30
    ).stdout.split()
    if len(printed) < 2:
        pytest.skip("this `hostpathplugin` was built without a version, and no Nomad takes it")
    return COMMAND


@pytest.fixture(scope="module")
def document(folder):
    """One plugin, with its state in a folder of the test's."""
    config = {"state_dir": str(folder), "node_id": NODE}
    return {"plugins": [{"id": "hostpath0", "driver": "csi-hostpath", "config": config}]}


def wanted(volume_id, mode="single-node-writer", attachment="file-system"):
    return {
        "id": volume_id,
        "plugin_id": "hostpath0",
        "create": {"capacity_min_gib": 1},
        "capabilities": [{"access_mode": mode, "attachment_mode": attachment}],
    }


def existing(volume_id, external_id):
    return {"id": volume_id, "plugin_id": "hostpath0", "existing": {"external_id": external_id}}


def test_monolith_verifies_itself_over_its_socket(stack):
    """One instance is controller and node; name and topology key are those of the catalogue."""
    health = stack.health["hostpath0"]

    found = stack.plugin("hostpath0")

    assert (health["verifiedBy"], health["status"]) == ("csi", "healthy")
    assert (health["healthyControllers"], health["healthyNodes"], health["expectedNodes"]) == (1, 1, 1)
    assert (found.provider, found.version) == (DRIVER.provider, DRIVER.version)
    assert found.nodes[0].segments == dict.fromkeys(DRIVER.topology_keys, NODE)


def test_volume_that_the_plugin_makes_is_verified_and_used(stack, folder, create, run_with):
    """Made, found as planned, written by one job and read by the next; the folder is where the setting says."""
    made = create(wanted("scratch"))

    report = stack.verify(wanted("scratch"))
    assert report.ok, report.as_table()
    assert DRIVER.external_id.fits(made["externalId"])
    assert made["capacityBytes"] == GIB
    assert made["topologies"] == [{"segments": {"topology.hostpath.csi/node": NODE}}]
    wrote = run_with("scratch", "echo here > /data/log")
    read = run_with("scratch", "read line < /data/log && test $line = here")
    assert (wrote.client_status, read.client_status) == ("complete", "complete"), (wrote, read)
    assert (folder / made["externalId"] / "log").read_text() == "here\n"


def typed(stack, path, size, *words):
    """Write a spec with a volume of *size* bytes, and return the command that has it made, with *words*."""
    volume = wanted("typed") | {"create": {"capacity_min_bytes": size}}
    path.write_text(yaml.safe_dump(stack.document | {"volumes": [volume]}))
    command = [sys.executable, "-m", "nomad_csi", "apply", path, "--owner", "shop/prod", "--yes", "--json", *words]
    return {"args": command, "env": {"PATH": os.environ["PATH"], "NOMAD_ADDR": stack.agent.address}, "text": True}


def test_command_that_is_killed_goes_on_and_has_the_volume_grow_to_the_byte(stack, folder, tmp_path):
    """`nomad-csi apply`, killed as soon as the driver is asked: one storage in the end, found again, and never smaller."""
    path, size = tmp_path / "storage.yaml", 100 * MIB + 1
    before = set(folder.iterdir())
    with subprocess.Popen(**typed(stack, path, size), stderr=subprocess.PIPE) as killed:
        printed = next(line for line in killed.stderr if "makes" in line)
        killed.kill()

    first = subprocess.run(**typed(stack, path, size), capture_output=True, timeout=120, check=False)
    made = stack.volume("typed")
    planned = subprocess.run(
        **typed(stack, path, size + 4096, "--dry-run"), capture_output=True, timeout=120, check=False
    )
    grown = subprocess.run(**typed(stack, path, size + 4096), capture_output=True, timeout=120, check=False)
    after = stack.volume("typed")
    volumes.deregister(stack.agent.client, "default", "typed")
    again = subprocess.run(**typed(stack, path, size + 4096), capture_output=True, timeout=120, check=False)

    assert (printed, killed.returncode) == ("plugin hostpath0 creates default/typed\n", -signal.SIGKILL)
    assert [run.returncode for run in (first, planned, grown, again)] == [0, 1, 0, 0], (first, planned, grown, again)
    assert (made.capacity_bytes, after.capacity_bytes, after.external_id) == (size, size + 4096, made.external_id)
    assert stack.volume("typed").external_id == made.external_id
    assert {item for item in folder.iterdir() if item.is_dir()} - before == {folder / made.external_id}
    volumes.deregister(stack.agent.client, "default", "typed")


def test_volume_that_exists_is_registered_again_under_its_own_id(stack, folder, create, register):
    """What the plugin once made is found by its UUID; with its topology it goes where it is, and to one id at a time."""
    made = create(wanted("first"))
    again = existing("second", made["externalId"]) | {"topologies": [{"topology.hostpath.csi/node": NODE}]}

    with pytest.raises(errors.RefusedError, match="is registered as default/first already"):
        register(again)
    volumes.deregister(stack.agent.client, "default", "first")
    register(again)

    report = stack.verify(again)
    assert report.ok, report.as_table()
    assert (folder / made["externalId"]).is_dir()


def test_volume_that_the_driver_does_not_know_is_refused(stack, register):
    """The driver is asked at registration; nothing is stored."""
    with pytest.raises(errors.NomadApiError, match=f"volume id {UNKNOWN_ID} does not exist in the volumes list"):
        register(existing("ghost", UNKNOWN_ID))

    assert stack.volume("ghost") is None


@pytest.mark.parametrize("mode", names.ACCESS_MODES)
def test_driver_makes_a_file_system_in_every_mode(stack, create, mode):
    """As the catalogue has it: no mode is refused."""
    create(wanted(f"fs-{mode}", mode))

    report = stack.verify(wanted(f"fs-{mode}", mode))
    assert report.ok, report.as_table()


def test_volume_is_evidence_the_smoke_test(stack, create, folder):
    """What the first job wrote, the second reads after the volume was unmounted; the file is removed, the volume free."""
    made = create(wanted("tried"))

    outcome = smoke.try_out(stack.agent.client, ("default", "tried"), timeout_s=60)

    assert [(done.kind, done.reason) for done in outcome.rounds] == [("write", ""), ("read", "")]
    assert (outcome.status, outcome.left_behind, outcome.task_driver) == ("verified", (), "exec")
    node = outcome.rounds[0].node_name
    assert outcome.verified == (
        f"{node}: claimed, mounted, 1 MiB written and read, freed",
        f"{node}: claimed again, the same data read back after unmounting, the file removed, freed",
    )
    assert list((folder / made["externalId"]).iterdir()) == []
    assert stack.volume("tried").claims == ()
