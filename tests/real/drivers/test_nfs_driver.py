"""
The real NFS driver under a real agent, both jobs of it run by us as processes. No NFS server is needed: none is asked.

Verified here is what the catalogue says of it. Not verified: a mount, a folder made on a server, its image under Docker.
"""

import os
import shutil

import pytest

from nomad_csi import errors
from nomad_csi.drivers import catalogue

COMMAND = shutil.which("nfsplugin")
DRIVER = catalogue.DRIVERS["csi-driver-nfs"]

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(
        not (shutil.which("nomad") and COMMAND) or os.geteuid() != 0,
        reason="needs `nomad` and `nfsplugin` on PATH, and root to start a Nomad client",
    ),
]
MEDIA = {
    "id": "media",
    "plugin_id": "nfs0",
    "existing": {"external_id": "127.0.0.1#export#media"},
    "mount_options": {"mount_flags": ["nfsvers=4.1", "soft"]},
    "context": {"server": "127.0.0.1", "share": "/export/media"},
}


@pytest.fixture(scope="module")
def command():
    """The driver."""
    return COMMAND


@pytest.fixture(scope="module")
def document(folder):
    """One plugin, whose controller mounts shares below a folder of the test's."""
    extra = {"controller": [f"--working-mount-dir={folder}"]}
    return {"plugins": [{"id": "nfs0", "driver": "csi-driver-nfs", "extra_arguments": extra}]}


def test_both_roles_verify_themselves_over_their_sockets(stack):
    """Controller and node are the same program with the same arguments; the name is that of the catalogue."""
    health = stack.health["nfs0"]

    found = stack.plugin("nfs0")

    assert (health["verifiedBy"], health["status"]) == ("csi", "healthy")
    assert (health["healthyControllers"], health["healthyNodes"], health["expectedNodes"]) == (1, 1, 1)
    assert found.provider == DRIVER.provider
    assert (found.nodes[0].segments, DRIVER.topology_keys) == ({}, ())


def test_share_is_registered_without_a_look_at_its_server(stack, register):
    """As the catalogue warns: what is wrong with the share shows only when it is mounted."""
    register(MEDIA)

    report = stack.verify(MEDIA)
    assert report.ok, report.as_table()


def test_share_that_cannot_be_mounted_fails_its_job(register, run_with):
    """The node's words reach the operator through the events of the allocation, with the source and the flags."""
    register(MEDIA)

    found = run_with("media", "true", access_mode="multi-node-multi-writer")

    [failure] = [event for event in found.task_events if event.type == "Setup Failure"]
    assert found.client_status == "failed"
    assert 'pre-run hook "csi_hook" failed: mounting volumes' in failure.message
    assert "127.0.0.1:/export/media" in failure.message


@pytest.mark.parametrize("key", ["server", "share"])
def test_share_without_what_the_catalogue_requires_is_refused(register, key):
    """Our rule refuses the volume before the driver lets it register and fails later."""
    lacking = MEDIA | {"context": {name: value for name, value in MEDIA["context"].items() if name != key}}

    with pytest.raises(errors.SpecError, match=f"context.{key}: expected a value"):
        register(lacking)


def test_folder_is_made_on_the_server_or_not_at_all(stack, create):
    """The controller mounts the share first; where that fails it says so, and nothing is stored."""
    wanted = {
        "id": "builds",
        "plugin_id": "nfs0",
        "create": {"capacity_min_gib": 1},
        "mount_options": {"mount_flags": ["nfsvers=4.1", "soft"]},
        "parameters": {"server": "127.0.0.1", "share": "/export", "subDir": "builds"},
    }

    with pytest.raises(errors.NomadApiError, match="failed to mount nfs server"):
        create(wanted)

    assert stack.volume("builds") is None
