"""What the state records of storage: volumes in the storage of another one, replacements, and sizes that shrink."""

from contextlib import nullcontext

import pytest

from nomad_csi.components import functions, program, recorded
from nomad_csi.plan import recorded_storage, storage
from nomad_csi.spec import model as spec

SYSTEM, DISK = "fs-0123456789abcdef0", "vol-0123456789abcdef0"
PLUGINS = [
    {"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"},
    {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1"},
]
SHARED = {
    "id": "shared",
    "plugin_id": "aws-efs0",
    "efs": {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["10.0.0.0/8"]}},
}
UPLOADS = {"id": "uploads", "plugin_id": "aws-efs0", "existing": {"external_id": f"{SYSTEM}:/uploads"}}
URN = "urn:pulumi:prod::shop::"
STATE = {
    f"{URN}nomad-csi:index:EfsVolume$aws:efs/fileSystem:FileSystem::shared": {
        "arn": f"arn:aws:elasticfilesystem:us-east-1:1:file-system/{SYSTEM}",
        "tags": {"nomad-csi:volume": "default/shared"},
    },
    f"{URN}aws:iam/policy:Policy::p": {"arn": "arn:aws:iam::1:policy/p"},
    f"{URN}nomad-csi:index:StackIdentity::nomad-csi": {"stackId": "x"},
}


def read(*volumes):
    """Return the planned volumes of a spec, by path."""
    plan = storage.plan_document({"plugins": PLUGINS, "volumes": list(volumes)})
    return {f"volumes[{index}]": volume for index, volume in enumerate(plan.volumes)}


@pytest.mark.parametrize(
    ("external_id", "container"),
    [
        (SYSTEM, SYSTEM),
        (f"{SYSTEM}:/a", SYSTEM),
        (f"{SYSTEM}::fsap-0123456789abcdef0", SYSTEM),
        (f"efs:{SYSTEM}:/a", SYSTEM),
        (DISK, DISK),
        (f"s3files:{SYSTEM}:/a", ""),
        ("nas#export", ""),
        ("", ""),
    ],
)
def test_container_is_what_goes_as_a_whole(external_id, container):
    """An EBS volume, or a file system of EFS with all that is in it."""
    assert recorded_storage.container(external_id) == container


def test_owner_is_not_removed_while_it_has_a_guest():
    """The engine would delete the file system, and the data of a volume that is still declared."""
    with pytest.raises(program.ProgramError) as refused:
        recorded.refuse_without_owner(STATE, read(UPLOADS), {})

    assert str(refused.value) == (
        "nomad-csi:storage: 1 problem\n"
        f"  volumes[0].existing.external_id: expected volume default/shared in the spec: {SYSTEM} was made for it, and goes "
        f"with it, got '{SYSTEM}:/uploads'; keep default/shared while default/uploads is in its storage, or move the data "
        "first"
    )


@pytest.mark.parametrize(
    "volumes",
    [
        [SHARED, UPLOADS],
        [SHARED | {"id": "common", "moved_from": "default/shared"}, UPLOADS],
        [UPLOADS | {"existing": {"external_id": "fs-0fedcba9876543210:/uploads"}}],
        [SHARED],
        [],
    ],
    ids=["both", "renamed", "elsewhere", "not dependent", "all removed"],
)
def test_what_takes_no_data_from_a_guest_is_accepted(volumes):
    """Its owner stays, by whatever id, or it is not dependent."""
    recorded.refuse_without_owner(STATE, read(*volumes), {})


def test_owner_is_not_removed_while_an_access_point_is_made_in_its_file_system():
    """``efs.file_system_id`` names what another volume made, which is no more made with the whole of it gone."""
    point = {"path": "/uploads", "uid": 1000, "gid": 1000}
    inside = UPLOADS | {"existing": None, "efs": {"file_system_id": SYSTEM, "access_point": point}}

    refused = r"volumes\[0\].efs.file_system_id: expected volume default/shared in the"
    for name in ("uploads", "shared"):
        with pytest.raises(program.ProgramError, match=refused):
            recorded.refuse_without_owner(STATE, read(inside | {"id": name}), {})

    recorded.refuse_without_owner(STATE, read(SHARED, inside), {})


@pytest.mark.parametrize(
    ("systems", "is_refused"), [({}, True), ({"data": {}}, False), ({"common": {"moved_from": "data"}}, False)]
)
def test_file_system_that_volumes_share_is_not_removed_while_a_guest_is_in_it(systems, is_refused):
    """By its name, and under a new one."""
    urn, arn = (
        f"{URN}aws:efs/fileSystem:FileSystem::data",
        f"arn:aws:elasticfilesystem:us-east-1:1:file-system/{SYSTEM}",
    )
    state = {urn: {"arn": arn, "tags": {"nomad-csi:file-system": "data"}}}
    wanted = {name: spec.FileSystemSpec(**item) for name, item in systems.items()}

    with pytest.raises(program.ProgramError, match="expected file system data in") if is_refused else nullcontext():
        recorded.refuse_without_owner(state, read(UPLOADS), wanted)


def test_owner_that_is_only_registered_by_now_is_removed():
    """What the program made, the engine deletes, also where the same id is registered by hand."""
    registered = {"id": "shared", "plugin_id": "aws-efs0", "existing": {"external_id": SYSTEM}}

    with pytest.raises(program.ProgramError, match=f"{SYSTEM} was made for it, and goes with it"):
        recorded.refuse_without_owner(STATE, read(registered), {})


def test_state_is_not_read_for_other_storage(monkeypatch):
    """It is a call to the backend."""
    monkeypatch.setattr(functions, "recorded", lambda: pytest.fail("the state was read"))

    recorded.refuse_removed_owners(read(SHARED), {})


def test_unrecorded_is_what_no_arn_ends_with():
    """Ids are compared with the last part of the ARNs in the state."""
    arns = ["arn:aws:ec2:us-east-1:1:volume/vol-1", "arn:aws:elasticfilesystem:us-east-1:1:file-system/fs-1"]

    assert recorded_storage.unrecorded(["vol-3", "vol-1", "fs-1", "vol-2", "vol-3"], arns) == ("vol-2", "vol-3")


VOLUME = {"arn": f"arn:aws:ec2:us-east-1:1:volume/{DISK}", "availabilityZone": "us-east-1a", "encrypted": True}
REPLACED = "is protected, and would be replaced by storage that is empty"


@pytest.mark.parametrize(
    ("changes", "is_protected", "problems"),
    [
        ({}, True, []),
        ({"size_gib": 41, "volume_type": "io2", "iops": 4_000}, True, []),
        (
            {"size_gib": 39},
            False,
            [
                f"volumes[0].ebs.size_gib: expected at least 40, the size of {DISK}: an EBS volume never shrinks, got 39; "
                "keep the size, or copy the data to a new volume under another id"
            ],
        ),
        ({"availability_zone": "us-east-1b", "size_gib": 1}, False, []),
        (
            {"availability_zone": "us-east-1b", "encrypted": False, "size_gib": 1},
            True,
            [
                f"volumes[0].ebs.availability_zone: expected 'us-east-1a': {DISK} {REPLACED}, got 'us-east-1b'; "
                "set protect: false, run `pulumi up`, and change it then",
                f"volumes[0].ebs.encrypted: expected True: {DISK} {REPLACED}, got False; "
                "set protect: false, run `pulumi up`, and change it then",
            ],
        ),
    ],
)
def test_change_of_an_ebs_volume(changes, is_protected, problems):
    """It grows, never shrinks, and is replaced only without `protect`."""
    source = spec.EbsSpec(**{"availability_zone": "us-east-1a", "size_gib": 40} | changes)

    found = recorded_storage.check_change(
        recorded_storage.EBS_VOLUME,
        source,
        VOLUME | {"size": 40.0, "kmsKeyId": "arn"},
        "volumes[0].ebs",
        is_protected=is_protected,
    )

    assert list(map(str, found)) == problems


def test_change_of_a_file_system():
    """What is fixed in it is named, also where the state has no id of it; of new storage nothing is compared."""
    changed = {"encrypted": False, "kms_key_arn": "b", "performance_mode": "maxIO"}
    before = {"encrypted": True, "kmsKeyId": "a", "performanceMode": "generalPurpose"}
    source = spec.EfsSpec.model_construct(**changed)

    for state in (before, {}):
        found = recorded_storage.check_change(recorded_storage.FILE_SYSTEM, source, state, "efs", is_protected=True)
        told = [(problem.path, problem.allowed) for problem in found]
        fates = (f"{value!r}: the storage {REPLACED}" for value in state.values())
        assert told == list(zip((f"efs.{name}" for name in changed), fates, strict=False))


def test_change_of_an_access_point():
    """Its folder stays with the data; the numbers of a state are shown as those of a spec."""
    point = {"arn": "arn:aws:elasticfilesystem:us-east-1:1:access-point/fsap-1", "posixUser": {"uid": 7.0, "gid": 8.0}}
    source = spec.EfsSpec(file_system_id=SYSTEM, access_point={"path": "/a", "uid": 7, "gid": 9})

    [problem] = recorded_storage.check_change(recorded_storage.ACCESS_POINT, source, point, "efs", is_protected=True)

    assert str(problem) == (
        "efs.access_point.gid: expected 8: fsap-1 is protected, and would be replaced, with its data left in the folder, "
        "got 9; set protect: false, run `pulumi up`, and change it then"
    )
