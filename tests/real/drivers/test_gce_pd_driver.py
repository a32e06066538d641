"""
The real driver of Compute Engine's disks under a real agent, both jobs of it run by us as processes, without that cloud.

Fixed answers take the place of its metadata server, which a variable names, and of Google's APIs, to which a proxy leads.
Verified here is what the catalogue says of it. Not verified: a disk of Compute Engine, its image under Docker.
"""

import json
import os
import shutil

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.nomad import variables
from nomad_csi.plan import storage
from tests.real.drivers import answers, conftest

COMMAND = shutil.which("gcp-compute-persistent-disk-csi-driver")
DRIVER = catalogue.DRIVERS["gce-pd"]
ZONE = "us-central1-a"
VARIABLE = "nomad/jobs/plugin-gce-pd0-controller"
COMPUTE, OAUTH = "compute.googleapis.com", "oauth2.googleapis.com"
DISK = f"projects/my-project/zones/{ZONE}/disks/data"
TYPE = f"https://www.googleapis.com/compute/beta/projects/my-project/zones/{ZONE}/diskTypes/pd-balanced"
ANSWERS = {
    "/computeMetadata/v1/instance/zone": f"projects/123/zones/{ZONE}",
    "/computeMetadata/v1/instance/name": "client-1",
    "/computeMetadata/v1/instance/machine-type": "projects/123/machineTypes/n1-standard-1",
    "/computeMetadata/v1/project/project-id": "my-project",
    "/token": {"access_token": "given-for-the-key", "token_type": "Bearer", "expires_in": 3600},
    f"/compute/beta/{DISK}": {"name": "data", "status": "READY", "sizeGb": "10", "type": TYPE},
}

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(
        not (shutil.which("nomad") and COMMAND) or os.geteuid() != 0,
        reason="needs `nomad` and `gcp-compute-persistent-disk-csi-driver` on PATH, and root to start a Nomad client",
    ),
]


@pytest.fixture(scope="module")
def command():
    """The driver."""
    return COMMAND


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """What the driver takes for Google."""
    with answers.serving(tmp_path_factory.mktemp("cloud"), [COMPUTE, OAUTH], ANSWERS) as served:
        yield served


def service_account():
    """Return the key file of a service account that no one has."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    account = {"type": "service_account", "client_email": "csi@my-project.iam.gserviceaccount.com", "private_key": pem}
    return json.dumps(account | {"private_key_id": "1", "token_uri": f"https://{OAUTH}/token"})


@pytest.fixture(scope="module")
def document(agent, cloud):
    """One plugin whose controller has the key of a service account in a Nomad variable."""
    variables.put(agent.client, "default", VARIABLE, {"creds_json": service_account()}, index=variables.NEW)
    plugin = {
        "id": "gce-pd0",
        "driver": "gce-pd",
        "credentials": {"nomad_variable": VARIABLE},
        "environment": cloud.environment | {"GCE_METADATA_HOST": cloud.url.removeprefix("http://")},
    }
    return {"plugins": [plugin]}


def existing(volume_id, external_id):
    found = {"external_id": external_id, "availability_zone": ZONE}
    return {"id": volume_id, "plugin_id": "gce-pd0", "existing": found}


def test_both_roles_verify_themselves_over_their_sockets(stack):
    """Name, version and topology key are those of the catalogue."""
    health = stack.health["gce-pd0"]

    found = stack.plugin("gce-pd0")

    assert (health["verifiedBy"], health["status"]) == ("csi", "healthy")
    assert (health["healthyControllers"], health["healthyNodes"], health["expectedNodes"]) == (1, 1, 1)
    assert (found.provider, found.version) == (DRIVER.provider, DRIVER.version)
    assert found.nodes[0].segments == {DRIVER.topology_key: ZONE}


def test_disk_that_exists_is_registered_as_planned(stack, register, cloud):
    """The controller asks for the disk, with the token that it got for the key in its secrets directory."""
    wanted = existing("data", DISK)

    register(wanted)

    report = stack.verify(wanted)
    assert report.ok, report.as_table()
    assert (COMPUTE, f"/compute/beta/{DISK}", "Bearer given-for-the-key") in cloud.asked


def test_disk_that_compute_engine_does_not_know_is_refused(stack, register):
    """Nothing is stored."""
    with pytest.raises(errors.NomadApiError, match=r"disks/ghost\" could not be found"):
        register(existing("ghost", DISK.replace("data", "ghost")))

    assert stack.volume("ghost") is None


@pytest.mark.parametrize("role", ["controller", "node"])
def test_driver_ends_where_there_is_no_metadata_server(role, free_ports, end_alone, tmp_path):
    """What it says is the sign of a known issue of the catalogue; the controller asks for credentials first."""
    [port] = free_ports(1)
    node = {"GCE_METADATA_HOST": f"127.0.0.1:{port}"}
    [plugin] = storage.plan_document({"plugins": [{"id": "gce-pd0", "driver": "gce-pd"}]}).plugins
    job = next(job for job in plugin.jobs if job.role == role)

    done = end_alone(job, {"HOME": str(tmp_path)} | (node if role == "node" else {}), timeout_s=300)

    assert done.returncode in {1, 255}
    assert conftest.has_known_issue(DRIVER, done.stderr), done.stderr
