"""What cannot work is refused, with its place, its value, what is allowed and the likely fix."""

import pytest

from nomad_csi import errors
from nomad_csi.plan import storage


def problems(document):
    try:
        storage.plan_document(document)
    except errors.SpecError as error:
        return [str(problem) for problem in error.problems]
    return []


def change(document, path, value):
    """Set the value at *path*, such as ``volumes.0.ebs.size_gib``."""
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = document
    for step in way:
        place = place.setdefault(step, {}) if isinstance(place, dict) else place[step]
    place[last] = value


def test_the_tutorial_has_no_problem(document):
    """The canonical spec is right."""
    assert problems(document) == []


def test_a_key_is_for_an_encrypted_volume(document):
    """EC2 refuses it, and nobody should believe that the volume is encrypted."""
    document["volumes"][0]["ebs"] |= {"encrypted": False, "kms_key_arn": "arn:aws:kms:us-east-1:123456789012:key/1"}

    assert problems(document) == [
        "volumes[0].ebs.kms_key_arn: expected no key for a volume that is not encrypted, got a key; remove encrypted: "
        "false, or the key"
    ]


@pytest.mark.parametrize("region", ["eusc-de-east-1", "eu-isoe-west-1"])
def test_zones_of_every_region_are_taken(document, region):
    """Of the plugin, of EBS and of the mount targets of EFS."""
    for plugin in document["plugins"]:
        plugin["aws_region"] = region
    document["plugins"][0]["availability_zone"] = f"{region}a"
    document["volumes"][0]["ebs"]["availability_zone"] = f"{region}a"
    for letter, target in zip("abc", document["volumes"][1]["efs"]["mount_targets"], strict=False):
        target["availability_zone"] = f"{region}{letter}"

    assert problems(document) == []


def test_a_small_volume_may_name_the_iops_of_its_type(document):
    """Of gp3, 3,000 come with any size."""
    document["volumes"][0]["ebs"] |= {"size_gib": 1, "iops": 3_000}

    assert problems(document) == []


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("volumes.0.ebs.size_gib", 0, "volumes[0].ebs.size_gib: expected 1 to 65536 for gp3, got 0"),
        ("volumes.0.ebs.size_gib", 65_537, "volumes[0].ebs.size_gib: expected 1 to 65536 for gp3, got 65537"),
        ("volumes.0.ebs.volume_type", "gp4", "volumes[0].ebs.volume_type: expected one of gp3, gp2, io2, io1, st1, sc1, standard, got 'gp4'"),
        ("volumes.0.ebs.volume_type", "io2", "volumes[0].ebs.iops: expected 100 to 256000 for io2, got nothing; add iops"),
        ("volumes.0.ebs.iops", 20_001, "volumes[0].ebs.iops: expected 3000 to 20000 for gp3 of 40 GiB (500 a GiB), got 20001; for 20001 use size_gib 41 or more"),
        ("volumes.0.ebs", {"availability_zone": "us-east-1a", "size_gib": 5, "iops": 6000}, "volumes[0].ebs.iops: expected 3000 for gp3 of 5 GiB (500 a GiB), got 6000; for 6000 use size_gib 12 or more"),
        ("volumes.0", {"id": "mysql", "plugin_id": "aws-ebs0", "create": {"capacity_min_gib": 1, "availability_zone": "us-east-1a"}}, "volumes[0].create: expected no volume that aws-ebs creates: the policy in iam of plugin aws-ebs0 does not allow it to, got one; add create_volumes: true to that iam, or write ebs"),
        ("volumes.0.ebs.throughput_mib_per_s", 751, "volumes[0].ebs.throughput_mib_per_s: expected 125 to 750 for gp3 with 3000 iops, got 751; 4 iops are needed for each MiB/s"),
        ("volumes.0.ebs.availability_zone", "us-east-1", "volumes[0].ebs.availability_zone: expected an Availability Zone such as us-east-1a, got 'us-east-1'"),
        ("volumes.0.ebs.availability_zone", "eu-west-1a", "volumes[0].ebs.availability_zone: expected a zone of us-east-1, the plugin's region, got 'eu-west-1a'"),
        ("volumes.0.topologies", [{"topology.ebs.csi.aws.com/zone": "us-east-1"}], "volumes[0].topologies[0].topology.ebs.csi.aws.com/zone: expected a zone, not a region: us-east-1a is one of us-east-1, got 'us-east-1'"),
        ("volumes.0.ebs.kms_key_arn", "alias/x", "volumes[0].ebs.kms_key_arn: expected the full ARN of a KMS key, not of an alias, got 'alias/x'"),
        ("volumes.0.plugin_id", "nope", "volumes[0].plugin_id: expected a plugin of this spec: aws-ebs0, aws-efs0, got 'nope'; add it under plugins; for a plugin of another stack, declare the volume with a component"),
        ("volumes.0.plugin_id", "aws-efs0", "volumes[0].ebs: expected efs or existing under a plugin of aws-efs, got ebs; check plugin_id 'aws-efs0'"),
        ("volumes.0.mount_options", {"fs_type": "btrfs"}, "volumes[0].mount_options.fs_type: expected one of ext3, ext4, xfs for aws-ebs, got 'btrfs'"),
        ("volumes.0.context", {"k": "v" * 4096}, "volumes[0].context: expected at most 4096 bytes of keys and values, got 4097 bytes"),
        ("volumes.1.context", {"path": "/a"}, "volumes[1].context.path: expected keys that aws-efs takes, got the key 'path'; put the path into the external id: fs-...:/path (drivers since v3.0.0 reject the key)"),
        ("volumes.1.context", {"colour": "red"}, "volumes[1].context.colour: expected one of crossaccount, encryptInTransit, mounttargetip, mounttargetipmap; aws-efs refuses others, got the key 'colour'"),
        ("volumes.1.efs.clients", {}, "volumes[1].efs.clients: expected cidr_blocks or security_group_ids, got neither; name the network or the security group of the Nomad clients"),
        ("volumes.1.efs.mount_targets.1.availability_zone", "us-east-1a", "volumes[1].efs.mount_targets: expected at most one mount target in each zone, got 2 in us-east-1a"),
        ("volumes.1.efs.access_point.path", "shared", "volumes[1].efs.access_point.path: expected a path from / of at most 100 characters, at most 4 folders, no . in front, none of $#<>;`|&?{}^*, got 'shared'"),
        ("plugins.0.extra_arguments", {"controller": ["--extra-tags=${NOMAD_DC}"]}, "plugins[0].extra_arguments.controller[0]: expected text without ${ or %{: Nomad would evaluate it, twice, got '--extra-tags=${NOMAD_DC}'; write the value itself"),
        ("plugins.0.extra_arguments", {"node": ["--endpoint=x"]}, "plugins[0].extra_arguments.node[0]: expected no --endpoint: it is set already, got '--endpoint=x'"),
        ("plugins.0.extra_arguments", {"node": ["--version"]}, "plugins[0].extra_arguments.node[0]: expected no --version: the driver prints its version and ends, so Nomad would restart it forever, got '--version'"),
        ("plugins.0.extra_arguments", {"node": ["--volume-attach-limit=9", "--reserved-volume-attachments=1"]}, "plugins[0].extra_arguments.node: expected one of --volume-attach-limit and --reserved-volume-attachments, got both"),
        ("plugins.1.extra_arguments", {"node": ["node"]}, "plugins[1].extra_arguments.node[0]: expected a flag such as --name=value; a bare value makes the driver ignore or misread what follows, got 'node'"),
        ("plugins.1.controller", {"count": 1}, "plugins[1].controller: expected no controller for aws-efs, which has only: node, got one; remove it"),
        ("plugins.1.iam", {"role_name": "r"}, "plugins[1].iam: expected no iam for aws-efs: mounting needs no permission, got one; remove it, or put it under efs.iam of a volume"),
        ("plugins.0.environment", {"CSI_ENDPOINT": "x"}, "plugins[0].environment.CSI_ENDPOINT: expected no CSI_ENDPOINT: Nomad sets it, got a value"),
        ("plugins.0.environment", {"A": "e\u0301"}, "plugins[0].environment.A: expected text in Unicode's NFC form, because job files are normalised to it, got [not shown]; normalise it"),
        ("plugins.0.task_driver", {"command": "x"}, "plugins[0].task_driver: expected no command and no arguments for docker: the image has its own, got command or arguments; use image and extra_arguments"),
        ("plugins.1.id", "aws-ebs0", "plugins[1].id: expected an id of its own: plugins[0] has it already, got 'aws-ebs0'"),
    ],
)  # fmt: skip
def test_rejects(document, path, value, line):
    """Each bad value has its own sentence."""
    change(document, path, value)

    assert line in problems(document)


KEY = "arn:aws:kms:us-east-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("volumes.0.ebs.size_gib", 65_536),
        ("volumes.0.ebs.iops", 20_000),
        ("volumes.0.ebs.throughput_mib_per_s", 750),
        ("volumes.0.ebs.kms_key_arn", KEY),
        ("volumes.0.mount_options", {"fs_type": "xfs"}),
        ("volumes.0.context", {"k": "v" * 4095}),
        ("volumes.1.context", {"encryptInTransit": "true"}),
        ("volumes.1.efs.clients", {"cidr_blocks": ["10.0.0.0/8"]}),
        ("volumes.1.efs.clients", {"security_group_ids": ["sg-0123456789abcdef0"]}),
        ("volumes.1.efs.kms_key_arn", KEY),
        ("volumes.1.efs.performance_mode", "maxIO"),
        ("volumes.1.efs.throughput_mode", "elastic"),
        ("plugins.0.extra_arguments", {"node": ["--volume-attach-limit=9"]}),
        ("plugins.0.extra_arguments", {"node": ["--reserved-volume-attachments=1"]}),
        ("plugins.0.environment", {"A": "\u00e9"}),
        ("volumes.0.topologies", [{"topology.ebs.csi.aws.com/zone": "us-east-1a"}]),
        ("volumes.0.mount_options", {"fs_type": "ext4", "mount_flags": ["noatime"]}),
        ("volumes.1.efs.access_point.path", "/a/b/c/d"),
        ("volumes.1.efs.mount_targets.1.availability_zone", "us-east-1b"),
        ("plugins.0.extra_arguments", {"node": ["--legacy-xfs=true"]}),
        ("plugins.0.controller", {"count": 3}),
        ("plugins.0.iam", {"role_name": "r"}),
    ],
)
def test_accepts(document, path, value):
    """The neighbours of what is refused: a rule that refuses too much is as wrong as one that refuses too little."""
    change(document, path, value)

    assert problems(document) == []


@pytest.mark.parametrize(
    ("index", "mode", "line"),
    [
        (
            0,
            {"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"},
            "volumes[0].capabilities[0]: expected one of multi-node-multi-writer block-device, single-node-writer "
            "block-device, single-node-writer file-system for aws-ebs, got multi-node-multi-writer file-system; use "
            "single-node-writer, and read_only = true in the volume block of jobs that only read",
        ),
        (
            1,
            {"access_mode": "multi-node-reader-only"},
            "volumes[1].capabilities[0]: expected one of multi-node-multi-writer file-system, single-node-writer "
            "file-system for aws-efs, got multi-node-reader-only file-system; use multi-node-multi-writer, and "
            "read_only = true in the volume block of jobs that only read",
        ),
    ],
)
def test_rejects_a_mode_that_registers_and_fails_when_it_is_claimed(document, index, mode, line):
    """Nomad accepts these modes at registration; the driver refuses them at attach or mount."""
    document["volumes"][index]["capabilities"] = [mode]

    assert problems(document) == [line]


@pytest.mark.parametrize(("count", "is_refused"), [(1, False), (2, True)])
def test_rejects_more_controllers_than_a_driver_can_have(count, is_refused):
    """Two of democratic-csi would work on one storage without a word to each other."""
    plugin = {"id": "nas", "driver": "democratic-csi", "config": {"driver": "zfs-generic-nfs"}}
    found = problems({"plugins": [plugin | {"controller": {"count": count}}], "volumes": []})

    assert any(line.startswith("plugins[0].controller.count: expected at most 1 for") for line in found) is is_refused


def test_rejects_raw_exec_without_command_and_data_directory(document):
    """No API tells the clients' data directory, and a process needs a command."""
    document["plugins"][0]["task_driver"] = {"name": "raw_exec"}

    assert problems(document) == [
        "plugins[0].task_driver.command: expected a command for raw_exec, got nothing; "
        "name the driver's binary on the clients",
        "plugins[0].task_driver.client_data_dir: expected the clients' data directory for raw_exec, got nothing; "
        "it is data_dir in the agent's configuration; no API reports it",
    ]


@pytest.mark.parametrize("volume_id", ["a/b", ".", "..", "", "a b", "a%2Fb", "x" * 121])
def test_rejects_volume_ids_that_nomad_cannot_serve(document, volume_id):
    """Nomad would accept some of these and never find them again."""
    document["volumes"][0]["id"] = volume_id

    [line] = problems(document)

    assert line.startswith("volumes[0].id: expected letters, digits, '.', '_' or '-', not '.' or '..'")


@pytest.mark.parametrize("volume_id", ["data[0]", "a.b_c-1", "..."])
def test_accepts_volume_ids_that_nomad_serves(document, volume_id):
    """Ids that were tried on an agent pass."""
    document["volumes"][0]["id"] = volume_id

    assert problems(document) == []


def existing(volume_id, external_id, plugin_id="aws-ebs0", **more):
    zone = {"availability_zone": "us-east-1a"} if plugin_id == "aws-ebs0" else {}
    return {"id": volume_id, "plugin_id": plugin_id, "existing": {"external_id": external_id} | zone | more}


@pytest.mark.parametrize("external_id", ["vol-xyz", "fs-0123456789abcdef0", "vol-0123456789abcdef0/x", ""])
def test_rejects_external_ids_that_are_not_of_the_driver(document, external_id):
    """The pattern of the driver's storage is checked before Nomad is asked."""
    document["volumes"].append(existing("legacy", external_id))

    line = (
        "volumes[2].existing.external_id: expected an EBS volume id such as vol-0123456789abcdef0, or "
        f"local-ebs://dev/xvdbz, got {external_id!r}"
    )
    assert problems(document) == [line]


@pytest.mark.parametrize("external_id", ["fs-01234567", "fs-01234567:/a", "fs-01234567::fsap-01234567"])
def test_accepts_the_forms_of_an_efs_id(document, external_id):
    """File system, path and access point may stand in the id."""
    document["volumes"].append(existing("legacy", external_id, "aws-efs0"))

    assert problems(document) == []


SINGLE = {"access_mode": "single-node-writer"}
MULTI = {"access_mode": "multi-node-multi-writer"}
POINT = "fsap-0123456789abcdef0"
MEANT = "set shares_storage: true on it, if both are meant to be the same data"
ALONE = "is single-node-writer, and by two ids two jobs would mount it as if they were alone"


@pytest.mark.parametrize(
    ("first", "second", "fix"),
    [
        ({}, {}, MEANT),
        ({"shares_storage": True}, {}, MEANT),
        ({}, {"shares_storage": True}, ""),
        ({"capabilities": [SINGLE]}, {"shares_storage": True}, f"volumes[2] {ALONE}"),
        ({}, {"capabilities": [MULTI, SINGLE]}, f"volumes[3] {ALONE}"),
    ],
)
@pytest.mark.parametrize("other_id", [f"fs-01234567::{POINT}", f"fs-01234567:/a:{POINT}"])
def test_two_ids_for_one_file_system_are_said_to_be_meant(document, first, second, fix, other_id):
    """Its access modes allow several nodes; by whatever spelling, an access point is one."""
    document["volumes"].append(existing("a", f"fs-01234567::{POINT}", "aws-efs0") | first)
    document["volumes"].append(existing("b", other_id, "aws-efs0") | second)

    place = "volumes[3].existing.external_id: expected an external id of its own: volumes[2] has it already"
    assert problems(document) == ([f"{place}, got {other_id!r}; {fix}"] if fix else [])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("fs-01234567", "fs-01234567:/"),
        ("fs-01234567:/up", "fs-01234567:/x/../up/"),
        ("fs-01234567:", "efs:fs-01234567"),
    ],
)
def test_rejects_one_folder_of_a_file_system_in_two_spellings(document, one, other):
    """The driver mounts the same data for both."""
    modes = {"capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}]}
    document["volumes"] += [existing("a", one, "aws-efs0") | modes, existing("b", other, "aws-efs0") | modes]

    assert [problem.partition(", got ")[0] for problem in problems(document)] == [
        "volumes[3].existing.external_id: expected an external id of its own: volumes[2] has it already"
    ]


@pytest.mark.parametrize(
    ("one", "other", "has"),
    [
        (("fs-01234567", SINGLE), ("fs-01234567:/a", MULTI), "has the storage that contains it"),
        (("fs-01234567:/a", MULTI), ("fs-01234567", SINGLE), "has a part of it"),
        (("fs-01234567", MULTI), ("fs-01234567:/a", SINGLE), ""),
    ],
)
def test_rejects_a_part_of_storage_that_one_client_has_for_itself(document, one, other, has):
    """A part of a file system that several nodes mount may have one client."""
    for name, (external_id, mode) in (("a", one), ("b", other)):
        document["volumes"].append(existing(name, external_id, "aws-efs0") | {"capabilities": [mode]})

    place = "volumes[3].existing.external_id: expected an external id of its own: volumes[2]"
    assert [problem.partition(" already, got")[0] for problem in problems(document)] == (
        [f"{place} {has}"] if has else []
    )


@pytest.mark.parametrize(("folder", "count"), [("/export", 1), ("/other", 0)])
def test_rejects_one_nfs_share_under_two_external_ids(document, folder, count):
    """The context decides what csi-driver-nfs mounts, whatever the id."""
    document["plugins"].append({"id": "nfs0", "driver": "csi-driver-nfs"})
    modes = {"capabilities": [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}]}
    for name, share in (("a", "/export"), ("b", folder)):
        volume = existing(name, f"{name}#any", "nfs0") | modes
        document["volumes"].append(volume | {"context": {"server": "nas", "share": share}})

    assert len(problems(document)) == count


def test_rejects_an_ebs_volume_under_two_ids(document):
    """Two ids for one EBS volume hide that two jobs use it."""
    ebs = "vol-0123456789abcdef0"
    document["volumes"] += [existing("a", ebs), existing("b", ebs)]

    assert problems(document) == [
        "volumes[3].existing.external_id: expected an external id of its own: volumes[2] has it already, "
        f"got '{ebs}'; volumes[3] {ALONE}"
    ]


@pytest.mark.parametrize(
    ("external_id", "plugin_id", "modes"),
    [("vol-0123456789abcdef0", "aws-ebs0", []), ("fs-01234567", "aws-efs0", [MULTI, SINGLE])],
)
def test_storage_for_one_node_is_not_shared(document, external_id, plugin_id, modes):
    """Such a mode promises it to one client."""
    volume = existing("a", external_id, plugin_id) | {"shares_storage": True, "capabilities": modes}
    document["volumes"].append(volume)

    given = ", ".join(mode["access_mode"] for mode in modes) or "single-node-writer"
    assert problems(document) == [
        f"volumes[2].shares_storage: expected it only with access modes for several nodes, got {given}"
    ]


def test_rejects_an_id_twice_in_a_namespace(document):
    """Ids are unique in a namespace, and may repeat in another."""
    other = document["volumes"][0] | {"namespace": "other"}
    document["volumes"] += [document["volumes"][0], other]

    assert problems(document) == [
        "volumes[2].id: expected an id of its own in namespace default: volumes[0] has it already, got 'mysql'"
    ]


def test_rejects_an_existing_ebs_volume_without_its_zone(document):
    """Without topology Nomad places jobs where the volume cannot be attached."""
    document["volumes"].append({"id": "a", "plugin_id": "aws-ebs0", "existing": {"external_id": "vol-01234567"}})

    assert problems(document) == [
        "volumes[2].existing.availability_zone: expected a zone: without one Nomad places jobs where the volume "
        "cannot be attached, got nothing; add the zone of the volume"
    ]


def test_all_problems_are_reported_at_once(document):
    """Values, rules of one thing and rules across things come in one error that names its source."""
    document["plugins"][0]["priority"] = 101
    document["volumes"][1]["efs"]["clients"] = {}
    document["volumes"].append(existing("a", "vol-01234567") | {"foo": 1})

    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(document, source="storage.yaml")

    assert [problem.path for problem in caught.value.problems] == [
        "plugins[0].priority",
        "volumes[1].efs.clients",
        "volumes[2].foo",
    ]
    assert str(caught.value).startswith(
        "storage.yaml: 3 problems\n  plugins[0] (aws-ebs0).priority: expected at most 100, got 101"
    )


def test_rules_are_applied_to_every_valid_item(document):
    """An invalid value of a plugin or volume hides its own rules only: its volumes are checked with its driver."""
    document["plugins"][0]["aws_region"] = "useast"
    document["volumes"][0]["ebs"] |= {"size_gib": 0}
    document["volumes"][1] |= {"context": {"path": "/a"}}
    document["volumes"].append(existing("a", "vol-01234567") | {"adopt": 3, "plugin_id": "nope"})

    assert [line.partition(":")[0] for line in problems(document)] == [
        "plugins[0].aws_region",
        "volumes[0].ebs.size_gib",
        "volumes[1].context.path",
        "volumes[2].adopt",
    ]


@pytest.mark.parametrize(
    ("plugin", "paths"),
    [
        ({"id": "p", "driver": "aws-ebs", "priority": 101}, ["volumes[0].ebs.size_gib", "volumes[1].plugin_id"]),
        ({"id": "p", "driver": "aws-abs", "priority": 101}, ["volumes[1].plugin_id"]),
        ({"id": "p", "driver": {"name": "own"}}, ["volumes[1].plugin_id"]),
        ({"id": "p", "driver": 3}, ["volumes[1].plugin_id"]),
        ({"id": "/", "driver": "aws-ebs"}, []),
        ({"driver": "aws-ebs"}, []),
        (3, []),
    ],
)
def test_volumes_of_a_plugin_with_an_invalid_value_are_checked(plugin, paths):
    """As far as its id and its driver are known: a volume of another id has an unknown plugin."""
    ebs = {"availability_zone": "us-east-1a", "size_gib": 0}
    volumes = [{"id": name, "plugin_id": plugin_id, "ebs": ebs} for name, plugin_id in (("a", "p"), ("b", "q"))]

    found = [line.partition(":")[0] for line in problems({"plugins": [plugin], "volumes": volumes})]

    assert [path for path in found if path.startswith("volumes")] == paths


def test_a_misspelt_key_is_one_problem(document):
    """The key that is meant is not missing, too."""
    document["plugins"][0]["drivr"] = document["plugins"][0].pop("driver")

    assert problems(document) == ["plugins[0].drivr: unknown key; did you mean driver?"]


@pytest.mark.parametrize(
    ("driver", "source"),
    [
        ("aws-ebs", {"existing": {"external_id": "vol-0123456789abcdef0", "availability_zone": "us-east-1"}}),
        ("aws-ebs", {"create": {"capacity_min_gib": 1, "availability_zone": "us-east-1"}}),
        ("gce-pd", {"create": {"capacity_min_gib": 1, "availability_zone": "us-central1"}}),
    ],
)
def test_a_region_is_no_zone(driver, source):
    """Clients report zones, so that a volume of a region fits none."""
    plugin = {"id": "p", "driver": driver} | ({"aws_region": "us-east-1"} if driver == "aws-ebs" else {})
    credentials = {} if driver == "aws-ebs" else {"credentials": {"nomad_variable": "nomad/jobs"}}
    document = {"plugins": [plugin | credentials], "volumes": [{"id": "v", "plugin_id": "p"} | source]}

    [line] = problems(document)

    name, [region] = (
        next(iter(source)),
        [zone for part in source.values() for key, zone in part.items() if "zone" in key],
    )
    assert line.startswith(f"volumes[0].{name}.availability_zone: expected a zone, not a region: {region}")


def test_problems_name_plugins_and_volumes_beside_their_indexes(document):
    """Those of a set by the set's id; one of another namespace with that; an id that is none is not shown."""
    document["plugins"][0]["priority"] = 101
    document["volumes"][0] |= {"count": 2, "adopt": 3}
    document["volumes"][1] |= {"namespace": "prod", "adopt": 3}
    document["volumes"].append(document["volumes"][0] | {"id": "a b"})

    with pytest.raises(errors.SpecError) as caught:
        storage.plan_document(document)

    assert [line.partition(":")[0] for line in caught.value.lines] == [
        "plugins[0] (aws-ebs0).priority",
        "volumes[0] (mysql).adopt",
        "volumes[1] (prod/shared).adopt",
        "volumes[2].id",
        "volumes[2].adopt",
        "volumes[2].id",
    ]


@pytest.mark.parametrize("root", ["/a/", "//a", "/.x", "/a/../b", "/a/b/c/d/e", "/a b|c", "a", ""])
def test_rejects_root_paths_that_efs_refuses(document, root):
    """The pattern is EFS's own."""
    document["volumes"][1]["efs"]["access_point"]["path"] = root

    [line] = problems(document)

    assert line.startswith("volumes[1].efs.access_point.path: expected a path from /")


@pytest.mark.parametrize("root", ["/", "/shared", "/a/b/c/d", "/a b"])
def test_accepts_root_paths_that_efs_accepts(document, root):
    """The root itself and up to four folders."""
    document["volumes"][1]["efs"]["access_point"]["path"] = root

    assert problems(document) == []


@pytest.mark.parametrize("block", ["::/0", "999.1.1.1/99", "10.0.0.5/8", "a/1"])
def test_rejects_networks_that_a_security_group_refuses(document, block):
    """A bad network would fail after the file system exists."""
    document["volumes"][1]["efs"]["clients"] = {"cidr_blocks": [block]}

    [line] = problems(document)

    assert "expected an IPv4 network with its prefix length, such as 10.0.0.0/16" in line


@pytest.mark.parametrize("key", ["aws:x", "nomad-csi:owner", "ebs.csi.aws.com/cluster", "kubernetes.io/x"])
def test_rejects_tags_that_others_own(document, key):
    """With another owner's mark, storage of an interrupted run would not be found again."""
    document["volumes"][0]["ebs"]["tags"] = {key: "x"}

    [line] = problems(document)

    assert line.startswith(f"volumes[0].ebs.tags.{key}: expected no tag that begins with aws:, ebs.csi.aws.com/")


def test_rejects_a_second_writer_of_a_volume_that_cannot_be_attached_twice(document):
    """The driver serves the mode, the volume that would be made does not."""
    mode = {"access_mode": "multi-node-multi-writer", "attachment_mode": "block-device"}
    document["volumes"][0]["capabilities"] = [mode]

    [line] = problems(document)

    assert "expected a volume made elsewhere for multi-node access" in line


def test_rejects_an_ebs_volume_under_two_plugins(document):
    """The same volume under two plugins is the same danger."""
    document["plugins"].append({"id": "aws-ebs1", "driver": "aws-ebs", "aws_region": "us-east-1"})
    document["volumes"] += [existing("a", "vol-01234567")]
    document["volumes"] += [existing("b", "vol-01234567", availability_zone="us-east-1a") | {"plugin_id": "aws-ebs1"}]

    [line] = problems(document)

    assert line.startswith("volumes[3].existing.external_id: expected an external id of its own: volumes[2] has it")


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("plugins.0.datacenters", ["${x}"], "plugins[0].datacenters[0]: expected text without ${ or %{"),
        ("plugins.0.datacenters", [""], "plugins[0].datacenters[0]: expected "),
        ("plugins.0.image", "", "plugins[0].image: expected "),
        (
            "plugins.0.verify",
            {"stable_s": 400},
            "plugins[0].verify.stable_s: expected less than timeout_s (300), got 400",
        ),
        ("plugins.0.verify", {"timeout_s": float("inf")}, "plugins[0].verify.timeout_s: expected "),
    ],
)
def test_rejects_what_would_fail_later(document, path, value, line):
    """Rendering and waiting would fail with less to go by."""
    change(document, path, value)

    assert any(found.startswith(line) for found in problems(document))


def test_rejects_a_policy_that_iam_would_not_take(document):
    """Each volume without the tag costs characters of the policy, which has a limit."""
    document["volumes"] += [existing(f"v{index}", f"vol-{index:017x}") for index in range(150)]

    [line] = problems(document)

    assert line.startswith("plugins[0].iam: expected a policy of at most 6144 characters, got ")
    assert "tag them ebs.csi.aws.com/cluster=true" in line
