"""Each status is reached by bringing a plugin there, on an emulator of Nomad that runs emulators for CSI drivers."""

import json
import signal

import pytest

from nomad_csi import cli, errors
from nomad_csi.frame import resource
from nomad_csi.health import events, plugin_health_wait
from tests import live


@pytest.fixture(scope="module")
def quick():
    """A cluster that asks its plugins often."""
    with live.started(watch_s=0.1) as made:
        yield made


@pytest.fixture
def shared(quick):
    """A cluster that asks its plugins often; what a test runs ends with it."""
    yield quick
    quick.stop_all()


@pytest.fixture
def patient():
    """A cluster that asks its plugins every 30 s, as a real one does."""
    with live.started(watch_s=30.0) as made:
        yield made


def states(seen):
    """Return client, status and proof of each row."""
    return [(row.node_name, row.status, row.evidence) for row in seen.status.instances]


def test_healthy_by_its_own_word(shared):
    """Both instances answered over their sockets, in the zones of their clients."""
    plugin = shared.run("well")

    seen = plugin.until("healthy", client_data_dir=str(shared.data_dir), evidence="csi")

    assert states(seen) == [("one", "healthy", "csi"), ("two", "healthy", "csi")]
    assert [row.zone for row in seen.status.instances] == ["us-east-1a", "us-east-1b"]


def test_hung_by_its_own_silence(shared):
    """A stopped process accepts connections and says nothing; the probe sees it before Nomad does."""
    plugin = shared.run("frozen")
    plugin.until("healthy")
    plugin.signal("one", signal.SIGSTOP)

    [seen] = plugin.looker(client_data_dir=str(shared.data_dir), probe_timeout_s=2).observe()
    plugin.signal("one", signal.SIGCONT)

    assert states(seen) == [("one", "hung", "csi"), ("two", "healthy", "csi")]


def test_restarted_in_place_while_nomad_calls_it_healthy(patient, monkeypatch):
    """Killed, back within moments, never unhealthy to Nomad; its task's events tell."""
    plugin = patient.run("killed")
    plugin.until("healthy")
    plugin.kill("one")

    [seen] = plugin.looker().observe()

    assert [item.healthy for item in seen.plugin.plugin.nodes] == [True, True]
    assert states(seen)[0] == ("one", "restarted", "nomad")
    monkeypatch.setattr(events, "SETTLES_S", 0.0)
    assert plugin.until("healthy").status.instances[0].detail == ""


@pytest.mark.parametrize("evidence", ["nomad", "csi"])
def test_what_another_job_runs_is_none_of_the_plans(shared, evidence):
    """The plan's job fits no client, and another one runs the plugin everywhere: missing, and the gate stays closed."""
    other = shared.run("lent", job_id="someone-elses-job")
    other.until("healthy")
    constraint = 'constraint {\n attribute = "${node.unique.name}"\n value = "nowhere"\n}'
    plugin = shared.run("lent", constraint=constraint)
    wanted = {"evidence": evidence, "client_data_dir": str(shared.data_dir), "timeout_s": 1.0}

    seen = plugin.until("missing", "missing", "missing", **wanted)
    with pytest.raises(errors.NomadCsiError) as raised:
        plugin_health_wait.wait(
            resource.Context(connect=lambda: shared.client), plugin.expectation(**wanted), (plugin.job_id,)
        )

    assert (seen.status.ok, seen.status.counts) == (False, "0/2 nodes")
    assert [row.detail for row in seen.status.instances] == ["served by job someone-elses-job"] * 2
    assert [(item.severity, item.code, item.found) for item in seen.status.findings] == [
        ("error", "job-foreign", "served by job someone-elses-job on one, two")
    ]
    assert "not verified healthy after 1 s: 0/2 nodes; nothing was registered\n  job-foreign: " in str(raised.value)


def test_positional_word_is_named_by_the_command(shared, tmp_path, capsys):
    """`nomad-csi verify` names the rule that the running job breaks, in the table and in the JSON."""
    plugin = shared.run("efs-word", words=("node",))
    plugin.until("flapping")
    task_driver = {"name": "raw_exec", "command": "efs", "client_data_dir": str(shared.data_dir)}
    wanted = {"id": "efs-word", "driver": "aws-efs", "aws_region": "us-east-1", "task_driver": task_driver}
    (tmp_path / "storage.yaml").write_text(json.dumps({"plugins": [wanted]}))
    words = ["verify", str(tmp_path / "storage.yaml"), "--address", shared.server.url]

    assert cli.main(words) == 1
    table = " ".join(capsys.readouterr().out.split())
    assert cli.main([*words, "--json"]) == 1
    [status] = json.loads(capsys.readouterr().out)["plugins"]

    [issue] = [cause for cause in status["causes"] if "positional-word" in cause["where"]]
    assert issue["kind"] == "job"
    assert "'node'" in issue["text"]
    assert f"job {issue['where']} {issue['text']}" in table
