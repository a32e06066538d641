"""
Drivers that need no cloud, run by our jobs as processes of a real agent: planned from a spec, and each step by our resources.

A test file names its spec in a fixture ``document``, whose plugins lack the ``task_driver`` only.
"""

import contextlib
import json
import re
import shutil
import subprocess
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from nomad_csi.diagnosis import verification
from nomad_csi.frame import resource
from nomad_csi.hcl import documents
from nomad_csi.health import plugin_health
from nomad_csi.jobs import plugin_job
from nomad_csi.nomad import jobs, plugins, volumes
from nomad_csi.plan import storage
from nomad_csi.volumes import desired, volume_resource

USE_S = 60.0

CONSUMER = """
job "{job_id}" {{
  type = "batch"
  group "g" {{
    volume "data" {{
      type            = "csi"
      source          = "{volume_id}"
      access_mode     = "{access_mode}"
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
      driver = "exec"
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
class Stack:
    """What a spec asks for, on an agent: its jobs run, and its volumes come and go with their tests."""

    agent: Any
    context: resource.Context
    until: Any
    document: dict
    health: dict
    """What our gate said of each plugin, by its id."""

    def plan(self, *wanted):
        """Return the plan of the plugins with the volumes *wanted*."""
        return storage.plan_document({**self.document, "volumes": list(wanted)})

    def plugin(self, plugin_id):
        """Return what Nomad holds of a plugin."""
        return plugins.get(self.agent.client, plugin_id)

    def volume(self, volume_id):
        """Return what Nomad holds of a volume."""
        return volumes.get(self.agent.client, "default", volume_id)

    def verify(self, *wanted):
        """Return what `nomad-csi verify` finds."""
        return verification.Verifier(self.agent.client, self.plan(*wanted), {}).verify()


def inputs_of(kind, given):
    """Return checked inputs of a resource."""
    inputs, failures = kind.check(given)
    assert failures == ()
    return inputs


@pytest.fixture(scope="module")
def task(agent, command):
    """How the plugins are run."""
    return {"name": "raw_exec", "command": command, "client_data_dir": str(agent.folder)}


@pytest.fixture(scope="module")
def stack(agent, until, document, task):
    """Both jobs of each plugin run and verified over their sockets, and removed at the end."""
    context = resource.Context(connect=lambda: agent.client)
    verify = {"evidence": "csi", "timeout_s": 120, "stable_s": 1}
    for plugin in document["plugins"]:
        plugin |= {"task_driver": task, "verify": verify}
    plan = storage.plan_document(document)
    with contextlib.ExitStack() as after:
        made = {plugin.plugin_id: _run(context, plugin, after) for plugin in plan.plugins}
        health = {plugin.plugin_id: _verify(context, plugin, made[plugin.plugin_id]) for plugin in plan.plugins}
        yield Stack(agent=agent, context=context, until=until, document=document, health=health)
    assert [plugins.get(agent.client, plugin.plugin_id) for plugin in plan.plugins] == [None] * len(plan.plugins)


def _run(context, plugin, after):
    """Register the jobs of a plugin, and return the index of each."""
    kind, indexes = plugin_job.PluginJobResource(), {}
    for job in plugin.jobs:
        given = {"jobId": job.job_id, "namespace": job.namespace, "hcl": documents.job_file(job)}
        identity, outputs = kind.create(context, inputs_of(kind, given))
        after.callback(kind.delete, context, identity, outputs)
        indexes[job.job_id] = outputs["jobModifyIndex"]
    return indexes


def _verify(context, plugin, indexes):
    expected = plugin.expectation
    given = {
        "pluginId": expected.plugin_id,
        "provider": expected.provider,
        "controllers": expected.controllers,
        "monolith": expected.monolith,
        "taskDriver": expected.task_driver,
        "clientDataDir": expected.client_data_dir,
        "evidence": expected.evidence,
        "timeoutS": expected.timeout_s,
        "stableS": expected.stable_s,
        "jobs": indexes,
    }
    given |= {} if expected.nodes is None else {"nodes": expected.nodes}
    kind = plugin_health.PluginHealthResource()
    return kind.create(context, inputs_of(kind, given))[1]


@pytest.fixture
def create(stack):
    """Have a volume made, as a spec says it: its outputs. Deregistered once free; its storage is the test's to remove."""
    with contextlib.ExitStack() as after:

        def make(wanted):
            [planned] = stack.plan(wanted).volumes
            given = desired.write_inputs(planned.registration)
            return _kept(volume_resource.CreatedVolumeResource(), given, stack, after)

        yield make


@pytest.fixture
def register(stack):
    """Register a volume, as a spec says it: its outputs. Deregistered once it is free."""
    with contextlib.ExitStack() as after:

        def make(wanted):
            given = desired.write_inputs(stack.plan(wanted).volumes[0].registration)
            return _kept(volume_resource.VolumeRegistrationResource(), given, stack, after)

        yield make


def _kept(kind, given, stack, after):
    identity, outputs = kind.create(stack.context, inputs_of(kind, given))
    after.callback(kind.delete, stack.context, identity, outputs)
    volume_id = given["volumeId"]
    after.callback(
        stack.until, lambda: not getattr(stack.volume(volume_id), "claims", ()), USE_S, f"{volume_id} is free"
    )
    return outputs


@pytest.fixture
def run_with(stack):
    """Run a shell script as a job that uses a volume at /data, to its end: the allocation."""
    client = stack.agent.client
    with contextlib.ExitStack() as after:

        def run(volume_id, script, access_mode="single-node-writer"):
            job_id = f"user-of-{volume_id}-{uuid.uuid4()}"
            source = CONSUMER.format(
                job_id=job_id, volume_id=volume_id, access_mode=access_mode, script=json.dumps(script)
            )
            jobs.register(client, jobs.parse(client, source), source=source, enforce_index=None)
            after.callback(jobs.stop, client, "default", job_id, purge=False)
            stack.until(lambda: _ended(client, job_id), USE_S, f"{job_id} has ended")
            # A job that claims it before is not placed, and nothing wakes it up.
            stack.until(lambda: not stack.volume(volume_id).claims, USE_S, f"{volume_id} is free")
            return _ended(client, job_id)

        yield run


def _ended(client, job_id):
    found = jobs.allocations(client, "default", job_id)
    return found[0] if found and found[0].client_status in {"complete", "failed", "lost"} else None


@pytest.fixture
def end_alone(command, tmp_path):
    """Run a driver to its end, as a planned job has it, with no environment but that given: the process that ended."""

    def run(job, environment, timeout_s):
        words = [word.replace("${CSI_ENDPOINT}", f"unix://{tmp_path}/csi.sock") for word in job.arguments]
        return subprocess.run(
            [command, *words], env=environment, capture_output=True, text=True, check=False, timeout=timeout_s
        )

    return run


def has_known_issue(driver, said):
    """Return whether *said* has a sign of one of the driver's known issues."""
    return any(re.search(sign, said) for issue in driver.known_issues for sign in issue.signs)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder that tasks may enter, who are nobody."""
    made = tmp_path_factory.mktemp("storage")
    for part in (made, *made.parents[:2]):
        part.chmod(0o755)
    yield made
    shutil.rmtree(made)
