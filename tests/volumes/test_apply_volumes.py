"""Many volumes: compared first, one request each, each with an outcome, and nothing sent again unseen."""

import contextlib
import dataclasses
import threading

import pytest

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import apply_volumes as applied
from nomad_csi.volumes import sending
from tests import volume_files

MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
PLURAL = "/v1/volumes"
CANARY = "canary-71d0"


def volume(number, **fields):
    """Return a volume of plugin ``efs``."""
    document = registration.VolumeRegistration(
        volume_id=f"v{number}", name=f"v{number}", external_id=f"fs-{number}", plugin_id="efs", capabilities=(MODE,)
    )
    return dataclasses.replace(document, **fields)


def path(number):
    """Return the path of a volume."""
    return f"/v1/volume/csi/v{number}"


@pytest.fixture
def absent(scripted):
    """Let Nomad have no volume, and take each."""
    scripted.reply("GET", PLURAL, 200, [])
    for number in range(40):
        scripted.reply("GET", path(number), 404, "volume not found")
        scripted.reply("PUT", path(number), 200, {})


@pytest.fixture
def holds(scripted):
    """Let Nomad have a volume from now on: ``holds(document, Name="other")``."""

    def hold(document, **changes):
        held = volumes.payload(document) | {"Secrets": None} | changes
        scripted.replies[("GET", f"/v1/volume/csi/{document.volume_id}")] = [(200, held)]

    return hold


@pytest.fixture
def run(context):
    """Register documents; return the outcomes and what was told."""

    def register(*documents, **options):
        told, wanted = [], volume_files.wanted(documents)
        outcomes = applied.apply(context.connect(), wanted, report=told.append, **options)
        return outcomes, told

    return register


def sent(scripted):
    """Return the id in each request, in no order."""
    return sorted(item["ID"] for _, body in scripted.sent("PUT") for item in body["Volumes"])


@pytest.mark.usefixtures("absent")
def test_each_new_volume_is_one_request(run, scripted):
    """To its own path; the outcomes are in the order in which the volumes were given."""
    scripted.replies["PUT", path(0)] = [(200, {"Volumes": [], "Warnings": "mind the gap"})]

    outcomes, told = run(volume(2), volume(0), volume(1))

    assert [(item.key, item.status) for item in outcomes] == [
        ("default/v2", "registered"),
        ("default/v0", "registered"),
        ("default/v1", "registered"),
    ]
    assert all(item.is_done and not item.is_broken for item in outcomes)
    assert sorted((target, len(body["Volumes"])) for target, body in scripted.sent("PUT")) == [
        (f"{path(number)}?namespace=default", 1) for number in range(3)
    ]
    assert told == ["Nomad warns: mind the gap"]


@pytest.mark.usefixtures("absent")
def test_new_volumes_of_one_run_are_compared_once_more_by_one_list(run, scripted):
    """One whose storage another run registered before it meanwhile is taken back; the others stay."""
    row = {"Namespace": "default", "ExternalID": "fs-1", "PluginID": "efs"}
    before = [row | {"ID": "first", "CreateIndex": 5}, row | {"ID": "v1", "CreateIndex": 9}]
    scripted.reply("GET", PLURAL, 200, before)
    scripted.reply("DELETE", path(1), 200, {})

    outcomes, _ = run(volume(0), volume(1), volume(2))

    assert [item.status for item in outcomes] == ["registered", "refused", "registered"]
    assert (
        "registered at the same moment as another one, and deregistered again: fs-1 is registered as"
        in outcomes[1].reason
    )
    assert [target.partition("?")[0] for target, _ in scripted.sent("DELETE")] == [path(1)]
    assert [target for target, _ in scripted.sent("GET")].count(f"{PLURAL}?namespace=%2A&type=csi") == 2


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize(
    ("failures", "status"), [(1, "registered"), (2 * sending.ATTEMPTS, "unknown")], ids=["once", "for ever"]
)
def test_list_that_fails_is_read_again_before_the_outcome_is_unknown(run, scripted, failures, status):
    """The first list is the one before anything is sent; the last one compares what was sent."""
    no_leader = [(500, "No cluster leader")] * failures
    scripted.replies["GET", PLURAL] = [(200, []), *no_leader, (200, [])]

    outcomes, told = run(volume(0), volume(1))

    assert [item.status for item in outcomes] == [status] * 2
    assert sum("trying again" in line for line in told) == min(failures, sending.ATTEMPTS - 1)


ASKED = "controller validate volume: CSI.ControllerValidateVolume: "
BUSY = f"{ASKED}rpc error: code = Aborted desc = An operation with the given Volume fs-3 already exists"
HANGS = f"{ASKED}timeout while connecting to gRPC socket: failed to create gRPC connection: context deadline exceeded"
MANY = 40
"""More volumes than there are concurrent requests."""


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize(
    ("answer", "status", "requests"),
    [("validation: must include at least one capability block", "refused", 1), (BUSY, "failed", sending.ATTEMPTS)],
)
def test_volume_that_fails_keeps_none_of_the_others_out(run, scripted, answer, status, requests):
    """It alone has the reason; one that may succeed later is tried again."""
    scripted.replies["PUT", path(3)] = [(500, answer)]

    outcomes, told = run(*(volume(number) for number in range(MANY)))

    assert [item.volume_id for item in outcomes if item.status == "registered"] == [
        f"v{n}" for n in range(MANY) if n != 3
    ]
    assert outcomes[3].status == status
    assert outcomes[3].reason.startswith(f"PUT /v1/volume/csi/v3: status 500: {answer}")
    assert (sent(scripted).count("v3"), len(told)) == (requests, requests - 1)


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize("answer", [(500, HANGS), (0, "")], ids=["Nomad gives up", "no answer"])
def test_controller_that_hangs_is_not_waited_for_by_each_volume(run, scripted, monkeypatch, answer):
    """Only those wait that are under way; the others say why they were not sent. Another plugin is as good as ever."""
    monkeypatch.setattr(sending, "SLOW_S", -1)
    for number in range(MANY - 1):
        scripted.replies["PUT", path(number)] = [answer]
    healthy = volume(MANY - 1, plugin_id="ebs")

    outcomes, told = run(*(volume(number) for number in range(MANY - 1)), healthy)

    assert outcomes[-1].status == "registered"
    unsent = [item for item in outcomes if "not sent: plugin efs did not answer for" in item.reason]
    assert {item.status for item in unsent} == {"failed"}
    assert {item.status for item in outcomes[:-1]} == {"failed" if answer[0] else "unknown", "failed"}
    assert sending.FAILURES <= MANY - 1 - len(unsent) <= sending.CONCURRENT + sending.FAILURES
    assert len(sent(scripted)) == MANY - len(unsent)
    assert told == []


def test_answer_closes_the_circuit_breaker_again():
    """A controller that is slow for some volumes still serves the others."""
    breaker, slow = sending.CircuitBreaker(), errors.NomadApiError("PUT", path(0), HANGS, kind="retry")
    for _ in range(sending.FAILURES):
        assert breaker.refusal(volume(0)) is None
        breaker.fail(volume(0), slow)
    assert str(breaker.refusal(volume(1))) == (
        f"PUT /v1/volume/csi/v1: not sent: plugin efs did not answer for 3 volumes in a row: {HANGS}; run it again "
        "once it answers"
    )
    breaker.fail(volume(0), errors.NomadApiError("PUT", path(0), BUSY, kind="retry", advice="see its log"))
    assert str(breaker.refusal(volume(1))).endswith(f"did not answer for 4 volumes in a row: {BUSY}; see its log")

    breaker.answer(volume(0))

    assert breaker.refusal(volume(1)) is None


@pytest.mark.parametrize("attempts", [1, 2])
def test_volume_counts_as_failed_after_all_its_attempts(context, scripted, attempts):
    """A run of Pulumi sends it once: a moment without a leader is no plugin that hangs."""
    scripted.replies["PUT", path(0)] = [NO_LEADER]
    breaker = sending.CircuitBreaker()
    clock, others = context.client.clock, errors.NomadApiError("PUT", path(1), HANGS, kind="retry")
    policy = sending.RetryPolicy(
        deadline=1e9, attempts=attempts, clock=clock, report=lambda _line: breaker.fail(volume(1), others)
    )

    sender = sending.Sender(context.client, policy, breaker)
    found = [sender.send(volume(0), is_new=True).message for _ in range(sending.FAILURES)]

    assert (breaker.refusal(volume(0)) is None) is (attempts == 1)
    of_breaker = [f"not sent: plugin efs did not answer for 3 volumes in a row: {HANGS}"]
    assert found == ["No cluster leader"] * 2 + (["No cluster leader"] if attempts == 1 else of_breaker)
    breaker.answer(volume(0))
    breaker.fail(volume(1), others)
    scripted.replies["PUT", path(0)] = [(400, "no such mode")]
    assert sender.send(volume(0), is_new=True).kind == "refused"  # an answer, too
    breaker.fail(volume(1), others)
    breaker.fail(volume(1), others)
    assert breaker.refusal(volume(1)) is None


@pytest.mark.usefixtures("absent")
def test_secrets_of_a_known_volume_cannot_be_read_back(run, scripted, holds):
    """They are sent again, and where no answer ever comes, nobody claims to know."""
    document = volume(0, secrets={"password": CANARY})
    holds(document)
    scripted.replies["PUT", path(0)] = [(0, "")]

    [outcome], _ = run(document)

    assert (outcome.status, outcome.is_broken) == ("unknown", True)
    assert len(sent(scripted)) == sending.ATTEMPTS
    assert CANARY not in outcome.reason


@pytest.mark.parametrize(
    ("deadline", "is_cancelled", "reason"), [(60, True, "interrupted"), (-1, False, "the deadline has passed")]
)
def test_nothing_is_sent_after_an_interrupt_or_the_deadline(context, scripted, deadline, is_cancelled, reason):
    """What was not sent is told as failed, and goes in the next run."""
    policy = sending.RetryPolicy(deadline=deadline, clock=context.client.clock)
    if is_cancelled:
        policy.cancelled.set()

    error = sending.Sender(context.client, policy, sending.CircuitBreaker()).send(volume(0), is_new=True)

    assert (str(error), error.kind) == (f"PUT /v1/volume/csi/v0: not sent: {reason}; run it again", "retry")
    assert sent(scripted) == []


@pytest.mark.usefixtures("absent")
def test_volumes_are_sent_sixteen_at_a_time(run, scripted):
    """Each waits until sixteen are under way; a seventeenth would have to come for more."""
    under_way, most, lock = [], [0], threading.Lock()
    full = threading.Barrier(sending.CONCURRENT)

    def reply():
        with lock:
            under_way.append(1)
            most[0] = max(most[0], len(under_way))
        full.wait(60)
        with lock:
            under_way.pop()
        return {}

    for number in range(32):
        scripted.replies["PUT", path(number)] = [(200, reply)]

    outcomes, _ = run(*(volume(number) for number in range(32)))

    assert {item.status for item in outcomes} == {"registered"}
    assert most == [sending.CONCURRENT]


def test_id_twice_is_refused_before_anything_is_asked(run, scripted):
    """Which of the two is meant, nobody can know."""
    with pytest.raises(errors.SpecError, match="default/v0: expected each id once in a namespace, got two volumes"):
        run(volume(0), volume(0, external_id="fs-9"))
    assert scripted.requests == []


NO_LEADER = (500, "No cluster leader")
AGAIN = [f"trying again in {seconds} s (attempt {number} of 5)" for number, seconds in ((2, 1), (3, 2), (4, 4), (5, 8))]
ATTEMPTS = {
    "twice without a leader": ([NO_LEADER, NO_LEADER, (200, {})], {}, "registered", AGAIN[:2], 3),
    "for good": ([NO_LEADER], {}, "failed", AGAIN, sending.ATTEMPTS),
    "until the deadline": ([NO_LEADER], {"timeout_s": 2}, "failed", AGAIN[:1], 2),
    "the request was lost": ([(0, ""), (200, {})], {}, "registered", AGAIN[:1], 2),
}


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize(("answers", "options", "status", "told", "count"), ATTEMPTS.values(), ids=ATTEMPTS)
def test_request_that_was_not_taken_is_tried_again(run, scripted, answers, options, status, told, count):
    """And told; each time after a read that shows the volume absent, where the answer was lost."""
    scripted.replies[("PUT", path(0))] = list(answers)

    [outcome], lines = run(volume(0), **options)

    assert (outcome.status, outcome.is_broken) == (status, status == "failed")
    assert [line.rpartition("; ")[2] for line in lines] == told
    assert len(sent(scripted)) == count
    methods = [method for method, target, _ in scripted.requests if target.startswith(path(0))]
    assert answers[0] == NO_LEADER or methods == ["GET", "PUT", "GET", "PUT"]


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize("is_unreadable", [False, True])
def test_lost_answer_of_what_arrived_is_not_sent_again(run, scripted, holds, is_unreadable):
    """It is read back, at the latest before the second request: the server went on without its caller."""
    document = volume(0, secrets={"password": CANARY})
    original = scripted._take

    def arrives(method, target):
        if method == "PUT":
            holds(document)
            if is_unreadable:
                scripted.replies[("GET", path(0))].insert(0, (403, "Permission denied"))
        return original(method, target)

    scripted._take = arrives
    scripted.replies["PUT", path(0)] = [(0, "")]

    [outcome], told = run(document)

    assert outcome.status == "registered"
    assert [line.endswith("what was sent could not be read back") for line in told] == (
        [True, False] if is_unreadable else []
    )
    assert len(sent(scripted)) == 1


UNREAD = {
    "a right is missing": ([(403, "Permission denied")], "csi-read-volume", 1),
    "no leader for good": ([NO_LEADER], "No cluster leader", sending.ATTEMPTS),
    "no cluster": ([(0, "")], "GET /v1/volume/csi/v0", sending.ATTEMPTS),
    "no leader at first": ([NO_LEADER, (404, "volume not found")], None, 2),
}


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize(("answers", "error", "count"), UNREAD.values(), ids=UNREAD)
def test_cluster_that_cannot_be_read_is_not_written(run, scripted, answers, error, count):
    """Without a comparison nothing is sent; one without a leader is asked again, as often as a request is sent."""
    scripted.replies[("GET", path(0))] = list(answers)

    with contextlib.nullcontext() if error is None else pytest.raises(errors.NomadApiError, match=error):
        run(volume(0))
    assert len([target for target, _ in scripted.sent("GET") if target.startswith(path(0))]) == count
    assert sent(scripted) == ([] if error is not None else ["v0"])
