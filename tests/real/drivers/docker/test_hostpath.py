"""The hostpath driver in a container, by our job as it is rendered by default, and what is said where it cannot work."""

import os
import shutil
from dataclasses import dataclass
from typing import Any

import pytest

from nomad_csi.diagnosis import doctor, smoke, verification
from nomad_csi.drivers import catalogue
from nomad_csi.hcl import documents
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import smoke as plan
from nomad_csi.plan import storage

COMMAND = shutil.which("hostpathplugin")
DRIVER = catalogue.DRIVERS["csi-hostpath"]
USE_S = 60.0

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not COMMAND or os.geteuid() != 0, reason="needs `hostpathplugin` on PATH, and root"),
]


STATE_DIR = "/local"
"""Of tests that never get as far as a volume: it is in every container of Nomad's."""


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
    return document_of(folder)


def document_of(folder):
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


@dataclass
class Attempt:
    """A job that was run on an agent, and what is said of it."""

    client: Any
    plan: Any
    job: Any

    def explained(self):
        """Return what `nomad-csi verify` gives for its causes."""
        [status] = verification.Verifier(self.client, self.plan, {}).verify().plugins
        return "\n".join(str(cause) for cause in status.causes)

    def advised(self):
        """Return the errors of `nomad-csi doctor`."""
        found = doctor.examine(self.client, self.plan, asks_aws=False).findings
        return {item.code for item in found if item.severity == "error"}


@pytest.fixture
def attempt(until, driver):
    """Run the job of the plugin, as rendered or with *changes* by hand, until *look* is satisfied; it ends with its agent."""
    assert driver == DRIVER.image

    def run(agent, look, changes=("", ""), state_dir=STATE_DIR):
        planned = storage.plan_document(document_of(state_dir))
        [job] = planned.plugins[0].jobs
        source = documents.job_file(job).replace(*changes)
        jobs.register(agent.client, jobs.parse(agent.client, source), source=source, enforce_index=None)
        until(lambda: look(agent.client, job.job_id), USE_S, "it has begun")
        return Attempt(client=agent.client, plan=planned, job=job)

    return run


def has_failed(client, job_id):
    found = jobs.allocations(client, "default", job_id)
    return any(event.type == "Driver Failure" for item in found for event in item.task_events)


def is_healthy(client, _job_id):
    found = plugins.get(client, "hostpath0")
    return found and all(any(item.healthy for item in role) for role in (found.controllers, found.nodes))


BARE = ("privileged = true", "")


def test_mount_that_is_not_shared_is_named(docker_agent, attempt, folder):
    """Docker refuses the folder in which Nomad and the plugin meet."""
    with docker_agent("private") as agent:
        tried = attempt(agent, has_failed, state_dir=str(folder))

        assert "is mounted on" in tried.explained()
        assert "but it is not a shared mount" in tried.explained()


@pytest.mark.usefixtures("small")
def test_container_without_privileges_reads_healthy_and_mounts_nothing(docker_agent, attempt, folder, until):
    """The doctor names it, and the smoke test shows it with the words of the kernel."""
    with docker_agent("shared") as agent:
        tried = attempt(agent, is_healthy, BARE, state_dir=str(folder))
        made = {"ID": "v", "Namespace": "default", "Name": "v", "PluginID": "hostpath0"}
        mode = {"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}
        made |= {"RequestedCapabilities": [mode], "RequestedCapacityMin": 2**30}
        agent.client.request("PUT", "/v1/volume/csi/v/create", body={"Volumes": [made]})

        outcome = smoke.try_out(agent.client, ("default", "v"), timeout_s=60)

        assert tried.advised() == {"privilege-missing"}
        assert outcome.status == "failed"
        assert "permission denied" in outcome.rounds[0].reason
        until(lambda: not volumes.get(agent.client, "default", "v").claims, USE_S, "the volume is free")
        agent.client.request("DELETE", "/v1/volume/csi/v")
