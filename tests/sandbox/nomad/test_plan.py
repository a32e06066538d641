"""Plans and validations are those of a real agent."""

import copy

import pytest

from nomad_csi_sandbox.nomad.hcl import parse
from nomad_csi_sandbox.nomad.jobs import plan, scheduler, stored, validate

STUB = """
job "stub-node" {
  type        = "system"
  datacenters = ["*"]
  group "g" {
    restart {
      attempts = 10
      delay    = "3s"
      interval = "5m"
      mode     = "delay"
    }
    task "t" {
      driver = "docker"
      config {
        image = "x:1"
      }
    }
  }
}
"""


@pytest.fixture
def node(recording):
    """The node of the recordings."""
    return recording("00-node")


@pytest.fixture
def planned(node):
    """Plan a job: ``planned(new, old=..., running=True)``."""

    def plan_it(new, old=None):
        existing = [_running(old, node)] if old else []
        return plan.reply(old, new, scheduler.decide(new, [node], existing, lambda *_: ""), with_diff=True)

    return plan_it


def _running(job, node):
    [group] = job["TaskGroups"]
    spec = scheduler.spec_of(job, group)
    return scheduler.Existing(alloc_id="a", node_id=node["ID"], group="g", index=0, spec=spec, body=group)


@pytest.fixture
def stub_job():
    """The stored job of the recordings that compare; its driver is one that the node has."""
    job = stored.from_api(parse.parse(STUB)) | {"JobModifyIndex": 11}
    job["TaskGroups"][0]["Tasks"][0]["Driver"] = "raw_exec"
    return job


def test_plan_of_a_new_job_equals_the_recording(recording, planned):
    """Every field of the difference is there, in the recorded order, with its annotations."""
    job = stored.from_api(parse.parse(recording("02-job-submission")["Source"]))

    assert planned(job) == recording("01-hostpath-plan")


def test_plan_of_an_unchanged_system_job_equals_the_recording(recording, planned, stub_job):
    """The type is None, although a system job still announces a place."""
    assert planned(copy.deepcopy(stub_job), stub_job) == recording("06-plan-unchanged")


def test_plan_of_an_edited_job_equals_the_recording(recording, planned, stub_job):
    """The changed field stands among its unchanged neighbours."""
    new = copy.deepcopy(stub_job)
    new["TaskGroups"][0]["Tasks"][0]["Resources"]["MemoryMB"] = 301

    assert planned(new, stub_job) == recording("06-plan-edited")


def test_plan_without_the_driver_equals_the_recording(recording, planned):
    """A system job that no node can run names the missing driver."""
    expected = recording("06-plan-missing-driver")
    expected["FailedTGAllocs"]["g"]["AllocationTime"] = 0  # how long the real scheduler took

    assert planned(stored.from_api(parse.parse(STUB) | {"ID": "dockerjob"})) == expected


def test_validate_names_a_wrong_plugin_type_as_recorded(recording, stub_job):
    """The nested list of errors is Go's, down to its empty lines."""
    plugin = {"ID": "p", "Type": "weird", "MountDir": "/csi", "StagePublishBaseDir": "/local/csi"}
    stub_job["TaskGroups"][0]["Tasks"][0]["CSIPluginConfig"] = plugin

    problems = validate.problems(stub_job)

    expected = recording("06-validate-badtype")
    assert (problems, validate.multi_error(problems)) == (expected["ValidationErrors"], expected["Error"])
