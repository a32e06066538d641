"""The last snapshot of a plugin's volume: a name for every driver, waited for under it, and verified usable."""

import hashlib
import itertools
import re
import threading
from types import SimpleNamespace

import pytest

from nomad_csi import errors
from nomad_csi.csi import controller
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.drivers import catalogue
from nomad_csi.volumes import volume_snapshots
from tests import clocks

CONNECTION = SimpleNamespace(endpoint=SimpleNamespace(text="/csi.sock"))
VOLUME = "vol-1"
SECRETS = {"key": "hunter2"}
PLAIN = re.compile(r"[a-z][a-z0-9-]{0,61}[a-z0-9]")
IDS = ("vol-0123456789abcdef0", "nas.example.net#pool#scratch##", "projects/p/zones/z/disks/d", "a" * 500, "Ä b", "")


def snapshot(snapshot_id="snap-1", volume=VOLUME, size=1, *, ready=True):
    return csi_pb2.Snapshot(
        snapshot_id=snapshot_id,
        source_volume_id=volume,
        size_bytes=size,
        ready_to_use=ready,
    )


class Driver:
    """A controller that answers each CreateSnapshot with the next of *made*, the last one for ever."""

    def __init__(self, monkeypatch, *made, listed=()):
        self.asked, self.answers = [], itertools.chain(made, itertools.repeat(made[-1]))
        self.listed = listed
        monkeypatch.setattr(controller, "create_snapshot", self.create)
        monkeypatch.setattr(controller, "list_snapshots", self.list)

    def create(self, connection, **request):
        assert connection is CONNECTION
        self.asked.append(request)
        return next(self.answers)

    def list(self, connection, **request):
        assert connection is CONNECTION
        self.asked.append({"list": request.pop("snapshot_id")})
        assert request == {"secrets": SECRETS, "timeout_s": 2.0}
        return tuple(self.listed)


def take(provider="hostpath.csi.k8s.io", rpcs=("LIST_SNAPSHOTS",), wait_s=5.0, cancelled=None, told=None):
    source = volume_snapshots.Source(
        external_id=VOLUME,
        provider=provider,
        known=catalogue.deletion(provider),
        rpcs=rpcs,
        secrets=SECRETS,
        timeout_s=2.0,
    )
    timeouts = volume_snapshots.SnapshotTimeouts(
        wait_s=wait_s,
        cancelled=cancelled or threading.Event(),
        tell=(told if told is not None else []).append,
        clock=clocks.Clock(),
    )
    return volume_snapshots.create_last_snapshot(CONNECTION, source, timeouts)


@pytest.mark.parametrize("external_id", IDS)
def test_name_has_plain_characters_whatever_the_external_id(external_id):
    """A letter first, then lower-case letters, digits and hyphens; at most 63; another one each time."""
    one, other = (volume_snapshots.name_for(external_id) for _ in range(2))

    assert PLAIN.fullmatch(one)
    assert one != other
    assert one[:19] == other[:19]  # of the same volume, for people who look for them


@pytest.mark.parametrize(
    ("driver", "allowed"),
    [
        ("aws-ebs", r".{1,256}"),
        ("gce-pd", r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"),
        ("digitalocean", r"[a-z][a-z0-9-]{0,63}"),
        ("portworx", r"[A-Za-z0-9-]+"),
        ("democratic-csi", r"[A-Za-z0-9_\-:.+]+"),
        ("csi-hostpath", r".+"),
        ("csi-driver-nfs", r"[^#/]{1,255}"),
        ("ceph-rbd", r".+"),
        ("cephfs", r".+"),
    ],
)
def test_name_is_within_the_limits_of_every_driver(driver, allowed):
    """Those of the catalogue, as expressions."""
    assert catalogue.DRIVERS[driver].deletion.snapshot_name
    assert all(re.fullmatch(allowed, volume_snapshots.name_for(external_id)) for external_id in IDS)


def test_every_driver_with_limits_has_a_row_above():
    """So that a new one is not forgotten."""
    [rows] = [mark.args[1] for mark in test_name_is_within_the_limits_of_every_driver.pytestmark]

    taking = {name for name, row in catalogue.DRIVERS.items() if row.deletion and row.deletion.takes_snapshots}
    assert {row[0] for row in rows} == taking


def test_snapshot_is_waited_for_under_one_name_and_read_back(monkeypatch):
    """Three questions, one name; then it is listed by its id."""
    driver = Driver(monkeypatch, snapshot(ready=False), snapshot(ready=False), snapshot(), listed=[snapshot()])
    told = []

    found = take(told=told)

    *created, listed = driver.asked
    assert found == volume_snapshots.LastSnapshot(snapshot_id="snap-1", evidence="read back with ListSnapshots: ready")
    assert len(created) == 3
    assert len({request["name"] for request in created}) == 1
    assert listed == {"list": "snap-1"}
    assert told == ["snapshot snap-1 is not ready"] * 2


def test_snapshot_is_asked_for_with_name_volume_and_secrets(monkeypatch):
    """A driver that needs them finds them in the request."""
    monkeypatch.setattr(volume_snapshots, "name_for", lambda external_id: f"final-{external_id}")
    driver = Driver(monkeypatch, snapshot(), listed=[snapshot()])

    take()

    asked = {name: driver.asked[0][name] for name in ("source_volume_id", "name", "secrets")}
    assert asked == {"source_volume_id": VOLUME, "name": f"final-{VOLUME}", "secrets": SECRETS}


def test_driver_that_copies_while_it_is_asked_has_all_the_time(monkeypatch):
    """csi-driver-nfs packs an archive within the call: not the two seconds of other calls."""
    driver = Driver(monkeypatch, snapshot(), listed=[snapshot()])

    take(wait_s=3600)

    assert 3500 < driver.asked[0]["timeout_s"] <= 3600


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ((), "expected snap-1 of vol-1, ready, got no such snapshot"),
        ((snapshot("snap-2"),), "got no such snapshot"),
        ((snapshot(ready=False),), "got snap-1 of vol-1, not ready"),
        ((snapshot(volume="vol-2"),), "got snap-1 of vol-2, ready"),
        ((snapshot(), snapshot(volume="vol-2")), "got snap-1 of vol-1, ready, snap-1 of vol-2, ready"),
    ],
)
def test_rejects_a_snapshot_that_is_not_read_back(monkeypatch, listed, words):
    """It was answered; that is not enough to delete its volume."""
    Driver(monkeypatch, snapshot(), listed=listed)

    with pytest.raises(errors.CsiError, match=rf"^/csi\.sock: .*{words}"):
        take()


def test_project_by_number_is_the_same_volume(monkeypatch):
    """GCE's ids name the project by its id or its number."""
    made = snapshot(volume="projects/shop/zones/z/disks/d")
    Driver(monkeypatch, made, listed=[snapshot(volume="projects/123/zones/z/disks/d")])

    assert take().snapshot_id == "snap-1"


def test_driver_without_a_list_finds_it_again_by_its_name(monkeypatch):
    """As democratic-csi with folders."""
    driver = Driver(monkeypatch, snapshot())

    found = take("org.democratic-csi.local", rpcs=())

    assert found.evidence == "found again by its name with CreateSnapshot: ready"
    assert len({request["name"] for request in driver.asked}) == 1
    assert len(driver.asked) == 2


def test_rejects_another_snapshot_under_the_same_name(monkeypatch):
    """Then the name does not mean the snapshot."""
    Driver(monkeypatch, snapshot(), snapshot("snap-2"))

    with pytest.raises(errors.CsiError, match="expected snap-1 of vol-1, ready, got snap-2 of vol-1, ready"):
        take("rbd.csi.ceph.com", rpcs=())


def test_archive_is_not_written_again_to_be_read_back(monkeypatch):
    """csi-driver-nfs would: its answer is all there is, and said to be so."""
    driver = Driver(monkeypatch, snapshot("nas#pool#f#f#scratch", size=134))

    found = take("nfs.csi.k8s.io", rpcs=())

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
        take(provider, rpcs=())


def test_snapshots_of_zfs_are_ordered_detached(monkeypatch):
    """`zfs destroy -r` of the volume would take any other along."""
    detached = snapshot("orders/final-1")
    driver = Driver(monkeypatch, detached, listed=[detached])

    take("org.democratic-csi.zfs")

    assert driver.asked[0]["parameters"] == {"detachedSnapshots": "true"}


@pytest.mark.parametrize(
    ("is_cancelled", "kind", "words"),
    [
        (True, errors.CancelledError, "cancelled while"),
        (False, errors.CsiError, r"^/csi\.sock: snapshot snap-1 is not r"),
    ],
)
def test_wait_ends(monkeypatch, is_cancelled, kind, words):
    """By the operator, or by time."""
    Driver(monkeypatch, snapshot(ready=False))
    cancelled = threading.Event()
    if is_cancelled:
        cancelled.set()

    with pytest.raises(kind, match=words):
        take(wait_s=60.0, cancelled=cancelled)


def test_time_is_over_at_its_end(monkeypatch):
    """Not one question later."""
    Driver(monkeypatch, snapshot(ready=False))
    cancelled = threading.Event()
    cancelled.set()

    with pytest.raises(errors.CsiError, match="is not ready"):
        take(wait_s=0.0, cancelled=cancelled)


def test_name_of_a_snapshot_is_of_its_volume_and_no_other_one():
    """Twelve digits of the id, and sixteen that no earlier snapshot has."""
    digest = hashlib.sha256(b"vol-1").hexdigest()[:12]

    names = {volume_snapshots.name_for("vol-1") for _ in range(3)}

    assert len(names) == 3
    assert all(re.fullmatch(rf"final-{digest}-[0-9a-f]{{16}}", name) for name in names)
