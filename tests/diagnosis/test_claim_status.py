"""A claim is judged by its allocation, by its client, and by where EC2 has the volume."""

import dataclasses
import json

import pytest

from nomad_csi.aws import records as aws_records
from nomad_csi.aws import regions
from nomad_csi.diagnosis import claim_status, claims_report, facts
from nomad_csi.nomad import plugins, volumes
from nomad_csi.plan import registration
from tests.diagnosis.known import findings, known

NOW_NS = 1_795_272_761_000_000_000
S = 1_000_000_000
ID = "vol-0123456789abcdef0"
CLAIM = volumes.Claim(
    alloc_id="d804ce80-e7a4-8b61-81db-35a85450e0fa",
    mode="write",
    node_id="id-a",
    node_name="a",
    job_id="web",
    namespace="prod",
    client_status="running",
    desired_status="run",
    since_ns=NOW_NS - 7200 * S,
    changed_ns=NOW_NS - 3600 * S,
)
GHOST = volumes.Claim(
    alloc_id="62d4d1b7-96ce-3b12-ba07-d6f3a5bf86b1",
    mode="write",
    node_id="",
    node_name="",
    job_id="",
    namespace="",
    client_status="",
)
VOLUME = volumes.Volume(
    volume_id="data",
    namespace="prod",
    name="data",
    external_id=ID,
    plugin_id="aws-ebs0",
    capabilities=(registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),),
    topologies=(),
    schedulable=True,
    controller_required=True,
    claims=(CLAIM,),
)
CONTROLLER = plugins.Instance(
    role="controller",
    node_id="id-b",
    alloc_id="c",
    healthy=True,
    health_description="healthy",
    provider_version="v1",
    segments={},
    supports=frozenset(),
)
PLUGIN = plugins.Plugin(
    plugin_id="aws-ebs0",
    provider="ebs.csi.aws.com",
    version="v1",
    controller_required=True,
    controllers=(CONTROLLER,),
    nodes=(),
    controllers_expected=1,
    nodes_expected=0,
)
ON_I1 = aws_records.Attachment(instance_id="i-1", state="attached", device="/dev/xvdba", instance_state="running")
REPAIR = "release the claim with `nomad-csi claims repair prod/data`"
EACH = "release each claim with `nomad-csi claims repair prod/data`"


@pytest.fixture
def judge(node):
    """Return claims and findings of a volume, with a client ``a`` on instance ``i-1`` and a healthy controller."""

    def run(*held, status="ready", plugin=PLUGIN, ebs=None, instances=None, others=(), **changes):
        client = node("a", status=status, attributes={"unique.platform.aws.instance-id": "i-1"})
        seen = None
        if ebs or instances:
            seen = aws_records.ObservedAttachments(volumes={ID: ebs} if ebs else {}, instances=instances or {})
        volume = dataclasses.replace(VOLUME, claims=held, **changes)
        judged = claim_status.judge([volume, *others], [client] if status else (), seen)
        there = {key: item for key, item in (seen.volumes if seen else {}).items() if item.state != "missing"}
        known_storage = facts.KnownStorage(region="us-east-1", volumes=there, file_systems=facts.Unknown(reason="x"))
        found = known(
            now_ns=NOW_NS,
            claims=judged,
            attachments=seen,
            storage=known_storage if ebs else None,
            volumes=(facts.examined(volume, None),),
            plugins={"aws-ebs0": plugin} if plugin else {},
        )
        return judged[0], tuple(findings(found, "claims"))

    return run


def in_use(*attached):
    return aws_records.AttachedVolume(external_id=ID, state="in-use", attachments=attached)


def ended(status="complete", ago_s=3600.0):
    return dataclasses.replace(CLAIM, client_status=status, desired_status="stop", changed_ns=NOW_NS - int(ago_s * S))


HELD_BY = f"job prod/web (write, allocation {CLAIM.alloc_id}, "
DETACH = f"make sure that nothing there has it mounted, then `aws ec2 detach-volume --volume-id {ID}`; until then, nothing may claim it"
LOGS = f"look into the logs of the plugin's controller and node task, then {REPAIR}"
MAY_WRITE = "start the client again, or make sure that its machine is off: its tasks may still write"
GONE = "the instance is gone and can no longer write: replace the client if you need it"
WELL = dataclasses.replace(PLUGIN, controllers=(dataclasses.replace(CONTROLLER, healthy=False),))
ON_I2 = dataclasses.replace(ON_I1, instance_id="i-2")
DETACHING = dataclasses.replace(ON_I1, state="detaching")
NO_CONTROLLER = "make a controller healthy before you stop, drain, move or repair anything: `nomad plugin status aws-ebs0` lists them with their allocations"
ON_ANOTHER = {"ebs": in_use(ON_I2), "instances": {"i-1": "running"}}

SITUATIONS = {
    "live": ([CLAIM], {"ebs": in_use(ON_I1), "instances": {"i-1": "running"}}, "live held", "", "", ""),
    "vanished": (
        [GHOST],
        {"ebs": in_use(ON_I1)},
        "vanished",
        "error claim-vanished",
        f"a write claim of allocation {GHOST.alloc_id}, which Nomad does not know",
        REPAIR,
    ),
    "ended lately": (
        [ended(ago_s=600)],
        {},
        "ended",
        "warning claim-ending",
        f"{HELD_BY}complete on node a)",
        "wait: Nomad releases the claim, or tries again",
    ),
    "node instance is gone": (
        [ended("lost")],
        {"status": "down", "instances": {"i-1": "terminated"}},
        "node-down",
        "error claim-node-down",
        "it is down, its instance i-1 is terminated; allocations there claim prod/data",
        f"{GONE}, then {EACH}",
    ),
    "controller is unhealthy": (
        [CLAIM],
        {"plugin": WELL},
        "live held",
        "error claim-without-controller",
        "1 controllers, none healthy",
        NO_CONTROLLER,
    ),
    "attached and free": ([], {"ebs": in_use(ON_I1)}, "", "error attached-unclaimed", str(in_use(ON_I1)), DETACH),
    "on its way off": (
        [],
        {"ebs": in_use(DETACHING)},
        "",
        "warning attached-detaching",
        str(in_use(DETACHING)),
        "wait until EC2 has detached it",
    ),
    "ended, and when is not known": (
        [dataclasses.replace(ended(), changed_ns=0)],
        {},
        "ended",
        "error claim-ended",
        f"{HELD_BY}complete on node a)",
        LOGS,
    ),
    "one of two on its way off": (
        [],
        {"ebs": in_use(DETACHING, ON_I2)},
        "",
        "error attached-unclaimed",
        str(in_use(DETACHING, ON_I2)),
        DETACH,
    ),
    "on an instance, while that of the claim is not known": (
        [CLAIM],
        {"status": "", "ebs": in_use(ON_I2)},
        "node-down held",
        "error claim-node-down",
        "it is unknown; allocations there claim prod/data",
        f"{MAY_WRITE}, then {EACH}",
    ),
    "on another instance": ([CLAIM], ON_ANOTHER, "live held", "error attached-elsewhere", str(in_use(ON_I2)), DETACH),
}
SITUATIONS |= {
    f"{status} long ago": (
        [ended(status, 600.1)],
        {},
        "ended",
        "error claim-ended",
        f"{HELD_BY}{status} on node a)",
        LOGS,
    )
    for status in ("complete", "failed", "lost")
}
SITUATIONS |= {
    f"client is {shown}": (
        [CLAIM],
        {"status": status},
        "node-down held",
        "error claim-node-down",
        f"it is {shown}; allocations there claim prod/data",
        f"{MAY_WRITE}, then {EACH}",
    )
    for status, shown in (("down", "down"), ("disconnected", "disconnected"), ("", "unknown"))
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_claim_is_judged_by_its_allocation_its_client_and_ec2(judge, name):
    """The status of the claim, whether an allocation may use the volume, and the finding with its next step."""
    held, situation, status, code, shown, advice = SITUATIONS[name]

    judged, found = judge(*held, **situation)

    assert " ".join([*(item.status for item in judged.claims), *["held"] * judged.is_held]) == status
    assert [(f"{item.severity} {item.code}", item.found, item.advice) for item in found] == [(code, shown, advice)][
        : bool(code)
    ]


@pytest.mark.parametrize(
    ("state", "advice"),
    [("missing", GONE), ("stopped", "start the client again, or terminate its instance"), ("running", MAY_WRITE)],
)
def test_instance_says_whether_a_client_that_is_down_can_write(judge, state, advice):
    """That is what EC2 is asked for."""
    _, [found] = judge(CLAIM, status="down", instances={"i-1": state})

    assert f"its instance i-1 is {state};" in found.found
    assert found.advice == f"{advice}, then {EACH}"


def test_client_that_is_away_is_one_finding_whatever_it_holds(judge):
    """Its volumes are named; what they fail by has it as its cause."""
    held = (CLAIM, dataclasses.replace(CLAIM, alloc_id="second"))
    other = dataclasses.replace(VOLUME, volume_id="logs", claims=held)

    _, [found] = judge(*held, status="down", others=[other])

    assert (found.code, found.severity, found.subject) == ("claim-node-down", "error", "client a")
    assert found.found == "it is down; allocations there claim prod/data, prod/logs"
    assert found.about == ("volume prod/data", "volume prod/logs")
    assert found.links == ("volume prod/data", "volume prod/logs", "client id-a")


def test_report_as_data(judge):
    """Every key, empty or not; a volume without claims is there for its finding, and left out without one."""
    stuck, found = judge(ended(), ebs=in_use(ON_I1), instances={"i-1": "running"})
    (free, _), (alone, also) = judge(volume_id="free"), judge(volume_id="alone", ebs=in_use(ON_I1))
    report = claims_report.ClaimsReport(
        volumes=(stuck, free, alone), found=found + also, ec2=regions.Region(name="us-east-1")
    )

    shown = report.as_json()

    assert json.loads(json.dumps(shown)) == shown
    assert (shown["ok"], shown["asked_ec2"], len(shown["findings"])) == (False, True, 2)
    assert [(item["volume_id"], item["claims"]) for item in shown["volumes"][1:]] == [("alone", [])]
    assert shown["volumes"][:1] == [
        {
            "namespace": "prod",
            "volume_id": "data",
            "plugin_id": "aws-ebs0",
            "external_id": ID,
            "claims": [
                {
                    "alloc_id": CLAIM.alloc_id,
                    "mode": "write",
                    "namespace": "prod",
                    "job_id": "web",
                    "node_id": "id-a",
                    "node_name": "a",
                    "client_status": "complete",
                    "desired_status": "stop",
                    "since": "2026-11-21T12:52:41Z",
                    "status": "ended",
                    "node_status": "ready",
                    "instance_id": "i-1",
                    "instance_state": "running",
                }
            ],
            "ebs": {
                "state": "in-use",
                "attachments": [
                    {"instance_id": "i-1", "state": "attached", "device": "/dev/xvdba", "instance_state": "running"}
                ],
            },
        }
    ]
