"""Identity of storage: one value for one set of data, however it is written; containment."""

import itertools

import pytest

from nomad_csi.drivers import catalogue, storage_identity

SYSTEM, OTHER = "fs-0123456789abcdef0", "fs-0fedcba9"
POINT = "fsap-0123456789abcdef0"

SAME = {
    "whole": [SYSTEM, f"{SYSTEM}:", f"{SYSTEM}:/", f"efs:{SYSTEM}", f"{SYSTEM}::", f"{SYSTEM}:/up/.."],
    "folder": [
        f"{SYSTEM}:/up",
        f"{SYSTEM}:up",
        f"{SYSTEM}:/up/",
        f"{SYSTEM}:/x/../up",
        f"{SYSTEM}://up",
        f"{SYSTEM}:/up:",
    ],
    "inner folder": [f"{SYSTEM}:/up/in", f"{SYSTEM}:/up//in/."],
    "namesake": [f"{SYSTEM}:/upper"],
    "access point": [f"{SYSTEM}::{POINT}", f"{SYSTEM}:/a:{POINT}", f"efs:{SYSTEM}:/:{POINT}"],
    "other access point": [f"{SYSTEM}::fsap-0fedcba9", f"{SYSTEM}:/b:fsap-0fedcba9"],
    "S3 files": [f"s3files:{SYSTEM}"],
    "other system": [OTHER],
    "disk": ["vol-0123456789abcdef0"],
    "old disk": ["vol-01234567"],
    "name": ["shop#/export#a"],
}
"""Spellings of the same data; no two entries are the same."""

CONTAINS = {
    "whole": {"whole", "folder", "inner folder", "namesake", "access point", "other access point"},
    "folder": {"folder", "inner folder"},
}
"""What contains more than itself."""


@pytest.mark.parametrize(("one", "other"), list(itertools.product(SAME, SAME)))
def test_equal_and_contained_storage_for_each_pair(one, other):
    """Every spelling of the one with every spelling of the other."""
    for first, second in itertools.product(SAME[one], SAME[other]):
        left, right = storage_identity.identify(first), storage_identity.identify(second)

        assert (left == right) is (one == other), (first, second)
        assert left.contains(right) is (other in CONTAINS.get(one, {one})), (first, second)


RELATED = {
    "same": lambda ours, theirs: ours == theirs,
    "around": lambda ours, theirs: ours != theirs and theirs.contains(ours),
    "within": lambda ours, theirs: ours != theirs and ours.contains(theirs),
}


@pytest.mark.parametrize("relation", RELATED)
def test_index_finds_what_contains_says(relation):
    """Every spelling is looked for among all others."""
    spellings = [each for group in SAME.values() for each in group]
    index = storage_identity.Index()
    for spelling in spellings:
        index.add([storage_identity.identify(spelling)], spelling)

    for ours in spellings:
        wanted = storage_identity.identify(ours)
        expected = [item for item in spellings if RELATED[relation](wanted, storage_identity.identify(item))]

        assert sorted(index.find([wanted], relation)) == sorted(expected), ours
        for other in spellings:
            theirs = [storage_identity.identify(other)]
            assert storage_identity.is_related([wanted], theirs, relation) is (other in expected), (ours, other)


@pytest.mark.parametrize("external_id", [each for group in SAME.values() for each in group])
def test_kind_of_storage(external_id):
    """Only EBS volumes and EFS have AWS behind them."""
    found = storage_identity.identify(external_id)

    assert found.is_ebs is external_id.startswith("vol-")
    assert found.is_efs is external_id.removeprefix("efs:").startswith("fs-")


@pytest.mark.parametrize(
    ("driver", "one", "other", "is_same"),
    [
        ("csi-driver-nfs", {"server": "NAS.example.", "share": "/a"}, {"Server": "nas.example", "share": "/a/"}, True),
        ("csi-driver-nfs", {"server": "nas", "share": "/a", "subDir": "b"}, {"server": "nas", "share": "/a/b"}, True),
        ("csi-driver-nfs", {"server": "nas", "share": "/a"}, {"server": "nas", "share": "/b"}, False),
        ("csi-driver-nfs", {"server": "nas", "share": "/a"}, {"server": "nas"}, False),
        ("csi-driver-nfs", {"server": "nas", "share": "/a"}, {"server": "nas2", "share": "/a"}, False),
        (
            "democratic-csi",
            {"iqn": "iqn.a", "lun": "0", "portal": "x"},
            {"iqn": "iqn.a", "lun": "0", "portal": "y"},
            True,
        ),
        ("democratic-csi", {"iqn": "iqn.a", "lun": "0"}, {"iqn": "iqn.a", "lun": "1"}, False),
        ("democratic-csi", {"iqn": "iqn.a"}, {"iqn": "iqn.a"}, False),
        ("democratic-csi", {"nqn": "nqn.a", "nsid": "1"}, {"nqn": "nqn.a", "nsid": "1"}, True),
        ("democratic-csi", {"server": "nas", "share": "a"}, {"server": "nas", "share": "/a"}, True),
        ("csi-hostpath", {"server": "nas", "share": "/a"}, {"server": "nas", "share": "/a"}, False),
        ("smb", {"source": "//NAS/s", "subDir": "a"}, {"source": "//nas/s", "subdir": "a/"}, True),
        ("smb", {"source": "//nas/s", "subDir": "a"}, {"source": "//nas/s", "subDir": "b"}, False),
        ("smb", {"source": "//nas/s"}, {"source": "//nas/s"}, True),
    ],
)
def test_context_that_locates_the_data_decides(driver, one, other, is_same):
    """Two external ids, and the context keys of the catalogue; a driver that does not read them has other data."""
    row = catalogue.DRIVERS[driver]

    shared = storage_identity.identities("x", one, row) & storage_identity.identities("y", other, row)

    assert bool(shared) is is_same


def test_external_id_counts_beside_the_context():
    """The controller finds the storage by it."""
    row = catalogue.DRIVERS["csi-driver-nfs"]
    one, other = ({"server": server, "share": "/a"} for server in ("nas", "nas2"))

    assert storage_identity.identities("x", one, row) & storage_identity.identities("x", other, row)


def test_server_without_a_path_is_no_location():
    """It would be around every other one."""
    driver = catalogue.find("csi-driver-nfs")

    assert list(storage_identity.located({"server": "nfs", "subDir": "a"}, driver)) == []
