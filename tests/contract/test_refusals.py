"""What cannot work, asked for through the product's own resources: the same words on the emulator and a real agent."""

import re

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.jobs import plugin_job
from nomad_csi.plan import registration
from nomad_csi.volumes import desired, volume_resource
from tests import clocks

FILE_SYSTEM = "fs-0123456789abcdef1"

SHARED = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")


@pytest.fixture
def context(client):
    """The context of a step on the agent, whose waits take no time: what is refused stays as it is."""
    client.clock = clocks.Clock()
    return resource.Context(connect=lambda: client)


@pytest.fixture
def create(context):
    """Make a resource as a program asks for it, once its inputs are checked: ``create(kind, inputs)``."""

    def make(kind, given):
        inputs, failures = kind.check(given)
        assert failures == ()
        return kind.create(context, inputs)

    return make


@pytest.fixture
def register(create):
    """Ask for a registration of ``efs``: ``register("v", plugin_id="other")``."""

    def make(volume_id, **fields):
        known = {
            "name": volume_id,
            "external_id": f"{FILE_SYSTEM}:/{volume_id}",
            "plugin_id": "efs",
            "capabilities": (SHARED,),
        }
        document = registration.VolumeRegistration(volume_id=volume_id, **(known | fields))
        return create(volume_resource.VolumeRegistrationResource(), desired.write_inputs(document))

    return make


@pytest.fixture
def run_job(create):
    """Ask for a job: ``run_job("j", hcl)``."""
    return lambda job_id, hcl, **fields: create(plugin_job.PluginJobResource(), {"jobId": job_id, "hcl": hcl} | fields)


def told(caught):
    """Return the lines of a refusal, without what is other in each run."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ALLOC", str(caught.value))
    text = re.sub(r"(allocation|alloc status|logs -stderr) [0-9a-f]{8}", r"\1 ALLOC", text)
    return re.sub(r"-[0-9a-f]{8}-\d+", "", re.sub(r"/\S+(?=/client/csi)", "DATA_DIR", text)).splitlines()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"plugin_id": "nobody"},
            "no CSI plugin named: nobody could be found; run the plugin's job first and wait until it is healthy, "
            "or correct plugin_id",
        ),
        (
            {"namespace": "nowhere"},
            "volume bad is in nonexistent namespace nowhere",
        ),
    ],
)
def test_registration_that_cannot_work_is_refused(register, fresh, fields, message):
    """With what Nomad says and what to do."""
    with pytest.raises(errors.NomadApiError) as caught:
        register(fresh("bad"), **fields)

    assert told(caught) == [f"PUT /v1/volume/csi/bad: status 500: {message}"]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        (
            "kill_timeout ",
            "colour ",
            [
                "POST /v1/jobs/parse: status 400: Failed to parse job: input.hcl:8,7-13: Unsupported argument; "
                'An argument named "colour" is not expected here.'
            ],
        ),
        (
            '"service"',
            '"services"',
            ['POST /v1/job/bad/plan: status 500: 1 error occurred: * Invalid job type: "services"'],
        ),
        (
            'job "',
            'job "other-',
            ["job default/bad: 1 problem", "  hcl: ID: expected 'bad' as in jobId, got 'other-bad'"],
        ),
    ],
)
def test_job_that_cannot_work_is_refused(run_job, job, fresh, agent, old, new, lines):
    """Nomad's words, at Nomad's place; and nothing is registered."""
    job_id = fresh("bad")

    with pytest.raises(errors.NomadCsiError) as caught:
        run_job(job_id, job(job_id).replace(old, new))

    assert told(caught) == lines
    assert agent.call("GET", f"/v1/job/{job_id}")[0] == 404
