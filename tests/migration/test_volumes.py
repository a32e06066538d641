"""From volume files to volumes of a spec."""

import pytest

from nomad_csi import errors
from nomad_csi.drivers import catalogue

HEAD = 'id = "v"\nplugin_id = "aws-ebs0"\n'
EXISTING = HEAD + 'external_id = "vol-0123456789abcdef0"\n'
CAPABILITY = 'capability {\n  access_mode = "single-node-writer"\n  attachment_mode = "file-system"\n}\n'
PLACE = "topology_request {{\n {kind} {{\n{topologies} }}\n}}\n"
TOPOLOGY = '  topology {{\n   segments {{\n    "{key}" = "{zone}"\n   }}\n  }}\n'
ZONE = "topology.ebs.csi.aws.com/zone"


def volume_of(adoption):
    [volume] = adoption.document["volumes"]
    return volume


def place(*zones, key=ZONE, kind="required"):
    return PLACE.format(kind=kind, topologies="".join(TOPOLOGY.format(key=key, zone=zone) for zone in zones))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (EXISTING + CAPABILITY + place("us-east-1a"), {"existing": {"external_id": "vol-0123456789abcdef0", "availability_zone": "us-east-1a"}}),
        (EXISTING + place("a", "b"), {"existing": {"external_id": "vol-0123456789abcdef0"}, "topologies": [{ZONE: "a"}, {ZONE: "b"}]}),
        (EXISTING + place("a", key="topology.kubernetes.io/zone"), {"existing": {"external_id": "vol-0123456789abcdef0"}, "topologies": [{"topology.kubernetes.io/zone": "a"}]}),
        (HEAD + 'capacity_min = "10GiB"\ncapacity_max = "20GiB"\nsnapshot_id = "snap-1"\n' + place("a"), {"create": {"capacity_min_gib": 10, "capacity_max_gib": 20, "snapshot_id": "snap-1", "availability_zone": "a"}}),
        (HEAD + 'capacity_min = "100MiB"\ncapacity_max = "1GB"\n' + place("a"), {"create": {"capacity_min_bytes": 104_857_600, "capacity_max_bytes": 1_000_000_000, "availability_zone": "a"}}),
        (HEAD + place("a", "b") + CAPABILITY, {"create": {}, "topologies": [{ZONE: "a"}, {ZONE: "b"}]}),
        (HEAD + "topology_request {\n" + place("a", "b")[19:-2] + place("b", kind="preferred")[19:], {"create": {}, "topologies": [{ZONE: "b"}, {ZONE: "a"}]}),
        (HEAD + place("b", kind="preferred"), {"create": {"availability_zone": "b"}}),
        (EXISTING + 'name = "n"\nnamespace = "prod"\n' + place("a"), {"name": "n", "namespace": "prod", "existing": {"external_id": "vol-0123456789abcdef0", "availability_zone": "a"}}),
        (EXISTING + 'mount_options {\n fs_type = "xfs"\n mount_flags = ["noatime"]\n}\nparameters {\n  type = "gp3"\n  iops = 3000\n}\n' + place("a"), {"mount_options": {"fs_type": "xfs", "mount_flags": ["noatime"]}, "parameters": {"type": "gp3", "iops": "3000"}, "existing": {"external_id": "vol-0123456789abcdef0", "availability_zone": "a"}}),
        ('{"id": "v", "plugin_id": "aws-ebs0", "external_id": "vol-0123456789abcdef0", "access_mode": "single-node-writer", "attachment_mode": "file-system"}', {"existing": {"external_id": "vol-0123456789abcdef0"}}),
    ],
)  # fmt: skip
def test_what_a_file_says_is_carried_over(adopted, text, expected):
    """Whatever the form of the file: blocks or maps, quoted keys, modes at the top, JSON."""
    modes = {"capabilities": [{"access_mode": "single-node-writer"}]} if "access_mode" in text else {}
    assert volume_of(adopted({"v": text})) == {"id": "v", "plugin_id": "aws-ebs0"} | modes | expected


def test_a_registration_without_an_external_id_has_that_of_the_volume(adopted):
    """As Nomad has it: a context is of a volume that is registered, and of a driver that takes any id."""
    context = {"server": "nas.example.net", "share": "/srv/v"}
    written = "context {\n" + "".join(f'  {key} = "{value}"\n' for key, value in context.items()) + "}\n"

    volume = volume_of(adopted({"v": f'id = "v"\nplugin_id = "nfs"\n{CAPABILITY}{written}'}))

    assert (volume["existing"], volume["context"]) == ({"external_id": "v"}, context)


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        (EXISTING, "missing", "existing.availability_zone of volume v: expected a zone: without one Nomad places jobs where the volume cannot be attached, got nothing; add the zone of the volume"),
        (EXISTING + 'capacity_min = "10GiB"\n', "left out", "capacity_min: the volume exists already"),
        (EXISTING + place("a", kind="preferred"), "left out", "preferred topologies, which have no effect on a registration"),
        (EXISTING + "size = 3\n", "left out", "'size', which Nomad drops"),
        (EXISTING + "mount_options {}\nmount_options {}\n", "left out", "2 mount_options blocks, of which Nomad reads one"),
        (EXISTING + "parameters = {\n  encrypted = true\n}\n", "changed", 'parameters.encrypted, of which Nomad makes the string "1"; write "true"'),
        (EXISTING + 'secrets = {\n  password = "x"\n}\n', "left out", "a secret in clear under secrets: password; rotate it, and pass it by `apply --secrets`, or as a Pulumi config secret, under secrets of this volume"),
        (EXISTING + 'context = {\n  api_key = "x"\n}\n', "left out", "a secret in clear under context: api_key; rotate it, and pass it by `apply --secrets`, or as a Pulumi config secret, under secrets of this volume"),
        (EXISTING + 'mount_options {\n  mount_flags = ["username=x", "password=hunter2"]\n}\n', "left out", "a secret in clear under mount_flags; encrypt it in the stack's config, under mount_options.mount_flags"),
        (EXISTING + 'parameters = {\n  "csi.storage.k8s.io/pw" = "x"\n}\n', "left out", "a secret in clear under parameters: csi.storage.k8s.io/pw; rotate it, and pass it by `apply --secrets`, or as a Pulumi config secret, under secrets of this volume"),
        ('id = "v"\nplugin_id = "p"\nexternal_id = "e"\n', "missing", "the plugin p: no file runs it, and the volume does not show which driver it is"),
    ],
)  # fmt: skip
def test_what_is_not_carried_over_is_said(adopted, said, text, kind, told):
    """Nothing is dropped in silence."""
    assert (kind, told) in said(adopted({"v": text}))


def test_secrets_go_nowhere(adopted):
    """Neither into the spec nor into a remark."""
    text = EXISTING + 'secrets {\n  password = "hunter2"\n}\ncontext {\n  token = "hunter2"\n}\n'

    adoption = adopted({"v": text})

    assert "hunter2" not in f"{adoption.document} {' '.join(map(str, adoption.remarks))}"


def test_the_plugin_of_a_volume_is_that_of_its_job(adopted):
    """With the job beside it, no second plugin gets into the spec."""
    job = (
        'job "j" {\n  group "g" {\n    task "t" {\n      driver = "docker"\n      config {\n'
        '        image = "a/aws-efs-csi-driver:v3.4.1"\n      }\n      csi_plugin {\n        id = "p"\n'
        '        type = "node"\n      }\n    }\n  }\n}\n'
    )
    text = 'id = "v"\nplugin_id = "p"\nexternal_id = "fs-0123456789abcdef0"\n'

    found = adopted({"v": text, "j": job}).document

    assert [plugin["id"] for plugin in found["plugins"]] == ["p"]
    assert found["plugins"][0]["driver"] == "aws-efs"


def test_settings_that_the_driver_needs_are_missing_without_its_job(adopted, said):
    """They are named once, as they are beside a job."""
    text = 'id = "v"\nplugin_id = "portworx"\nexternal_id = "1001"\ncapability {\n  access_mode = "single-node-writer"\n}\n'

    adoption = adopted({"v": text})

    assert [what for kind, what in said(adoption) if "cluster_id" in what] == [
        f"config.cluster_id of plugin portworx: expected {catalogue.DRIVERS['portworx'].settings['cluster_id'].text}, "
        "got nothing; add config.cluster_id"
    ]


def test_rejects_what_nomad_would_not_read(adopted):
    """The file and the place are named."""
    with pytest.raises(errors.SpecError) as refusal:
        adopted({"v.hcl": EXISTING + "mount_options {\n  flags = []\n}\n"})

    assert str(refusal.value) == "v.hcl: 1 problem\n  mount_options: expected only fs_type and mount_flags, got flags"
