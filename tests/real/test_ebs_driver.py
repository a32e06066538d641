"""
The real EBS driver under a real agent, run by our jobs as processes, with moto as EC2.

Verified here is what the catalogue says of the driver's roles. Not verified: EC2 itself, a disk that EC2 attaches (where one
is needed, a loop device has its name), an instance role's permissions. Its jobs in containers are in drivers/docker/.
"""

import dataclasses
import json
import os
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nomad_csi import errors
from nomad_csi.diagnosis import verification
from nomad_csi.drivers import catalogue
from nomad_csi.frame import resource
from nomad_csi.hcl import documents
from nomad_csi.health import plugin_health
from nomad_csi.jobs import plugin_job
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import storage
from nomad_csi.volumes import desired, volume_resource
from nomad_csi_sandbox.aws import account
from tests.real.ebs_world import REGION, ZONE, mounted, run

COMMAND = shutil.which("aws-ebs-csi-driver")
DRIVER = catalogue.DRIVERS["aws-ebs"]
PLUGIN_ID = "aws-ebs0"
MISSING_ID = "vol-0123456789abcdef0"
USE_S = 60.0

pytestmark = [
    pytest.mark.real_nomad,
    pytest.mark.skipif(
        not (shutil.which("nomad") and COMMAND) or os.geteuid() != 0,
        reason="needs `nomad` and `aws-ebs-csi-driver` on PATH, and root to start a Nomad client",
    ),
]


def _with_keys(planned):
    """Nomad keeps AWS keys of its own environment from tasks, and a spec takes none: these, of moto, are no secret."""
    keys = {"AWS_ACCESS_KEY_ID": account.CREDENTIAL, "AWS_SECRET_ACCESS_KEY": account.CREDENTIAL}
    jobs = (dataclasses.replace(job, environment={**job.environment, **keys}) for job in planned.jobs)
    return dataclasses.replace(planned, jobs=tuple(jobs))


@pytest.fixture(scope="module")
def plan(agent, cloud):
    """Plan the plugin with volumes, as a spec says them."""

    def make(**external_ids):
        plugin = {
            "id": PLUGIN_ID,
            "driver": "aws-ebs",
            "aws_region": REGION,
            "controller": {"count": 1},
            "task_driver": {"name": "raw_exec", "command": COMMAND, "client_data_dir": str(agent.folder)},
            "environment": {
                "AWS_EC2_ENDPOINT": cloud.ec2_url,
                "AWS_EC2_METADATA_SERVICE_ENDPOINT": cloud.metadata_url,
            },
            "verify": {"evidence": "csi", "timeout_s": 120, "stable_s": 1},
        }
        wanted = [
            {
                "id": volume_id,
                "plugin_id": PLUGIN_ID,
                "existing": {"external_id": external_id, "availability_zone": ZONE},
            }
            for volume_id, external_id in external_ids.items()
        ]
        planned = storage.plan_document({"plugins": [plugin], "volumes": wanted})
        return dataclasses.replace(planned, plugins=tuple(_with_keys(item) for item in planned.plugins))

    return make


@pytest.fixture(scope="module")
def context(agent):
    """The context of a step on the agent."""
    return resource.Context(connect=lambda: agent.client)


def inputs_of(kind, given):
    inputs, failures = kind.check(given)
    assert failures == ()
    return inputs


@pytest.fixture(scope="module")
def plugin_jobs(context, plan):
    """Both jobs of the plugin, run by our resource and removed by it: inputs and outputs by id."""
    kind = plugin_job.PluginJobResource()
    made = {}
    for job in plan().plugins[0].jobs:
        given = {"jobId": job.job_id, "namespace": job.namespace, "hcl": documents.job_file(job)}
        inputs = inputs_of(kind, given)
        identity, outputs = kind.create(context, inputs)
        made[identity] = (inputs, outputs)
    yield made
    for identity, (_, outputs) in reversed(made.items()):
        kind.delete(context, identity, outputs)
    assert plugins.get(context.connect(), PLUGIN_ID) is None


@pytest.fixture(scope="module")
def health(context, plan, plugin_jobs):
    """What our gate says of the plugin."""
    kind = plugin_health.PluginHealthResource()
    expected = plan().plugins[0].expectation
    given = {
        "pluginId": expected.plugin_id,
        "provider": expected.provider,
        "controllers": expected.controllers,
        "taskDriver": expected.task_driver,
        "clientDataDir": expected.client_data_dir,
        "evidence": expected.evidence,
        "timeoutS": expected.timeout_s,
        "stableS": expected.stable_s,
        "jobs": {job["jobId"]: outputs["jobModifyIndex"] for job, outputs in plugin_jobs.values()},
    }
    return kind.create(context, inputs_of(kind, given))[1]


@pytest.fixture
def register(context, plan, health, until):
    """Register an EBS volume by our resource, and deregister it by the same once it is free."""
    assert health["status"] == "healthy"
    kind = volume_resource.VolumeRegistrationResource()
    with ExitStack() as stack:

        def make(volume_id, external_id):
            document = plan(**{volume_id: external_id}).volumes[0].registration
            identity, outputs = kind.create(context, inputs_of(kind, desired.write_inputs(document)))
            stack.callback(kind.delete, context, identity, outputs)
            stack.callback(until, lambda: not claims(context, volume_id), USE_S, f"{volume_id} is free")
            return outputs

        yield make


def claims(context, volume_id):
    return volumes.get(context.connect(), "default", volume_id).claims


CONSUMER = """
job "{job_id}" {{
  type = "{kind}"
  group "g" {{
    volume "data" {{
      type            = "csi"
      source          = "{volume_id}"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }}
    restart {{
      attempts = 0
      mode     = "fail"
    }}
    reschedule {{
      attempts  = 0
      unlimited = false
    }}
    task "t" {{
      driver       = "exec"
      kill_timeout = "100ms"
      volume_mount {{
        volume      = "data"
        destination = "/data"
      }}
      config {{
        command = "/bin/sh"
        args    = ["-c", {script}]
      }}
      resources {{
        cpu    = 50
        memory = 64
      }}
    }}
  }}
}}
"""


@dataclass
class Consumer:
    """A job that uses a volume."""

    client: Any
    until: Any
    job_id: str

    def allocation(self):
        [found] = jobs.allocations(self.client, "default", self.job_id)
        return found

    def reaches(self, status):
        """Wait until the allocation has *status*, and return it; fail as soon as it can no more."""
        ended = {"complete", "failed", "lost"} | {status}
        self.until(lambda: self.allocation().client_status in ended, USE_S, f"{self.job_id} is {status}")
        found = self.allocation()
        assert found.client_status == status, found.task_events
        return found

    def stop(self):
        jobs.stop(self.client, "default", self.job_id, purge=False)
        self.until(
            lambda: self.allocation().client_status in {"complete", "failed"}, USE_S, f"{self.job_id} has stopped"
        )


@pytest.fixture
def consume(agent, until):
    """Start a job that uses a volume, and stop it at the end."""
    with ExitStack() as stack:

        def start(job_id, volume_id, script, kind="service"):
            source = CONSUMER.format(job_id=job_id, volume_id=volume_id, script=json.dumps(script), kind=kind)
            document = jobs.parse(agent.client, source)
            jobs.register(agent.client, document, source=source, enforce_index=None)
            consumer = Consumer(client=agent.client, until=until, job_id=job_id)
            stack.callback(consumer.stop)
            until(lambda: jobs.allocations(agent.client, "default", job_id), USE_S, f"{job_id} is placed")
            return consumer

        yield start


def test_both_roles_verify_themselves_over_their_sockets(health):
    """The gate of our stack opens on the answers of the driver itself, not on Nomad's word."""
    counted = {name: health[name] for name in ("healthyControllers", "healthyNodes", "expectedNodes")}

    assert counted == {"healthyControllers": 1, "healthyNodes": 1, "expectedNodes": 1}
    assert (health["verifiedBy"], health["status"]) == ("csi", "healthy")


@pytest.mark.usefixtures("health")
def test_driver_answers_as_the_catalogue_says(context):
    """Name, version and topology key are those that the catalogue has for it."""
    version = json.loads(run(COMMAND, "--version"))["driverVersion"]

    found = plugins.get(context.connect(), PLUGIN_ID)

    [node] = found.nodes
    assert (found.provider, found.version) == (DRIVER.provider, version)
    assert node.segments == {
        DRIVER.topology_key: ZONE,
        "topology.kubernetes.io/zone": ZONE,
        "kubernetes.io/os": "linux",
    }
    assert "AttachDetach" in found.controllers[0].supports


@pytest.mark.usefixtures("health")
def test_rendered_jobs_run_without_drift(context, plugin_jobs):
    """By Nomad's own plan nothing would change: what we render is what runs."""
    kind = plugin_job.PluginJobResource()

    read = {identity: kind.read(context, identity, *made) for identity, made in plugin_jobs.items()}

    assert [outputs["driftType"] for _, outputs in read.values()] == ["None", "None"]


def test_volume_is_validated_registered_and_found_as_planned(context, cloud, plan, register):
    """The controller asks EC2 for the volume; afterwards our verification finds nothing to say."""
    external_id = cloud.create_volume()

    outputs = register("checked", external_id)

    assert outputs["controllerRequired"]
    report = verification.Verifier(context.connect(), plan(checked=external_id), {}).verify()
    assert report.ok, report.as_table()


def test_volume_that_ec2_does_not_know_is_refused(context, register):
    """Nomad passes the driver's words on, and nothing is stored."""
    with pytest.raises(errors.NomadApiError) as caught:
        register("ghost", MISSING_ID)

    assert caught.value.status == 500
    assert caught.value.message.startswith(
        "controller validate volume: CSI.ControllerValidateVolume: controller plugin returned an internal error, check "
        "the plugin allocation logs for more information: rpc error: code = Internal desc = Could not get volume with "
        f'ID "{MISSING_ID}": operation error EC2: DescribeVolumes'
    )
    assert "api error InvalidVolume.NotFound" in caught.value.message
    assert volumes.get(context.connect(), "default", "ghost") is None


def test_data_stays_when_its_consumer_goes(agent, cloud, disk, register, consume, until):
    """Attached, formatted, mounted and written; detached; attached again, and read."""
    external_id = cloud.create_volume()
    device = disk(external_id)
    register("data", external_id)

    writer = consume("writer", "data", "until echo here > /data/log; do sleep 0.1; done; sleep 3600")
    writer.reaches("running")
    [staged, published] = mounted(device)
    assert cloud.attached(external_id) == ("in-use", [cloud.instance_id])
    assert staged.startswith(f"{agent.folder}/client/csi/node/{PLUGIN_ID}/staging/")
    assert published.startswith(f"{agent.folder}/client/csi/node/{PLUGIN_ID}/per-alloc/")
    assert run("blkid", "--output", "value", "--match-tag", "TYPE", device) == "ext4"
    Path(published).chmod(0o777)  # tasks run as nobody, a new file system belongs to root
    until(lambda: Path(published, "log").exists(), USE_S, "the task has written")

    writer.stop()
    until(lambda: cloud.attached(external_id) == ("available", []), USE_S, "EC2 has detached the volume")
    assert mounted(device) == []
    reader = consume("reader", "data", "read line < /data/log && test $line = here", kind="batch")
    reader.reaches("complete")
    until(lambda: cloud.attached(external_id) == ("available", []), USE_S, "EC2 has detached the volume again")


def test_nothing_in_use_is_taken_away(context, cloud, disk, plugin_jobs, register, consume):
    """Neither the registration nor the plugin goes while a job has the volume mounted."""
    external_id = cloud.create_volume()
    disk(external_id)
    outputs = register("busy", external_id)
    consume("user", "busy", "sleep 3600").reaches("running")

    with pytest.raises(errors.RefusedError, match="default/busy is claimed and stays registered: job default/user"):
        volume_resource.VolumeRegistrationResource().delete(context, "default/busy", outputs)
    for identity, (_, job) in plugin_jobs.items():
        with pytest.raises(errors.RefusedError, match=f"job {identity} runs on: .* without it: default/busy;"):
            plugin_job.PluginJobResource().delete(context, identity, job)


def test_volume_without_a_disk_is_given_back(context, cloud, register, consume, until):
    """Where EC2 says attached and no disk comes, the claim is freed and the volume detached."""
    external_id = cloud.create_volume()
    register("diskless", external_id)

    found = consume("hopeful", "diskless", "sleep 3600").reaches("failed")

    [failure] = [event for event in found.task_events if event.type == "Setup Failure"]
    assert 'pre-run hook "csi_hook" failed: mounting volumes' in failure.message
    assert "rpc error: code = NotFound desc = Failed to find device path /dev/" in failure.message
    until(lambda: not claims(context, "diskless"), USE_S, "the claim is free")
    until(lambda: cloud.attached(external_id) == ("available", []), USE_S, "EC2 has detached the volume")
