"""Which controller a probe job asks for which volumes: one of them, without secrets, and what it did not say is told."""

import json

import pytest

from nomad_csi import nomad
from nomad_csi.csi import records, validation
from nomad_csi.diagnosis import verification
from nomad_csi.health import probe_run, probed
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.plan import model, program_jobs, registration
from tests import clocks, replies

CANARY = "canary-31f7"
JOB = "nomad-csi-probe-cafe"
WRITER = registration.Capability(access_mode="single-node-writer", attachment_mode="file-system")
READY = records.ProbeReport(
    endpoint="/csi.sock",
    status="ready",
    detail="fine",
    latency_ms=1.0,
    name="ebs.csi.aws.com",
    vendor_version="v1.64.0",
    controller_capabilities=(),
)


def instance(name, **changes):
    empty = {"health_description": "", "provider_version": "", "segments": {}}
    given = {"role": "controller", "node_id": f"id-{name}", "alloc_id": f"alloc-{name}", "healthy": True}
    return plugins.Instance(**given | empty | {"supports": frozenset()} | changes)


def plugin(*controllers):
    return plugins.Plugin(
        plugin_id="p",
        provider="",
        version="",
        controller_required=True,
        controllers=controllers,
        nodes=(),
        controllers_expected=0,
        nodes_expected=0,
    )


def client(name, **changes):
    given = {"node_id": f"id-{name}", "name": name, "datacenter": "", "node_pool": "", "node_class": ""}
    ready = {"status": "ready", "eligible": True, "draining": False, "drivers": {"raw_exec": True}}
    return nodes.Node(**given | ready | changes)


def volume(name, **changes):
    found = {"ID": name, "Namespace": "default", "ExternalID": f"vol-{name}", "PluginID": "p"}
    uses = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
    return volumes.volume_of(replies.read(volumes.VolumeReply, found | {"RequestedCapabilities": uses} | changes))


def chosen(record, *clients, needs=None, with_secrets=()):
    known = {node.node_id: node for node in clients}
    return probe_run.volume_questions(record, needs or [volume("a")], with_secrets, known, program_jobs.ProbeJob())


def test_a_controller_whose_client_takes_no_job_is_not_asked():
    """The next one is, or nobody, and that is told."""
    record = plugin(instance("a"), instance("b", healthy=False))

    assert chosen(record, client("a", draining=True), client("b")).alloc_id == "alloc-b"
    nobody = chosen(record, client("a", status="down"))
    assert (nobody.questions, nobody.skipped) == ((), {("default", "a"): probe_run.NO_CONTROLLER})


def test_volumes_with_secrets_stay_out_of_the_job():
    """What the plan says, and what has the name of a secret."""
    needs = [volume("a"), volume("b"), volume("c", Context={"password": CANARY})]

    asked = chosen(plugin(instance("a")), client("a"), needs=needs, with_secrets={("default", "b")})

    assert [item.key[1] for item in asked.questions] == ["a"]
    assert {key[1]: why for key, why in asked.skipped.items()} == dict.fromkeys("bc", "needs secrets")
    assert CANARY not in str(validation.unpacked(probe_run.environment([asked], 60.0)))


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, probe_run.NO_CONTROLLER),
        (probed.ClientAnswer(problem="late", reports={}), "no result from its controller's client: late"),
        (probed.ClientAnswer(reports={}), "no result from its controller's client: missing"),
        (probed.ClientAnswer(reports={"alloc-a": READY}), "no result from its controller's client: ready"),
        (
            probed.ClientAnswer(reports={"alloc-a": READY}, validated={"alloc-a": {"asked": 7, "wrong": []}}),
            "the answer of its client cannot be read: it answered for other volumes",
        ),
        (
            probed.ClientAnswer(reports={"alloc-a": READY}, validated={"alloc-a": {}}),
            "the answer of its client cannot be read: 'wrong'",
        ),
    ],
)
def test_no_word_on_a_volume_is_told_with_its_reason(answer, why):
    """Never taken for a confirmation."""
    asked = chosen(plugin(instance("a")), client("a"))

    said, skipped = probe_run.answered(asked, {"id-a": answer} if answer else {})

    assert (said, skipped) == ({}, {("default", "a"): why})


@pytest.fixture
def verify(plugin_cluster, monkeypatch, expectation):
    """Verify a volume of a plugin with a controller, which said *told* of it; return the report and the job's source."""
    monkeypatch.setattr(probe_run.secrets, "token_hex", lambda _: "cafe")
    script = plugin_cluster.scripted
    info = {"AllocID": "alloc-c", "Healthy": True, "Provider": "ebs.csi.aws.com", "ProviderVersion": "v1.64.0"}
    record = {"ID": "aws-ebs0", "Provider": "ebs.csi.aws.com", "Version": "v1.64.0", "Controllers": {"id-a": info}}
    script.reply("GET", "/v1/plugin/csi/aws-ebs0", 200, record)
    script.reply("POST", "/v1/jobs/parse", 200, {"ID": JOB, "Namespace": "default"})
    script.reply("POST", "/v1/jobs", 200, {"EvalID": "e"})
    script.reply("DELETE", f"/v1/job/{JOB}", 200, {})
    ended = {"ID": "probe-a", "NodeID": "id-a", "NodeName": "a", "ClientStatus": "complete", "DesiredStatus": "run"}
    script.reply("GET", f"/v1/job/{JOB}/allocations", 200, [ended])
    script.reply("GET", "/v1/allocations", 200, [])
    held = {"ID": "mysql", "Namespace": "default", "Name": "mysql", "ExternalID": "vol-1", "PluginID": "aws-ebs0"}
    uses = [{"AccessMode": "single-node-writer", "AttachmentMode": "file-system"}]
    script.reply("GET", "/v1/volume/csi/mysql", 200, held | {"RequestedCapabilities": uses, "Schedulable": True})

    def run(wrong, *, secrets=None, **options):
        said = {"folder": "/p", "problem": "", "reports": {"alloc-c": READY.as_json()}}
        said["validated"] = {"alloc-c": {"asked": 1, "wrong": wrong}}
        script.reply("GET", "/v1/client/fs/logs/probe-a", 200, json.dumps(said))
        wanted = registration.VolumeRegistration(
            volume_id="mysql",
            name="mysql",
            external_id="vol-1",
            plugin_id="aws-ebs0",
            capabilities=(WRITER,),
            required_topologies=(),
            secrets=secrets or {},
        )
        own = model.PluginPlan(
            plugin_id="aws-ebs0", driver="aws-ebs", jobs=(), expectation=expectation, iam_policy=None, adopt=False
        )
        held = model.VolumePlan(registration=wanted, source=None, protect=True, adopt=False)
        plan = model.StoragePlan(plugins=(own,), volumes=(held,))
        how = probe_run.OnNodes(job=program_jobs.ProbeJob(image="x/y:1", state_dir="/s"))
        with nomad.Nomad(nomad.Connection(address=script.address), timeout_s=60.0, clock=clocks.Clock()) as asking:
            found = verification.Verifier(asking, plan, on_nodes=how).verify(**options)
        sources = [body["JobHCL"] for path, body in script.sent("POST") if path.startswith("/v1/jobs/parse")]
        return found, sources

    return run


def test_what_the_controller_says_is_a_finding_of_the_volume(verify):
    """As wrong as a volume that differs."""
    gone = {"code": "NOT_FOUND", "confirmed": False, "message": "no such volume"}

    found, [source] = verify([["default", "mysql", gone]])

    [volume_status] = found.volumes
    assert [(item.code, item.found) for item in volume_status.findings] == [
        ("volume-unknown", "NOT_FOUND: no such volume")
    ]
    assert not found.ok
    assert "NOMAD_CSI_PROBE_VOLUMES_0" in source


def test_two_checks_run_one_job(verify):
    """The sockets are asked at the second, which counts."""
    _, sources = verify([], watch_s=0.01)

    assert len(sources) == 1


def test_secrets_of_the_spec_are_in_no_job(verify):
    """Such a volume is told as not validated."""
    found, [source] = verify([], secrets={"password": CANARY})

    assert [item.found for item in found.findings if item.code == "volume-not-validated"] == [
        "1 of 1 not validated (default/mysql): needs secrets"
    ]
    assert "NOMAD_CSI_PROBE_VOLUMES_0" not in source
    assert CANARY not in source
    assert CANARY not in json.dumps(found.as_json())
