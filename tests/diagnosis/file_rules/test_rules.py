"""Each rule: fires on a file with one thing wrong, and not on the file without."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from nomad_csi.findings import registry

RIGHT = {path.name: path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "right").iterdir()}
"""Files with which nothing is wrong, by name."""

CONTROLLER = RIGHT["controller.nomad.hcl"]
NODE = RIGHT["node.nomad.hcl"]
EFS = RIGHT["efs.nomad.hcl"]
STRICT = RIGHT["strict.nomad.hcl"]
RAW = RIGHT["raw.nomad.hcl"]
VOLUME = RIGHT["volume.volume.hcl"]
SHARED = RIGHT["shared.volume.hcl"]
STRICT_VOLUME = RIGHT["strict.volume.hcl"]
CREATED = STRICT_VOLUME.replace('external_id = "strict-1"', 'capacity_min = "1GiB"').replace(
    STRICT_VOLUME[STRICT_VOLUME.index("context") : STRICT_VOLUME.index("parameters")], ""
)
"""A volume that the plugin makes."""

NFS = """type        = "csi"
id          = "a"
plugin_id   = "nfs"
external_id = "nfs"
capability {
  access_mode     = "single-node-writer"
  attachment_mode = "file-system"
}
context = {
  server = "nas.example.net"
  share  = "/srv/a"
}
"""
"""A volume of a driver that reads the place from the context."""

CONSUMER = RIGHT["consumer.nomad.hcl"]
POLICY = RIGHT["policy.json"]


@dataclass(frozen=True, kw_only=True)
class Wrong:
    """What makes a file wrong."""

    code: str
    text: str
    old: str
    new: str
    line: int
    also: tuple[str, ...] = ()
    """Further rules that fire of the same change."""

    beside: dict[str, str] = field(default_factory=dict)
    """Other files that are given too."""


def wrong(code, text, old, new, line, also=(), beside=None):
    """Return an example in one line."""
    assert old in text, f"{code}: {old!r} is not in the file"
    return Wrong(code=code, text=text, old=old, new=new, line=line, also=also, beside=beside or {})


CAPABILITY = 'capability {\n  access_mode     = "single-node-writer"\n  attachment_mode = "file-system"\n}'
WRONG = [
    # volume files
    wrong("type-missing", VOLUME, 'type        = "csi"\n', "", 1),
    wrong("legacy-modes", VOLUME, CAPABILITY, 'access_mode = "single-node-writer"\nattachment_mode = "file-system"', 6),
    wrong("capability-block-missing", VOLUME, CAPABILITY, "", 1),
    wrong("block-map", VOLUME, "context = {", "context {", 22),
    wrong("name-unknown", VOLUME, 'type        = "csi"', 'type        = "csi"\nsize = 3', 2),
    wrong("block-twice", VOLUME, "mount_options {", "mount_options {}\nmount_options {", 11),
    wrong("volume-unreadable", VOLUME, 'fs_type = "ext4"', 'flags = ["ro"]', 10),
    wrong("value-weak", VOLUME, 'partition = "0"', "blockattachuntilinitialized = true", 23),
    wrong("topology-empty", VOLUME, '        "topology.ebs.csi.aws.com/zone" = "us-east-1a"\n', "", 15),
    wrong("topology-lost", VOLUME, "  required {\n", "  required {\n  }\n  required {\n", 16, ("topology-empty",)),
    wrong(
        "topology-preferred",
        SHARED,
        "context = {",
        'topology_request {\n preferred {\n  topology {\n   segments = { "topology.kubernetes.io/zone" = "a" }\n  }\n }\n}\ncontext = {',
        10,
    ),
    wrong("topology-missing", VOLUME, VOLUME[VOLUME.index("topology_request") : VOLUME.index("context")], "", 1),
    wrong("topology-key-unknown", VOLUME, '"topology.ebs.csi.aws.com/zone"', '"zone"', 13),
    wrong("topology-zone-region", VOLUME, '"us-east-1a"', '"us-east-1"', 13),
    wrong("access-mode-unknown", VOLUME, "single-node-writer", "single-node-reader", 6),
    wrong("access-mode-unserved", VOLUME, "single-node-writer", "multi-node-reader-only", 6),
    wrong("value-unknown", CONSUMER, '"single-node-writer"', "var.mode", 7),
    wrong(
        "monolith-not-split",
        CONTROLLER,
        'type           = "controller"',
        'type           = "monolith"',
        24,
        ("mode-word-differs", "privilege-missing"),
    ),
    wrong(
        "driver-unusable", STRICT, "registry.example/strict-csi:v1", "m.example/aws-mountpoint-s3-csi-driver:v2.7.0", 10
    ),
    wrong("driver-renamed", STRICT, '"--mode=controller"', '"--mode=controller", "--drivername=other"', 11),
    wrong("capacity-missing", STRICT_VOLUME, 'external_id = "strict-1"', "", 1, ()),
    wrong(
        "external-id-reused",
        NFS,
        "/srv/a",
        "/srv/b",
        4,
        (),
        {"other.hcl": NFS.replace('id          = "a"', 'id          = "b"')},
    ),
    wrong(
        "efs-mount-refused",
        SHARED,
        'encryptInTransit = "true"\n}',
        'encryptInTransit = "false"\n}\nmount_options {\n  mount_flags = ["tls"]\n}',
        9,
    ),
    wrong("source-missing", CONSUMER, '"mysql"\n      access', '""\n      access', 6),
    wrong("source-interpolated", CONSUMER, '"mysql"\n      access', '"mysql-${node.unique.id}"\n      access', 6),
    wrong(
        "per-alloc-refused", CONSUMER, '"file-system"', '"file-system"\n      per_alloc = true\n      sticky = true', 9
    ),
    wrong("claim-options-on-block", CONSUMER, '"file-system"', '"block-device"\n      mount_options {}', 9),
    wrong("host-volume-per-alloc", CONSUMER, 'type            = "csi"', 'type = "host"\n      per_alloc = true', 6),
    wrong("host-volume-sticky", CONSUMER, 'type            = "csi"', 'type = "host"\n      sticky = true', 6),
    wrong("external-id-omitted", NFS, 'external_id = "nfs"\n', "", 8),
    wrong("external-id-form", VOLUME, "vol-0123456789abcdef0", "mysql", 4),
    wrong(
        "external-id-shared",
        VOLUME,
        'external_id = "vol-0123456789abcdef0"',
        'external_id = "vol-0123456789abcdef1"',
        4,
        (),
        {"other.hcl": VOLUME.replace('"mysql"', '"other"').replace("def0", "def1")},
    ),
    wrong("context-key-unknown", SHARED, "encryptInTransit", "path", 9),
    wrong("context-key-missing", STRICT_VOLUME, '  server = "nas.example.net"\n', "", 12),
    wrong("context-value-unknown", STRICT_VOLUME, 'driver = "nfs"', 'driver = "smb"', 12),
    wrong("context-without-effect", SHARED, 'external_id = "fs-0123456789abcdef0"', 'capacity_min = "1GiB"', 9),
    wrong("parameter-value-unknown", STRICT_VOLUME, 'type = "a"', 'type = "c"', 16),
    wrong("parameter-missing", CREATED, 'type = "a"', "", 12),
    wrong("parameter-unknown", STRICT_VOLUME, 'type = "a"', 'kind = "a"', 16),
    wrong("secret-in-file", VOLUME, "context = {", 'secrets = {\n  password = "hunter2"\n}\ncontext = {', 23),
    wrong("mount-options-on-block", VOLUME, '"file-system"', '"block-device"', 10),
    wrong(
        "mount-flag-refused",
        SHARED,
        "context = {",
        'mount_options {\n  mount_flags = ["awscredsuri=x"]\n}\ncontext = {',
        9,
    ),
    wrong("fs-type-unknown", VOLUME, '"ext4"', '"btrfs"', 10),
    wrong("volume-id-form", VOLUME, 'id          = "mysql"', 'id          = "my/sql"', 2),
    wrong(
        "volume-twice",
        VOLUME,
        'id          = "mysql"',
        'id          = "again"',
        2,
        (),
        {"other.hcl": VOLUME.replace('"mysql"', '"again"').replace("def0", "def2")},
    ),
    wrong("volume-only-created", STRICT_VOLUME, 'plugin_id   = "strict"', 'plugin_id   = "creator"', 3),
    wrong("volume-plugin-missing", VOLUME, 'plugin_id   = "aws-ebs0"\n', "", 1),
    wrong(
        "volume-plugin-unknown",
        VOLUME,
        'plugin_id   = "aws-ebs0"',
        'plugin_id   = "aws-ebs1"',
        5,
        (),
        {"node.hcl": NODE},
    ),
    # plugin jobs
    wrong("plugin-type-unknown", EFS, 'type = "node"\n', 'type = "nodes"\n', 18),
    wrong("plugin-id-form", RAW, '"raw0"', '"raw/0"', 14),
    wrong(
        "plugin-twice",
        RAW,
        'id                     = "raw0"',
        'id                     = "raw1"',
        14,
        (),
        {"other.hcl": RAW.replace('"raw0"', '"raw1"')},
    ),
    wrong("image-unpinned", CONTROLLER, ":v1.64.0", ":latest", 15),
    wrong("image-other-version", CONTROLLER, "v1.64.0", "v1.50.0", 15),
    wrong("privilege-missing", NODE, "        privileged = true\n", "", 9),
    wrong("privilege-needless", CONTROLLER, "        args = [", "        privileged = true\n        args = [", 16),
    wrong("host-network-missing", EFS, '        network_mode = "host"\n', "", 9),
    wrong("folder-missing", EFS, '"/var/amazon/efs:/var/amazon/efs", ', "", 14),
    wrong("endpoint-elsewhere", EFS, "${CSI_ENDPOINT}", "unix:///tmp/csi.sock", 11),
    wrong("endpoint-written-out", EFS, "${CSI_ENDPOINT}", "unix://csi/csi.sock", 11),
    wrong("mode-word-unknown", CONTROLLER, '"controller",\n', '"control",\n', 16),
    wrong("mode-word-differs", CONTROLLER, '"controller",\n', '"node",\n', 16),
    wrong("positional-word", EFS, '["--endpoint', '["node", "--endpoint', 11),
    wrong("flag-unknown", CONTROLLER, '"--v=2"', '"--reserved-volume-attachments=1"', 16),
    wrong("flag-unknown", CONTROLLER, '"--v=2"', '"--verbose"', 16),
    wrong("flag-unknown", STRICT, '"--mode=controller"', '"--mode=controller", "--logtostderr"', 11),
    wrong("flag-without-effect", CONTROLLER, '"--v=2"', '"--logtostderr"', 16),
    wrong("flag-unfit", STRICT, '"--mode=controller"', '"--mode=controller", "--kubeconfig=x"', 11),
    wrong("secret-in-file", VOLUME, 'fs_type = "ext4"', 'mount_flags = ["username=x", "password=y"]', 11),
    wrong("secret-in-file", VOLUME, 'partition = "0"', 'dsn = "postgres://u:hunter2@h/db"\npartition = "0"', 23),
    wrong(
        "secret-in-file",
        VOLUME,
        "context = {",
        'parameters = {\n  "csi.storage.k8s.io/pw" = "hunter2"\n}\ncontext = {',
        23,
        also=("parameter-unknown",),
    ),
    wrong(
        "secret-in-environment", CONTROLLER, 'AWS_REGION = "us-east-1"', 'CONNECTION = "postgres://u:hunter2@h/db"', 28
    ),
    wrong("secret-in-argument", RAW, '"--endpoint', '"--token=abc", "--endpoint', 11),
    wrong("secret-in-environment", CONTROLLER, 'AWS_REGION = "us-east-1"', 'AWS_SECRET_ACCESS_KEY = "abc"', 28),
    wrong("restart-gives-up", CONTROLLER, 'mode = "delay"', 'mode = "fail"', 10),
    wrong("health-timeout-short", CONTROLLER, '        health_timeout = "60s"\n', "", 22),
    wrong("controllers-too-many", STRICT, "count = 1", "count = 2", 3, ("distinct-hosts-missing",)),
    wrong(
        "distinct-hosts-missing",
        CONTROLLER,
        '      operator = "distinct_hosts"\n      value    = "true"\n',
        '      attribute = "${attr.cpu.arch}"\n      value     = "amd64"\n',
        4,
    ),
    wrong("node-not-everywhere", NODE, 'type = "system"', 'type = "service"', 2),
    wrong("stage-folder-missing", RAW, '        stage_publish_base_dir = "/opt/nomad/client/csi/node/raw0"\n', "", 13),
    # jobs that use volumes, policies
    wrong("claim-mode-unknown", CONSUMER, '"single-node-writer"', '"rw"', 7),
    wrong(
        "claim-mode-differs",
        CONSUMER,
        '"single-node-writer"',
        '"multi-node-multi-writer"',
        7,
        (),
        {"volume.hcl": VOLUME},
    ),
    wrong("claim-by-several", CONSUMER, "count = 1", "count = 2", 3),
    wrong("claim-with-canary", CONSUMER, "    count = 1", "    update {\n      canary = 1\n    }\n    count = 1", 4),
    wrong("mount-volume-unknown", CONSUMER, 'volume      = "data"', 'volume      = "dd"', 13),
    wrong("policy-without-probe", POLICY, '        "ec2:DescribeAvailabilityZones",\n', "", 0),
    wrong("policy-without-attach", POLICY, ', "ec2:DetachVolume"', "", 0),
    wrong("policy-without-limits", POLICY, '        "ec2:DescribeInstanceTypes",\n', "", 0),
    wrong(
        "policy-any-volume", POLICY, POLICY[POLICY.index(',\n      "Condition"') : POLICY.index("\n    }\n  ]")], "", 0
    ),
]


FOLDER = Path(__file__).parent
SENTENCES = yaml.safe_load((FOLDER / "sentences.yaml").read_text(encoding="utf-8"))
"""What is found in the examples, by their codes."""

NEAR = yaml.safe_load((FOLDER / "near.yaml").read_text(encoding="utf-8"))


def changed(of, change=None, **_):
    """Return a file that is right with some texts replaced."""
    text = RIGHT[of]
    for old, new in (change or {}).items():
        assert old in text
        text = text.replace(old, new, 1)
    return text


def written(status):
    """Return all of a finding but its file."""
    return f"{status.line} {status.code} {status.subject}: {status.found}; {status.advice}"


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_wrong_with_what_is_right(judged, name):
    """The files that the other tests change are clean."""
    assert judged({name: RIGHT[name]}) == ()


def test_nothing_is_wrong_with_all_of_them_together(judged):
    """Jobs, volumes, a consumer and the policy fit each other."""
    assert judged(RIGHT) == ()


def test_efs_may_run_as_controller(judged):
    """Its process serves both roles, so Nomad sees it as healthy."""
    assert "plugin-type-unknown" not in {item.code for item in judged({"x": EFS.replace('"node"', '"controller"')})}


@pytest.mark.parametrize("example", WRONG, ids=[example.code for example in WRONG])
def test_rule_fires_on_one_change_and_says_the_line(judged, example):
    """With one thing wrong, the rule says so at its line, and no other rule but those that it brings along."""
    text = example.text.replace(example.old, example.new, 1)

    found = judged({**example.beside, "sample": text})

    mine = [status for status in found if status.file == "sample"]
    assert {status.code for status in mine} == {example.code, *example.also}
    assert min(status.line for status in mine if status.code == example.code) == example.line
    assert list(map(written, mine)) in SENTENCES[example.code]


@pytest.mark.parametrize("row", NEAR, ids=[row["what"] for row in NEAR])
def test_what_is_near_a_rule(judged, row):
    """The other half of each condition: what has no finding, or another one; whole sentences."""
    given = {**row.get("beside", {}), "sample": row}

    found = judged({name: changed(**each) for name, each in given.items()})

    assert [written(status) for status in found if status.file == "sample"] == row["found"]


@pytest.mark.parametrize(
    ("more", "codes"),
    [("", ["claim-by-several"]), ("per_alloc = true\n", []), ("read_only = true\n", ["claim-by-several"])],
)
def test_several_allocations_of_one_volume_are_refused_by_nomad(judged, more, codes):
    """With per_alloc each has its own; Nomad refuses readers, too."""
    text = CONSUMER.replace("count = 1", "count = 3").replace('type            = "csi"', f'{more}type = "csi"')

    assert [item.code for item in judged({"sample": text})] == codes


def test_every_rule_has_an_example():
    """A rule without one would be a rule that nobody saw firing."""
    assert {example.code for example in WRONG} == {
        code for code, row in registry.codes().items() if "check" in row.commands
    }


def test_a_host_volume_file_is_read_and_has_no_findings(judged):
    """A directory with both kinds can be checked as a whole."""
    assert judged({"host.volume.hcl": 'type = "host"\nname = "data"\nplugin_id = "mkdir"\n'}) == ()


def test_many_volumes_with_one_external_id_are_one_finding_each(judged):
    """Each names the first one, so that 60 files are 59 lines."""
    texts = {f"{index}.hcl": VOLUME.replace('"mysql"', f'"m{index}"') for index in range(10)}

    assert [item.code for item in judged(texts)] == ["external-id-shared"] * 9
