"""Who may stop a job, or run it over another one, by the command line: what is refused, and what is left."""

import dataclasses
from unittest import mock

import pytest

from nomad_csi import errors
from nomad_csi.hcl import documents
from nomad_csi.health import plugin_health
from nomad_csi.jobs import apply, plugin_job
from nomad_csi.plan import storage
from nomad_csi.volumes import ownership
from tests import emulated_agent

JOB = plugin_job.PluginJobResource()
PLAN = storage.plan_document({"plugins": [{"id": "ebs", "driver": "csi-hostpath"}]})
[PLANNED] = PLAN.plugins[0].jobs
KEY = PLANNED.namespace, PLANNED.job_id
RUN_BY = {
    "no owner": {},
    "the owner": {"owner": "shop/prod"},
    "its stack": {"owner": "shop/prod", "ownerId": "00112233aabbccdd"},
    "another owner": {"owner": "web/prod"},
    "another stack": {"owner": "web/prod", "ownerId": "9999999999999999"},
}


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    """Return an emulated agent."""
    with emulated_agent.running(tmp_path_factory.mktemp("agent")) as made:
        yield made


@pytest.fixture
def agent(emulated):
    """Return the agent with an empty cluster."""
    emulated.restart()
    return emulated


def run(agent, who, hcl=None):
    """Run the job as a program does, for an owner."""
    given = {"jobId": KEY[1], "namespace": KEY[0], "hcl": hcl or documents.job_file(PLANNED), "pluginJobs": [KEY[1]]}
    inputs, failures = JOB.check(given | RUN_BY[who])
    assert failures == ()
    JOB.create(agent.context(), inputs)


def outcome(call, *given, adopts, owner="shop/prod", **how):
    """Return whether it was done."""
    who = ownership.Requester(owner=owner, adopts=adopts)
    try:
        call(*given, who, **how)
    except errors.RefusedError:
        return "refused"
    return "done"


@pytest.mark.parametrize("who", RUN_BY)
@pytest.mark.parametrize("adopts", [False, True])
def test_job_is_stopped_for_its_owner(agent, who, adopts):
    """A refusal leaves job and record, and so does a dry run; a job that is stopped leaves neither."""
    run(agent, who)
    before = agent.left()
    is_permitted = adopts or who in {"no owner", "the owner"}
    expected = "done" if is_permitted else "refused"

    of_nobody = outcome(apply.stop, agent.client(), KEY, adopts=adopts, owner="", is_dry_run=True)
    assert of_nobody == ("done" if adopts or who == "no owner" else "refused")
    assert outcome(apply.stop, agent.client(), KEY, adopts=adopts, is_dry_run=True) == expected
    assert agent.left() == before
    assert outcome(apply.stop, agent.client(), KEY, adopts=adopts) == expected
    _, jobs, variables, _ = agent.left()
    assert (jobs == {}, any("jobs/" in path for _, path in variables)) == (is_permitted, not is_permitted)


@pytest.mark.parametrize(
    ("who", "is_equal", "expected"),
    [
        ("no owner", True, "done"),
        ("no owner", False, "refused"),
        ("the owner", False, "done"),
        ("its stack", True, "done"),
        ("its stack", False, "refused"),
        ("another owner", True, "refused"),
        ("another stack", False, "refused"),
    ],
)
@pytest.mark.parametrize("adopts", [False, True])
def test_job_is_run_over_that_of_its_owner(agent, who, is_equal, expected, adopts):
    """An equal job is no conflict, unless another owner has it, and is owned then; a refusal leaves both."""
    run(agent, who, None if is_equal else documents.job_file(dataclasses.replace(PLANNED, priority=20)))
    before = agent.left(), agent.cluster.state.jobs[KEY].spec["Version"]

    old = dataclasses.replace(PLAN.plugins[0], minimum_nomad="99.0.0")
    of_old = "done" if who == "its stack" and is_equal else "refused"
    with mock.patch.object(plugin_health.PluginHealthResource, "create"):
        assert outcome(apply.start, agent.client(), [old], adopts=True) == of_old
        done = outcome(apply.start, agent.client(), PLAN.plugins, adopts=adopts)

    assert done == ("done" if adopts else expected)
    left = agent.left(), agent.cluster.state.jobs[KEY].spec["Version"]
    assert left == before if done == "refused" else "'owner': 'shop/prod'" in str(left)
