"""Volumes are deregistered when they are free, and no sooner; what became of each is data."""

import pytest

from nomad_csi import errors, nomad
from nomad_csi.aws import ebs_volumes
from nomad_csi.volumes import deregistration, owner_records
from tests import clocks

ID = "vol-0123456789abcdef0"
ALLOC = "9d1b13f5-503d-3e7e-18c5-f969d58b9143"
FREE = {
    "ID": "mysql",
    "Namespace": "prod",
    "Name": "mysql",
    "ExternalID": ID,
    "PluginID": "aws-ebs0",
    "WriteAllocs": {},
    "ReadAllocs": {},
    "Allocations": [],
}
ALLOCATION = {
    "ID": ALLOC,
    "JobID": "db",
    "Namespace": "prod",
    "NodeID": "id-a",
    "NodeName": "a",
    "ClientStatus": "running",
    "DesiredStatus": "run",
}
HELD = FREE | {"WriteAllocs": {ALLOC: None}, "Allocations": [ALLOCATION]}
KEY = ("prod", "mysql")
PATH = "/v1/volume/csi/mysql"
IN_USE = (500, "volume in use: mysql")
ATTACHED = ebs_volumes.AttachedVolume(
    external_id=ID,
    state="in-use",
    attachments=(
        ebs_volumes.Attachment(instance_id="i-1", state="attached", device="/dev/xvdba", instance_state="running"),
    ),
)
DETACHED = ebs_volumes.AttachedVolume(external_id=ID, state="available")
HOLDER = f"held by job prod/db (write, allocation {ALLOC}, running on node a)"


@pytest.fixture
def ec2(monkeypatch):
    """Say what EC2 answers: ``ec2(first, second)``; the last one stays."""

    def script(*answers):
        queue = list(answers)

        def look(_external_ids, _aws_region, **_):
            answer = queue.pop(0) if len(queue) > 1 else queue[0]
            if isinstance(answer, Exception):
                raise answer
            return ebs_volumes.ObservedAttachments(volumes={ID: answer})

        monkeypatch.setattr(ebs_volumes, "read_attachments", look)

    return script


@pytest.fixture
def run(scripted):
    """Deregister volumes: ``run(KEY, wait_s=1)``; return outcomes as status, reason and storage, and what was told."""
    told = []

    def deregister(*keys, cancelled=None, **options):
        connection = nomad.Connection(address=scripted.address)
        with nomad.Nomad(connection, timeout_s=60.0, clock=clocks.Clock()) as client:
            found = deregistration.deregister(
                client, keys, deregistration.DeregistrationOptions(**options), tell=told.append, cancelled=cancelled
            )
        return [(item.status, item.reason, item.storage) for item in found]

    deregister.told = told
    return deregister


def test_free_volume_is_deregistered(run, scripted):
    """In its namespace, without force."""
    scripted.reply("GET", PATH, 200, FREE)
    scripted.reply("DELETE", PATH, 200, "")

    assert run(KEY) == [("deregistered", "", "")]
    assert scripted.sent("DELETE") == [(f"{PATH}?namespace=prod", None)]


def test_claimed_volume_stays_and_names_its_holders(run, scripted):
    """Nobody is waited for unasked."""
    scripted.reply("GET", PATH, 200, HELD)

    assert run(KEY) == [("claimed", HOLDER, "")]
    assert scripted.sent("DELETE") == []


def test_claims_are_waited_for(run, scripted):
    """Told once."""
    for state in (HELD, HELD, HELD, FREE):
        scripted.reply("GET", PATH, 200, state)
    scripted.reply("DELETE", PATH, 200, "")

    assert run(KEY, wait_s=10) == [("deregistered", "", "")]
    assert run.told == ["waiting for prod/mysql"]


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"ExternalID": "vol-b"}, f"its external id is vol-b now, not {ID}"),
        ({"CreateIndex": 9}, f"it was registered again meanwhile, for {ID}"),
    ],
)
@pytest.mark.parametrize("is_forced", [True, False])
def test_what_was_registered_meanwhile_under_the_id_stays(run, scripted, now, told, is_forced):
    """It is not the volume that was meant."""
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("GET", PATH, 200, FREE | now)

    [(status, reason, _)] = run(KEY, wait_s=10, is_forced=is_forced)

    assert (status, reason) == ("refused", f"{told}; it was not deregistered: check it, and run again if it is to go")
    assert scripted.sent("DELETE") == []


def test_another_storage_than_the_caller_means_stays(run, scripted):
    """Registered between the question of the caller and ours."""
    scripted.reply("GET", PATH, 200, FREE)

    [(status, reason, _)] = run(KEY, external_ids={KEY: "vol-meant"})

    assert (status, reason.partition(";")[0]) == ("refused", f"its external id is {ID} now, not vol-meant")
    assert scripted.sent("DELETE") == []


def test_claim_at_the_last_moment_is_no_loss(run, scripted):
    """Nomad refuses; the volume is waited for again."""
    scripted.reply("GET", PATH, 200, FREE)
    scripted.reply("DELETE", PATH, *IN_USE)
    scripted.reply("DELETE", PATH, 200, "")

    assert run(KEY, wait_s=10) == [("deregistered", "", "")]
    assert len(scripted.sent("DELETE")) == 2


def test_freed_claim_does_not_mean_detached(run, scripted, ec2):
    """While EC2 has it on an instance, the volume stays: Nomad is the one that would detach it."""
    ec2(ATTACHED)
    scripted.reply("GET", PATH, 200, FREE)

    assert run(KEY, aws_region="us-east-1") == [
        ("attached", "nothing claims it, and it is still attached", str(ATTACHED))
    ]
    assert scripted.sent("DELETE") == []


def test_attachment_is_waited_for(run, scripted, ec2):
    """As a claim is."""
    ec2(ATTACHED, ATTACHED, DETACHED)
    scripted.reply("GET", PATH, 200, FREE)
    scripted.reply("DELETE", PATH, 200, "")

    assert run(KEY, aws_region="us-east-1", wait_s=10) == [("deregistered", "", f"{ID} is available")]


def test_force_says_what_it_left_attached(run, scripted, ec2):
    """It does not detach."""
    ec2(ATTACHED)
    scripted.reply("GET", PATH, 200, HELD | {"Allocations": [ALLOCATION | {"ClientStatus": "complete"}]})
    scripted.reply("DELETE", PATH, 200, "")

    assert run(KEY, is_forced=True, aws_region="us-east-1") == [("deregistered", "", str(ATTACHED))]
    assert [path for path, _ in scripted.sent("DELETE")] == [f"{PATH}?namespace=prod&force=true"]


def test_force_is_sent_only_after_the_wait(run, scripted):
    """What goes by itself is not forced."""
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("GET", PATH, 200, FREE)
    scripted.reply("DELETE", PATH, 200, "")

    assert run(KEY, is_forced=True, wait_s=10) == [("deregistered", "", "")]
    assert [path for path, _ in scripted.sent("DELETE")] == [f"{PATH}?namespace=prod"]


def test_running_allocation_is_not_forced(run, scripted):
    """Nomad refuses, and so the volume is claimed."""
    scripted.reply("GET", PATH, 200, HELD)
    scripted.reply("DELETE", PATH, *IN_USE)

    assert run(KEY, is_forced=True) == [
        ("claimed", f"{HOLDER}; Nomad forces nothing while one of them has not ended", "")
    ]


def test_lost_answer_is_read_back(run, scripted):
    """Nothing is sent twice."""
    scripted.reply("GET", PATH, 200, FREE)
    scripted.reply("GET", PATH, 404, "volume not found")
    scripted.reply("DELETE", PATH, 0)

    assert run(KEY) == [("deregistered", "", "")]
    assert len(scripted.sent("DELETE")) == 1


@pytest.mark.parametrize(
    ("then", "status"), [((200, FREE), "failed"), ((500, "Permission denied"), "unknown"), ((403, "no"), "unknown")]
)
def test_lost_answer_that_was_none(run, scripted, then, status):
    """The volume is still there, or nobody can tell."""
    scripted.reply("GET", PATH, 200, FREE)
    scripted.reply("GET", PATH, *then)
    scripted.reply("DELETE", PATH, 0)

    [(found, reason, _)] = run(KEY)

    assert found == status
    assert reason.startswith(f"DELETE {PATH}: ")


@pytest.mark.parametrize(
    ("reply", "status"), [((403, "Permission denied"), "refused"), ((500, "No cluster leader"), "failed")]
)
def test_refusal_is_an_outcome(run, scripted, reply, status):
    """With Nomad's sentence, and what the token needs."""
    scripted.reply("GET", PATH, 200, FREE)
    scripted.reply("DELETE", PATH, *reply)

    [(found, reason, _)] = run(KEY)

    assert found == status
    assert reply[1] in reason


def test_nothing_is_sent_where_ec2_cannot_be_asked(run, scripted, ec2):
    """An error, before anything."""
    ec2(errors.AwsError("no"))
    scripted.reply("GET", PATH, 200, FREE)

    with pytest.raises(errors.AwsError):
        run(KEY, aws_region="us-east-1")
    assert scripted.sent("DELETE") == []


def test_ec2_that_stops_to_answer_fails_what_is_left(run, scripted, ec2):
    """What was done before is still told."""
    ec2(ATTACHED, errors.AwsError("throttled"))
    scripted.reply("GET", PATH, 200, FREE)

    assert run(KEY, aws_region="us-east-1", wait_s=10) == [("failed", "throttled", "")]


RECORD = "/v1/var/nomad-csi/volumes/mysql"
OWNED = {"id": "mysql", "owner": "shop/prod", "created_name": "mysql-a3c024f01cac"}
CREATED = FREE | {"Name": "mysql-a3c024f01cac"}
SHOP = owner_records.Requester(owner="shop/prod")


@pytest.fixture
def recorded(scripted):
    """The volume, which its plugin created as its owner record says."""
    owned = {"Namespace": "prod", "Path": "nomad-csi/volumes/mysql", "ModifyIndex": 7, "CreateIndex": 7, "Items": OWNED}
    scripted.reply("GET", PATH, 200, CREATED)
    scripted.reply("GET", RECORD, 200, owned)
    scripted.reply("DELETE", PATH, 200, "")
    return scripted


def _changes(scripted):
    return [(method, path.partition("?")[0]) for method, path, _ in scripted.requests if method != "GET"]


def test_storage_that_a_plugin_created_is_recorded_before_the_deregistration(run, recorded):
    """The record names it then, and stays."""
    recorded.reply("PUT", RECORD, 200, {})

    assert run(KEY, requester=SHOP) == [("deregistered", "", "")]
    assert _changes(recorded) == [("PUT", RECORD), ("DELETE", PATH)]
    assert recorded.sent("PUT")[0][1]["Items"] == OWNED | {"external_id": ID, "plugin_id": "aws-ebs0"}


def test_volume_stays_registered_where_its_storage_could_not_be_recorded(run, recorded):
    """Without the record nothing would say where its data is."""
    recorded.reply("PUT", RECORD, 400, "no")

    [(status, reason, _)] = run(KEY, requester=SHOP)

    assert (status, "its storage is not in its owner record" in reason) == ("failed", True)
    assert _changes(recorded) == [("PUT", RECORD)]


def test_token_that_may_not_write_records_deregisters(run, recorded):
    """The record stays without the id; that is reported."""
    recorded.reply("PUT", RECORD, 403, "Permission denied")

    assert run(KEY, requester=SHOP) == [("deregistered", "", "")]
    assert any("the owner records of mysql do not name their storage" in line for line in run.told)


@pytest.mark.parametrize("changes", [{"Name": "mysql-5e884898da28"}, {"Name": "mysql"}])
def test_other_storage_under_the_id_is_not_recorded(run, recorded, changes):
    """The record stays: it is that of the storage which was created."""
    recorded.replies["GET", PATH] = [(200, CREATED | changes)]

    assert run(KEY, requester=SHOP) == [("deregistered", "", "")]
    assert _changes(recorded) == [("DELETE", PATH)]
