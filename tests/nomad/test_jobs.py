"""Jobs: what is sent for them, and what a real agent said of them."""

import dataclasses
import json

import pytest

from nomad_csi.nomad import job_plan, jobs

HCL = 'job "hostpath" {}'


def test_parse_gives_the_job_as_nomad_reads_it(agent, client):
    """The server parses, with defaults filled in."""
    agent.recorded("01-hostpath-parse-canonical.json", method="POST", path="/v1/jobs/parse")

    job = jobs.parse(client, HCL)

    assert (job["ID"], job["Namespace"], job["Type"], job["Priority"]) == ("hostpath", "default", "system", 80)
    assert job["TaskGroups"][0]["Tasks"][0]["CSIPluginConfig"]["HealthTimeout"] == 30 * 10**9
    assert agent.asked[0].body == {"JobHCL": HCL, "Canonicalize": True}
    assert agent.asked[0].query == {"namespace": "default"}


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
