"""
The real democratic-csi under a real agent, both jobs of it run by us as processes, with folders of this machine as storage.

Verified here is what the catalogue says of it, with its drivers local-hostpath and node-manual. Not verified: ZFS, TrueNAS,
NFS and iSCSI, its image under Docker.
"""

import os
import shutil

import pytest

from nomad_csi import errors
from nomad_csi.drivers import catalogue

COMMAND = shutil.which("democratic-csi")
DRIVER = catalogue.DRIVERS["democratic-csi"]
pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(
        not (shutil.which("nomad") and COMMAND) or os.geteuid() != 0,
        reason="needs `nomad` and `democratic-csi` on PATH, and root to start a Nomad client",
    ),
]


@pytest.fixture(scope="module")
def command():
    """The driver."""
    return COMMAND


@pytest.fixture(scope="module")
def document(folder):
    """One plugin that makes folders, and one for what is there already."""
    local = {
        "driver": "local-hostpath",
        "local-hostpath": {
            "shareBasePath": str(folder),
            "controllerBasePath": str(folder),
            "dirPermissionsMode": "0777",
        },
    }
    return {
        "plugins": [
            {"id": "local", "driver": "democratic-csi", "config": local, "log_level": "debug"},
            {"id": "manual", "driver": "democratic-csi", "config": {"driver": "node-manual"}},
        ]
    }


@pytest.mark.parametrize("plugin_id", ["local", "manual"])
def test_both_roles_verify_themselves_over_their_sockets(stack, plugin_id):
    """The name holds the plugin's id, as the catalogue has it; the version is not that of the release."""
    health = stack.health[plugin_id]

    found = stack.plugin(plugin_id)

    assert (health["verifiedBy"], health["status"]) == ("csi", "healthy")
    assert (health["healthyControllers"], health["healthyNodes"], health["expectedNodes"]) == (1, 1, 1)
    assert (found.provider, found.version) == (f"org.democratic-csi.{plugin_id}", DRIVER.vendor_version)


def test_volume_that_the_plugin_makes_is_verified_and_used(stack, folder, create, run_with):
    """Made under its name and a nonce, with the context that the catalogue requires; written by one job, read by the next."""
    wanted = {"id": "acme", "plugin_id": "local", "create": {"capacity_min_gib": 1}}

    made = create(wanted)

    report = stack.verify(wanted)
    assert report.ok, report.as_table()
    assert made["externalId"].startswith("acme-")
    assert made["context"] == {
        "node_attach_driver": "hostpath",
        "path": str(folder / "v" / made["externalId"]),
        "provisioner_driver": "local-hostpath",
    }
    assert DRIVER.context.missing(made["context"]) == {}
    assert set(made["topologies"][0]["segments"]) == set(DRIVER.topology_keys)
    wrote = run_with("acme", "echo here > /data/log")
    read = run_with("acme", "read line < /data/log && test $line = here")
    assert (wrote.client_status, read.client_status) == ("complete", "complete"), (wrote, read)
    assert (folder / "v" / made["externalId"] / "log").read_text() == "here\n"


def there(plugin_id, provisioner, path):
    context = {"node_attach_driver": "hostpath", "provisioner_driver": provisioner, "path": str(path)}
    return {"id": "there", "plugin_id": plugin_id, "existing": {"external_id": "there"}, "context": context}


def test_volume_that_exists_is_registered_with_its_context_and_used(stack, folder, register, run_with):
    """node-manual needs no storage system: what the context says is mounted."""
    path = folder / "there"
    path.mkdir()
    path.chmod(0o777)
    wanted = there("manual", "node-manual", path)

    register(wanted)

    report = stack.verify(wanted)
    assert report.ok, report.as_table()
    wrote = run_with("there", "echo here > /data/log")
    assert wrote.client_status == "complete", wrote
    assert (path / "log").read_text() == "here\n"


def test_volume_that_the_backend_does_not_know_is_refused(stack, folder, register):
    """The controller is asked at registration; nothing is stored."""
    with pytest.raises(errors.NomadApiError, match="invalid volume_id: there"):
        register(there("local", "local-hostpath", folder / "v" / "there"))

    assert stack.volume("there") is None
