"""A claim is judged by its allocation, by its client, and by where EC2 has the volume."""

import dataclasses
import json

import pytest

from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.diagnosis import claims_report
from nomad_csi.diagnosis.rules import claim_status
from nomad_csi.nomad import plugins, volumes
from nomad_csi.plan import registration

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
    max_volumes=None,
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
ON_I1 = ebs_volumes.Attachment(instance_id="i-1", state="attached", device="/dev/xvdba", instance_state="running")
REPAIR = "release the claim with `nomad-csi claims repair prod/data`"


@pytest.fixture
def judge(node):
    """Judge one volume: ``judge(claim, ...)``, with a client ``a`` on instance ``i-1`` and a healthy controller."""

    def run(*held, status="ready", plugin=PLUGIN, ebs=None, instances=None, external_id=ID):
        client = node("a", status=status, attributes={"unique.platform.aws.instance-id": "i-1"})
        seen = None
        if ebs or instances:
            seen = ebs_volumes.ObservedAttachments(volumes={ID: ebs} if ebs else {}, instances=instances or {})
        found = claim_status.ObservedClaims(
            volumes=(dataclasses.replace(VOLUME, claims=held, external_id=external_id),),
            nodes={client.node_id: client} if status else {},
            plugins={"aws-ebs0": plugin},
            ec2=seen,
            now_ns=NOW_NS,
        )
        [judged] = claim_status.judge(found)
        return judged

    return run


def in_use(*places):
    return ebs_volumes.AttachedVolume(external_id=ID, state="in-use", attachments=places)


def findings_of(*judged):
    """Return those of the clients, and those of the volumes."""
    return [*claim_status.find_lost_clients(judged), *(item for volume in judged for item in volume.findings)]


def lines(judged):
    return [(item.code, item.severity, item.found, item.advice) for item in findings_of(judged)]


def ended(status="complete", ago_s=3600.0):
    return dataclasses.replace(CLAIM, client_status=status, desired_status="stop", changed_ns=NOW_NS - int(ago_s * S))


def test_running_allocation_on_a_ready_client_is_live(judge):
    """Nothing to say."""
    judged = judge(CLAIM, ebs=in_use(ON_I1), instances={"i-1": "running"})

    assert judged.claims == (
        claim_status.ClaimStatus(
            claim=CLAIM, status="live", node_status="ready", instance_id="i-1", instance_state="running"
        ),
    )
    assert (judged.findings, judged.is_held) == ((), True)


@pytest.mark.parametrize("status", ["complete", "failed", "lost"])
def test_ended_allocation_is_stuck_after_ten_minutes(judge, status):
    """Nomad has looked for it at least once by then."""
    judged = judge(ended(status, ago_s=600.1))

    assert (judged.claims[0].status, judged.is_held) == ("ended", False)
    assert lines(judged) == [
        (
            "claim-ended",
            "error",
            f"job prod/web (write, allocation {CLAIM.alloc_id}, {status} on node a)",
            f"look into the logs of the plugin's controller and node task, then {REPAIR}",
        )
    ]


def test_ended_allocation_is_given_ten_minutes(judge):
    """A warning, which is no reason to fail."""
    judged = judge(ended(ago_s=600))

    assert [(item.code, item.severity) for item in judged.findings] == [("claim-ending", "warning")]
    assert judged.findings[0].advice == "wait: Nomad releases the claim, or tries again"


def test_ended_allocation_without_a_time_counts_as_old(judge):
    """Better told once too often."""
    judged = judge(dataclasses.replace(ended(), changed_ns=0))

    assert judged.findings[0].severity == "error"


def test_unknown_allocation_is_stuck_at_once(judge):
    """Nobody is left to let go."""
    judged = judge(GHOST)

    assert (judged.claims[0].status, judged.is_held) == ("vanished", False)
    assert lines(judged) == [
        (
            "claim-vanished",
            "error",
            f"a write claim of allocation {GHOST.alloc_id}, which Nomad does not know",
            REPAIR,
        )
    ]


@pytest.mark.parametrize(("status", "told"), [("down", "down"), ("disconnected", "disconnected"), ("", "unknown")])
def test_client_that_is_away_holds_what_may_still_be_written_to(judge, status, told):
    """Nomad cannot know; whoever looks has to."""
    judged = judge(CLAIM, status=status)

    assert (judged.claims[0].status, judged.is_held) == ("node-down", True)
    assert lines(judged) == [
        (
            "claim-node-down",
            "error",
            f"job prod/web (write, allocation {CLAIM.alloc_id}, running on node a); the client is {told}",
            f"start the client again, or make sure that its machine is off: its tasks may still write, then {REPAIR}",
        )
    ]


def test_client_that_is_away_is_one_finding_whatever_it_holds(judge):
    """Its volumes are named; what they fail by has it as its cause."""
    away = judge(CLAIM, dataclasses.replace(CLAIM, alloc_id="second"), status="down")
    other = dataclasses.replace(away, volume=dataclasses.replace(VOLUME, volume_id="logs"))

    [found] = findings_of(away, other)

    assert (found.code, found.severity, found.subject) == ("claim-node-down", "error", "client a")
    assert found.found == "4 claims of volume prod/data, volume prod/logs; the client is down"
    assert found.advice.endswith(f", then {REPAIR}, one volume after the other")
    assert found.links == ("volume prod/data", "volume prod/logs", "client id-a")


@pytest.mark.parametrize(
    ("state", "advice"),
    [
        ("terminated", "the instance is gone and can no longer write: replace the client if you need it"),
        ("missing", "the instance is gone and can no longer write: replace the client if you need it"),
        ("stopped", "start the client again, or terminate its instance"),
        (
            "running",
            "start the client again, or make sure that its machine is off: its tasks may still write",
        ),
    ],
)
def test_instance_says_whether_a_client_that_is_down_can_write(judge, state, advice):
    """That is what EC2 is asked for."""
    judged = judge(ended("lost"), status="down", instances={"i-1": state})

    assert (judged.claims[0].status, judged.is_held) == ("node-down", False)
    assert findings_of(judged)[0].found.endswith(f"the client is down, its instance i-1 is {state}")
    assert findings_of(judged)[0].advice == f"{advice}, then {REPAIR}"


@pytest.mark.parametrize(
    ("plugin", "found"),
    [
        (
            dataclasses.replace(PLUGIN, controllers=(dataclasses.replace(CONTROLLER, healthy=False),)),
            "1 controllers, none healthy",
        ),
        (dataclasses.replace(PLUGIN, controllers=()), "0 controllers, none healthy"),
        (None, "no such plugin"),
    ],
)
def test_claimed_volume_needs_a_healthy_controller(judge, plugin, found):
    """Without one nothing is ever detached."""
    judged = judge(CLAIM, plugin=plugin)

    assert lines(judged) == [
        (
            "claim-without-controller",
            "error",
            found,
            "make a controller healthy before you stop, drain, move or repair anything: `nomad plugin status aws-ebs0` lists them "
            "with their allocations",
        )
    ]


def test_volume_that_nothing_claims_needs_no_controller(judge):
    """Nothing would have to be detached."""
    assert judge(plugin=None).findings == ()


def test_free_claim_and_attached_volume(judge):
    """Nomad has forgotten what EC2 has not."""
    judged = judge(ebs=in_use(ON_I1))

    assert lines(judged) == [
        (
            "attached-unclaimed",
            "error",
            f"{ID} is in-use: attached to i-1 (running) as /dev/xvdba",
            f"make sure that nothing there has it mounted, then `aws ec2 detach-volume --volume-id {ID}`; "
            "until then, nothing may claim it",
        )
    ]


def test_volume_on_its_way_off_is_a_warning(judge):
    """EC2 takes some seconds."""
    judged = judge(ebs=in_use(dataclasses.replace(ON_I1, state="detaching")))

    assert [(item.code, item.severity, item.advice) for item in judged.findings] == [
        ("attached-detaching", "warning", "wait until EC2 has detached it")
    ]


def test_volume_that_stays_on_one_of_two_instances_is_an_error(judge):
    """A multi-attach volume that leaves one of them does not leave the other."""
    leaving = dataclasses.replace(ON_I1, instance_id="i-2", state="detaching")

    judged = judge(ebs=in_use(ON_I1, leaving))

    assert [(item.code, item.severity) for item in judged.findings] == [("attached-unclaimed", "error")]


def test_volume_on_another_instance_than_its_claim(judge):
    """Two may write."""
    elsewhere = dataclasses.replace(ON_I1, instance_id="i-2")

    judged = judge(CLAIM, ebs=in_use(elsewhere), instances={"i-1": "running"})

    [finding] = judged.findings
    assert (finding.code, finding.expected) == ("attached-elsewhere", f"{ID} on the instance of its claim, i-1")
    assert finding.found == f"{ID} is in-use: attached to i-2 (running) as /dev/xvdba"


def test_vanished_claim_may_be_of_any_instance(judge):
    """Where the holder is not known, no instance is a stranger."""
    judged = judge(GHOST, ebs=in_use(ON_I1))

    assert [item.code for item in judged.findings] == ["claim-vanished"]


def test_storage_that_is_gone(judge):
    """Or in another region."""
    judged = judge(CLAIM, ebs=ebs_volumes.AttachedVolume(external_id=ID, state="missing"), instances={"i-1": "running"})

    assert [item.code for item in judged.findings] == ["storage-missing"]


def test_report_as_data(judge):
    """Every key, empty or not; a volume without claims and findings is left out."""
    stuck, free = judge(ended(), ebs=in_use(ON_I1), instances={"i-1": "running"}), judge()
    report = claims_report.ClaimsReport(volumes=(stuck, free), ec2=regions.Region(name="us-east-1"))

    shown = report.as_json()

    assert json.loads(json.dumps(shown)) == shown
    assert (shown["ok"], shown["asked_ec2"], len(shown["findings"])) == (False, True, 1)
    assert shown["volumes"] == [
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


def test_report_as_text(judge):
    """A line for each claim, then what is wrong, then the sum."""
    report = claims_report.ClaimsReport(volumes=(judge(GHOST),), ec2=regions.Region(reason="no AWS region is known"))

    assert report.as_table().splitlines() == [
        "volume     status    client  state  mode   since  allocation                            job",
        "prod/data  vanished  -       -      write  -      62d4d1b7-96ce-3b12-ba07-d6f3a5bf86b1  -",
        "",
        "error  claim-vanished  volume prod/data",
        "  expected  a claim of an allocation that Nomad knows",
        f"  found     a write claim of allocation {GHOST.alloc_id}, which Nomad does not know",
        f"  advice    {REPAIR}",
        "",
        "1 claim: 1 error, 0 warnings; no AWS region is known",
    ]
    assert (
        claims_report.ClaimsReport(volumes=(), ec2=regions.Region(name="us-east-1")).as_table()
        == "0 claims: 0 errors, 0 warnings\n"
    )


HELD_BY = f"job prod/web (write, allocation {CLAIM.alloc_id}, "
DETACH = "make sure that nothing there has it mounted, then `aws ec2 detach-volume --volume-id vol-0123456789abcdef0`; until then, nothing may claim it"
NO_CONTROLLER = (
    "claim-without-controller: volume prod/data: expected a healthy controller of plugin aws-ebs0, to detach the volume "
    "when it is released, found {}; make a controller healthy before you stop, drain, move or repair anything: "
    "`nomad plugin status aws-ebs0` lists them with their allocations"
)
GONE = ebs_volumes.AttachedVolume(external_id=ID, state=ebs_volumes.MISSING)
READER = dataclasses.replace(CLAIM, alloc_id="e", node_id="id-c", mode="read")


@pytest.mark.parametrize(
    ("held", "situation", "said"),
    [
        (
            [GHOST],
            {},
            f"claim-vanished: volume prod/data: expected a claim of an allocation that Nomad knows, found a write claim of "
            f"allocation {GHOST.alloc_id}, which Nomad does not know; {REPAIR}",
        ),
        (
            [CLAIM],
            {"status": "down"},
            "claim-node-down: volume prod/data: expected a claim of an allocation on a client that is up, found "
            f"{HELD_BY}running on node a); the client is down; start the client again, or make sure that its machine is "
            f"off: its tasks may still write, then {REPAIR}",
        ),
        (
            [ended()],
            {},
            "claim-ended: volume prod/data: expected a claim that is released within 10 minutes of its allocation's end, found "
            f"{HELD_BY}complete on node a); look into the logs of the plugin's controller and node task, then {REPAIR}",
        ),
        (
            [CLAIM],
            {"plugin": dataclasses.replace(PLUGIN, controllers=())},
            NO_CONTROLLER.format("0 controllers, none healthy"),
        ),
        ([CLAIM], {"plugin": None}, NO_CONTROLLER.format("no such plugin")),
        (
            [CLAIM],
            {"ebs": GONE},
            f"storage-missing: volume prod/data: expected {ID} in EC2, found no such volume in this region; check that "
            "--aws-region is the volume's region; if it is, deregister the volume",
        ),
        (
            [],
            {"ebs": in_use(ON_I1)},
            "attached-unclaimed: volume prod/data: expected a volume that is detached when nothing claims it, found "
            f"{in_use(ON_I1)}; {DETACH}",
        ),
        (
            [CLAIM],
            {"ebs": in_use(dataclasses.replace(ON_I1, instance_id="i-9"))},
            f"attached-elsewhere: volume prod/data: expected {ID} on the instance of its claim, i-1, found "
            f"{in_use(dataclasses.replace(ON_I1, instance_id='i-9'))}; {DETACH}",
        ),
    ],
)
def test_finding_is_said_whole(judge, held, situation, said):
    """The volume, what should be, what is, and the next step."""
    assert [(item.severity, str(item)) for item in findings_of(judge(*held, **situation))] == [("error", said)]


@pytest.mark.parametrize(
    ("by_volume", "plugin", "is_found"),
    [
        (False, None, False),
        (False, dataclasses.replace(PLUGIN, controller_required=False), False),
        (False, PLUGIN, True),
        (True, None, True),
    ],
)
def test_controller_matters_where_volume_or_plugin_needs_one(by_volume, plugin, is_found):
    """Nomad's record of the volume has it, and that of the plugin, if there is one."""
    volume = dataclasses.replace(VOLUME, controller_required=by_volume)

    assert bool(list(claim_status.find_missing_controller(volume, plugin, healthy=0))) is is_found
    assert not list(claim_status.find_missing_controller(volume, plugin, healthy=1))


def test_all_instances_that_hold_a_volume_are_named():
    """Where EC2 has it on another one."""
    held = [
        claim_status.ClaimStatus(claim=CLAIM, status="live", node_status="ready", instance_id=name, instance_state="")
        for name in ("i-2", "i-1")
    ]
    elsewhere = in_use(dataclasses.replace(ON_I1, instance_id="i-9"))

    [found] = claim_status.findings_of_storage(VOLUME, tuple(held), elsewhere)

    assert found.expected == f"{ID} on the instance of its claim, i-1, i-2"
