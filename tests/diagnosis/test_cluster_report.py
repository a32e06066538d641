"""What a report tells of a cluster, how often it asks, and what it says where it may not ask."""

import json
from pathlib import Path

import pytest

from nomad_csi import cli, errors, nomad
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import claim_status, cluster_report, page
from nomad_csi.nomad import nodes
from nomad_csi.plan import storage
from tests.diagnosis import report_picture as demo
from tests.diagnosis import situations

RECORDED = Path(__file__).with_name("cluster_report.json")
SMOKE = {
    "namespace": "default",
    "volume_id": "data-00001",
    "status": "verified",
    "verified": ["data came back on another client"],
    "not_verified": [],
    "left_behind": [],
}


@pytest.fixture
def ask():
    """Return the report on a cluster: ``ask(clients, volumes, before=..., kind=nomad.Nomad, **question)``."""

    def run(clients, volumes, *, before=None, kind=nomad.Nomad, **question):
        with demo.running(clients, volumes) as (host, serving):
            if before:
                before(host)
            host.requests.clear()
            with kind(nomad.Connection(address=serving.url)) as client:
                found = cluster_report.build_report(client, cluster_report.ReportOptions(**question))
            return found, [item["path"] for item in host.requests]

    return run


def test_healthy_cluster_has_no_findings(ask):
    """Plugins by what their own jobs ask for, volumes by what Nomad says of them, all of it in its zone."""
    found, _ = ask(6, 12)

    data = found.data
    counts = [(row["plugin_id"], row["status"], row["nodes"], row["controllers"]) for row in data["plugins"]]
    six, two, none = ({"healthy": number, "expected": number} for number in (6, 2, 0))
    assert counts == [("aws-ebs0", "healthy", six, two), ("aws-efs0", "healthy", six, none)]
    assert found.findings == ()
    assert {row["status"] for row in data["volumes"]} == {"ok"}
    both = {"aws-ebs0": two, "aws-efs0": two}
    assert [(zone["name"], zone["clients"], zone["plugins"], zone["volumes"]) for zone in data["zones"]] == [
        ("us-east-1a", 2, both, 2),
        ("us-east-1b", 2, both, 2),
        ("us-east-1c", 2, both, 4),
    ]
    assert (data["cluster"]["region"], data["spec"], found.unexpected) == ("global", "", [])


def test_report_and_its_page_have_everything(make, whole, monkeypatch):
    """Each section with a row of each kind, as data and as the page groups it."""
    held = make.claimed(node_id="id-0", node_name="c", since_ns=1_795_000_000 * 10**9)
    lost = make.replace(
        make.claimed(node_id="id-b", node_name="", job_id="", mode="read"),
        volume_id="kafka",
        namespace="prod",
        external_id="fs-1",
        capacity_bytes=7 * 2**30,
    )
    on = aws_records.Attachment(instance_id="i-1", state="attached", device="/dev/xvdba", instance_state="running")
    ebs = aws_records.AttachedVolume(external_id=make.EBS_ID, state="in-use", attachments=(on,))
    clients = (
        make.node(node_id="id-a", name="a"),
        make.node(node_id="id-b", name="b", status="down"),
        make.node(node_id="id-0", name="c", eligible=False, datacenter="dc2", node_pool="gpu", version="2.0.4"),
        make.node(node_id="id-d", name="d", draining=True, eligible=False, attributes={}),
    )
    seen = aws_records.ObservedAttachments(volumes={make.EBS_ID: ebs}, instances={})
    zones = ({make.ZONE_KEY: "us-east-1b"}, {make.ZONE_KEY: "us-east-1a"})
    found = situations._planned(
        make,
        now_ns=situations.NOW_NS,
        identity="0f8fad5b",
        listed_clients=(),
        listed=(),
        servers=tuple(nodes.Server(name=f"s{n}.eu", status="alive", version=f"2.0.{n}") for n in (7, 5, 6, 4)),
        clients=clients,
        plugins={
            "ebs": make.plugin(nodes=(make.instance("node", node_id="id-a"),)),
            **{name: make.plugin(controllers=(), nodes=()) for name in ("other", "d", "c", "b")},
        },
        statuses=tuple(make.replace(each, plugin_id="ebs") for each in whole.plugins),
        instance_ids={"id-a": make.INSTANCE_ID},
        volumes=(
            make.volume(size_bytes=1, claims=2),
            make.volume(key="prod/kafka", external_id="fs-1", plugin_id="efs", segments=zones, claims=2, size_bytes=1),
            make.volume(
                key="default-2/odd",
                segments=({"rack": "1"},),
                external_id="c",
                plugin_id="other",
                claims=3,
                schedulable=False,
            ),
            make.volume(key="default/gone", is_registered=False, claims=0, external_id="", size_bytes=2**30),
        ),
        claimed_keys=["first", "second", "third"],
        claims=claim_status.judge([held, lost], clients, seen),
        claimed=(held, lost),
        token=situations.UNKNOWN,
    )
    found.registered["default/mysql"] = held
    found.client.connection = nomad.Connection(address="http://nomad:4646")
    monkeypatch.setattr(cluster_report, "ReportFacts", lambda *_: found)
    smoke = [
        cluster_report.read_smoke(json.dumps(SMOKE | changes), "smoke.json")
        for changes in (
            {"volume_id": "mysql"},
            {"namespace": "default-2", "volume_id": "odd", "status": "failed", "left_behind": ["a file"]},
            {"namespace": "prod", "volume_id": "kafka", "status": "failed", "not_verified": ["it hung", "x"]},
            {"namespace": "default-2", "volume_id": "odd", "status": "not verified"},
        )
    ]
    options = cluster_report.ReportOptions(spec="a.yaml", smoke=tuple(smoke), sandbox="mark", title="Shop")

    report = cluster_report.build_report(found.client, options)

    shown = {"data": report.data, "page": page.render_page(report) | {"report": ""}}
    assert json.dumps(shown, indent=0, default=str) == RECORDED.read_text(encoding="utf-8")


def test_what_hurts_is_found(ask):
    """A sick instance, the claims of a client that is down, and the clients that are not counted, errors first."""
    found, _ = ask(24, 40, before=demo.hurt)

    assert [(item.severity, item.code, item.found_by) for item in found.findings] == [
        ("error", "instance-unhealthy", "verify"),
        ("error", "claim-node-down", "claims"),
        ("warning", "client-not-counted", "verify"),
        ("warning", "client-not-counted", "verify"),
    ]
    assert demo.DENIED in found.findings[0].found
    clients = found.data["clients"]
    states = {row["name"]: row["state"] for row in clients if row["state"] != "ready"}
    assert states == {"client-00008": "down", "client-00009": "draining"}
    assert {row["zone"] for row in clients} == {"us-east-1a", "us-east-1b", "us-east-1c"}


def test_number_of_calls_does_not_grow(ask):
    """Ten times the clients and volumes: each client is read, claimed volumes up to the bound, and nothing more."""
    _, few = ask(12, 40, claimed_max=4)
    found, many = ask(120, 400, claimed_max=4)
    others = [sorted(path for path in paths if not path.startswith("/v1/node/")) for paths in (few, many)]

    assert others[0] == others[1]
    assert len(many) - len(others[1]) <= 2 * 120
    assert (len(found.data["claims"]), found.data["claims_unread"]) == (4, 196)
    remark = "all live; claims of 196 volumes not read"
    assert page.render_page(found)["tiles"][3] == {"label": "claims", "count": 200, "remark": remark, "kind": "unsure"}
    assert len(few) < 100


def test_spec_is_compared_with_what_is_there(ask):
    """A volume of the spec that is missing, and what is in no spec, told apart."""
    missing = {"id": "gone", "plugin_id": "aws-efs0", "existing": {"external_id": "fs-0123456789abcdef0:/gone"}}
    plan = storage.plan_document({"plugins": demo.SPEC["plugins"][1:], "volumes": [missing]})

    found, _ = ask(6, 12, plan=plan, spec="storage.yaml")

    assert [(row["plugin_id"], row["status"], row["is_expected"]) for row in found.data["plugins"]] == [
        ("aws-efs0", "healthy", True),
        ("aws-ebs0", "healthy", False),
    ]
    wrong = [row for row in found.data["volumes"] if row["is_expected"]]
    assert [(row["volume_id"], row["status"], row["evidence"]) for row in wrong] == [("gone", "missing", "-")]
    assert len(found.data["volumes"]) == 13
    assert "volume-missing" in [item.code for item in found.findings]
    hidden, _ = ask(6, 12, plan=plan, kind=type("VolumesRefused", (Refused,), {"refused": "/v1/volume/csi/"}))
    assert {row["status"] for row in hidden.data["volumes"]} == {"ok", "missing"}


@pytest.mark.parametrize(
    ("given", "servers", "region"),
    [("us", ("a.eu",), "us"), ("", ("a.x.eu", "b.eu"), "eu"), ("", ("a.eu", "b.us"), ""), ("", ("a",), "")],
)
def test_region_of_a_cluster_is_that_of_all_its_servers(make, given, servers, region):
    """Of a federation of several, none is shown."""
    named = tuple(nodes.Server(name=name, status="alive", version="2.0.5") for name in servers)
    found = make.found(servers=named, identity="")
    found.client.connection = nomad.Connection(address="http://nomad:4646", region=given)

    assert cluster_report._cluster(found, "")["region"] == region


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps(SMOKE | {"status": "fine"}), "[" * 100_000])
def test_rejects_what_no_smoke_test_wrote(text):
    """Of another command, of nobody, or cut."""
    with pytest.raises(errors.SpecError, match=r"expected the output of `nomad-csi smoke NAMESPACE/ID --json`"):
        cluster_report.read_smoke(text, "smoke.json")


class Refused(nomad.Nomad):
    """A client whose token may not read jobs."""

    refused = "/v1/job/"

    def request(self, method, path, **more):
        if path.startswith(self.refused):
            raise errors.NomadApiError(
                method=method, path=path, message="Permission denied", status=403, kind="refused"
            )
        return super().request(method, path, **more)


class ListsRefused(Refused):
    """A client whose token may not read lists, either."""

    refused = ("/v1/agent/members", "/v1/nodes", "/v1/plugins", "/v1/volumes")


class ClientsRefused(Refused):
    """A client whose token may list clients, and read none."""

    refused = "/v1/node/"


@pytest.mark.parametrize(
    ("kind", "numbers"),
    [(ListsRefused, [None] * 4), (ClientsRefused, [None, 2, 0, 0]), (nomad.Nomad, [1, 2, 0, 0])],
)
def test_list_that_was_not_read_has_no_number(ask, kind, numbers):
    """It is not 0: that would be an empty cluster."""
    found, _ = ask(1, 2, kind=kind, before=lambda host: host.state.volumes.clear())

    assert list(found.data["totals"].values())[:4] == numbers


def test_what_may_not_be_read_is_said(ask):
    """Plugins are there and not checked; volumes and claims are told all the same; it is not taken as fine."""
    found, _ = ask(3, 6, kind=Refused)

    assert "health of the plugins" in [item["check"] for item in found.unexpected]
    assert (len(found.data["volumes"]), len(found.data["claims"])) == (6, 3)
    assert found.data["ok"] is False
    assert found.data["plugins"][0] == {"plugin_id": "aws-ebs0", "status": "not checked", "is_expected": True}


def test_json_and_page_are_written_with_the_exit_code_of_what_they_tell(tmp_path, monkeypatch, capsys):
    """0 while nothing is wrong; 1 with errors; the same data in both forms."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "page.html"
    with demo.running(3, 6) as (host, serving):
        monkeypatch.setenv("NOMAD_ADDR", serving.url)
        assert cli.main(["verify", "--html", str(path)]) == 2  # the zones name a region, and there are no credentials
        capsys.readouterr()
        assert cli.main(["verify", "--html", str(path), "--no-aws"]) == 0
        wrote = capsys.readouterr().out
        size = path.stat().st_size / 1000
        assert cli.main(["verify", "--html", str(path), "--no-aws", "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        host.state.plugins["aws-efs0"].nodes[next(iter(host.state.nodes))]["Healthy"] = False
        assert cli.main(["verify", "--html", str(path)]) == 1

    assert wrote == f"wrote {path} ({size:.1f} kB): no errors\n"
    assert (data["ok"], data["totals"]) == (
        True,
        {"clients": 3, "plugins": 2, "volumes": 6, "claims": 3, "errors": 0, "warnings": 0},
    )
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>\n")
    assert "✕" not in text  # signs are the style's, not text
