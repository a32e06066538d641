"""Each status is reached by bringing a plugin there, on an emulator of Nomad that runs emulators for CSI drivers."""

import json
import signal
import time

import pytest

from nomad_csi import cli, errors
from nomad_csi.frame import resource
from nomad_csi.health import events, explaining, plugin_health_wait
from tests import deadlines, live


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


@pytest.fixture
def strict():
    """A cluster that waits a second for an answer, where a real one waits five."""
    with live.started(watch_s=0.1, answer_s=1.0) as made:
        yield made


@pytest.fixture
def own():
    """A cluster for one test, whose clients may go."""
    with live.started(watch_s=0.1) as made:
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


def test_missing_where_the_scheduler_placed_none(shared):
    """A job that avoids a client leaves it without an instance."""
    constraint = 'constraint {\n attribute = "${node.unique.name}"\n value = "one"\n}'
    plugin = shared.run("half", constraint=constraint)

    seen = plugin.until("partial", "healthy", "missing")

    assert states(seen) == [("one", "healthy", "nomad"), ("two", "missing", "-")]
    assert [finding.code for finding in seen.status.findings] == ["node-missing"]


def test_missing_without_a_job(shared):
    """Nothing there is never 0 of 0."""
    plugin = live.Plugin(shared, "nobody", "plugin-nobody", shared.data_dir)

    [seen] = plugin.looker().observe()

    assert (seen.status.status, seen.status.counts) == ("missing", "0/2 nodes")


def test_starting_while_nothing_went_wrong(shared):
    """A task that runs and gave no answer yet is on its way."""
    plugin = shared.run("slow", command="/bin/sleep", arguments=["600"])

    seen = plugin.until("starting")

    assert {row.status for row in seen.status.instances} == {"starting"}


def test_unhealthy_after_its_health_timeout(shared):
    """The same task is no start any more when Nomad gave it up once; restarted again and again it is flapping."""
    plugin = shared.run("never", command="/bin/sleep", arguments=["600"], health_timeout="1s")

    plugin.until("unhealthy")
    seen = plugin.until("flapping", "flapping")

    assert "was never well: Plugin became unhealthy: Error: CSI plugin failed probe" in seen.status.instances[0].detail


def test_partial_with_one_that_is_not_ready(shared):
    """By Nomad's word, and back when it is well again."""
    plugin = shared.run("unready")
    plugin.until("healthy")
    plugin.fault("two", probe="not-ready")

    seen = plugin.until("partial", "healthy", "unhealthy")
    plugin.fault("two")

    assert states(seen) == [("one", "healthy", "nomad"), ("two", "unhealthy", "nomad")]
    plugin.until("healthy")


def test_one_sick_instance_is_allowed_for_and_shown(shared):
    """Half of them are enough here: a warning, and a plugin that is partial and all right."""
    plugin = shared.run("allowed")
    plugin.until("healthy")
    plugin.fault("two", probe="not-ready")

    seen = plugin.until("partial", "healthy", "unhealthy", min_healthy_percent=50)

    assert (seen.status.ok, seen.status.counts, seen.status.policy) == (True, "1/2 nodes", "at least 50 %")
    assert [(item.severity, item.code) for item in seen.status.findings] == [("warning", "instance-tolerated")]


def test_one_in_each_zone_is_not_reached_by_one_zone(shared):
    """Nomad's own fingerprint says in which zone the sick one is."""
    plugin = shared.run("zonal")
    plugin.until("healthy")
    plugin.fault("two", probe="not-ready")

    seen = plugin.until("partial", "healthy", "unhealthy", min_healthy_per_zone=1)

    assert not seen.status.ok
    [short] = [item for item in seen.status.findings if item.code == "too-few-healthy-in-zone"]
    assert (short.expected, short.found) == (
        "at least 1 in us-east-1b node instances healthy",
        "0, of 1 client there",
    )


def test_hung_by_its_own_silence(shared):
    """A stopped process accepts connections and says nothing; the probe sees it before Nomad does."""
    plugin = shared.run("frozen")
    plugin.until("healthy")
    plugin.signal("one", signal.SIGSTOP)

    [seen] = plugin.looker(client_data_dir=str(shared.data_dir), probe_timeout_s=2).observe()
    plugin.signal("one", signal.SIGCONT)

    assert states(seen) == [("one", "hung", "csi"), ("two", "healthy", "csi")]


def test_hung_by_the_word_of_nomad(strict):
    """Without the sockets Nomad's own sentence tells silence from illness."""
    plugin = strict.run("silent")
    plugin.until("healthy")
    plugin.fault("one", probe="hang")

    seen = plugin.until("partial", "hung", "healthy")

    assert states(seen) == [("one", "hung", "nomad"), ("two", "healthy", "nomad")]


def test_flapping_after_three_falls(shared):
    """Well at the moment, and not to be relied on."""
    plugin = shared.run("flaps")
    plugin.until("healthy")
    for _ in range(events.FALLS):
        plugin.fault("one", probe="not-ready")
        plugin.until("partial")
        plugin.fault("one")
        _until_heard(plugin, "one")

    [seen] = plugin.looker().observe()

    assert states(seen)[0] == ("one", "flapping", "nomad")
    assert "it became unhealthy 3 times" in seen.status.instances[0].detail


def test_restarted_in_place_while_nomad_calls_it_healthy(patient, monkeypatch):
    """Killed, back within moments, never unhealthy to Nomad; its task's events tell."""
    plugin = patient.run("killed")
    plugin.until("healthy")
    plugin.kill("one")

    [seen] = plugin.looker().observe()

    assert [item.healthy for item in seen.seen.plugin.nodes] == [True, True]
    assert states(seen)[0] == ("one", "restarted", "nomad")
    monkeypatch.setattr(events, "SETTLES_S", 0.0)
    assert plugin.until("healthy").status.instances[0].detail == "restarted once so far"


def test_restarted_between_two_looks(patient, monkeypatch):
    """Two looks see it, however old Nomad's word may be."""
    monkeypatch.setattr(events, "SETTLES_S", 0.0)
    plugin = patient.run("watched")
    plugin.until("healthy")
    looker = plugin.looker()
    before = looker.observe()
    plugin.kill("two")

    [seen] = looker.observe(before)

    assert [row.status for row in seen.status.instances] == ["healthy", "restarted"]


@pytest.mark.parametrize(
    ("fault", "code"), [({"name": "other.csi.example.com"}, "provider-differs"), ({"version": "v9"}, "version-differs")]
)
def test_wrong_identity_by_name_and_version(shared, fault, code):
    """Another driver, or another version of it, under the plugin's id."""
    plugin = shared.run(f"other-{code.partition('-')[0]}")
    for name in live.ZONES:
        plugin.fault(name, **fault)

    seen = plugin.until("wrong-identity", "wrong-identity", "wrong-identity")

    assert code in {item.code for item in seen.status.findings}


def test_version_that_changed_is_asked_of_the_instance(shared):
    """Nomad asks once at the start; an exchanged binary shows in the instance's own answer."""
    plugin = shared.run("newer")
    plugin.until("healthy")
    plugin.fault("two", version="v9")

    [seen] = plugin.looker(client_data_dir=str(shared.data_dir)).observe()

    assert states(seen) == [("one", "healthy", "csi"), ("two", "wrong-identity", "csi")]


def test_wrong_zone_against_the_clients_own(shared):
    """A driver that takes its zone from elsewhere would have volumes placed where they cannot be reached."""
    plugin = shared.run("astray", env='NOMAD_CSI_SANDBOX_ZONE = "us-east-1b"')

    seen = plugin.until("partial", "wrong-zone", "healthy")

    assert states(seen) == [("one", "wrong-zone", "nomad"), ("two", "healthy", "nomad")]
    assert seen.status.instances[0].detail == "it reports zone us-east-1b, its client is in us-east-1a"


def test_wrong_capability_against_what_the_plan_needs(shared):
    """It is healthy and cannot do what it is needed for."""
    plugin = shared.run("unable")

    seen = plugin.until("wrong-capability", *["wrong-capability"] * 2, node_supports=("StageVolume",))

    assert "it does not report StageVolume" in seen.status.instances[0].detail


def test_wrong_capability_of_the_one_that_lacks_it(shared):
    """Two instances of one driver, of which one does not say that it stages volumes, as the other does."""
    folder = shared.data_dir / "faults-ebs-lacking"
    folder.mkdir()
    (folder / "two.json").write_text(json.dumps({"lacks": ["STAGE_UNSTAGE_VOLUME"]}))
    arguments = ["--driver", "aws-ebs", "node", "--endpoint=${CSI_ENDPOINT}"]
    plugin = shared.run("ebs-lacking", arguments=arguments)
    wanted = {"provider": "ebs.csi.aws.com", "version": "v1.64.0", "driver": "aws-ebs"}

    seen = plugin.until("partial", "healthy", "wrong-capability", node_supports=("StageVolume",), **wanted)

    assert states(seen) == [("one", "healthy", "nomad"), ("two", "wrong-capability", "nomad")]
    assert "it does not report StageVolume" in seen.status.instances[1].detail


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


def test_zone_whose_client_drains_keeps_its_minimum(own):
    """One client is left, and the other zone has none; without a minimum the drain is only named."""
    plugin = own.run("zones")
    plugin.until("healthy")
    own.cluster.drain(own.node_id("one"), {"Deadline": -1})

    strict = plugin.until("partial", min_healthy_per_zone=1)
    lenient = plugin.until("healthy")

    [short] = [item for item in strict.status.findings if item.severity == "error"]
    assert (short.code, short.expected, short.found) == (
        "too-few-healthy-in-zone",
        "at least 1 in us-east-1a node instances healthy",
        "0, of 1 client there",
    )
    assert [(item.severity, item.code, item.found) for item in lenient.status.findings] == [
        ("warning", "client-not-counted", "not eligible for scheduling: one")
    ]


def test_duplicate_on_one_client(shared):
    """Two jobs under one plugin id: Nomad knows one of the two instances."""
    plugin = shared.run("twice")
    plugin.until("healthy")
    shared.run("twice", job_id="plugin-twice-again")

    seen = plugin.until("duplicate", "duplicate")

    assert "runs another instance there" in seen.status.instances[0].detail


def test_duplicate_of_which_nomad_lists_the_plans_own_is_told(shared):
    """The job that was there before goes on unseen; Nomad lists the instances that came last."""
    before = shared.run("again", job_id="plugin-again-before")
    before.until("healthy", "healthy", "healthy")
    plugin = shared.run("again")
    deadline = time.monotonic() + 120
    while not (seen := plugin.until("healthy", "healthy", "healthy")).status.findings:
        assert time.monotonic() < deadline  # at first Nomad lists the instances that were there before
        time.sleep(0.02)

    assert [str(item) for item in seen.status.findings] == [
        "job-duplicate: plugin again: expected no instances of job plugin-again-before on the clients of the plan's "
        "jobs, found instances on one, two; stop one of the two jobs: a plugin id can run only once on a client, and Nomad calls the "
        "instance that started last"
    ]


def test_drained_and_lost_clients_need_no_instance(own):
    """What remains is all there must be; without any client it is not 0 of 0."""
    plugin = own.run("efs0")
    plugin.until("healthy")

    own.cluster.drain(own.node_id("one"), {"Deadline": -1})
    after = plugin.until("healthy")
    assert states(after) == [("two", "healthy", "nomad")]
    own.cluster.lose(own.node_id("two"))

    seen = plugin.until("missing")
    assert seen.status.counts == "0/0 nodes"
    assert not seen.status.ok


def test_positional_word_is_named_as_the_trap(shared):
    """The documentation's old job for EFS: the word in front makes the driver ignore its endpoint."""
    plugin = shared.run("efs-docs", words=("node",))
    seen = plugin.until("flapping")

    told = explaining.explain(shared.client, plugin.expectation(), (plugin.job_id,), seen.seen, seen.status)

    [issue] = [cause for cause in told if cause.kind == "known-issue"]
    assert issue.text.startswith("a word without dashes in front makes the driver ignore every flag behind it")
    assert "'node'" in issue.text
    assert plugin.job_id in issue.text
    assert [cause.kind for cause in told if cause.kind == "log"] != []


def test_positional_word_is_named_by_the_command(shared, tmp_path, capsys):
    """`nomad-csi verify` tells the issue with its evidence, in the table and in the JSON."""
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

    [issue] = [cause for cause in status["causes"] if cause["kind"] == "known-issue"]
    assert issue["text"].startswith("a word without dashes in front makes the driver ignore every flag behind it")
    assert "'node'" in issue["text"]
    assert f"issue {issue['where']} {issue['text']}" in table


def _until_heard(plugin, name):
    """Wait until Nomad calls the instance healthy again, whatever we say of it."""
    deadline = time.monotonic() + deadlines.PATIENT_S
    while True:
        [seen] = plugin.looker().observe()
        [item] = [item for item in seen.seen.plugin.nodes if item.node_id == plugin.live.node_id(name)]
        if item.healthy:
            return
        assert time.monotonic() < deadline
        time.sleep(0.02)
