"""A Terraform state: its volumes and plugin jobs become a spec, its secrets go nowhere, and leaving it is explained."""

import copy
import functools
import itertools
import json
import operator
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.migration import adopt, model, terraform
from tests import tables

CAPABILITY = [{"access_mode": "single-node-writer", "attachment_mode": "file-system"}]
ZONE = [{"required": [{"topology": [{"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1b"}}]}]}]
MYSQL = {
    "id": "mysql",
    "volume_id": "mysql",
    "namespace": "prod",
    "name": "mysql",
    "plugin_id": "aws-ebs0",
    "external_id": "vol-0123456789abcdef0",
    "capability": CAPABILITY,
    "mount_options": [{"fs_type": "ext4", "mount_flags": ["noatime"]}],
    "topology_request": [{"preferred": None} | ZONE[0]],
    "secrets": {"key": "hunter2"},
    "parameters": None,
    "context": {},
    "deregister_on_destroy": True,
    "schedulable": True,
}
JOB = """job "ebs-nodes" {
  type = "system"
  group "g" {
    task "t" {
      driver = "docker"
      config {
        image      = "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.64.0"
        args       = ["node", "--endpoint=unix:///csi/csi.sock"]
        privileged = true
      }
      csi_plugin {
        id   = "aws-ebs0"
        type = "node"
      }
    }
  }
}
"""


def managed(kind, name, attributes, **more):
    """Return a resource of a state with one instance."""
    instance = {"schema_version": 0, "attributes": attributes} | more.pop("instance", {})
    return {"mode": "managed", "type": kind, "name": name, "instances": [instance]} | more


def state(*resources, version=4):
    """Return the text of a state."""
    return json.dumps({"version": version, "terraform_version": "1.11.4", "serial": 7, "resources": list(resources)})


def read(*resources):
    """Return what comes of a state: the files, the adoption, the texts of the remarks."""
    remarks = model.Remarks()
    files = terraform.read(state(*resources), "terraform.tfstate", remarks)
    adoption = adopt.adopt(files, remarks=remarks)
    return files, adoption, [str(remark) for remark in adoption.remarks]


def test_what_terraform_read_back_redacted_is_no_value():
    """A mount flag that Nomad hid is missing, and so is what Terraform writes and never stores."""
    redacted = MYSQL | {"mount_options": [{"fs_type": "xfs", "mount_flags": ["[REDACTED]"]}], "secrets_wo_version": 2}

    _, adoption, said = read(managed("nomad_csi_volume_registration", "mysql", redacted))

    assert adoption.document["volumes"][0]["mount_options"] == {"fs_type": "xfs"}
    missing = [line for line in said if ": missing: " in line]
    assert missing == [
        "nomad_csi_volume_registration.mysql: missing: secrets of volume mysql: Terraform does not hold the value; "
        "fill it in",
        "nomad_csi_volume_registration.mysql: missing: mount_options.mount_flags of volume mysql: Terraform does not "
        "hold the value; fill it in",
    ]


def test_mount_flags_that_terraform_only_writes_are_missing():
    """Their version is in the state, and no option of the volume."""
    written = MYSQL | {"mount_options": [{"fs_type": "xfs", "mount_flags_wo_version": 1}]}

    _, adoption, said = read(managed("nomad_csi_volume_registration", "mysql", written))

    assert adoption.document["volumes"][0]["mount_options"] == {"fs_type": "xfs"}
    [missing] = [line.partition(": missing: ")[2] for line in said if ": missing: " in line]
    assert missing == "mount_options.mount_flags of volume mysql: Terraform does not hold the value; fill it in"


def test_an_imported_volume_without_its_fields_is_read_from_the_cluster():
    """Terraform's own import fills in few of them."""
    files, adoption, said = read(managed("nomad_csi_volume", "old", {"id": "old", "volume_id": "old"}))

    assert files == ()
    assert adoption.document == {}
    assert said == [
        "nomad_csi_volume.old: missing: plugin_id, capability of nomad_csi_volume.old: Terraform does not hold it; "
        "read it from the cluster, with --cluster"
    ]


def test_other_jobs_stay_with_terraform():
    """They are not read into the spec; one that cannot be computed here is no error."""
    web = 'job "web" {\n  group "g" {\n    count = max(1, 2)\n  }\n}\n'
    jobs = [managed("nomad_job", "web", {"jobspec": text}) for text in (web, web.replace("max(1, 2)", "2"))]

    files, _, said = read(*jobs, managed("aws_instance", "x", {}))

    assert files == ()
    assert said == []


def test_job_in_json_is_read():
    """Terraform keeps what was given, in either form."""
    task = {"Name": "t", "CSIPluginConfig": {"ID": "aws-ebs0", "Type": "node"}}
    job = json.dumps({"ID": "j", "TaskGroups": [{"Name": "g", "Tasks": [task]}]})

    [file] = read(managed("nomad_job", "ebs", {"jobspec": job}))[0]

    assert [plugin.id for _, _, plugin in file.jobs[0].plugins()] == ["aws-ebs0"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ('lower("SYSTEM")', 'the value of lower("SYSTEM") is not known'),
        ("}", "line 2, column 10: expected what HCL allows there, got '}'"),
    ],
)
def test_a_plugin_job_that_cannot_be_computed_is_missing(value, why):
    """Its functions are the server's to compute, so the server is asked."""
    text = JOB.replace('"system"', value)

    _, adoption, said = read(managed("nomad_job", "ebs", {"jobspec": text}))

    assert not adoption.is_complete
    reason = f"the job of nomad_job.ebs cannot be read: {why}; read it from the cluster, with --cluster"
    assert said[0] == f"nomad_job.ebs: missing: {reason}"


def test_data_sources_and_deposed_objects_are_not_read():
    """The one is not managed, the other is on its way out."""
    data = managed("nomad_csi_volume_registration", "a", MYSQL) | {"mode": "data"}
    deposed = managed("nomad_csi_volume_registration", "b", MYSQL, instance={"deposed": "1f2e3d4c"})

    assert read(data, deposed)[0] == ()


@pytest.mark.parametrize("text", [state(version=3), '{"terraform_version": "1.0", ', "[]"])
def test_rejects_what_is_no_state_of_a_known_version(text):
    """With the command that writes one."""
    with pytest.raises(errors.SpecError, match=r"a Terraform state of version 4.*`terraform state pull`"):
        terraform.read(text, "s", model.Remarks())


def test_a_state_is_told_from_other_files():
    """By the version of Terraform near its top."""
    assert terraform.is_state(f"\n{state()}")
    assert not terraform.is_state('{"Volumes": []}')
    assert not terraform.is_state('job "terraform_version" {}')


EBS_ID, FS_ID, POINT_ID = MYSQL["external_id"], "fs-0123456789abcdef0", "fsap-0123456789abcdef0"
KEY = "arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555"
DISK = {
    "id": EBS_ID,
    "arn": f"arn:aws:ec2:us-east-1:123456789012:volume/{EBS_ID}",
    "availability_zone": "us-east-1b",
    "size": 40,
    "type": "gp3",
    "iops": 3000,
    "throughput": 250,
    "encrypted": True,
    "kms_key_id": KEY,
    "tags": {"Name": "mysql"},
    "tags_all": {"Name": "mysql", "team": "shop"},
}
SHARED = {
    "volume_id": "shared",
    "namespace": "default",
    "name": "shared",
    "plugin_id": "aws-efs0",
    "external_id": f"{FS_ID}::{POINT_ID}",
    "capability": [{"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}],
}
FILE_SYSTEM = {"id": FS_ID, "encrypted": True, "kms_key_id": KEY, "throughput_mode": "elastic", "tags": {}}
FILE_SYSTEM |= {"performance_mode": "generalPurpose", "provisioned_throughput_in_mibps": 0, "lifecycle_policy": []}
TARGET = {
    "id": "fsmt-1",
    "file_system_id": FS_ID,
    "availability_zone_name": "eu-west-1a",
    "subnet_id": "subnet-0123456789abcdef0",
}
OWNER = {"owner_uid": 1000, "owner_gid": 1001, "permissions": "0750"}
POINT = {
    "id": POINT_ID,
    "posix_user": [{"uid": 1000, "gid": 1001, "secondary_gids": []}],
    "root_directory": [{"path": "/data", "creation_info": [OWNER]}],
}
ON_EBS = (
    managed("nomad_csi_volume_registration", "mysql", MYSQL),
    managed("aws_ebs_volume", "mysql", DISK),
)


def on_efs(**changes):
    """Return the resources of an EFS volume, with other attributes; of one that is ``None``, nothing."""
    whole = {
        "aws_efs_file_system": FILE_SYSTEM,
        "aws_efs_mount_target": TARGET,
        "aws_efs_access_point": POINT,
        "nomad_csi_volume_registration": SHARED,
    } | changes
    return [managed(kind, "shared", given) for kind, given in whole.items() if given]


def with_aws(text, *, takes_over=True):
    """Return the adoption of a state with what it holds of AWS, and the texts of its remarks."""
    remarks = model.Remarks()
    files, aws = terraform.read(text, "state.json", remarks), terraform.read_aws([(text, "state.json")])
    adoption = adopt.adopt(files, remarks=remarks, terraform_storage=aws, takes_over=takes_over)
    return adoption, [str(remark) for remark in adoption.remarks]


def test_state_with_everything_becomes_a_whole_spec():
    """Each attribute has its place, or a remark; a secret has none; of each address, what ``destroy`` would do."""
    whole = tables.load(Path(__file__).parent / "terraform.yaml")

    adoption, said = with_aws(json.dumps(whole["state"]))

    assert (adoption.document, said) == (whole["spec"], whole["said"])


@pytest.mark.parametrize(
    ("given", "declared"),
    [
        ({"type": "gp3", "iops": 3000, "throughput": 125}, {}),
        ({"type": "gp3", "iops": 4000, "throughput": 125}, {"iops": 4000}),
        ({"type": "gp2", "iops": 120}, {"volume_type": "gp2"}),
        ({"iops": 120}, {"volume_type": "gp2"}),
        ({"type": "io1", "iops": 3000}, {"volume_type": "io1", "iops": 3000}),
        ({"type": "st1", "throughput": 0}, {"volume_type": "st1"}),
        ({"type": "gp3", "iops": 3000, "throughput": 125, "encrypted": False}, {"encrypted": False}),
        ({"type": "gp3", "iops": 3000, "throughput": 125, "encrypted": None}, {"encrypted": False}),
        (
            {"type": "gp3", "iops": 3000, "throughput": 125, "tags": {"a": "b", "c": "", "aws:d": "e"}},
            {"tags": {"a": "b"}},
        ),
    ],
)
def test_attributes_of_an_ebs_volume(given, declared):
    """What is AWS's default is not declared, nor what AWS writes itself."""
    disk = {"id": EBS_ID, "availability_zone": "us-east-1b", "size": 40, "encrypted": True} | given
    adoption, _ = with_aws(state(ON_EBS[0], managed("aws_ebs_volume", "mysql", disk)))

    assert adoption.document["volumes"][0]["ebs"] == {"availability_zone": "us-east-1b", "size_gib": 40} | declared
    assert adoption.document["plugins"] == [{"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}]


def test_storage_that_is_not_taken_over_changes_nothing():
    """A zone that Nomad has wins; an object without an id is passed over; nothing is said of other storage."""
    other = managed("nomad_csi_volume_registration", "b", MYSQL | {"volume_id": "b"})
    without_id = managed("aws_ebs_volume", "new", {"availability_zone": "us-east-1c"})
    disk = managed("aws_ebs_volume", "mysql", DISK | {"availability_zone": "us-east-1f"})

    adoption, said = with_aws(state(ON_EBS[0], other, disk, without_id), takes_over=False)

    assert [volume["existing"]["availability_zone"] for volume in adoption.document["volumes"]] == ["us-east-1b"] * 2
    assert not [line for line in said if "aws_ebs_volume" in line]


def test_storage_stays_in_terraform_unless_it_is_to_be_taken_over():
    """Its zone, and the region of that, fill what Nomad does not have."""
    without_zone = MYSQL | {"topology_request": []}
    text = state(managed("nomad_csi_volume_registration", "mysql", without_zone), *ON_EBS[1:])

    adoption, _ = with_aws(text, takes_over=False)

    assert adoption.document["plugins"] == [{"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}]
    [volume] = adoption.document["volumes"]
    assert volume["existing"] == {"external_id": EBS_ID, "availability_zone": "us-east-1b"}
    assert adoption.is_complete


@pytest.mark.parametrize(
    ("changes", "declared", "parts"),
    [
        ({}, {"path": "/data", "uid": 1000, "gid": 1001, "permissions": "0750"}, True),
        (
            {"root_directory": [{"path": "/data", "creation_info": [OWNER | {"permissions": "0755"}]}]},
            {"path": "/data", "uid": 1000, "gid": 1001},
            True,
        ),
        (None, None, False),
    ],
)
def test_efs_file_system_of_the_state_is_declared_with_its_parts(changes, declared, parts):
    """Mount targets and access point; who may reach them, and the region, are for the operator to say."""
    whole = {} if parts else {"nomad_csi_volume_registration": SHARED | {"external_id": FS_ID}}
    adoption, said = with_aws(state(*on_efs(**whole, aws_efs_access_point=POINT | (changes or {}))))

    [volume] = adoption.document["volumes"]
    assert volume["efs"] == {
        "mount_targets": [{"availability_zone": "eu-west-1a", "subnet_id": "subnet-0123456789abcdef0"}],
        "throughput_mode": "elastic",
        "kms_key_arn": KEY,
    } | ({"access_point": declared} if declared else {})
    assert "existing" not in volume
    assert [line.partition("missing: ")[2].partition(":")[0] for line in said if "missing" in line] == [
        "aws_region of plugin aws-efs0",
        "efs.clients of volume shared",
    ]
    assert [line.rpartition("state rm ")[2] for line in said if "is declared in the spec" in line] == [
        "'aws_efs_file_system.shared'",
        "'aws_efs_mount_target.shared'",
        *(["'aws_efs_access_point.shared'"] if parts else []),
    ]


LACKS_PART = "the state has no mount target of it, or not the access point of the volume"
NOT_ONE_USER = "its access point has not one user who owns the folder"


@pytest.mark.parametrize(
    ("resources", "staying", "reason"),
    [
        (on_efs(aws_efs_mount_target=None), ["shared"], LACKS_PART),
        (on_efs(aws_efs_access_point=None), ["shared"], LACKS_PART),
        (on_efs(nomad_csi_volume_registration=SHARED | {"external_id": f"{FS_ID}:/a"}), ["shared"], LACKS_PART),
        (on_efs(aws_efs_access_point=POINT | {"posix_user": [], "root_directory": []}), ["shared"], NOT_ONE_USER),
        (
            on_efs(aws_efs_access_point=POINT | {"posix_user": [{"uid": 1000, "gid": 1001, "secondary_gids": [7]}]}),
            ["shared"],
            NOT_ONE_USER,
        ),
        (
            on_efs(aws_efs_access_point=POINT | {"posix_user": [{"uid": 1000, "gid": 1000}]}),
            ["shared"],
            NOT_ONE_USER,
        ),
        (
            on_efs(aws_efs_file_system=FILE_SYSTEM | {"provisioned_throughput_in_mibps": 9}),
            ["shared"],
            "a spec cannot express provisioned_throughput_in_mibps",
        ),
        (
            on_efs(aws_efs_file_system=FILE_SYSTEM | {"lifecycle_policy": [{}]}),
            ["shared"],
            "a spec cannot express lifecycle_policy",
        ),
        (
            (*ON_EBS, managed("nomad_csi_volume_registration", "b", MYSQL | {"volume_id": "b"})),
            ["mysql", "b"],
            "several volumes use it",
        ),
        (
            (ON_EBS[0], managed("aws_ebs_volume", "mysql", DISK | {"multi_attach_enabled": True})),
            ["mysql"],
            "a spec cannot express multi_attach_enabled",
        ),
        (
            (ON_EBS[0], managed("aws_ebs_volume", "mysql", DISK | {"outpost_arn": "arn:aws:outposts:x"})),
            ["mysql"],
            "a spec cannot express outpost_arn",
        ),
    ],
)
def test_storage_that_is_not_declared_stays_under_existing(resources, staying, reason):
    """With the reason."""
    adoption, said = with_aws(state(*resources))

    held = next(item for item in resources if item["type"].startswith("aws_"))
    address = f"{held['type']}.{held['name']}"
    assert [volume["id"] for volume in adoption.document["volumes"] if "existing" in volume] == staying
    assert [line for line in said if "stays" in line] == [f"{address}: note: {address} stays under existing: {reason}"]


WRONG_KINDS = ("canary-9", 5, ["canary-9"], {"canary-9": 1})


def places(value, path=()):
    """Yield the paths of all values, of a list those of its first item."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def with_value(values, path, new):
    """Return *values* with another one at *path*."""
    found = copy.deepcopy(values)
    parent = functools.reduce(operator.getitem, path[:-1], found)
    parent[path[-1]] = new
    return found


def test_value_of_another_kind_is_a_problem_with_its_place():
    """Or it is not looked at; nothing else comes of it, and no value is shown: a state has secrets."""
    text = state(managed("nomad_csi_volume_registration", "a", MYSQL), managed("aws_ebs_volume", "b", {"id": "vol-1"}))
    document = json.loads(text)
    refused = []
    for place, wrong in itertools.product(places(document), WRONG_KINDS):
        if not place[0].endswith("version"):
            try:
                with_aws(json.dumps(with_value(document, place, wrong)))
            except errors.SpecError as error:
                refused.append(error)

    assert not [str(error) for error in refused if "Terraform state" in str(error) and "canary-9" in str(error)]
    assert {problem.path for error in refused for problem in error.problems} >= {
        "resources", "resources.0.instances", "resources.0.instances.0.attributes", "resources.0.type"
    }  # fmt: skip


def test_plan_of_terraform_is_no_state():
    """It says what shall be, not what is."""
    plan = json.dumps({"format_version": "1.2", "terraform_version": "1.11.4", "planned_values": {}, "values": {}})

    with pytest.raises(errors.SpecError, match="a Terraform state of version 4"):
        terraform.read_aws([(plan, "plan.json")])
