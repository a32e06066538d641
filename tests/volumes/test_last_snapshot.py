"""The last snapshot of a plugin's volume: a name for every driver, waited for under it, and verified usable."""

import hashlib
import itertools
import re
import threading
from types import SimpleNamespace

import pytest

from nomad_csi import errors
from nomad_csi.csi import services
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.drivers import catalogue
from nomad_csi.volumes import volume_snapshots
from tests import clocks

CONNECTION = SimpleNamespace(endpoint=SimpleNamespace(text="/csi.sock"))
VOLUME = "vol-1"
SECRETS = {"key": "hunter2"}
IDS = ("vol-0123456789abcdef0", "nas.example.net#pool#scratch##", "projects/p/zones/z/disks/d", "a" * 500, "Ä b", "")


def snapshot(snapshot_id="snap-1", volume=VOLUME, size=1, *, ready=True):
    return csi_pb2.Snapshot(snapshot_id=snapshot_id, source_volume_id=volume, size_bytes=size, ready_to_use=ready)


class Driver:
    """A controller that answers each CreateSnapshot with the next of *made*, the last one for ever."""

    def __init__(self, monkeypatch, *made):
        self.asked, self.answers = [], itertools.chain(made, itertools.repeat(made[-1]))
        monkeypatch.setattr(services, "create_snapshot", self.create)

    def create(self, connection, **request):
        assert connection is CONNECTION
        self.asked.append(request)
        return next(self.answers)


def take(provider="hostpath.csi.k8s.io", wait_s=5.0, cancelled=None, told=None):
    source = volume_snapshots.Source(
        external_id=VOLUME,
        provider=provider,
        known=catalogue.deletion(provider),
        secrets=SECRETS,
        timeout_s=2.0,
    )
    timeouts = volume_snapshots.SnapshotTimeouts(
        wait_s=wait_s,
        cancelled=cancelled or threading.Event(),
        report=(told if told is not None else []).append,
        clock=clocks.Clock(),
    )
    return volume_snapshots.create_last_snapshot(CONNECTION, source, timeouts)


@pytest.mark.parametrize("external_id", IDS)
def test_name_is_one_that_every_driver_takes(external_id):
    """Plain, whatever the external id; twelve digits of that, for people, and sixteen that no earlier snapshot has."""
    names = {volume_snapshots.name_for(external_id) for _ in range(3)}
    digest = hashlib.sha256(external_id.encode()).hexdigest()[:12]

    assert len(names) == 3
    assert all(re.fullmatch(rf"final-{digest}-[0-9a-f]{{16}}", name) for name in names)
    assert all(re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", name) for name in names)  # GCE takes the fewest names
    known = [driver.deletion for driver in catalogue.DRIVERS.values() if driver.deletion]
    assert all(deletion.snapshot_name for deletion in known if deletion.takes_snapshots)


def test_snapshot_is_waited_for_under_one_name_and_read_back(monkeypatch):
    """Three requests with volume, name and secrets, and all the time: a driver may copy within the call. Then one more."""
    driver = Driver(monkeypatch, snapshot(ready=False), snapshot(ready=False), snapshot())
    told = []

    found = take("org.democratic-csi.zfs", told=told, wait_s=3600)

    created = driver.asked
    evidence = "found again by its name with CreateSnapshot: ready"
    assert found == volume_snapshots.LastSnapshot(snapshot_id="snap-1", evidence=evidence)
    assert (len(created), len({request["name"] for request in created})) == (4, 1)
    asked = {"source_volume_id": VOLUME, "parameters": {"detachedSnapshots": "true"}, "secrets": SECRETS}
    assert created[3] == asked | {"name": created[0]["name"], "timeout_s": 3600}
    assert created[0]["name"].startswith(f"final-{hashlib.sha256(VOLUME.encode()).hexdigest()[:12]}-")
    assert 3500 < created[2]["timeout_s"] < created[0]["timeout_s"] <= 3600
    assert told == ["snapshot snap-1 is not ready"] * 2


@pytest.mark.parametrize(
    ("again", "words"),
    [
        (snapshot("snap-2"), "expected snap-1 of vol-1, ready, got snap-2 of vol-1, ready"),
        (snapshot(ready=False), "got snap-1 of vol-1, not ready"),
        (snapshot(volume="vol-2"), "got snap-1 of vol-2, ready"),
    ],
)
def test_rejects_another_snapshot_under_the_same_name(monkeypatch, again, words):
    """It was answered; that is not enough to delete its volume."""
    Driver(monkeypatch, snapshot(), again)

    with pytest.raises(errors.CsiError, match=rf"^/csi\.sock: .*{words}"):
        take()


def test_archive_is_not_written_again_to_be_read_back(monkeypatch):
    """csi-driver-nfs would: its answer is all there is, and said to be so."""
    driver = Driver(monkeypatch, snapshot("nas#pool#f#f#scratch", size=134))

    found = take("nfs.csi.k8s.io")

    assert len(driver.asked) == 1
    assert found.evidence == (
        "not read back: nfs.csi.k8s.io has no call for that; it answered an archive of 134 bytes and an id of the form "
        "that it reads"
    )


@pytest.mark.parametrize(
    ("provider", "made", "words"),
    [
        ("nfs.csi.k8s.io", snapshot("nas#pool#a#b##1#a#b##1#scratch"), "cannot be read again by nfs.csi.k8s.io"),
        ("nfs.csi.k8s.io", snapshot("nas#pool#f#f#scratch", size=0), "has no archive on the storage"),
        (
            "org.democratic-csi.zfs",
            snapshot("orders@final-1"),
            "is a part of volume vol-1 and would be deleted with it: copy the data, then delete without a last snapshot$",
        ),
        ("org.democratic-csi.syno", snapshot("/lun/1-2/3-4"), "is a part of volume vol-1 and would be deleted with it"),
    ],
)
def test_rejects_a_snapshot_that_could_not_be_restored(monkeypatch, provider, made, words):
    """Before its volume is deleted."""
    Driver(monkeypatch, made)

    with pytest.raises(errors.CsiError, match=rf"^/csi\.sock: .*{words}"):
        take(provider)


@pytest.mark.parametrize(
    ("is_cancelled", "wait_s", "kind", "words"),
    [
        (True, 60.0, errors.CancelledError, "cancelled while"),
        (False, 60.0, errors.CsiError, r"^/csi\.sock: snapshot snap-1 is not r"),
        (True, 0.0, errors.CsiError, "is not ready"),
    ],
    ids=["interrupted", "time is over", "at its end"],
)
def test_wait_ends(monkeypatch, is_cancelled, wait_s, kind, words):
    """By the operator, or by time: not one question later."""
    driver = Driver(monkeypatch, snapshot(ready=False))
    cancelled = threading.Event()
    if is_cancelled:
        cancelled.set()

    with pytest.raises(kind, match=words):
        take(wait_s=wait_s, cancelled=cancelled)
    assert driver.asked[0]["timeout_s"] == (wait_s or 2.0)
