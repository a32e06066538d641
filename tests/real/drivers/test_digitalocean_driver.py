"""
The real DigitalOcean driver under a real agent, both jobs of it run by us as processes, without a droplet.

Fixed answers take the place of its metadata service and its API, to which a proxy leads. Verified here is what the
catalogue says of it. Not verified: a volume of DigitalOcean, its image under Docker.
"""

import os
import shutil

import pytest

from nomad_csi import errors
from nomad_csi.drivers import catalogue
from nomad_csi.nomad import variables
from nomad_csi.plan import storage
from tests.real.drivers import answers, conftest

COMMAND = shutil.which("do-csi-plugin")
DRIVER = catalogue.DRIVERS["digitalocean"]
KNOWN_ID, UNKNOWN_ID = "506f78a4-e098-11e5-ad9f-000f53306ae1", "506f78a4-e098-11e5-ad9f-000f53306ae2"
API = "api.digitalocean.com"
REGION, DROPLET = "nyc3", "2756294"
TOKEN = "only-of-this-test"
VARIABLE = "nomad/jobs/plugin-do0-controller"
ANSWERS = {
    "/metadata/v1/region": REGION,
    "/metadata/v1/id": DROPLET,
    "/v2/account": {"account": {"volume_limit": 0, "status": "active"}},
    f"/v2/volumes/{KNOWN_ID}": {"volume": {"id": KNOWN_ID, "name": "data", "region": {"slug": REGION}}},
}

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(
        not (shutil.which("nomad") and COMMAND) or os.geteuid() != 0,
        reason="needs `nomad` and `do-csi-plugin` on PATH, and root to start a Nomad client",
    ),
]


@pytest.fixture(scope="module")
def command():
    """The driver."""
    return COMMAND


@pytest.fixture(scope="module")
def cloud(tmp_path_factory):
    """What the driver takes for DigitalOcean."""
    with answers.serving(tmp_path_factory.mktemp("cloud"), [API], ANSWERS) as served:
        yield served


@pytest.fixture(scope="module")
def document(agent, cloud):
    """One plugin with its token in a Nomad variable."""
    variables.put(agent.client, "default", VARIABLE, {"token": TOKEN}, index=variables.NEW)
    plugin = {
        "id": "do0",
        "driver": "digitalocean",
        "credentials": {"nomad_variable": VARIABLE},
        "environment": cloud.environment,
    }
    return {"plugins": [plugin]}


def existing(volume_id, external_id):
    found = {"external_id": external_id, "availability_zone": REGION}
    return {"id": volume_id, "plugin_id": "do0", "existing": found}


def test_both_roles_verify_themselves_over_their_sockets(stack):
    """Name, version and topology key are those of the catalogue; the token makes one of them the controller."""
    health = stack.health["do0"]

    found = stack.plugin("do0")

    assert (health["verifiedBy"], health["status"]) == ("csi", "healthy")
    assert (health["healthyControllers"], health["healthyNodes"], health["expectedNodes"]) == (1, 1, 1)
    assert (found.provider, found.version) == (DRIVER.provider, DRIVER.version)
    assert found.nodes[0].segments == {DRIVER.topology_key: REGION}


def test_controller_asks_the_api_with_the_token_of_the_variable(stack, cloud):
    """It starts only where the API answers for the account."""
    assert stack.health["do0"]["healthyControllers"] == 1
    assert (API, "/v2/account", f"Bearer {TOKEN}") in cloud.asked


def test_volume_that_exists_is_registered_as_planned(stack, register, cloud):
    """The controller asks the API for the volume."""
    wanted = existing("data", KNOWN_ID)

    register(wanted)

    report = stack.verify(wanted)
    assert report.ok, report.as_table()
    assert (API, f"/v2/volumes/{KNOWN_ID}", f"Bearer {TOKEN}") in cloud.asked


def test_volume_that_the_api_does_not_know_is_refused(stack, register):
    """Nothing is stored."""
    with pytest.raises(errors.NomadApiError, match=f'volume "{UNKNOWN_ID}" does not exist'):
        register(existing("ghost", UNKNOWN_ID))

    assert stack.volume("ghost") is None


@pytest.mark.parametrize("role", ["controller", "node"])
def test_driver_ends_where_there_is_no_metadata_service(role, free_ports, end_alone):
    """What it says is the sign of a known issue of the catalogue."""
    [port] = free_ports(1)
    [plugin] = storage.plan_document(
        {"plugins": [{"id": "do0", "driver": "digitalocean", "credentials": {"nomad_variable": VARIABLE}}]}
    ).plugins
    job = next(job for job in plugin.jobs if job.role == role)

    done = end_alone(job, {"HTTP_PROXY": f"http://127.0.0.1:{port}"}, timeout_s=60)

    assert done.returncode == 1
    assert conftest.has_known_issue(DRIVER, done.stderr), done.stderr
