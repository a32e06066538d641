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
from nomad_csi.nomad import jobs, snapshots, volumes
from nomad_csi.volumes import volume_resource, volume_snapshots
from tests.real.drivers.conftest import CONSUMER, USE_S

COMMAND = shutil.which("democratic-csi")
DRIVER = catalogue.DRIVERS["democratic-csi"]
VOLUME = volume_resource.CreatedVolumeResource()
GIB = 2**30

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


def kept(stack, volume_id, **more):
    """Have a volume made whose storage is deleted with it: what identifies it, its outputs and its inputs."""
    socket = f"{stack.agent.folder}/client/csi/plugins/{{alloc_id}}/csi.sock"
    inputs, failures = VOLUME.check(
        {
            "volumeId": volume_id,
            "pluginId": "local",
            "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
            "capacityMinBytes": GIB,
            "onDestroy": "delete",
            "deletion": {"endpoint": socket, "acceptUnguarded": True, "skipFinalSnapshot": True},
            **more,
        }
    )
    assert failures == ()
    return (*VOLUME.create(stack.context, inputs), inputs)


@pytest.mark.skipif(not shutil.which("rsync"), reason="needs `rsync` on PATH, with which the driver copies")
def test_volume_goes_from_its_creation_to_its_deletion(stack, folder, run_with):
    """Made, written, saved, restored from the snapshot, read there; a copy made of it; all of it deleted by the driver."""
    client = stack.agent.client
    identity, made, _ = kept(stack, "whole")
    wrote = run_with("whole", "echo here > /data/log")
    saved = volume_snapshots.create(
        client, snapshots.NewSnapshot(namespace="default", volume_id="whole", name="nightly"), wait_s=60, report=print
    )
    changed = run_with("whole", "echo there > /data/log")
    restored_identity, restored, _ = kept(stack, "restored", snapshotId=saved.snapshot_id)
    cloned_identity, cloned, _ = kept(stack, "cloned", cloneId=made["externalId"])
    read = run_with("restored", "read line < /data/log && test $line = here")
    copied = run_with("cloned", "read line < /data/log && test $line = there")
    for each, outputs in ((identity, made), (restored_identity, restored), (cloned_identity, cloned)):
        VOLUME.delete(stack.context, each, outputs)
    [copy] = (folder / "s").iterdir()
    volume_snapshots.delete(client, "local", saved.snapshot_id, confirmation=saved.snapshot_id)

    assert [run.client_status for run in (wrote, changed, read, copied)] == ["complete"] * 4
    assert (saved.external_id, saved.is_ready) == (made["externalId"], True)
    assert [stack.volume(name) for name in ("whole", "restored", "cloned")] == [None] * 3
    assert not any((folder / "v" / outputs["externalId"]).exists() for outputs in (made, restored, cloned))
    assert saved.snapshot_id.endswith(f"snapshot_id={copy.name}")
    assert list((folder / "s").iterdir()) == []


def test_volume_of_local_hostpath_does_not_grow(stack):
    """As the catalogue says: the driver has no call for it, and its size is a number that nothing keeps to."""
    identity, made, inputs = kept(stack, "small")

    with pytest.raises(errors.NomadApiError, match="the driver cannot grow volumes"):
        VOLUME.update(stack.context, identity, made, {**inputs, "capacityMinBytes": 2 * GIB})

    found = stack.volume("small")
    VOLUME.delete(stack.context, identity, made)
    assert found.capacity_bytes == made["capacityBytes"]


def test_volume_in_use_is_not_deregistered_even_by_force(stack, folder, create, until):
    """Nomad refuses it while the task lives; afterwards force deregisters it, and its folder stays."""
    client = stack.agent.client
    made = create({"id": "held", "plugin_id": "local", "create": {"capacity_min_gib": 1}})
    source = CONSUMER.format(job_id="holder", volume_id="held", access_mode="single-node-writer", script='"sleep 600"')
    jobs.register(client, jobs.parse(client, source), source=source, enforce_index=None)
    until(lambda: stack.volume("held").claims, USE_S, "the volume is claimed")
    with pytest.raises(errors.NomadApiError, match="volume in use"):
        volumes.deregister(client, "default", "held", is_forced=True)
    jobs.stop(client, "default", "holder", purge=False)
    until(lambda: not stack.volume("held").claims, USE_S, "the volume is free")
    volumes.deregister(client, "default", "held", is_forced=True)

    assert stack.volume("held") is None
    assert (folder / "v" / made["externalId"]).is_dir()
