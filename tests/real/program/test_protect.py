"""
On the real engine: a file system volume that exists, as it is protected, and as its mounts ask for a role.

Protected, it stays on its folder, in a preview and in an `up` without one.
"""

import json

import boto3
import botocore.exceptions
import pytest
import yaml

PROGRAM = "from nomad_csi import storage_stack\n\nstorage_stack()\n"
ZONE = "us-east-1a"
ROLE = "nomad-client"
"""The clients' role in the sandbox."""


@pytest.fixture
def shared(stack, world, tmp_path):
    """A stack with one EFS volume, protected as by default, and up: ``shared.point(path="/other")`` edits its spec."""
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: nomad-csi\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    made = stack(folder, PATH=world.environment["PATH"])
    made.command("plugin", "install")
    config = folder / "Pulumi.dev.yaml"
    driver = world.task_driver | {"arguments": ["--driver", "aws-efs"]}
    settings = yaml.safe_load(config.read_text()) if config.exists() else {}

    def point(*, iam=None, protect=True, **changed):
        efs = {"mount_targets": [{"availability_zone": ZONE}], "clients": {"cidr_blocks": ["172.31.0.0/16"]}}
        if changed.get("path", "") is not None:
            efs["access_point"] = {"path": "/shared", "uid": 1000, "gid": 1000} | changed
        volume = {"id": "shared", "plugin_id": "aws-efs0", "efs": efs, "protect": protect}
        if iam:
            efs["iam"] = iam
            volume["mount_options"] = {"mount_flags": ["iam"]}
        plugin = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1", "task_driver": driver}
        storage = {"plugins": [plugin], "volumes": [volume]}
        settings["config"] = {"nomad-csi:storage": storage, "aws:region": "us-east-1"}
        config.write_text(yaml.safe_dump(settings))

    made.point = point
    point()
    made.run("up", "--yes", "--skip-preview")
    return made


@pytest.fixture
def aws(world):
    """Return a client of this world's AWS: ``aws("efs")``."""
    keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
    return lambda name: boto3.client(name, "us-east-1", endpoint_url=world.environment["AWS_ENDPOINT_URL"], **keys)


@pytest.fixture
def efs(aws):
    """EFS of this world."""
    return aws("efs")


def test_role_is_let_in_and_everyone_else_kept_out_of_a_file_system_in_use(shared, efs, aws):
    """The preview shows both; storage stays as it is; without `iam` the permission and the policy go again."""
    before = {urn: item["id"] for urn, item in shared.resources().items() if "aws:efs" in urn}
    [system] = [each["FileSystemId"] for each in efs.describe_file_systems()["FileSystems"]]
    [point] = [each["AccessPointArn"] for each in efs.describe_access_points()["AccessPoints"]]

    def attached():
        found = aws("iam").list_attached_role_policies(RoleName=ROLE)["AttachedPolicies"]
        return [item["PolicyName"] for item in found if item["PolicyName"].startswith("shared-")]

    shared.point(iam={"role_name": ROLE, "required": True})
    preview = shared.run("preview")
    shared.run("up", "--yes", "--skip-preview")
    shared.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    [statement] = json.loads(efs.describe_file_system_policy(FileSystemId=system)["Policy"])["Statement"]
    given = attached()
    kept = {urn: item["id"] for urn, item in shared.resources().items() if urn in before}
    shared.point()
    shared.run("up", "--yes", "--skip-preview")

    made = ("aws:efs:FileSystemPolicy", "aws:iam:Policy", "aws:iam:RolePolicyAttachment")
    assert [line for line in made if f"+  {line} shared create" not in preview] == []
    assert "3 to create" in preview
    assert statement["Principal"] == {"AWS": "arn:aws:iam::123456789012:root"}
    assert statement["Condition"]["StringEquals"] == {"elasticfilesystem:AccessPointArn": point}
    assert len(given) == 1
    assert kept == before
    assert attached() == []
    with pytest.raises(botocore.exceptions.ClientError, match="PolicyNotFound"):
        efs.describe_file_system_policy(FileSystemId=system)
