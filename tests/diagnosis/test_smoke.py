"""A volume tried on two clients: where it is read back, and what is said where that does not come about."""

import dataclasses
import re
import time
import types

import pytest

from nomad_csi import errors
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import smoke, smoke_round
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import smoke as plan
from tests import deadlines

MARK = "nomad:emulator"
MOUNTS = "mounts and data: the plugins of the sandbox mount nothing, so nothing was written"
KEY = ("default", "tried")
STOP, REGISTER, ALLOCATIONS = jobs.stop, jobs.register, jobs.allocations


@pytest.fixture
def mounted(monkeypatch):
    """The task does nothing, as the plugin mounts nothing; the rest is as on a real cluster."""
    monkeypatch.setattr(plan, "script", lambda _kind, _token: "exit 0")


@pytest.fixture
def fails(monkeypatch):
    """Return a function: registering the read job raises *error*."""

    def arrange(error):
        def register(client, document, **more):
            is_read = document["ID"].startswith("nomad-csi-smoke-read")
            if not is_read or getattr(error, "kind", "") == "ambiguous":
                REGISTER(client, document, **more)
            if is_read:
                raise error

        monkeypatch.setattr(jobs, "register", register)

    return arrange


def left(cluster):
    return [job["ID"] for job in cluster.client.request("GET", "/v1/jobs").data if "smoke" in job["ID"]]


def remove(cluster, ids):
    """Purge jobs, and wait until the volume is free."""
    for job_id in ids:
        STOP(cluster.client, "default", job_id, purge=True)
    deadline = time.monotonic() + deadlines.PATIENT_S
    while volumes.get(cluster.client, *KEY).claims:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.usefixtures("mounted")
@pytest.mark.parametrize("sandbox", [MARK, ""])
def test_data_is_read_back_on_the_other_client(cluster, sandbox):
    """Both clients had the volume, one after the other; in the sandbox nothing is written to it."""
    told = []

    outcome = smoke.try_out(cluster.client, KEY, sandbox=sandbox, report=told.append)

    first, second = (done.node_name for done in outcome.rounds)
    assert {first, second} == {"one", "two"}
    rounds = [{"job": kind, "node": name, "reason": ""} for kind, name in (("write", first), ("read", second))]
    times = ("attach_s", "mount_s", "detach_s")
    shown = outcome.as_json()
    assert [{key: value for key, value in each.items() if key not in times} for each in shown.pop("rounds")] == rounds
    claimed = tuple(f"{name}: claimed, a task ran, the claim was freed" for name in (first, second))
    read_back = (
        f"{first}: claimed, mounted, 1 MiB written and read, freed",
        f"{second}: claimed again, the same data read back after unmounting, the file removed, freed",
    )
    assert shown == {
        "namespace": "default",
        "volume_id": "tried",
        "status": "not verified" if sandbox else "verified",
        "task_driver": "exec",
        "access_mode": "single-node-writer",
        "verified": claimed if sandbox else read_back,
        "not_verified": (MOUNTS,) if sandbox else (),
        "left_behind": (),
    }
    token = told[-1].rpartition("-")[2]
    assert told == [f"writing .nomad-csi-smoke-{token} into volume default/tried; the read job removes it"][
        bool(sandbox) :
    ] + [f"{kind}: running job default/nomad-csi-smoke-{kind}-{token}" for kind in ("write", "read")]
    assert volumes.get(cluster.client, *KEY).claims == ()


def test_steps_are_timed(context, monkeypatch, ran):
    """Claimed after half a second, started after two, ended after three, and free after four."""
    started = (jobs.TaskEvent(time_ns=0, type="Started", message="", task="t"),)

    def seen(watch, _job):
        now = watch._clock.now()
        status = "complete" if now >= 3 else "running"
        return ran("node", "a", client_status=status, task_events=started if now >= 2 else ()).allocation

    monkeypatch.setattr(smoke_round.Watch, "_allocation", seen)
    monkeypatch.setattr(smoke_round.Watch, "_is_claimed", lambda watch, *_: 0.5 <= watch._clock.now() < 4)
    watch = smoke_round.Watch(context.connect(), timeout_s=60, report=print)

    assert smoke_round._times(1.0, 2.5, None, None) == smoke_round.Times(attach_s=1.5)
    assert watch._follow(None)[1:] == (smoke_round.Times(attach_s=0.5, mount_s=1.5, detach_s=1.0), "")
    at_once = smoke_round.Times(attach_s=0.0, mount_s=0.0, detach_s=0.0)
    assert watch._follow(None)[1:] == (at_once, "")


@pytest.mark.parametrize(
    ("status", "told", "reason"),
    [
        ("complete", [("Terminated", "Exit Code: 45")], ""),
        ("failed", [("Terminated", "Exit Code: 9"), ("Terminated", "Exit Code: 45")], plan.EXIT_MEANS[45]),
        ("failed", [("a", "Exit Code: 9"), ("b", "b"), ("c", ""), ("d", "d")], "the task ended with exit code 9: b; d"),
        (
            "failed",
            [("Setup Failure", "no mount"), ("Driver Failure", "no image"), ("a", "Exit Code: 9")],
            "no mount; no image",
        ),
        ("failed", [("Terminated", "Exit Code: 0")], "Exit Code: 0"),
        ("lost", [("Received", "")], "the allocation is lost, and no event says why"),
    ],
)
def test_failure_is_told_by_its_exit_code_else_by_its_events(ran, status, told, reason):
    """The last code counts; what kept the task from starting goes before one that is not ours."""
    assert smoke_round._reason(ran("node", "a", client_status=status, events=told).allocation) == reason


FREE = aws_records.AttachedVolume(external_id="vol-0123456789abcdef0", state="available")


@pytest.mark.parametrize(
    ("region", "answer", "expected"),
    [
        ("us-east-1", FREE, (True, f"EC2: {FREE}")),
        ("us-east-1", dataclasses.replace(FREE, state="in-use"), (False, "EC2: vol-0123456789abcdef0 is in-use")),
        ("us-east-1", errors.AwsError("denied"), (False, "detached in EC2: denied")),
        ("", FREE, (False, "detached in EC2: AWS was not queried (--no-aws)")),
    ],
)
def test_ec2_says_whether_the_volume_is_detached(make, monkeypatch, region, answer, expected):
    """It is not known where EC2 is not asked, or does not answer."""

    def look(ids, _region):
        if isinstance(answer, Exception):
            raise answer
        return aws_records.ObservedAttachments(volumes=dict.fromkeys(ids, answer))

    monkeypatch.setattr(ebs_volumes, "read_attachments", look)

    job = types.SimpleNamespace(has_mounts=True, task_driver="exec", access_mode="", token="")
    volume = make.replace(make.claimed(), topologies=({make.ZONE_KEY: "us-east-1a"},))
    times = {"a": smoke_round.Times(mount_s=1.0), "b": smoke_round.Times(attach_s=1.0)}
    done = [smoke_round.SmokeRound(kind="read", reason="x", node_id=i, left_behind=(i,), times=times[i]) for i in "ab"]
    outcome = smoke._outcome(volume, done, job, regions.Choice() if region else regions.LEFT_OUT)
    assert (bool(outcome.verified), *outcome.not_verified, *outcome.verified) == expected
    told = (outcome.status, *outcome.left_behind)
    assert told == ("failed", "a", "b", "the file .nomad-csi-smoke- may still be in the volume")


def test_claim_that_is_not_released_fails_the_test(cluster, monkeypatch):
    """The next job could not have the volume."""
    asked = []

    def is_claimed(*_):
        asked.append("the first time as it runs")
        cluster.client.clock.ahead_s += deadlines.PATIENT_S * (len(asked) > 1)
        return True

    monkeypatch.setattr(smoke_round.Watch, "_is_claimed", is_claimed)
    monkeypatch.setattr(smoke_round, "_reason", lambda _allocation: "no space")

    outcome = smoke.try_out(cluster.client, KEY, sandbox=MARK, timeout_s=deadlines.PATIENT_S)

    assert outcome.status == "failed"
    [done] = outcome.rounds
    assert done.reason == "no space; the claim is still there 240 s after the end: see `nomad-csi claims`"
    assert done.times.detach_s is None


@pytest.mark.usefixtures("mounted")
@pytest.mark.parametrize(("ending", "sandbox"), [("failed", MARK), ("lost", "")])
def test_job_that_did_not_complete_fails_the_test(cluster, monkeypatch, ending, sandbox):
    """Its client went away, or the task failed without an exit code: nobody knows what was written."""

    def ended(client, namespace, job_id):
        found = ALLOCATIONS(client, namespace, job_id)
        return tuple(dataclasses.replace(each, client_status=ending) if _is_over(each) else each for each in found)

    monkeypatch.setattr(jobs, "allocations", ended)

    outcome = smoke.try_out(cluster.client, KEY, sandbox=sandbox)

    told = (outcome.status, outcome.rounds[0].reason, outcome.verified)
    assert told == ("failed", "Building Task Directory; Task started by client; Exit Code: 0", ())
    left = [re.sub("smoke-[0-9a-f]+", "smoke-X", line) for line in outcome.left_behind]
    assert left == ([] if sandbox else ["the file .nomad-csi-smoke-X may still be in the volume"])
    assert outcome.not_verified[-1] == "reading back: the first job failed"


def _is_over(allocation):
    return allocation.client_status == "complete"


def test_without_room_on_the_others_it_is_read_where_there_is_room(cluster, monkeypatch):
    """Another client is not called tried."""
    nodes = cluster.cluster.state.nodes

    def stop(client, namespace, job_id, *, purge):
        [ran] = ALLOCATIONS(client, namespace, job_id)
        for node_id, node in nodes.items():
            if "write" in job_id and node_id != ran.node_id:
                node["SchedulingEligibility"] = "ineligible"
        return STOP(client, namespace, job_id, purge=purge)

    monkeypatch.setattr(jobs, "stop", stop)
    try:
        outcome = smoke.try_out(cluster.client, KEY, sandbox=MARK)
    finally:
        for node in nodes.values():
            node["SchedulingEligibility"] = "eligible"

    assert [done.reason for done in outcome.rounds] == ["", ""]
    assert len({done.node_name for done in outcome.rounds}) == 1
    told, why = outcome.not_verified
    assert told == MOUNTS
    assert why.startswith("another client: no other one has the plugin")


@pytest.mark.usefixtures("mounted")
@pytest.mark.parametrize(
    "error",
    [
        errors.RefusedError("no client can run the read job: memory"),
        errors.NomadCsiError("connection refused"),
        errors.NomadApiError(method="PUT", path="/v1/jobs", message="EOF", status=500, kind="ambiguous"),
        KeyboardInterrupt(),
    ],
)
def test_file_is_named_before_it_is_written(cluster, fails, error):
    """After an error or an interrupt it may be left behind; the jobs are not."""
    fails(error)
    told = []

    with pytest.raises(type(error)):
        smoke.try_out(cluster.client, KEY, report=told.append)

    assert re.fullmatch(r"writing \.nomad-csi-smoke-\w+ into volume default/tried; the read job removes it", told[0])
    assert left(cluster) == []


def test_job_that_no_client_can_run_is_not_run(cluster, monkeypatch):
    """Nomad is asked first, and says why."""
    monkeypatch.setattr(jobs, "plan", lambda *_: types.SimpleNamespace(failed_groups={"smoke": "memory exhausted"}))

    with pytest.raises(errors.RefusedError, match="no client can run the write job: memory exhausted"):
        smoke.try_out(cluster.client, KEY, sandbox=MARK)
    with pytest.raises(
        errors.RefusedError, match=r"none of its clients .one, two. has the task driver docker; nothing"
    ):
        smoke.try_out(cluster.client, KEY, wish=plan.Wish(task_driver="docker"))

    assert left(cluster) == []


def test_job_that_cannot_be_removed_is_named_and_the_interrupt_stays(cluster, monkeypatch):
    """With the command that removes it."""

    def refuse(*_given, **_more):
        raise errors.NomadCsiError("DELETE /v1/job: connection refused")

    def interrupt(*_given):
        raise KeyboardInterrupt

    told = []
    monkeypatch.setattr(jobs, "stop", refuse)
    monkeypatch.setattr(jobs, "allocations", interrupt)

    with pytest.raises(KeyboardInterrupt):
        smoke.try_out(cluster.client, KEY, sandbox=MARK, report=told.append)

    [job_id] = left(cluster)
    monkeypatch.undo()
    remove(cluster, [job_id])
    assert told[-1] == (
        f"job default/{job_id} is left behind: DELETE /v1/job: connection refused; remove it: "
        f"nomad job stop -purge -namespace default {job_id}"
    )
