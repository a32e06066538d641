"""Every emulated driver that deletes: deleted, restored from the last snapshot, deleted again, on its emulator."""

import contextlib

import pytest

from nomad_csi import errors
from nomad_csi.csi import services
from nomad_csi.drivers import catalogue
from nomad_csi_sandbox.aws import account
from nomad_csi_sandbox.aws import server as moto
from tests import owner_labels, plugin_deletion
from tests.plugin_deletion import ZONE

KEY = ("default", "scratch")
FOUND = "found again by its name with CreateSnapshot: ready"
NOT_READ_BACK = (
    "not read back: nfs.csi.k8s.io has no call for that; it answered an archive of 1073741824 bytes and an id "
)
UNOBSERVABLE = "absence cannot be observed with this driver"
SOCKET = "--endpoint=${CSI_ENDPOINT}"
NFS = {"server": "nas.example.net", "share": "/pool"}


def emulated(name, *arguments, **more):
    """Return how the emulator of a driver is run: a function of the world's folder."""
    words = ("--driver", name, *arguments)
    environment = {"NOMAD_CSI_SANDBOX_INSTANCE_ID": "i-1", "NOMAD_CSI_SANDBOX_ZONE": ZONE} | more.pop("environment", {})

    def make(folder):
        config = folder / "config.yaml"
        config.write_text("driver: zfs-generic-nfs\n")
        filled = tuple(confirmation.replace("CONFIG", str(config)) for confirmation in words)
        return plugin_deletion.Driver(
            command="nomad-csi-sandbox-csi-plugin", arguments=filled, environment=environment, **more
        )

    return make


DEMOCRATIC = ("--csi-version=1.5.0", "--csi-name=org.democratic-csi.storage", "--driver-config-file=CONFIG")
DRIVERS = {
    "gce-pd": emulated(
        "gce-pd", SOCKET, "--run-node-service=false", role="controller", topology={"topology.gke.io/zone": ZONE}
    ),
    "digitalocean": emulated("digitalocean", SOCKET, "--token=t", "--url=https://x/", role="controller"),
    "portworx": emulated("portworx", "-c", "px", "-k", "consul://127.0.0.1:8500", "--endpoint", "0.0.0.0:9015"),
    "democratic-csi": emulated(
        "democratic-csi", *DEMOCRATIC, "--csi-mode=controller", "--server-socket=${CSI_ENDPOINT}", role="controller"
    ),
    "csi-hostpath": emulated("csi-hostpath", SOCKET, "--nodeid=n1"),
    "csi-driver-nfs": emulated("csi-driver-nfs", SOCKET, "--nodeid=n1", parameters=NFS),
}


@contextlib.contextmanager
def world_of(name):
    """Run the emulator of a driver; that of the EBS driver with moto as EC2."""
    if name != "aws-ebs":
        with plugin_deletion.running(DRIVERS[name]) as world:
            yield world
        return
    with moto.Moto() as cloud:
        cloud.wait_until_it_answers()
        account.seed(cloud.url, "us-east-1", zones=(ZONE,))
        environment = {"AWS_REGION": "us-east-1", "AWS_EC2_ENDPOINT": cloud.url}
        make = emulated("aws-ebs", "controller", SOCKET, role="controller", environment=environment)
        with plugin_deletion.running(make) as world:
            yield world


@pytest.mark.parametrize("name", ["aws-ebs", *DRIVERS])
def test_storage_of_every_driver_is_deleted_restored_and_deleted_again(name):
    """The last snapshot outlives its volume and is read back; deleted again, the volume is gone, not in the way."""
    with world_of(name) as world:
        found = plugin_deletion.round_trip(world)

    evidence = NOT_READ_BACK if name == "csi-driver-nfs" else FOUND
    assert found.first.snapshot_evidence.startswith(evidence)
    assert found.first.reason == (UNOBSERVABLE if name == "csi-driver-nfs" else "")
    assert found.again.startswith("volume default/scratch was gone already: not registered, and ")


def test_every_driver_that_makes_volumes_says_how_they_are_deleted():
    """A row that is added without it fails here."""
    lacking = [name for name, driver in catalogue.DRIVERS.items() if driver.creates != (driver.deletion is not None)]

    assert lacking == []


@pytest.fixture
def nfs():
    """The emulator of csi-driver-nfs."""
    with world_of("csi-driver-nfs") as world:
        yield world


@pytest.mark.parametrize("is_skipped", [False, True])
def test_deletion_whose_answer_was_lost_is_finished_by_the_next_run(nfs, monkeypatch, is_skipped):
    """Unknown at first. Then the driver finds no folder to pack: gone; without a snapshot it deletes once more."""
    made = nfs.make(how={"skipFinalSnapshot": is_skipped})
    deleted = services.delete_volume

    def lose(connection, **request):
        deleted(connection, **request)
        raise errors.CsiError("csi.sock", "DEADLINE_EXCEEDED: no answer", code="DEADLINE_EXCEEDED")

    with monkeypatch.context() as patched:
        patched.setattr(services, "delete_volume", lose)
        first = nfs.delete(made)
    second = nfs.delete(made)

    assert (first.status, first.is_broken) == ("unknown", True)
    assert first.reason.endswith(f"DEADLINE_EXCEEDED: no answer; {UNOBSERVABLE}")
    assert (second.status, second.is_done) == ("deleted" if is_skipped else "gone", True)
    assert is_skipped or "no such file or directory" in second.reason
    assert owner_labels.read(nfs.client, [KEY]) == {}
