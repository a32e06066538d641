"""Drivers that are played from a table, asked as Nomad and the probe ask them."""

import json

import pytest

from nomad_csi.csi import services
from nomad_csi.csi.v1 import csi_pb2
from tests import csi_calls

GIB = 1 << 30
WRITER = services.volume_capability(access_mode="single-node-writer", attachment_mode="file-system")
ZONE = ({"topology.gke.io/zone": "europe-west1-b"},)
NFS_PARAMETERS = {"server": "nas", "share": "/pool"}
DEMOCRATIC = ("--csi-version=1.5.0", "--csi-name=org.democratic-csi.p")


@pytest.fixture
def hostpath(start):
    """A connection to a hostpath monolith."""
    return start("csi-hostpath", "--nodeid=n1")


@pytest.fixture
def democratic(start, tmp_path):
    """A connection to democratic-csi with a backend: ``democratic("zfs-generic-nfs")``."""

    def run(backend, *words):
        config = tmp_path / "config.yaml"
        config.write_text(f"driver: {backend}\n", encoding="utf-8")
        return start("democratic-csi", f"--driver-config-file={config}", *DEMOCRATIC, *words)

    return run


def make(connection, name="v", use=WRITER, **fields):
    return csi_calls.create_volume(connection, name, use, **fields)


@pytest.mark.parametrize(
    ("words", "fields", "capacity", "context", "topologies"),
    [
        (("csi-hostpath", "--nodeid=n1"), {"required_bytes": 5, "parameters": {"a": "b"}}, 5, {"a": "b"},
         ({"topology.hostpath.csi/node": "n1"},)),
        (("csi-driver-nfs", "--nodeid=n1"), {"required_bytes": 5, "parameters": NFS_PARAMETERS}, 0,
         {**NFS_PARAMETERS, "subdir": "v"}, ()),
        (("gce-pd",), {"required_bytes": 5, "required_topologies": ZONE}, GIB, {}, ZONE),
        (("digitalocean", "--token=t"), {}, 16 * GIB, {}, ({"region": "us-east-1a"},)),
    ],
)  # fmt: skip
def test_driver_makes_volumes_in_its_own_way(start, words, fields, capacity, context, topologies):
    """Size, context and place as the named driver answers them; the same name is the same volume."""
    connection = start(*words)

    made = make(connection, **fields)

    found = tuple(dict(each.segments) for each in made.accessible_topology)
    assert (made.capacity_bytes, made.volume_context, found) == (capacity, context, topologies)
    assert make(connection, **fields) == made


def test_volume_is_staged_then_published_then_measured(hostpath, folder):
    """Folders instead of mounts, which are removed, but never with data: it is on the machine's own disk."""
    asked = {"volume_id": make(hostpath).volume_id, "staging_target_path": str(folder / "s")}
    target = {"volume_id": asked["volume_id"], "target_path": str(folder / "t")}

    before = csi_calls.refused(csi_calls.call, hostpath, "NodePublishVolume", WRITER, **asked | target)
    csi_calls.call(hostpath, "NodeStageVolume", WRITER, **asked)
    csi_calls.call(hostpath, "NodePublishVolume", WRITER, **asked | target)
    [usage] = [
        each
        for each in csi_calls.call(
            hostpath, "NodeGetVolumeStats", volume_id=asked["volume_id"], volume_path=target["target_path"]
        ).usage
        if each.unit == csi_pb2.VolumeUsage.BYTES
    ]
    (folder / "t" / "data").write_text("precious", encoding="utf-8")
    kept = csi_calls.refused(csi_calls.call, hostpath, "NodeUnpublishVolume", **target)

    assert before.code == "FAILED_PRECONDITION"
    assert usage.total > usage.available > 0
    assert (kept.code, "what it holds is on the client's own disk" in kept.message) == ("INTERNAL", True)
    assert (folder / "t" / "data").read_text(encoding="utf-8") == "precious"
    (folder / "t" / "data").unlink()
    csi_calls.call(hostpath, "NodeUnpublishVolume", **target)
    assert not (folder / "t").exists()


def test_processes_of_one_driver_see_the_same_storage(start, tmp_path):
    """A controller here, a node there; what one made is still there when it starts again."""
    storage = {"NOMAD_CSI_SANDBOX_STORAGE": str(tmp_path)}
    first = start("digitalocean", "--token=t", **storage)
    made = make(first)

    second = start("digitalocean", "--token=t", **storage)

    assert make(second) == made
    [kept] = json.loads((tmp_path / "dobs.csi.digitalocean.com.json").read_text(encoding="utf-8"))["volumes"]
    assert kept == made.volume_id
