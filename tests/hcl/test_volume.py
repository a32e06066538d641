"""The payload of a volume file, as Nomad's command line would send it."""

import pytest

from nomad_csi import errors
from nomad_csi.hcl import read, volume
from nomad_csi.spec import encrypted


def test_payload_of_escapes_is_what_nomad_stored(case):
    """Keys, escapes and topologies as a real agent held them after registering this file."""
    payload = volume.volume_payload(read.read_volume(case("dialect.volume.hcl")))

    zone = "topology.ebs.csi.aws.com/zone"
    assert payload == {
        "ID": "dialect",
        "Name": 'n ${attr.x} %{ if } "q" \\ back',
        "PluginID": "stubn",
        "ExternalID": "fs-1:/a\nb\tc",
        "RequestedCapabilities": [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}],
        "MountOptions": {"FSType": "ext4", "MountFlags": ["noatime", "opt=${x}"]},
        "Parameters": {
            "a.b/c": "emoji 🎉 and 🎉",
            "plain": "cafe\u0301 vs café",
            "newline": "l1\nl2\r\n\tend",
            "dollar": "$ $ $$ $x {y} ${",
            "percent": "% %{ %% {",
            "üñí": "ключ",
            "nul": "a\x01b",
            "ls": "a\u2028b",
            'quo"t': "x",
        },
        "Context": {"k ${z}": "v ${z}"},
        "RequestedTopologies": {
            "Required": [{"Segments": {zone: "eu-west-1a"}}, {"Segments": {zone: "eu-west-1b"}}],
            "Preferred": [{"Segments": {zone: "eu-west-1a"}}],
        },
    }


def test_payload_writes_weak_values_as_nomad_does():
    """A number in a map becomes its digits, and ``true`` becomes "1"."""
    document = read.read_volume(
        "parameters = { iops = 3000, encrypted = true, off = false, ratio = 1.50, whole = 2.0 }\n"
    )

    assert volume.volume_payload(document) == {
        "Parameters": {"iops": "3000", "encrypted": "1", "off": "0", "ratio": "1.5", "whole": "2"}
    }


def test_payload_writes_weak_segments_as_nomad_does():
    """In segments, which Nomad decodes in another way, ``true`` stays the word of the file."""
    text = "topology_request {\n  required {\n    topology {\n      segments = { a = true, b = 3 }\n    }\n  }\n}\n"

    payload = volume.volume_payload(read.read_volume(text))

    assert payload == {"RequestedTopologies": {"Required": [{"Segments": {"a": "true", "b": "3"}}]}}


def test_payload_merges_blocks_of_a_map():
    """Of several ``context`` blocks every key is kept, the later value first."""
    document = read.read_volume('context {\n  a = "1"\n  b = "1"\n}\ncontext {\n  b = "2"\n}\n')

    assert volume.volume_payload(document) == {"Context": {"a": "1", "b": "2"}}


def test_payload_keeps_the_first_mount_options():
    """Nomad reads one block of mount options, even an empty one."""
    document = read.read_volume('mount_options {}\nmount_options {\n  fs_type = "xfs"\n}\n')

    assert volume.volume_payload(document) == {"MountOptions": {}}


def test_payload_loses_a_second_required_block():
    """Topologies in a second ``required`` block are lost, as Nomad loses them."""
    required = 'required {{\n  topology {{\n    segments = {{ zone = "{}" }}\n  }}\n}}\n'
    text = f"topology_request {{\n{required.format('a')}{required.format('b')}}}\n"

    payload = volume.volume_payload(read.read_volume(text))

    assert payload == {"RequestedTopologies": {"Required": [{"Segments": {"zone": "a"}}]}}


@pytest.mark.parametrize(
    "inner", ["", "required {}", "required {\n  topology {}\n}", "required {\n topology {\n segments = {}\n }\n}"]
)
def test_payload_of_a_topology_without_segments_is_empty(inner):
    """Without segments the topology is lost, which the command line does not say."""
    document = read.read_volume(f"topology_request {{\n{inner}\n}}\n")

    assert volume.volume_payload(document) == {"RequestedTopologies": {}}


@pytest.mark.parametrize(
    ("size", "count"),
    [
        ('"10GiB"', 10 * 2**30),
        ('"10gi"', 10 * 2**30),
        ('"20GB"', 20 * 10**9),
        ('"10G"', 10 * 10**9),
        ('"1.5 GiB"', 1_610_612_736),
        ('"1,024 MiB"', 2**30),
        ('"512b"', 512),
        ("4096", 4096),
        ('""', 0),
    ],
)
def test_payload_sizes_are_in_bytes(size, count):
    """``GB`` is decimal and ``GiB`` binary, to Nomad as to us."""
    document = read.read_volume(f"capacity_min = {size}\ncapacity_max = {size}\n")

    assert volume.volume_payload(document) == {"RequestedCapacityMin": count, "RequestedCapacityMax": count}


@pytest.mark.parametrize("size", ["ten", "-1GiB", "10ib", "10 GiBs", "1.2.3GiB", ".", " 10GiB", "8EiB", "1e3"])
def test_rejects_what_is_no_size(size):
    """What Nomad's reader of sizes refuses is refused, with an example."""
    with pytest.raises(errors.SpecError, match=r"capacity_min: expected a size below 8 EiB such as 10GiB, got "):
        volume.volume_payload({"capacity_min": size})


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (
            {"capability": [{"mode": 1, "a": 2}]},
            "capability: expected only access_mode and attachment_mode, got a, mode",
        ),
        ({"mount_options": [{"flags": []}]}, "mount_options: expected only fs_type and mount_flags, got flags"),
        ({"topology_request": [{"zones": []}]}, "topology_request: expected only preferred and required, got zones"),
        ({"mount_options": [{"mount_flags": "ro"}]}, "mount_options.mount_flags: expected a list of texts"),
        ({"mount_options": [{"fs_type": 1.5}]}, "mount_options.fs_type: expected a text"),
        ({"mount_options": [{"mount_flags": [1.5]}]}, "mount_options.mount_flags: expected a text"),
        ({"capability": [{"access_mode": []}]}, "capability.access_mode: expected a text"),
        ({"topology_request": {"required": {"topology": {"segments": {"a": 1.5}}}}}, "segments.a: expected a text"),
        ({"id": ["x"]}, "id: expected a text"),
        ({"context": "x"}, "context: expected a block"),
        ({"context": ""}, "context: expected a block"),
        ({"capability": [{}, {"__labels__": ["x"]}]}, "capability: expected a block without a label"),
        ({"secrets": {"password": ["hunter2"]}}, "secrets.password: expected a text"),
    ],
)
def test_rejects_what_nomad_refuses(document, problem):
    """A name that a block does not have, or a value of another kind, is refused by its name."""
    with pytest.raises(errors.SpecError) as refusal:
        volume.volume_payload(document)

    assert str(refusal.value) == f"the volume file: 1 problem\n  {problem}"


FILE = """# Its secrets (password, token) are sent with the registration and stand in no file.
# Other volumes may stand for the same storage (shares_storage).
# 2 of its mount flags are encrypted and in no file: only `pulumi up` sends them.
type = "csi"
id = "mysql"
plugin_id = "p"
external_id = "vol-1"
capability {
  access_mode = "single-node-writer"
  attachment_mode = "file-system"
}
mount_options {
  mount_flags = ["noatime"]
}
"""


@pytest.mark.parametrize(
    ("text", "namespace", "secret_names", "hidden"),
    [
        (FILE, "team", ("password", "token"), 2),
        (FILE + 'namespace = "prod"\nsecrets = { token = "hunter2" }\n', "prod", ("password",), 2),
        (FILE.replace("2 of its mount flags are", "1 of its mount flags is"), "team", ("password", "token"), 1),
        (FILE.partition("up` sends them.\n")[2], "team", (), 0),
    ],
)
def test_file_is_a_registration_that_counts_what_it_does_not_hold(tmp_path, text, namespace, secret_names, hidden):
    """A namespace in the file wins; each encrypted flag is one flag; a secret in the file is not asked for."""
    path = tmp_path / "mysql.volume.hcl"
    path.write_text(text)

    [found] = volume.read(path, namespace="team")

    assert (found.path, found.document.namespace, found.secret_names) == (str(path), namespace, secret_names)
    assert found.document.mount_options.mount_flags == ("noatime", *[encrypted.PLACEHOLDER] * hidden)
    assert found.document.shares_storage is (hidden > 0)


ID = "letters, digits, '.', '_' and '-', an index such as [0] at most"
CREATED = "a volume that the plugin is to make is created with `nomad-csi apply` and the spec, or `pulumi up`"
MODES = "single-node-reader-only, single-node-writer, multi-node-reader-only, multi-node-single-writer, multi-node-multi-writer"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('job "x" {}\n', "expected a volume file, got a job file; run it with `nomad job run`"),
        ('{"Statement": []}', "expected a volume file, got a policy file"),
        (
            FILE.partition("capability")[0],
            "capability: expected at least one block, got nothing; access_mode and attachment_mode belong into a "
            "capability block; Nomad drops them outside of one",
        ),
        (FILE.replace('"mysql"', '"my sql"'), f"id: expected {ID}, got 'my sql'"),
        (FILE.replace('"p"', '"-"'), "plugin_id: expected up to 63 letters, digits, '.', '_' and '-', got '-'"),
        (FILE.replace('"vol-1"', '""'), f"external_id: expected the id of storage that exists, got nothing; {CREATED}"),
        (FILE.replace("-writer", ""), f"capability.access_mode: expected one of {MODES}, got 'single-node'"),
        (
            FILE + 'capability {\n  access_mode = "x"\n  attachment_mode = "file-system"\n}\n',
            f"capability.access_mode: expected one of {MODES}, got 'x'",
        ),
        (
            FILE.replace("file-", ""),
            "capability.attachment_mode: expected one of file-system, block-device, got 'system'",
        ),
    ],
)
def test_file_that_could_not_be_served_is_refused(tmp_path, text, problem):
    """Nomad's server accepts a volume without a capability."""
    path = tmp_path / "x.hcl"
    path.write_text(text)

    with pytest.raises(errors.SpecError) as refusal:
        volume.read(path, namespace="default")

    assert str(refusal.value) == f"{path}: 1 problem\n  {problem}"


def test_payload_drops_unknown_names():
    """A top-level name that Nomad does not know is dropped silently."""
    assert volume.volume_payload({"type": "csi", "size": 3, "id": "x"}) == {"ID": "x"}
