"""What cannot work, asked for through the product's own resources: the same words on the emulator and a real agent."""

import re

import pytest

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.health import plugin_health, plugin_health_wait
from nomad_csi.jobs import plugin_job
from nomad_csi.plan import registration
from nomad_csi.volumes import desired, volume_resource
from tests import clocks

FILE_SYSTEM = "fs-0123456789abcdef1"
TIMEOUT_S = 2
TO_DO = "; stop the jobs that use them and run again"
EFFECT = re.compile(
    r"  on one \(allocation ALLOC\): "
    r"(Alloc Unhealthy: Unhealthy because of failed task|Not Restarting: Policy allows no restarts"
    r"|Killed: Task successfully killed)"
)
"""What Nomad records last of a task that failed; the emulator has no deployments, and so no word of theirs."""

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


@pytest.fixture
def verify(create, agent):
    """Wait for a plugin of ours: ``verify("efs", provider="efs.csi.aws.com")``."""

    def wait(plugin_id, **fields):
        known = {"pluginId": plugin_id, "provider": "ebs.csi.aws.com", "taskDriver": "raw_exec", "evidence": "csi"}
        known |= {"clientDataDir": str(agent.data_dir), "timeoutS": TIMEOUT_S, "stableS": 0.5}
        return create(plugin_health.PluginHealthResource(), known | fields)

    return wait


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
            "volume bad is in nonexistent namespace nowhere; make it first with `nomad namespace apply`, "
            "or name another",
        ),
    ],
)
def test_registration_that_cannot_work_is_refused(register, fresh, fields, message):
    """With what Nomad says and what to do."""
    with pytest.raises(errors.NomadApiError) as caught:
        register(fresh("bad"), **fields)

    assert told(caught) == [f"PUT /v1/volume/csi/bad: status 500: {message}"]


def test_registration_of_somebody_elses_is_not_taken_over(register, kept, volume, fresh, agent):
    """Both values are told, and the ways out; Nomad still has theirs."""
    volume_id = fresh("theirs")
    kept(volume(volume_id, ExternalID="fs-0fedcba9876543210"))

    with pytest.raises(errors.RefusedError) as caught:
        register(volume_id, external_id="fs-0123456789abcdef1")

    assert told(caught) == [
        "volume default/theirs is registered already, and not by this stack as it is now: externalId: Nomad has "
        '"fs-0fedcba9876543210", wanted "fs-0123456789abcdef1"; Nomad never changes it; set adopt: true to take it '
        "over, import it, or choose another id"
    ]
    assert agent.get(f"/v1/volume/csi/{volume_id}")["ExternalID"] == "fs-0fedcba9876543210"


def test_claimed_volume_is_not_deregistered(context):
    """Its user is named: job, allocation, client."""
    recorded = {"namespace": "default", "volumeId": "used"}

    with pytest.raises(errors.RefusedError) as caught:
        volume_resource.VolumeRegistrationResource().delete(context, "default/used", recorded)

    assert told(caught) == [
        "volume default/used is claimed and stays registered: job default/user (write, allocation ALLOC, running on "
        "node one); stop these jobs, wait until their claims are free, and run again"
    ]


def test_plugin_job_is_not_stopped_under_its_users(context, agent):
    """They could not let go of their volumes."""
    job = agent.get("/v1/job/plugin-efs/submission?version=0")

    with pytest.raises(errors.RefusedError) as caught:
        plugin_job.PluginJobResource().delete(context, "default/plugin-efs", {"hcl": job["Source"]})

    [line] = told(caught)
    what, users = line.split(" without it: ")
    assert what == (
        "job default/plugin-efs runs on: volumes of its plugin are claimed, and would stay mounted and attached"
    )
    assert {"default/plain", "default/used"} <= set(users.removesuffix(TO_DO).split(", "))
    assert users.endswith(TO_DO)


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


def test_more_controllers_than_clients_are_not_waited_for(verify):
    """Waiting cannot heal it."""
    with pytest.raises(errors.NomadCsiError) as caught:
        verify("ebs", controllers=2, jobs={"plugin-ebs-controller": "1", "plugin-ebs-nodes": "1"})

    assert told(caught) == [
        "plugin ebs cannot become healthy; nothing was registered",
        "  controllers-exceed-nodes: plugin ebs: expected one client for each of 2 controllers, "
        "found 1 eligible client; set controller.count to 1 or less, or add clients",
    ]


NODE = (
    "  node-missing: node instance of plugin {} on one: expected a healthy instance, found none (no allocation there); find out why its job "
    "places no allocation there, with `nomad job status`"
)
NO_SOCKET = (
    "  instance-unhealthy: controller of plugin mute on one: expected a healthy instance, found Plugin became unhealthy: "
    "Error: CSI plugin failed probe: timeout while connecting to gRPC socket: failed to stat socket: stat "
    "DATA_DIR/client/csi/plugins/ALLOC/csi.sock: no such file or directory; check its task events with `nomad alloc "
    "status ALLOC`, then `nomad alloc logs -stderr ALLOC`"
)
LOG = re.compile(r"  (log|note) on one \(allocation ALLOC\): .*")
RESTART = re.compile(r"  instance-restarted: plugin mute: expected the same instances, .*, found 1 restart on one .*")
"""Nomad restarts a task without a socket once in half a minute: within the wait, or not."""


@pytest.mark.parametrize(
    ("plugin_id", "fields", "counts", "lines"),
    [
        (
            "efs",
            {"jobs": {"plugin-efs": "1"}},
            "0/1 nodes",
            [
                "  provider-differs: plugin efs: expected ebs.csi.aws.com, found efs.csi.aws.com; correct the image or "
                "command, or choose another plugin id",
                "  provider-differs: node instance of plugin efs on one: expected ebs.csi.aws.com, found it reports "
                "efs.csi.aws.com; correct the image or command, or choose another plugin id",
            ],
        ),
        (
            "efs",
            {"provider": "efs.csi.aws.com", "version": "0.0.1", "jobs": {"plugin-efs": "1"}},
            "0/1 nodes",
            [
                "  version-differs: node instance of plugin efs on one: expected version 0.0.1, found version v3.4.1; "
                "correct the image, or wait for a rolling update to finish"
            ],
        ),
        (
            "mute",
            {"controllers": 1, "jobs": {"plugin-mute": "1"}},
            "0/1 nodes, 0/1 controllers",
            [NO_SOCKET, NODE.format("mute")],
        ),
        (
            "nobody",
            {"controllers": 1, "jobs": {"plugin-nobody": "1"}},
            "0/1 nodes, 0/1 controllers",
            [
                "  job-missing: job default/plugin-nobody: expected running, for plugin nobody, found no such "
                "job, or a stopped one; run `pulumi up`, or `nomad-csi apply` with the spec; so: plugin-missing: "
                "plugin nobody; controller-missing: plugin nobody; node-missing: node instance of plugin nobody on one"
            ],
        ),
    ],
)
def test_plugin_that_is_not_as_expected_is_not_verified(verify, plugin_id, fields, counts, lines):
    """At the end of the wait: counts, findings, and causes. What follows from these is Nomad's to word."""
    with pytest.raises(errors.NomadCsiError) as caught:
        verify(plugin_id, **fields)

    head, *rest = told(caught)
    assert head == f"plugin {plugin_id} is not verified healthy after {TIMEOUT_S} s: {counts}; nothing was registered"
    shown = [line for line in rest if not any(each.fullmatch(line) for each in (EFFECT, LOG, RESTART))]
    assert shown == [*lines, f"  {plugin_health_wait.NEXT}"]
