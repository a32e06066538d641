"""Drivers that are played from a table, asked as Nomad and the probe ask them."""

import json

import pytest

from nomad_csi import errors
from nomad_csi.csi import channel, probe, services
from nomad_csi.csi.v1 import csi_pb2
from tests import csi_calls

GIB = 1 << 30
WRITER = services.volume_capability(access_mode="single-node-writer", attachment_mode="file-system")
BLOCK = services.volume_capability(access_mode="single-node-writer", attachment_mode="block-device")
SHARED = services.volume_capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
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


def refused(call, *given, **named):
    with pytest.raises(errors.CsiError) as caught:
        call(*given, **named)
    return caught.value.code, caught.value.message


@pytest.mark.parametrize(
    ("words", "name", "version", "stated", "segments", "most"),
    [
        (("csi-hostpath", "--nodeid=n1"), "hostpath.csi.k8s.io", "v1.18.0", False, "topology.hostpath.csi/node", None),
        (("csi-driver-nfs", "--nodeid=n1"), "nfs.csi.k8s.io", "v4.13.4", True, "", None),
        (("gce-pd",), "pd.csi.storage.gke.io", "v1.26.4", False, "topology.gke.io/zone", 127),
        (("digitalocean", "--token=t", "--volume-limit=5"), "dobs.csi.digitalocean.com", "v4.16.0", True, "region", 5),
    ],
)
def test_driver_says_who_it_is(start, words, name, version, stated, segments, most):
    """Name, version, place and limit, and whether Probe says ready in so many words."""
    connection = start(*words)

    report = probe.probe(connection.endpoint.text, timeout_s=30, expect_name=name)

    assert (report.status, report.vendor_version, report.max_volumes) == ("ready", version, most)
    assert list(report.segments) == ([segments] if segments else [])
    assert channel.call(connection, csi_pb2.ProbeRequest(), timeout_s=30).HasField("ready") is stated


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


def test_gce_makes_nothing_without_a_place(start):
    """The trap of `nomad volume create` without a topology."""
    code, text = refused(make, start("gce-pd"))

    assert (code, "need 1 zones from topology, only got 0" in text) == ("INVALID_ARGUMENT", True)


@pytest.mark.parametrize(
    ("words", "use", "text"),
    [
        (("digitalocean", "--token=t"), SHARED, "unsupported access mode MULTI_NODE_MULTI_WRITER"),
        (("gce-pd",), SHARED, "VolumeCapabilities is invalid: MULTI_NODE_MULTI_WRITER"),
        (("csi-driver-nfs", "--nodeid=n"), BLOCK, "block volume capability not supported"),
    ],
)
def test_uses_that_the_driver_does_not_serve_are_refused(start, words, use, text):
    """When it is made; a validation of them is not confirmed."""
    code, said = refused(make, start(*words), use=use, required_topologies=ZONE, parameters=NFS_PARAMETERS)

    assert (code, text in said) == ("INVALID_ARGUMENT", True)


@pytest.mark.parametrize(
    ("words", "volume_id", "known"),
    [
        (("csi-hostpath", "--nodeid=n1"), "no-such", False),
        (("digitalocean", "--token=t"), "my-volume", False),
        (("digitalocean", "--token=t"), "11111111-2222-3333-4444-555555555555", True),
        (("gce-pd",), "disk", False),
        (("gce-pd",), "projects/p/zones/z/disks/d", True),
        (("csi-driver-nfs", "--nodeid=n"), "anything", True),
    ],
)
def test_storage_of_others_is_known_by_its_id(start, words, volume_id, known):
    """The sandbox has no cloud to look in: what has the form of an id is taken to be one."""
    ask = {"volume_id": volume_id, "capabilities": [WRITER], "timeout_s": 30}
    connection = start(*words)

    if known:
        assert services.validate_volume_capabilities(connection, **ask).confirmed
    else:
        assert refused(services.validate_volume_capabilities, connection, **ask)[0] == "NOT_FOUND"


def test_disk_is_attached_to_one_node(start):
    """A second one has to wait; nodes that nobody has seen are none."""
    connection = start("digitalocean", "--token=t", NOMAD_CSI_SANDBOX_INSTANCE_ID="7")
    volume_id = make(connection).volume_id
    ask = (connection, "ControllerPublishVolume", WRITER)

    found = csi_calls.call(*ask, volume_id=volume_id, node_id="7")
    unknown = refused(csi_calls.call, *ask, volume_id=volume_id, node_id="8")

    assert found.publish_context == {"dobs.csi.digitalocean.com/volume-name": "v"}
    assert (unknown[0], unknown[1].endswith("droplet 8 does not exist")) == ("NOT_FOUND", True)


@pytest.mark.parametrize(
    ("words", "context", "text"),
    [
        (("csi-driver-nfs", "--nodeid=n"), {}, "server is a required parameter"),
        (("csi-driver-nfs", "--nodeid=n"), {"server": "nas"}, "share is a required parameter"),
    ],
)
def test_context_that_is_missing_shows_on_the_node(start, folder, words, context, text):
    """Registered without a word, and refused when it is mounted."""
    asked = {"volume_id": "v", "volume_context": context, "target_path": str(folder / "t")}

    code, said = refused(csi_calls.call, start(*words), "NodePublishVolume", WRITER, **asked)

    assert (code, said.endswith(text)) == ("INVALID_ARGUMENT", True)


def test_volume_is_staged_then_published_then_measured(hostpath, folder):
    """Folders instead of mounts, which are removed, but never with data: it is on the machine's own disk."""
    asked = {"volume_id": make(hostpath).volume_id, "staging_target_path": str(folder / "s")}
    target = {"volume_id": asked["volume_id"], "target_path": str(folder / "t")}

    before = refused(csi_calls.call, hostpath, "NodePublishVolume", WRITER, **asked | target)
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
    kept = refused(csi_calls.call, hostpath, "NodeUnpublishVolume", **target)

    assert before[0] == "FAILED_PRECONDITION"
    assert usage.total > usage.available > 0
    assert (kept[0], "what it holds is on the client's own disk" in kept[1]) == ("INTERNAL", True)
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
