"""
The real EFS driver under a real agent, its node job run by us as a process, with the emulated instance metadata service.

Verified here is what the catalogue says of it. Not verified: EFS itself, an instance role's permissions, its image under
Docker, a mount.
"""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.csi import channel, endpoint, services
from nomad_csi.csi.v1 import csi_pb2
from nomad_csi.drivers import catalogue
from nomad_csi.plan import storage
from nomad_csi.spec import names
from nomad_csi_sandbox.imds import documents, server
from tests import csi_calls
from tests.real.drivers import conftest

COMMAND = shutil.which("aws-efs-csi-driver")
INSTANCE_ID = "i-0123456789abcdef0"
REGION, ZONE = "us-east-1", "us-east-1a"
WRITER = {"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}
PLACES = tuple(Path(name) for name in ("/etc/amazon", "/var/amazon", "/var/run/efs", "/var/log/amazon"))
"""Folders of the driver and of efs-utils, which no flag moves."""

LOGS = Path("/var/log/amazon/efs")
"""The package of efs-utils makes it; its programs fail without it."""

MISSING = (
    ""
    if shutil.which("nomad") and COMMAND and os.geteuid() == 0
    else "needs `nomad` and `aws-efs-csi-driver` on PATH, and root to start a Nomad client"
)
"""Why the driver cannot be run here; empty where it can."""

DRIVER = catalogue.DRIVERS["aws-efs"]
FS = "fs-0123456789abcdef0"
AP = "fsap-0123456789abcdef0"
CALL_S = 30

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]


@contextmanager
def prepared(folder):
    """Yield the plugin of a spec, on a machine that had nothing of EFS before and has nothing after."""
    if found := [str(place) for place in PLACES if place.exists()]:
        pytest.skip(f"needs a machine without {' and '.join(found)}: tools of EFS are in use on it")
    static = folder / "static"
    static.mkdir()
    (static / "efs-utils.crt").touch()
    LOGS.mkdir(parents=True)
    instance = documents.Instance(instance_id=INSTANCE_ID, availability_zone=ZONE)
    try:
        with server.Server(instance) as metadata:
            yield {
                "id": "efs0",
                "driver": "aws-efs",
                "aws_region": REGION,
                "environment": {"AWS_EC2_METADATA_SERVICE_ENDPOINT": metadata.url},
                "extra_arguments": {"node": [f"--efs-utils-static-files-path={static}"]},
            }
    finally:
        for place in PLACES:
            shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="module")
def command():
    """The driver."""
    return COMMAND


@pytest.fixture(scope="module")
def document(folder):
    """One plugin, on a client that has nothing of EFS but the driver."""
    with prepared(folder) as plugin:
        yield {"plugins": [plugin]}


def existing(volume_id, external_id=FS, **more):
    return {"id": volume_id, "plugin_id": "efs0", "existing": {"external_id": external_id}, **more}


@pytest.fixture
def connection(stack):
    """A channel to the driver's socket."""
    [node] = stack.plugin("efs0").nodes
    path = f"{stack.agent.folder}/client/csi/plugins/{node.alloc_id}/csi.sock"
    with channel.connect(endpoint.parse(path)) as opened:
        yield opened


@pytest.fixture
def publish(connection, tmp_path):
    """Have a volume mounted at a folder: the code and the words of the refusal. There is nothing here to mount it with."""

    def make(external_id=FS, use=WRITER, **more):
        asked = {"volume_id": external_id, "target_path": str(tmp_path / "mount")} | more
        with pytest.raises(errors.CsiError) as caught:
            csi_calls.call(connection, "NodePublishVolume", services.volume_capability(**use), **asked)
        return caught.value.code, str(caught.value)

    return make


def test_node_job_verifies_itself_over_its_socket(stack):
    """A plugin without a controller; name, version and topology key are those of the catalogue."""
    health = stack.health["efs0"]

    found = stack.plugin("efs0")

    assert (health["verifiedBy"], health["status"]) == ("csi", "healthy")
    assert (health["healthyControllers"], health["healthyNodes"], health["expectedNodes"]) == (0, 1, 1)
    assert (found.provider, found.version) == (DRIVER.provider, DRIVER.version)
    assert found.nodes[0].segments == dict.fromkeys(DRIVER.topology_keys, ZONE)


def test_node_is_the_instance_and_has_nothing_to_stage(connection):
    """Its id is that of the metadata service; no capability is reported, and staging is not implemented."""
    info = csi_calls.call(connection, "NodeGetInfo")
    reply = channel.call(connection, csi_pb2.NodeGetCapabilitiesRequest(), timeout_s=CALL_S)
    use = services.volume_capability(**WRITER)
    with pytest.raises(errors.CsiError) as caught:
        csi_calls.call(connection, "NodeStageVolume", use, volume_id=FS, staging_target_path="/never")

    assert (info.node_id, info.max_volumes_per_node) == (INSTANCE_ID, 0)
    assert list(reply.capabilities) == []
    assert caught.value.code == "UNIMPLEMENTED"


def test_volume_is_registered_without_a_look_at_efs(stack, register):
    """No controller is asked; it is found as planned."""
    wanted = existing("shared", capabilities=[WRITER], mount_options={"mount_flags": ["noresvport"]})

    register(wanted)

    report = stack.verify(wanted)
    assert report.ok, report.as_table()


@pytest.mark.parametrize("attachment", names.ATTACHMENT_MODES)
@pytest.mark.parametrize("mode", names.ACCESS_MODES)
def test_modes_of_the_catalogue_are_those_of_the_driver(publish, mode, attachment):
    """The driver refuses the others when it mounts, and only then."""
    use = {"access_mode": mode, "attachment_mode": attachment}
    allowed = {(each.access_mode, each.attachment_mode) for each in DRIVER.capabilities}

    code, _ = publish(use=use)

    assert code == ("INTERNAL" if (mode, attachment) in allowed else "INVALID_ARGUMENT")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("encryptInTransit", "false"),
        ("ENCRYPTINTRANSIT", "T"),
        ("crossaccount", "true"),
        ("mounttargetip", "127.0.0.1"),
        ("mounttargetipmap", '{"us-east-1a": "127.0.0.1"}'),
        ("encryptInTransit", "yes"),
        ("crossaccount", "maybe"),
        ("path", "/export"),
        ("server", "127.0.0.1"),
    ],
)
def test_context_of_the_catalogue_is_that_of_the_driver(publish, key, value):
    """What our rules let through, the driver takes; what they refuse, it refuses."""
    code, _ = publish(volume_context={key: value})

    assert (code == "INTERNAL") == is_planned(context={key: value})


def is_planned(external_id=FS, **more):
    """Return whether our rules let the volume through."""
    volume = existing("asked", external_id, capabilities=[WRITER], **more)
    plugin = {"id": "efs0", "driver": "aws-efs", "aws_region": REGION}
    try:
        storage.plan_document({"plugins": [plugin], "volumes": [volume]})
    except errors.SpecError:
        return False
    return True


@pytest.mark.parametrize(
    "external_id",
    [
        FS,
        f"{FS}:",
        f"{FS}:/path",
        f"{FS}:path/of/it",
        f"{FS}::{AP}",
        f"{FS}:/path:{AP}",
        f"{FS}::",
        f"efs:{FS}",
        f"efs:{FS}:/path:{AP}",
        f"s3files:{FS}",
        f"s3files:{FS}:/path",
        "fs-0123",
        "fs-0123456789ABCDEF0",
        f"{FS}:/path:{AP}:more",
        f"{FS}:/path:fsap-X",
        f"nfs:{FS}",
        "efs",
        AP,
    ],
)
def test_external_ids_of_the_catalogue_are_those_of_the_driver(publish, external_id):
    """What the pattern takes, the driver can read, and nothing else."""
    code, _ = publish(external_id)

    assert (code == "INTERNAL") == DRIVER.external_id.fits(external_id)


def test_volume_that_cannot_be_mounted_fails_its_job(register, run_with):
    """The node's words reach the operator through the events of the allocation."""
    other = FS.replace("0", "f", 1)
    register(existing("far", other, capabilities=[WRITER], context={"mounttargetip": "127.0.0.1"}))

    found = run_with("far", "true", access_mode=WRITER["access_mode"])

    [failure] = [event for event in found.task_events if event.type == "Setup Failure"]
    assert found.client_status == "failed"
    assert f'Could not mount "{other}:/"' in failure.message


def test_driver_ends_where_there_is_no_metadata_service(document, free_ports, end_alone):
    """What it says is the sign of a known issue of the catalogue; AWS_REGION does not help."""
    [port] = free_ports(1)
    [job] = storage.plan_document(document).plugins[0].jobs
    environment = {**job.environment, "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://127.0.0.1:{port}"}

    done = end_alone(job, environment, timeout_s=120)

    assert environment["AWS_REGION"] == REGION
    assert done.returncode in {1, 255}
    assert conftest.has_known_issue(DRIVER, done.stderr), done.stderr
