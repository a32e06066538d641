"""Rounds go on while Nomad does not answer, and say so; they cost the same however many clients there are."""

import dataclasses

import pytest

from nomad_csi import nomad
from nomad_csi.diagnosis import claims_report, rounds, verification
from nomad_csi.plan import model, storage


@pytest.fixture(autouse=True)
def no_failed_allocation(scripted):
    """No allocation failed."""
    scripted.reply("GET", "/v1/allocations", 200, [])


@pytest.fixture
def plan(expectation):
    """Return a plan of one plugin with a node job, and no volumes."""
    document = {"plugins": [{"id": "aws-ebs0", "driver": "aws-ebs", "aws_region": "us-east-1"}]}
    [plugin] = storage.plan_document(document).plugins
    jobs = tuple(job for job in plugin.jobs if job.role == "node")
    made = dataclasses.replace(plugin, jobs=jobs, expectation=expectation, minimum_nomad="")
    return model.StoragePlan(plugins=(made,), volumes=())


@pytest.fixture
def going(context, plan):
    """Return rounds that are asked of the scripted Nomad."""
    return rounds.Rounds(verification.Verifier(context.connect(), plan))


def test_outage_is_told_and_ends(going, scripted, plugin_cluster):
    """While nothing is known nothing is claimed; afterwards changes are those since the last answer."""
    plugin_cluster.plugin()
    plugin_cluster.plugin()
    plugin_cluster.plugin(instances=0)
    for restarts in (0, 0, 0):
        plugin_cluster.allocation(restarts=restarts)
    listed = scripted.replies["GET", "/v1/nodes"][0]
    scripted.replies["GET", "/v1/nodes"] = [listed, (500, "No cluster leader"), listed]

    first, second, third = (going.run() for _ in range(3))

    assert (first.exit_code, first.result, first.summary, first.changed) == (0, "ok", "as specified", ())
    assert (second.exit_code, second.result, second.report, second.changed) == (2, "error", None, ())
    assert second.summary.startswith(
        f"not known, Nomad gave no answer (its last answer came {claims_report.time_text(first.at_s)})"
    )
    assert second.last_answer_s == first.at_s
    assert (third.exit_code, third.result) == (1, "error")
    assert third.summary == "not as specified: 1 error, 0 warnings"
    [change] = third.changed
    assert str(change) == (
        "node instance of plugin aws-ebs0 on a: - -> instance-starting (it runs, but has not reported healthy yet)"
    )
    at = claims_report.time_text(third.at_s)
    assert third.as_json() == third.report.as_json() | {
        "round": 3,
        "at": at,
        "answered": True,
        "error": "",
        "last_answer": at,
        "changes": [dataclasses.asdict(change)],
    }


def test_nomad_that_never_answered_is_told_as_that(plan):
    """Nobody listens there."""
    with nomad.Nomad(nomad.Connection(address="http://127.0.0.1:9")) as client:
        done = rounds.Rounds(verification.Verifier(client, plan)).run()

    assert done.summary.startswith("not known, Nomad gave no answer (it never answered): GET /v1/plugin/")
    assert done.as_json() | {"at": "", "error": ""} == {
        "round": 1,
        "at": "",
        "answered": False,
        "error": "",
        "last_answer": "",
        "changes": [],
        "ok": None,
    }
    assert "nomad_csi_verify_answered 0\n" in done.metrics
