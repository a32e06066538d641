"""Jobs: what is sent for them, and what a real agent said of them."""

import dataclasses
import json

import pytest

from nomad_csi import errors
from nomad_csi.nomad import job_plan, jobs

HCL = 'job "hostpath" {}'
JOB = {"ID": "hostpath", "Namespace": "default"}
RUNNING = jobs.Job(
    job_id="hostpath",
    namespace="default",
    type="system",
    status="running",
    stopped=False,
    version=0,
    job_modify_index=11,
    meta={},
)


def test_parse_gives_the_job_as_nomad_reads_it(agent, client):
    """The server parses, with defaults filled in."""
    agent.recorded("01-hostpath-parse-canonical.json", method="POST", path="/v1/jobs/parse")

    job = jobs.parse(client, HCL)

    assert (job["ID"], job["Namespace"], job["Type"], job["Priority"]) == ("hostpath", "default", "system", 80)
    assert job["TaskGroups"][0]["Tasks"][0]["CSIPluginConfig"]["HealthTimeout"] == 30 * 10**9
    assert agent.asked[0].body == {"JobHCL": HCL, "Canonicalize": True}
    assert agent.asked[0].query == {"namespace": "default"}


def test_parse_keeps_characters_of_the_job(agent, client):
    """What HCL escapes spell arrives as it was meant."""
    agent.recorded("05-esc-parse.json", method="POST", path="/v1/jobs/parse")

    job = jobs.parse(client, HCL, namespace="storage")

    assert job["ID"] == "esc"
    assert job["TaskGroups"][0]["Tasks"][0]["Env"] == {
        "E_DD": "${attr.cpu.arch}",
        "E_EMO": '\U0001f389 \U0001f389 " \\ \n nl',
        "E_NFD": "caf\u00e9",
        "E_PCT": "%{ x }",
        "E_PCT2": "%{ x }",
        "E_RAW": "${attr.cpu.arch}",
        "E_U": "${attr.cpu.arch}",
        "E_UNK": "${NOT_A_VAR}",
        "E_UNKU": "${NOT_A_VAR}",
    }
    assert agent.asked[0].query == {"namespace": "storage"}


def test_rejects_hcl_that_nomad_cannot_parse(agent, client):
    """The position is in the error."""
    text = 'Failed to parse job: input.hcl:2,3-8: Unsupported argument; An argument named "bogus" is not expected here.'
    agent.answer("POST", "/v1/jobs/parse", text, status=400)

    with pytest.raises(errors.NomadApiError, match=r"input\.hcl:2,3-8") as caught:
        jobs.parse(client, HCL)

    assert (caught.value.kind, caught.value.status) == ("refused", 400)


@pytest.mark.parametrize(
    ("file", "job_id", "plan"),
    [
        (
            "01-hostpath-plan.json",
            "hostpath",
            job_plan.JobPlan(
                diff_type="Added", job_modify_index=0, failed_groups={}, warnings="", changes=("job: added",)
            ),
        ),
        (
            "06-plan-unchanged.json",
            "stub-node",
            job_plan.JobPlan(diff_type="None", job_modify_index=11, failed_groups={}, warnings="", changes=()),
        ),
        (
            "06-plan-edited.json",
            "stub-node",
            job_plan.JobPlan(
                diff_type="Edited",
                job_modify_index=11,
                failed_groups={},
                warnings="",
                changes=("group g > task t > resources.MemoryMB: 300 -> 301",),
            ),
        ),
        (
            "06-plan-missing-driver.json",
            "dockerjob",
            job_plan.JobPlan(
                diff_type="Added",
                job_modify_index=0,
                failed_groups={"g": "missing drivers (1 node)"},
                warnings="",
                changes=("job: added",),
            ),
        ),
    ],
)
def test_plan_of_a_real_agent(agent, client, file, job_id, plan):
    """Type, index, what cannot be placed, and what changes."""
    agent.recorded(file, method="POST", path=f"/v1/job/{job_id}/plan")

    assert jobs.plan(client, {"ID": job_id, "Namespace": "storage"}) == plan
    assert agent.asked[0].body == {"Job": {"ID": job_id, "Namespace": "storage"}, "Diff": True}
    assert agent.asked[0].query == {"namespace": "storage"}


def test_rejects_a_job_that_changed_meanwhile(agent, client):
    """The conflict is a refusal that says what happened."""
    text = "Enforcing job modify index 18: job exists with conflicting job modify index: 11"
    agent.answer("POST", "/v1/jobs", text, status=500)

    with pytest.raises(errors.NomadApiError, match="Enforcing job modify index 18") as caught:
        jobs.register(client, JOB, source=HCL, enforce_index=18)

    assert caught.value.kind == "refused"


def test_job_of_a_real_agent(agent, client):
    """A running plugin job."""
    agent.recorded("02-job.json", path="/v1/job/hostpath")

    assert jobs.get(client, "storage", "hostpath") == RUNNING
    assert agent.asked[0].query == {"namespace": "storage"}


def test_source_in_another_format_is_no_hcl(agent, client):
    """A job sent as JSON has no HCL source."""
    agent.answer("GET", "/v1/job/j/submission", json.dumps({"Format": "json", "Source": "{}"}))

    assert jobs.source(client, "default", "j", 0) is None


def test_allocations_of_a_real_agent(agent, client):
    """One running allocation and what happened to its task, oldest first."""
    agent.recorded("02-job-allocations.json", path="/v1/job/hostpath/allocations")

    [allocation] = jobs.allocations(client, "default", "hostpath")

    assert dataclasses.replace(allocation, task_events=()) == jobs.Allocation(
        alloc_id="780a85f8-572b-5a7c-a1c6-ad149d529b4b",
        node_id="e4e7c740-a693-6393-61e0-c39b1899619e",
        node_name="vm",
        client_status="running",
        desired_status="run",
        task_events=(),
        restarts=0,
    )
    assert allocation.task_events == (
        jobs.TaskEvent(time_ns=1795245512276474195, type="Received", message="Task received by client", task="plugin"),
        jobs.TaskEvent(
            time_ns=1795245512280483017, type="Task Setup", message="Building Task Directory", task="plugin"
        ),
        jobs.TaskEvent(time_ns=1795245512394665166, type="Started", message="Task started by client", task="plugin"),
        jobs.TaskEvent(
            time_ns=1795245522399789737, type="Plugin became healthy", message="plugin: hostpath", task="plugin"
        ),
    )
