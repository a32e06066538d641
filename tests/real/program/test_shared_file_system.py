"""On the real engine: volumes that are access points of one file system come and go, and the file system stays."""

import boto3
import pytest
import yaml

from nomad_csi.nomad import volumes

PROGRAM = "from nomad_csi import storage_stack\n\nstorage_stack()\n"
SYSTEM = {"mount_targets": [{"availability_zone": "us-east-1a"}], "clients": {"cidr_blocks": ["172.31.0.0/16"]}}


def inside(volume_id, **efs):
    """Return a volume with a folder of its own."""
    point = {"path": f"/{volume_id}", "uid": 1000, "gid": 1000}
    return {"id": volume_id, "plugin_id": "aws-efs0", "efs": {"access_point": point} | efs}


@pytest.fixture
def storage(stack, world, tmp_path):
    """A stack: ``storage.write(file_systems, volumes)`` writes its spec, in which nothing is protected."""
    folder = tmp_path / "storage"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: nomad-csi\nruntime: python\n")
    (folder / "__main__.py").write_text(PROGRAM)
    made = stack(folder, PATH=world.environment["PATH"])
    made.command("plugin", "install")
    config = folder / "Pulumi.dev.yaml"
    driver = world.task_driver | {"arguments": ["--driver", "aws-efs"]}
    plugin = {"id": "aws-efs0", "driver": "aws-efs", "aws_region": "us-east-1", "task_driver": driver}
    settings = yaml.safe_load(config.read_text()) if config.exists() else {}

    def write(file_systems, *items):
        document = {"protect": False, "file_systems": file_systems, "plugins": [plugin], "volumes": list(items)}
        settings["config"] = {"nomad-csi:storage": document, "aws:region": "us-east-1"}
        config.write_text(yaml.safe_dump(settings))

    made.write = write
    return made


@pytest.fixture
def efs(world):
    """EFS of this world."""
    keys = {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}
    return boto3.client("efs", "us-east-1", endpoint_url=world.environment["AWS_ENDPOINT_URL"], **keys)


def test_volumes_come_and_go_in_one_file_system(storage, efs, world):
    """One is added and one removed, the file system is renamed, and it is not removed while a volume is in it."""

    def systems():
        return [each["FileSystemId"] for each in efs.describe_file_systems()["FileSystems"]]

    def points():
        found = efs.describe_access_points()["AccessPoints"]
        return {each["RootDirectory"]["Path"]: (each["FileSystemId"], each["AccessPointId"]) for each in found}

    def registered():
        with world.nomad() as client:
            found = (volumes.get(client, "default", each) for each in ("uploads", "sessions", "reports"))
            return {each.volume_id: each.external_id for each in found if each}

    storage.write({"web": SYSTEM}, inside("uploads", file_system="web"), inside("sessions", file_system="web"))
    storage.run("up", "--yes", "--skip-preview")
    [system] = systems()
    before = points()
    assert before.keys() == {"/uploads", "/sessions"}
    assert registered() == {path[1:]: f"{system}::{point}" for path, (_, point) in before.items()}
    assert len(efs.describe_mount_targets(FileSystemId=system)["MountTargets"]) == 1
    storage.run("up", "--yes", "--skip-preview", "--expect-no-changes")

    storage.write({"web": SYSTEM}, inside("uploads", file_system="web"))
    preview = storage.run("preview")
    storage.run("up", "--yes", "--skip-preview")
    deleted = sorted(line.split()[1] for line in preview.splitlines() if line.endswith(" sessions delete "))
    assert deleted == ["aws:efs:AccessPoint", "nomad-csi:index:EfsVolume", "nomad-csi:index:VolumeRegistration"], (
        preview
    )
    assert (systems(), points()) == ([system], {"/uploads": before["/uploads"]})
    assert registered().keys() == {"uploads"}

    renamed = {"common": SYSTEM | {"moved_from": "web"}}
    elsewhere = inside("reports", file_system_id=system)
    storage.write(renamed, inside("uploads", file_system="common"), elsewhere)
    storage.run("up", "--yes", "--skip-preview")
    assert systems() == [system]
    assert points()["/uploads"] == before["/uploads"]
    assert registered()["reports"] == f"{system}::{points()['/reports'][1]}"

    storage.write({}, elsewhere)
    refused = storage.run("preview", code=1)
    assert (
        f"volumes[0] (reports).efs.file_system_id: expected file system common in the spec: {system} was made"
        in refused
    )
    assert systems() == [system]
