"""``pulumi import`` of what runs already: ready code, no change afterwards, and nothing redacted taken for a value."""

import re
import time

import boto3
import pytest

from nomad_csi.hcl import documents
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import registration, storage

VOLUME, JOB = "nomad-csi:index:VolumeRegistration", "nomad-csi:index:PluginJob"
HEALTHY_S = 90
SECRET, FLAG = "canary-secret-77c1", "noatime"
UNTOLD = re.compile(r"warning|error|Traceback", re.IGNORECASE)


@pytest.fixture
def own(stack, world, tmp_path):
    """A program of one's own, empty as yet, that finds the plugin."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: own\nruntime: python\n")
    (folder / "__main__.py").write_text("")
    made = stack(folder, PATH=world.environment["PATH"])
    made.command("plugin", "install")
    return made


@pytest.fixture
def by_hand(world):
    """What runs without Pulumi: the jobs of a plugin, by id; all is removed in the end."""
    plugin = {"id": "imported", "driver": "aws-ebs", "aws_region": "us-east-1", "task_driver": world.task_driver}
    plan = storage.plan_document({"plugins": [plugin], "volumes": []})
    files = {job.job_id: documents.job_file(job) for job in plan.plugins[0].jobs}
    with world.nomad() as client:
        for hcl in files.values():
            jobs.register(client, jobs.parse(client, hcl), source=hcl, enforce_index=None)
        yield client, files
        for job_id in files:
            if jobs.get(client, "default", job_id) is not None:
                jobs.stop(client, "default", job_id, purge=True)


@pytest.fixture
def legacy_volume(by_hand, world):
    """Register volumes of that plugin by hand, once it is healthy: ``legacy_volume(volume_id, **more)``."""
    client, _ = by_hand
    ec2 = boto3.client("ec2", "us-east-1", endpoint_url=world.environment["AWS_ENDPOINT_URL"], **account())
    external_id = ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
    deadline = time.monotonic() + HEALTHY_S
    while not ready(plugins.get(client, "imported")):
        assert time.monotonic() < deadline, plugins.get(client, "imported")
        time.sleep(0.2)
    made = []

    def register(volume_id, **more):
        document = registration.VolumeRegistration(
            volume_id=volume_id,
            name=volume_id,
            external_id=external_id,
            plugin_id="imported",
            capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
            required_topologies=({"topology.ebs.csi.aws.com/zone": "us-east-1a"},),
            **more,
        )
        volumes.register(client, document)
        made.append(volume_id)
        return external_id

    yield register
    for volume_id in made:
        volumes.deregister(client, "default", volume_id)
    ec2.delete_volume(VolumeId=external_id)


def account():
    return {"aws_access_key_id": "sandbox", "aws_secret_access_key": "sandbox"}


def ready(plugin):
    instances = (*plugin.controllers, *plugin.nodes) if plugin else ()
    return len(instances) == 4 and all(instance.healthy for instance in instances)


def code_of(text):
    """Return the program that an import prints, as it is."""
    return text[text.index("import pulumi\n") :]


def test_import_of_a_registration(own, legacy_volume):
    """The code that is printed runs as it is, and changes nothing; nothing is said beyond that."""
    external_id = legacy_volume("mysql")

    text = own.run("import", VOLUME, "mysql", "default/mysql", "--yes")
    (own.folder / "__main__.py").write_text(code_of(text))
    printed = own.run("up", "--yes", "--skip-preview", "--expect-no-changes")

    assert inputs_of(own, VOLUME) == {
        "volumeId": "mysql",
        "namespace": "default",
        "name": "mysql",
        "externalId": external_id,
        "pluginId": "imported",
        "capabilities": [{"accessMode": "single-node-writer", "attachmentMode": "file-system"}],
        "requiredTopologies": [{"segments": {"topology.ebs.csi.aws.com/zone": "us-east-1a"}}],
    }
    assert not [line for line in (text + printed).splitlines() if UNTOLD.search(line)]


def test_import_never_takes_what_is_redacted_for_a_value(own, legacy_volume):
    """Mount flags are warned of, and the code does without; a program that has them updates them once."""
    options = registration.MountOptions(fs_type="ext4", mount_flags=(FLAG,))
    legacy_volume("flagged", mount_options=options, secrets={"key": SECRET})

    text = own.run("import", VOLUME, "flagged", "default/flagged", "--yes")

    assert "warning: Nomad does not show the mount flags of default/flagged, nor whether it has secrets" in text
    assert inputs_of(own, VOLUME)["mountOptions"] == {"fsType": "ext4"}
    assert "secrets" not in inputs_of(own, VOLUME)
    assert not [word for word in ("REDACTED", SECRET, FLAG) if word in text + own.run("stack", "export")]

    whole = code_of(text).replace('"fs_type": "ext4",', f'"fs_type": "ext4", "mount_flags": ["{FLAG}"],')
    (own.folder / "__main__.py").write_text(
        whole.replace("    opts =", f'    secrets={{"key": "{SECRET}"}},\n    opts =')
    )
    changed = own.run("up", "--yes", "--skip-preview")
    again = own.run("up", "--yes", "--skip-preview", "--expect-no-changes")

    assert "[diff: +secrets~mountOptions]" in changed
    assert SECRET not in changed + again + own.run("stack", "export")


def inputs_of(stack, token):
    [found] = [item["inputs"] for item in stack.resources().values() if item["type"] == token]
    return found
