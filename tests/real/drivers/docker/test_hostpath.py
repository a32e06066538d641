"""The hostpath driver in a container, by our job as it is rendered by default."""

import os
import shutil

import pytest

from nomad_csi.diagnosis import smoke
from nomad_csi.drivers import catalogue
from nomad_csi.plan import smoke as plan

COMMAND = shutil.which("hostpathplugin")
DRIVER = catalogue.DRIVERS["csi-hostpath"]

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not COMMAND or os.geteuid() != 0, reason="needs `hostpathplugin` on PATH, and root"),
]


@pytest.fixture(scope="module")
def driver(image, images):
    """The image of the driver: its own, or its program beside what it calls."""
    return image(DRIVER.image, ["/hostpathplugin"], {"/hostpathplugin": COMMAND} | images.on_path("mount", "umount"))


@pytest.fixture(scope="module")
def small(image, images):
    """The image of the smoke test."""
    return image(plan.IMAGE, [], images.on_path("sh", "grep", "head", "rm", "sha256sum", "sync", "yes"))


@pytest.fixture(scope="module")
def document(folder, driver):
    """One plugin, with its state in a folder of the test's."""
    assert driver == DRIVER.image
    return {"plugins": [{"id": "hostpath0", "driver": "csi-hostpath", "config": {"state_dir": str(folder)}}]}


def wanted(volume_id):
    capabilities = [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}]
    return {"id": volume_id, "plugin_id": "hostpath0", "create": {"capacity_min_gib": 1}, "capabilities": capabilities}


def test_container_verifies_itself_over_its_socket(stack):
    """Arguments, privileges and mounts of the rendered job are enough, under the name that the catalogue has."""
    health = stack.health["hostpath0"]
    found = stack.plugin("hostpath0")

    assert (health["verifiedBy"], health["status"]) == ("csi", "healthy")
    assert (health["healthyControllers"], health["healthyNodes"], health["expectedNodes"]) == (1, 1, 1)
    assert (found.provider, found.version) == (DRIVER.provider, DRIVER.version)


def test_volume_is_a_folder_of_the_client(stack, folder, create, run_with):
    """Made in the container, found as planned, used by two tasks, and on the client's own disk."""
    made = create(wanted("scratch"))

    report = stack.verify(wanted("scratch"))
    wrote = run_with("scratch", "echo here > /data/log")
    read = run_with("scratch", "read line < /data/log && test $line = here")

    assert report.ok, report.as_table()
    assert (wrote.client_status, read.client_status) == ("complete", "complete"), (wrote, read)
    assert (folder / made["externalId"] / "log").read_text() == "here\n"


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("task_driver", ["docker", "exec"])
def test_mounts_of_the_container_reach_their_users(stack, create, task_driver):
    """What it mounts in its own root is seen by tasks beside it, in containers or not."""
    create(wanted(f"by-{task_driver}"))
    wish = plan.Wish(task_driver=task_driver)

    outcome = smoke.try_out(stack.agent.client, ("default", f"by-{task_driver}"), wish=wish, timeout_s=60)

    assert [(done.kind, done.reason) for done in outcome.rounds] == [("write", ""), ("read", "")]
    assert (outcome.status, outcome.left_behind, outcome.task_driver) == ("verified", (), task_driver)
