"""A file for ``pulumi import``: names, parents and providers as a preview wrote them, ids as Nomad has them."""

import pytest

from nomad_csi import nomad
from nomad_csi.frame import resource
from nomad_csi.migration import aws_storage
from nomad_csi.pulumi_state import stack_import

STACK = "urn:pulumi:dev::shop::"
COMPONENT = "nomad-csi:index:{}"
EXISTING, EBS, EFS, PLUGIN = COMPONENTS = tuple(
    COMPONENT.format(name) for name in ("ExistingVolume", "EbsVolume", "EfsVolume", "CsiPlugin")
)
VOLUME, JOB, HEALTH = stack_import.REGISTERED, stack_import.JOB, COMPONENT.format("PluginHealth")


def entry(kind, name, parent="", **more):
    """Return a resource of the import file of a preview."""
    custom = {} if kind in COMPONENTS else {"id": stack_import.PLACEHOLDER, "provider": "nomad"}
    component = {} if custom else {"component": True}
    return {"type": kind, "name": name} | custom | component | ({"parent": parent} if parent else {}) | more


PROVIDER = {"type": "pulumi:providers:nomad-csi", "name": "nomad", "inputs": {"token": "[encrypted]"}}
DRAFT = {
    "nameTable": {name: f"{STACK}my:own:Component::{name}" for name in ("outer", "unused", "given")},
    "resources": [
        PROVIDER,
        entry(PLUGIN, "fleet"),
        entry(PLUGIN, "legacy", "fleet"),
        entry(JOB, "legacy-node", "legacy"),
        entry(HEALTH, "legacyPluginHealth", "legacy", logicalName="legacy"),
        entry(EXISTING, "mysql", "outer"),
        entry(VOLUME, "mysqlVolumeRegistration", "mysql", logicalName="mysql", provider="given"),
        entry(stack_import.EBS_VOLUME, "of no volume"),
        entry(stack_import.CREATED, "made"),
        entry(EXISTING, "new"),
        entry(VOLUME, "newVolumeRegistration", "new", logicalName="new"),
    ],
}


def step(qualified_type, name, **inputs):
    """Return a step of a preview."""
    return {"op": "create", "urn": f"{STACK}{qualified_type}::{name}", "newState": {"inputs": inputs}}


STEPS = [
    step(f"{PLUGIN}${PLUGIN}${JOB}", "legacy-node", jobId="plugin-legacy-nodes", namespace="default"),
    step(f"my:own:Component${EXISTING}${VOLUME}", "mysql", volumeId="mysql-1", namespace="prod"),
    step(f"{EXISTING}${VOLUME}", "new", volumeId="new", namespace="default"),
    step(stack_import.CREATED, "made", volumeId="made", namespace="prod"),
]
HAS = {"plugin-legacy-nodes": "", "mysql-1": "vol-0a", "made": "hp-1"}


def look(_, inputs):
    """Answer as a Nomad that has what `HAS` says."""
    name = inputs.get("jobId") or inputs.get("volumeId")
    if name not in HAS:
        return stack_import.ImportableObject(reason="not there")
    return stack_import.ImportableObject(id=f"{inputs['namespace']}/{name}", external_id=HAS[name])


def test_what_nomad_has_is_imported_under_the_names_of_the_program():
    """Ids come from the inputs of the preview; components and providers of what is imported come along."""
    found = stack_import.fill(DRAFT, STEPS, look).document

    assert found == {
        "nameTable": {name: f"{STACK}my:own:Component::{name}" for name in ("outer", "given")},
        "resources": [
            PROVIDER,
            entry(PLUGIN, "fleet"),
            entry(PLUGIN, "legacy", "fleet"),
            entry(JOB, "legacy-node", "legacy") | {"id": "default/plugin-legacy-nodes"},
            entry(EXISTING, "mysql", "outer"),
            entry(VOLUME, "mysqlVolumeRegistration", "mysql", logicalName="mysql", provider="given", id="prod/mysql-1"),
            entry(stack_import.CREATED, "made") | {"id": "prod/made"},
        ],
    }


def test_what_is_left_out_is_told_with_its_reason():
    """By the name in the program; what only the program knows, such as the gate, is no question."""
    lines = stack_import.fill(DRAFT, STEPS, look).lines

    assert [(line.name, line.id, line.reason) for line in lines] == [
        ("legacy-node", "default/plugin-legacy-nodes", ""),
        ("mysql", "prod/mysql-1", ""),
        ("made", "prod/made", ""),
        ("new", "", "not there"),
    ]
    assert stack_import.fill({"resources": None}, (), look).document == {"nameTable": {}, "resources": []}


def ebs_draft(component, *storage):
    """Return the draft of a volume whose storage the program declares."""
    return {"resources": [PROVIDER, entry(component, "v"), *storage, entry(VOLUME, "vReg", "v", logicalName="v")]}


def ebs_steps(component):
    """Return its steps."""
    return [step(f"{component}${VOLUME}", "v", volumeId="mysql-1", namespace="prod")]


def test_an_ebs_volume_comes_with_its_registration():
    """Its id is the external id that Nomad has: or the registration would be replaced for new storage."""
    draft = ebs_draft(EBS, entry(stack_import.EBS_VOLUME, "vVolume", "v", logicalName="v", provider=""))

    found = stack_import.fill(draft, ebs_steps(EBS), look).document["resources"]

    assert {each["name"]: each.get("id") for each in found} == {
        "nomad": None,
        "v": None,
        "vVolume": "vol-0a",
        "vReg": "prod/mysql-1",
    }
    device = stack_import.ImportableObject(id="prod/mysql-1", external_id="local-ebs://dev/xvdbz")
    assert stack_import.fill(draft, ebs_steps(EBS), lambda *_: device).imported == ()


@pytest.mark.parametrize("component", [EFS, EBS])
def test_a_registration_whose_storage_is_not_imported_is_left_out(component):
    """A file system has more parts than Nomad tells of."""
    found = stack_import.fill(ebs_draft(component), ebs_steps(component), look)

    [line] = found.lines
    assert (line.id, found.imported, found.document["resources"]) == ("", (), [])
    more = ", or give the Terraform state that has its mount targets" if component == EFS else ""
    reason = "its storage is not imported with it; declare it as existing, with its external id"
    assert line.reason == f"{reason}{more}"
    assert [each.reason for each in stack_import.fill(ebs_draft(component), (), look).lines] == ["not there"]


@pytest.fixture
def client(scripted):
    """A client of a Nomad whose replies the test writes."""
    with nomad.Nomad(nomad.Connection(address=scripted.address)) as found:
        yield found


@pytest.mark.parametrize(
    ("submitted", "told"),
    [
        ({"Source": "job {}", "Format": "hcl2"}, stack_import.ImportableObject(id="default/j")),
        (
            {"Source": "{}", "Format": "json"},
            stack_import.ImportableObject(
                reason="Nomad does not hold its source; `pulumi up` takes it over if it is equal"
            ),
        ),
    ],
)
def test_a_job_is_importable_by_its_source(client, scripted, submitted, told):
    """Pulumi reads the HCL that was submitted, and there is no other."""
    scripted.reply("GET", "/v1/job/j", 200, {"ID": "j", "Namespace": "default", "Version": 3})
    scripted.reply("GET", "/v1/job/j/submission", 200, submitted)

    assert stack_import.read_objects(client, JOB, {"jobId": "j", "namespace": "default"}) == told


@pytest.mark.parametrize(
    ("kind", "path", "reply", "reason"),
    [
        (JOB, "/v1/job/x", (200, {"ID": "x", "Stop": True}), "Nomad does not run it; `pulumi up` does"),
        (JOB, "/v1/job/x", (404, "job not found"), "Nomad does not run it; `pulumi up` does"),
        (VOLUME, "/v1/volume/csi/x", (404, "volume not found"), "Nomad does not have it; `pulumi up` registers it"),
    ],
)
def test_what_nomad_does_not_have_is_told(client, scripted, kind, path, reply, reason):
    """A stopped job would run again, which is a change."""
    scripted.reply("GET", path, *reply)

    found = stack_import.read_objects(client, kind, {"jobId": "x", "volumeId": "x"})

    assert found == stack_import.ImportableObject(reason=reason)


def test_a_volume_tells_its_external_id(client, scripted):
    """By that its storage is found."""
    scripted.reply("GET", "/v1/volume/csi/v", 200, {"ID": "v", "Namespace": "prod", "ExternalID": "vol-0a"})

    found = stack_import.read_objects(client, VOLUME, {"volumeId": "v", "namespace": "prod"})

    assert found == stack_import.ImportableObject(id="prod/v", external_id="vol-0a")


@pytest.mark.parametrize("volume_id", [None, "", resource.UNKNOWN, {"secret": "v"}])
def test_what_has_no_name_yet_is_not_asked_for(client, scripted, volume_id):
    """Its id follows from another resource."""
    found = stack_import.read_objects(client, VOLUME, {"volumeId": volume_id, "namespace": "prod"})

    told = stack_import.ImportableObject(reason="its id follows from something that is not made yet")
    assert (found, scripted.requests) == (told, [])


FS_ID, POINT_ID = "fs-0123456789abcdef0", "fsap-0123456789abcdef0"


def efs_draft():
    """Return the draft of an EFS volume with two mount targets and a security group."""
    children = [
        entry(stack_import.FILE_SYSTEM, "vFileSystem", "v", logicalName="v"),
        *(
            entry(stack_import.MOUNT_TARGET, f"v-us-east-1{zone}", "v")  # its name is the logical one
            for zone in "ab"
        ),
        entry(stack_import.ACCESS_POINT, "vAccessPoint", "v", logicalName="v"),
        entry("aws:ec2/securityGroup:SecurityGroup", "vGroup", "v", logicalName="v"),
    ]
    return ebs_draft(EFS, *children)


def efs_look(_, inputs):
    """Answer as a Nomad that has the volume, with an access point."""
    return stack_import.ImportableObject(id=f"prod/{inputs['volumeId']}", external_id=f"{FS_ID}::{POINT_ID}")


def target(zone, file_system_id=FS_ID):
    """Return a mount target as Terraform holds it."""
    named = f"{zone}" if file_system_id == FS_ID else f"{zone}-of-another"
    values = {"id": f"fsmt-{named}", "file_system_id": file_system_id, "availability_zone_name": f"us-east-1{zone}"}
    address = f"aws_efs_mount_target.{named}"
    return aws_storage.TerraformObject(address=address, type=aws_storage.TARGET, attributes=values)


def test_an_efs_file_system_comes_with_its_parts_where_terraform_knows_them():
    """Nomad has file system and access point, the state the mount targets; the security group is made anew."""
    storage = aws_storage.collect([target("a"), target("b"), target("b", "fs-0aaaaaaaaaaaaaaaa")])

    found = stack_import.fill(efs_draft(), ebs_steps(EFS), efs_look, storage)

    assert {each["name"]: each["id"] for each in found.document["resources"] if each.get("id")} == {
        "vFileSystem": FS_ID,
        "v-us-east-1a": "fsmt-a",
        "v-us-east-1b": "fsmt-b",
        "vAccessPoint": POINT_ID,
        "vReg": "prod/mysql-1",
    }


def test_an_efs_file_system_with_an_unknown_part_is_left_out_whole():
    """A mount target that is made anew would be refused: the zone has one."""
    found = stack_import.fill(efs_draft(), ebs_steps(EFS), efs_look, aws_storage.collect([target("a")]))

    assert found.imported == ()
    assert [line.name for line in found.lines] == ["v"]


def test_an_access_point_of_a_shared_file_system_is_left_out():
    """Or it would be replaced: the program makes its file system anew."""
    point = entry(stack_import.ACCESS_POINT, "vAccessPoint", "v", logicalName="v")

    found = stack_import.fill(ebs_draft(EFS, point), ebs_steps(EFS), efs_look, aws_storage.collect([target("a")]))

    assert (found.imported, [line.name for line in found.lines]) == ((), ["v"])
