"""Storage that goes with its volume: what could not be deleted, or not saved before, is refused in the spec."""

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage
from tests import described

ENDPOINT = "/opt/nomad/data/client/csi/plugins/{alloc_id}/csi.sock"
PARENT = {"datasetParentName": "tank/v"}
DETACHED = PARENT | {"detachedSnapshotsDatasetParentName": "tank/s"}


def problems(driver, config=None, on_destroy="delete", **deletion):
    """Return path and text of what is wrong with a volume of a driver."""
    how = {"endpoint": ENDPOINT, "accept_unguarded": True} | deletion
    document = {
        "plugins": [{"id": "p", "driver": driver, **({"config": config} if config else {})}],
        "volumes": [
            {
                "id": "v",
                "plugin_id": "p",
                "parameters": {"server": "nas", "share": "/pool"} if driver == "csi-driver-nfs" else {},
                "create": {"capacity_min_gib": 1, "on_destroy": on_destroy, "deletion": how},
            }
        ],
    }
    try:
        storage.plan_document(document)
    except errors.SpecError as error:
        return [str(problem).partition("create.deletion.")[2] for problem in error.problems]
    return []


@pytest.mark.parametrize("backend", ["zfs-generic-nfs", "zfs-generic-iscsi", "freenas-api-nfs", "truenas-iscsi"])
def test_rejects_last_snapshots_of_zfs_that_would_go_with_their_volume(backend):
    """Given no place for detached ones: before the volume is made, not after it was deregistered."""
    assert problems("democratic-csi", {"driver": backend, "zfs": PARENT}) == [
        f"skip_final_snapshot: expected true: a snapshot of {backend} is a part of its volume, and is deleted with it, "
        "got false; or set zfs.detachedSnapshotsDatasetParentName in the plugin's config"
    ]


@pytest.mark.parametrize(
    ("config", "deletion"),
    [
        ({"driver": "zfs-generic-nfs", "zfs": DETACHED}, {}),
        ({"driver": "zfs-generic-nfs", "zfs": PARENT}, {"skip_final_snapshot": True}),
        ({"driver": "synology-iscsi"}, {"skip_final_snapshot": True}),
        ({"driver": "node-manual"}, {}),
    ],
)
def test_accepts_what_can_be_saved_or_need_not(config, deletion):
    """A place for detached snapshots, or none wanted."""
    assert problems("democratic-csi", config, **deletion) == []


def test_rejects_last_snapshots_of_a_driver_that_takes_none():
    """Before the volume is made."""
    path, _, rest = problems("rocketduck-nfs", {"nfs_server": "nas:/export"})[0].partition(":")

    assert (path, rest) == ("skip_final_snapshot", " expected true: the driver takes no snapshots, got false")


def test_rejects_last_snapshots_of_synology():
    """There is no key that would help."""
    assert problems("democratic-csi", {"driver": "synology-iscsi"}) == [
        "skip_final_snapshot: expected true: a snapshot of synology-iscsi is a part of its volume, and is deleted with "
        "it, got false"
    ]


def test_says_nothing_of_storage_that_is_kept():
    """Given the same plugin: no snapshot is taken."""
    assert problems("democratic-csi", {"driver": "synology-iscsi"}, on_destroy="keep") == []


@pytest.mark.parametrize(
    ("driver", "is_refused"), [("aws-ebs", False), ("csi-hostpath", True), ("csi-driver-nfs", True)]
)
def test_storage_that_does_not_refuse_wants_acceptance(driver, is_refused):
    """As the catalogue says of each driver."""
    found = [text for text in problems(driver, accept_unguarded=False) if text.startswith("accept_unguarded")]

    assert bool(found) is is_refused


@pytest.mark.parametrize(("accepts", "is_refused"), [(False, True), (True, False)])
def test_storage_of_a_driver_of_ones_own_wants_acceptance(accepts, is_refused):
    """The catalogue does not have it: nothing says that its storage refuses to be deleted while it is in use."""
    own = described.described("csi-hostpath") | {"provider": "own.csi.example.com"}

    found = [text for text in problems(own, accept_unguarded=accepts) if text.startswith("accept_unguarded")]

    assert bool(found) is is_refused
