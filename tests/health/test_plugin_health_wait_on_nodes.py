"""The gate asks instances on their clients by a job, when Nomad calls them healthy: their own word opens it."""

import dataclasses
import json

import pytest

from nomad_csi import errors
from nomad_csi.health import gather, plugin_health, plugin_health_properties, plugin_health_wait, probe_run
from nomad_csi.plan import model
from nomad_csi.spec import plugin as spec
from tests import clocks
from tests.health import test_plugin_health
from tests.plugin_samples import READY

JOB = "nomad-csi-probe-cafe"
LOG = "/v1/client/fs/logs/probe-a"
SILENT = dataclasses.replace(READY, status="silent", detail="no answer within 5 s", name="", node_capabilities=None)
RUN = spec.OnNodesSpec(image="x/y:1", state_dir="/s")


def answer(said):
    """What the probe prints of the one instance."""
    return json.dumps({"folder": "/plugins", "problem": "", "reports": {"alloc-a": said.as_json()}})


@pytest.fixture
def wanted(expectation):
    """A plugin that is to be asked on its clients."""
    return dataclasses.replace(expectation, evidence="csi", on_nodes=RUN)


@pytest.fixture
def asked(plugin_cluster, monkeypatch):
    """A Nomad that calls ``aws-ebs0`` on client ``a`` healthy and takes probe jobs; return its script."""
    monkeypatch.setattr(probe_run.secrets, "token_hex", lambda _: "cafe")
    plugin_cluster.plugin()
    plugin_cluster.allocation()
    script = plugin_cluster.scripted
    script.reply("POST", "/v1/jobs/parse", 200, {"ID": JOB, "Namespace": "default"})
    script.reply("POST", "/v1/jobs", 200, {"EvalID": "e"})
    script.reply("DELETE", f"/v1/job/{JOB}", 200, {})
    return script


def ended(script, status="complete"):
    found = {"ID": "probe-a", "NodeID": "id-a", "NodeName": "a", "ClientStatus": status, "DesiredStatus": "run"}
    script.reply("GET", f"/v1/job/{JOB}/allocations", 200, [found])


def jobs_of(script):
    """Return how many jobs were registered, and how many purged."""
    registered = [path for path, _ in script.sent("POST") if path.partition("?")[0] == "/v1/jobs"]
    return len(registered), sum("purge=true" in path for path, _ in script.sent("DELETE"))


def wait(context, expectation, cluster):
    return plugin_health_wait.wait(context, expectation, cluster.job_ids)


def test_opens_for_its_own_word_and_leaves_no_job(context, heard, plugin_cluster, asked, wanted):
    """One job, with the clients that it asks."""
    ended(asked)
    asked.reply("GET", LOG, 200, answer(READY))

    status = wait(context, wanted, plugin_cluster)

    assert (status.status, status.evidence, jobs_of(asked)) == ("healthy", "csi", (1, 1))
    assert heard["warn"] == []
    assert [line for line in heard["status"] if "asking" in line] in (
        [f"1/1 nodes, asking 1 client with job {JOB}: a"],
        [],  # it was over before somebody looked
    )


def test_no_job_is_run_where_all_answer_from_here(context, monkeypatch, plugin_cluster, asked, wanted):
    """Their sockets are on this machine."""
    monkeypatch.setattr(gather, "_hidden", lambda _path: "")
    monkeypatch.setattr(gather.probe, "probe", lambda *_, **_more: READY)

    status = wait(context, dataclasses.replace(wanted, client_data_dir="/data"), plugin_cluster)

    assert (status.status, status.evidence, jobs_of(asked)) == ("healthy", "csi", (0, 0))


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (answer(SILENT), "0/1 nodes, asked over CSI: a: its own answer: silent: no answer within 5 s"),
        (json.dumps({"problem": "no", "reports": {}}), "1/1 nodes, asked over CSI: node on a: no-answer"),
    ],
)
def test_stays_closed_for_a_silent_socket_until_it_answers(context, heard, plugin_cluster, asked, wanted, said, status):
    """Nomad's word is not enough; the gate asks again, after a while."""
    ended(asked)
    asked.reply("GET", LOG, 200, said)
    asked.reply("GET", LOG, 200, answer(READY))

    assert wait(context, wanted, plugin_cluster).evidence == "csi"

    assert jobs_of(asked) == (2, 2)
    assert status in heard["status"]
    assert context.client.clock.now() == plugin_health_wait.INTERVAL_MAX_S


def test_restart_while_the_job_ran_closes_it_again(context, plugin_cluster, asked, wanted):
    """The plugin is stable before the job and answers in it: a restart in between begins its window anew."""
    ended(asked)
    asked.reply("GET", LOG, 200, answer(READY))
    allocations = f"/v1/job/{plugin_cluster.job_ids[0]}/allocations"
    before = asked.replies["GET", allocations]
    asked.replies["GET", allocations] = []
    plugin_cluster.allocation(restarts=1)
    after, asked.replies["GET", allocations] = asked.replies["GET", allocations], before

    def said():
        asked.replies["GET", allocations] = after
        return answer(READY)

    asked.replies["GET", LOG] = [(200, said)]

    assert wait(context, dataclasses.replace(wanted, stable_s=0.2), plugin_cluster).evidence == "csi"

    assert jobs_of(asked) == (2, 2)


def test_fails_with_who_was_asked_and_what_they_said(context, plugin_cluster, asked, wanted):
    """The finding says what to do; what each said stands below."""
    ended(asked)
    asked.reply("GET", LOG, 200, answer(SILENT))
    plugin_cluster.log("")

    with pytest.raises(errors.NomadCsiError) as caught:
        wait(context, dataclasses.replace(wanted, timeout_s=2), plugin_cluster)

    lines = str(caught.value).splitlines()
    assert lines[0] == "plugin aws-ebs0 is not verified healthy after 2 s: 0/1 nodes; nothing was registered"
    assert lines[1].startswith("  instance-hung: node instance of plugin aws-ebs0 on a: ")
    assert "  asked over CSI by a job: node on a: silent" in lines
    registered, purged = jobs_of(asked)
    assert registered == purged >= 1


def test_an_interrupt_purges_the_job_before_the_step_ends(context, monkeypatch, plugin_cluster, asked, wanted):
    """The engine ends the provider soon after."""
    context.client.clock = clocks.Brisk()  # else the job has no time left before somebody looks
    monkeypatch.setattr(probe_run, "REMOVE_S", 0.05)
    ended(asked, "running")
    interrupted = dataclasses.replace(context, status=lambda line: "asking" in line and context.cancelled.set())

    with pytest.raises(errors.CancelledError, match="cancelled while waiting for plugin aws-ebs0"):
        wait(interrupted, wanted, plugin_cluster)

    assert jobs_of(asked) == (1, 1)


NEWS = test_plugin_health.NEWS | {
    "evidence": "csi",
    "onNodes": {"command": "nomad-csi", "image": "x/y:1", "stateDir": "/s", "timeoutS": 60},
    "timeoutS": 30,
}
HEALTH = plugin_health.PluginHealthResource()


def test_check_reads_how_instances_are_probed():
    """With the defaults of a spec."""
    assert [problem.path for problem in HEALTH.check(NEWS | {"onNodes": {"timeoutS": 0}})[1]] == ["onNodes.timeoutS"]
    assert HEALTH.check(NEWS | {"onNodes": {}})[0]["onNodes"] == {"command": "nomad-csi", "timeoutS": 60}


def test_create_tells_that_the_instances_answered(context, heard, asked):
    """By the job on their clients."""
    ended(asked)
    asked.reply("GET", LOG, 200, answer(READY))

    assert HEALTH.create(context, NEWS)[1]["verifiedBy"] == "csi"
    assert heard["status"][-1] == "plugin aws-ebs0: 1/1 nodes, verified by CSI probes"


def test_every_field_of_an_expectation_goes_through_the_inputs():
    """A field without an input would be lost between the program and the gate."""
    run = spec.OnNodesSpec(command="/bin/ask", image="x/y:1", state_dir="/state", timeout_s=9)
    expected = model.PluginExpectation(
        plugin_id="efs0",
        provider="efs.csi.aws.com",
        version="v1",
        namespace="storage",
        controllers=2,
        monolith=True,
        nodes=3,
        datacenters=("dc1",),
        node_pool="storage",
        constraints=(model.Constraint(attribute="${attr.x}", operator="is_set", value=""),),
        task_driver="podman",
        client_data_dir="/data",
        evidence="csi",
        on_nodes=run,
        timeout_s=4.5,
        stable_s=0,
        min_healthy_percent=95,
        min_healthy_per_zone=2,
        controller_supports=("AttachDetach",),
        node_supports=("StageVolume",),
        driver="aws-efs",
    )

    inputs, failures = plugin_health_properties.PluginHealthInputs.check(plugin_health_properties.inputs_of(expected))

    assert failures == ()
    found = plugin_health_properties.expectation(inputs)
    assert dataclasses.replace(found, on_nodes=None) == dataclasses.replace(expected, on_nodes=None)
    assert found.on_nodes.model_dump() == run.model_dump()
    assert plugin_health._job_ids({"jobs": dict.fromkeys("dbca", "1")}) == tuple("abcd")
