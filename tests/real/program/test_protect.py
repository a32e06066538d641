"""On the real engine: a protected file system volume stays on its folder, in a preview and in an `up` without one."""

import boto3
import pytest
import yaml

from nomad_csi.nomad import volumes

PROGRAM = "from nomad_csi import storage_stack\n\nstorage_stack()\n"
ZONE = "us-east-1a"
PROTECTED = "as it is currently marked for protection"
REFUSED = "volume default/shared is protected, and would be re-pointed from"


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

    def point(**changed):
        efs = {"mount_targets": [{"availability_zone": ZONE}], "clients": {"cidr_blocks": ["172.31.0.0/16"]}}
        if changed.get("path", "") is not None:
            efs["access_point"] = {"path": "/shared", "uid": 1000, "gid": 1000} | changed
        volume = {"id": "shared", "plugin_id": "aws-efs0", "efs": efs}
        plugin = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1", "task_driver": driver}
        storage = {"plugins": [plugin], "volumes": [volume]}
        settings["config"] = {"nomad-csi:storage": storage, "aws:region": "us-east-1"}
        config.write_text(yaml.safe_dump(settings))

    made.point = point
    point()
    made.run("up", "--yes", "--skip-preview")
    return made


@pytest.fixture
def efs(world):
    """EFS of this world."""
    keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
    return boto3.client("efs", "us-east-1", endpoint_url=world.environment["AWS_ENDPOINT_URL"], **keys)


def test_protected_volume_stays_on_its_folder(shared, efs, world):
    """Another folder or none is refused with the place of the data; another user wants the access point unprotected."""

    def points():
        found = efs.describe_access_points()["AccessPoints"]
        return {each["AccessPointId"]: (each["RootDirectory"]["Path"], each["PosixUser"]["Uid"]) for each in found}

    [(point, _)] = before = points().items()
    [system] = [each["FileSystemId"] for each in efs.describe_file_systems()["FileSystems"]]
    [urn] = [urn for urn in shared.resources() if "accessPoint:AccessPoint" in urn]
    shared.run("up", "--yes", "--skip-preview", "--expect-no-changes")

    shared.point(path="/other")
    other = shared.run("preview", code=1)
    at_once = shared.run("up", "--yes", "--skip-preview", code=1)
    shared.point(path=None)
    root = shared.run("preview", code=1)
    root_at_once = shared.run("up", "--yes", "--skip-preview", code=1)

    stays = f"the data stays in {system}:/shared and is not copied"
    assert f"{REFUSED} {system}:/shared to {system}:/other: {stays}" in other
    assert PROTECTED in at_once
    assert f"{REFUSED} {system}:/shared to {system}:/: {stays}" in root
    assert f"{REFUSED} {system}:/shared to {system}:/: {stays}" in root_at_once
    assert points().items() == before
    with world.nomad() as client:
        assert volumes.get(client, "default", "shared").external_id == f"{system}::{point}"

    shared.point(uid=2000)
    user = shared.run("preview", code=1)
    assert PROTECTED in user
    assert f"for another access point of {system}:/shared, refused while claimed" in user
    shared.run("state", "unprotect", urn, "--yes")
    shared.run("up", "--yes", "--skip-preview")

    [(after, served)] = points().items()
    assert after != point
    assert served == ("/shared", 2000)
    assert [each["FileSystemId"] for each in efs.describe_file_systems()["FileSystems"]] == [system]
    with world.nomad() as client:
        assert volumes.get(client, "default", "shared").external_id == f"{system}::{after}"
