"""Many volumes: compared first, sent in batches, each with an outcome, and nothing sent again unseen."""

import dataclasses
import threading
import time

import pytest

from nomad_csi import errors
from nomad_csi.apply import volumes as applied
from nomad_csi.nomad import volumes
from nomad_csi.ownership import registration_ownership
from nomad_csi.plan import registration
from nomad_csi.registration import sending

MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
PLURAL = "/v1/volumes"
CANARY = "canary-71d0"
RECORD = "/v1/var/nomad-csi/volumes/v0"
ADOPTS = registration_ownership.Requester(adopts=True)


def volume(number, **fields):
    """Return a volume of plugin ``efs``."""
    document = registration.VolumeRegistration(
        volume_id=f"v{number}", name=f"v{number}", external_id=f"fs-{number}", plugin_id="efs", capabilities=(MODE,)
    )
    return dataclasses.replace(document, **fields)


def path(number):
    """Return the path of a volume."""
    return f"/v1/volume/csi/v{number}"


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(applied, "WAIT_S", 0.001)


@pytest.fixture
def absent(scripted):
    """Let Nomad have no volume, and a plugin without a controller."""
    scripted.reply("GET", "/v1/plugin/csi/efs", 200, {"ID": "efs", "ControllerRequired": False})
    scripted.reply("GET", PLURAL, 200, [])
    for number in range(40):
        scripted.reply("GET", path(number), 404, "volume not found")


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
        told = []
        outcomes = applied.apply(context.connect(), applied.of_files(documents), tell=told.append, **options)
        return outcomes, told

    return register


def sent(scripted):
    """Return the ids of each request."""
    return [[item["ID"] for item in body["Volumes"]] for _, body in scripted.sent("PUT")]


@pytest.mark.usefixtures("absent")
def test_new_volumes_go_in_one_request(run, scripted):
    """In the order in which they were given."""
    scripted.reply("PUT", PLURAL, 200, {"Volumes": [], "Warnings": "mind the gap"})

    outcomes, told = run(volume(2), volume(0), volume(1))

    assert [(item.key, item.status) for item in outcomes] == [
        ("default/v2", "registered"),
        ("default/v0", "registered"),
        ("default/v1", "registered"),
    ]
    assert all(item.is_done and not item.is_broken for item in outcomes)
    assert len(sent(scripted)) == 1
    assert told == ["Nomad warns: mind the gap"]


@pytest.mark.usefixtures("absent")
def test_unchanged_volumes_are_not_sent(run, scripted, holds):
    """No write, not even an empty one."""
    for number in range(3):
        holds(volume(number))

    outcomes, _ = run(volume(0), volume(1), volume(2))

    assert [item.status for item in outcomes] == ["unchanged"] * 3
    assert sent(scripted) == []


@pytest.mark.usefixtures("absent")
def test_few_volumes_need_no_list(run, scripted, holds):
    """A list holds every volume of a namespace."""
    holds(volume(0))

    run(volume(0))

    assert scripted.sent("GET") == [(f"{path(0)}?namespace=default", None), (f"{RECORD}?namespace=default", None)]


@pytest.mark.usefixtures("absent")
def test_many_volumes_need_one_list_and_a_read_for_each_that_is_there(run, scripted, holds, monkeypatch):
    """What is not in the list is new without a question."""
    monkeypatch.setattr(volumes, "FEW", 5)
    scripted.replies[("GET", PLURAL)] = [
        (200, [{"ID": "v0", "Namespace": "default"}, {"ID": "other", "Namespace": "default"}])
    ]
    scripted.reply("PUT", PLURAL, 200, {})
    holds(volume(0))

    outcomes, _ = run(*(volume(number) for number in range(volumes.FEW + 1)))

    assert [item.status for item in outcomes] == ["unchanged"] + ["registered"] * volumes.FEW
    read = [target for target, _ in scripted.sent("GET") if target.startswith("/v1/volume/")]
    assert read == [f"{path(0)}?namespace=default"]


@pytest.mark.usefixtures("absent")
def test_changed_volume_says_what_changes(run, scripted, holds):
    """And goes with all its parts."""
    holds(volume(0), Context={"tier": "slow"})
    scripted.reply("PUT", path(0), 200, {})

    [outcome], _ = run(volume(0, context={"tier": "fast"}, secrets={"password": CANARY}), requester=ADOPTS)

    assert outcome.status == "updated"
    assert outcome.changes == ('context: Nomad has {"tier": "slow"}, wanted {"tier": "fast"}',)
    assert outcome.not_comparable == ("secrets",)
    [(_, body)] = scripted.sent("PUT")
    assert body["Volumes"][0]["Secrets"] == {"password": CANARY}
    assert body["Volumes"][0]["MountOptions"] == {}
    assert CANARY not in str(outcome.as_json())


@pytest.mark.usefixtures("absent")
def test_changed_volume_without_an_owner_record_is_refused(run, scripted, holds):
    """Who registered it is not known."""
    holds(volume(0), Context={"tier": "slow"})

    [outcome], _ = run(volume(0, context={"tier": "fast"}))

    assert (outcome.status, sent(scripted)) == ("refused", [])
    assert outcome.reason == (
        'context: Nomad has {"tier": "slow"}, wanted {"tier": "fast"}; it has no owner record; nothing was changed: '
        "--adopt takes it over"
    )


@pytest.mark.usefixtures("absent")
def test_volume_that_nomad_would_refuse_is_not_sent(run, scripted, holds):
    """The others go in."""
    holds(volume(1), Name="other")
    scripted.reply("PUT", PLURAL, 200, {})

    outcomes, _ = run(volume(0), volume(1), volume(2))

    assert [item.status for item in outcomes] == ["registered", "refused", "registered"]
    assert outcomes[1].changes[0] == 'name: Nomad has "other", wanted "v1"; Nomad never changes it'
    assert not outcomes[1].is_done
    assert sent(scripted) == [["v0", "v2"]]


@pytest.mark.usefixtures("absent")
def test_place_that_nomad_ignores_is_not_as_wanted(run, scripted, holds):
    """Nothing is sent for it, and nobody is told that all is well."""
    holds(volume(0))

    [outcome], _ = run(volume(0, required_topologies=({"zone": "a"},)))

    assert (outcome.status, outcome.is_done, outcome.is_broken) == ("refused", False, False)
    assert "registered without" in outcome.changes[0]
    assert sent(scripted) == []


@pytest.mark.usefixtures("absent")
def test_refusal_that_names_nobody_is_tracked_down(run, scripted):
    """Halves, until the one stands alone; the others go in."""
    refusal = (500, "validation: must include at least one capability block")
    scripted.replies[("PUT", PLURAL)] = [refusal, (200, {}), refusal]
    scripted.replies[("PUT", path(2))] = [refusal]
    scripted.replies[("PUT", path(3))] = [(200, {})]

    outcomes, _ = run(*(volume(number) for number in range(4)))

    assert [item.status for item in outcomes] == ["registered", "registered", "refused", "registered"]
    assert "must include at least one capability block" in outcomes[2].reason
    assert sent(scripted) == [["v0", "v1", "v2", "v3"], ["v0", "v1"], ["v2", "v3"], ["v2"], ["v3"]]


ASKED = "controller validate volume: CSI.ControllerValidateVolume: "
BUSY = f"{ASKED}rpc error: code = Aborted desc = An operation with the given Volume fs-3 already exists"


@pytest.mark.usefixtures("absent")
def test_volume_that_its_plugin_is_busy_with_keeps_none_of_the_others_out(run, scripted):
    """It alone fails after the last attempt, with its own reason; nobody waits for it again."""
    for _ in range(applied.ATTEMPTS):
        scripted.reply("PUT", PLURAL, 500, BUSY)
    scripted.reply("PUT", PLURAL, 200, {})
    scripted.reply("PUT", path(3), 500, BUSY)

    outcomes, told = run(*(volume(number) for number in range(21)))

    assert [item.volume_id for item in outcomes if item.status == "registered"] == [
        f"v{n}" for n in range(21) if n != 3
    ]
    assert (outcomes[3].status, outcomes[3].reason) == (
        "failed",
        f"PUT /v1/volume/csi/v3: status 500: {BUSY}; the plugin is still busy with an earlier call for the same volume",
    )
    assert [len(ids) for ids in sent(scripted)] == [21] * 5 + [20, 1]
    assert len(told) == applied.ATTEMPTS - 1


@pytest.mark.usefixtures("absent")
def test_busy_answer_that_names_nobody_is_tracked_down(run, scripted):
    """Halves, each asked once."""
    nameless = f"{ASKED}rpc error: code = Aborted desc = operation in progress"
    for _ in range(applied.ATTEMPTS + 1):
        scripted.reply("PUT", PLURAL, 500, nameless)
    scripted.reply("PUT", PLURAL, 200, {})
    scripted.reply("PUT", path(0), 500, nameless)
    scripted.reply("PUT", path(1), 200, {})

    outcomes, told = run(*(volume(number) for number in range(4)))

    assert [item.status for item in outcomes] == ["failed", "registered", "registered", "registered"]
    assert sent(scripted)[5:] == [["v0", "v1"], ["v0"], ["v1"], ["v2", "v3"]]
    assert len(told) == applied.ATTEMPTS - 1


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize(
    "answer",
    [
        f"{ASKED}timeout while connecting to gRPC socket: failed to create gRPC connection: context deadline exceeded",
        f"{ASKED}rpc error: code = Internal desc = Could not get volume: api error RequestLimitExceeded: slow down",
        f"{ASKED}rpc error: code = ResourceExhausted desc = slow down",
    ],
    ids=["hangs", "throttled", "exhausted"],
)
def test_controller_that_answers_nobody_is_not_asked_for_each(run, scripted, answer):
    """One that hangs holds each question for two minutes; one that is throttled is not asked more."""
    scripted.reply("PUT", PLURAL, 500, answer)

    outcomes, _ = run(*(volume(number) for number in range(21)))

    assert {item.status for item in outcomes} == {"failed"}
    assert len(sent(scripted)) == applied.ATTEMPTS


@pytest.mark.usefixtures("absent")
def test_refusal_that_holds_for_all_is_asked_once(run, scripted):
    """A namespace that is not there has no good volume in it."""
    scripted.reply("PUT", PLURAL, 500, "volume v0 is in nonexistent namespace default")

    outcomes, _ = run(volume(0), volume(1))

    assert [item.status for item in outcomes] == ["refused", "refused"]
    assert len(sent(scripted)) == 1


@pytest.mark.usefixtures("absent")
def test_each_namespace_that_is_not_there_is_a_problem(run, scripted):
    """With the volumes in it, what is there, and what to do; nothing is sent."""
    scripted.reply("GET", "/v1/namespaces", 200, [{"Name": "shop"}, {"Name": "default"}])
    for name in ("bank", "shpo"):
        scripted.reply("GET", f"/v1/namespace/{name}", 404, "Namespace not found")

    with pytest.raises(errors.SpecError) as caught:
        run(volume(0), volume(1, namespace="shpo"), volume(2, namespace="bank"), volume(3, namespace="bank"))

    assert str(caught.value).splitlines()[1:] == [
        "  volumes bank/v2, bank/v3: expected a namespace of the cluster (default, shop), got 'bank'; "
        "name another, or another cluster; or create it first with `nomad namespace apply bank`",
        "  volume shpo/v1: expected a namespace of the cluster (default, shop), got 'shpo'; "
        "did you mean shop; or create it first with `nomad namespace apply shpo`",
    ]
    assert sent(scripted) == []


@pytest.mark.usefixtures("absent")
@pytest.mark.parametrize("reply", [(403, "Permission denied"), (200, [{"Name": "default"}])])
def test_namespace_that_the_token_may_not_know_is_left_to_nomad(run, scripted, reply):
    """Its list is refused, or leaves out what is there."""
    scripted.reply("GET", "/v1/namespaces", *reply)
    scripted.reply("GET", "/v1/namespace/shop", 403, "Permission denied")
    scripted.reply("PUT", path(0), 500, "volume v0 is in nonexistent namespace shop")

    [outcome], _ = run(volume(0, namespace="shop"))

    assert outcome.status == "refused"
    assert "nonexistent namespace shop" in outcome.reason


@pytest.mark.usefixtures("absent")
def test_list_of_namespaces_is_asked_again(run, scripted):
    """A cluster without a leader has not said that something is missing."""
    scripted.replies[("GET", "/v1/namespaces")] = [(500, "No cluster leader"), (200, [{"Name": "shop"}])]
    scripted.reply("PUT", path(0), 200, {})

    [outcome], told = run(volume(0, namespace="shop"))

    assert outcome.status == "registered"
    assert len(told) == 1


@pytest.mark.usefixtures("absent")
def test_request_that_was_not_taken_is_tried_again_and_told(run, scripted):
    """A cluster without a leader did nothing."""
    scripted.replies[("PUT", path(0))] = [(500, "No cluster leader"), (500, "No cluster leader"), (200, {})]

    [outcome], told = run(volume(0))

    assert outcome.status == "registered"
    assert [line.partition("; ")[2] for line in told] == [
        "trying again in 0.001 s (attempt 2 of 5)",
        "trying again in 0.002 s (attempt 3 of 5)",
    ]


@pytest.mark.usefixtures("absent")
def test_retries_end(run, scripted):
    """It may work another time."""
    scripted.reply("PUT", path(0), 500, "No cluster leader")

    [outcome], _ = run(volume(0))

    assert (outcome.status, outcome.is_broken) == ("failed", True)
    assert len(sent(scripted)) == applied.ATTEMPTS


@pytest.mark.usefixtures("absent")
def test_deadline_ends_retries(run, scripted, monkeypatch):
    """No wait goes beyond it."""
    monkeypatch.setattr(applied, "WAIT_S", 60)
    scripted.reply("PUT", path(0), 500, "No cluster leader")

    [outcome], told = run(volume(0), timeout_s=30)

    assert outcome.status == "failed"
    assert (told, len(sent(scripted))) == ([], 1)


@pytest.mark.usefixtures("absent")
def test_nothing_is_sent_after_the_deadline(context, scripted):
    """A request that is cut short has an answer that nobody hears: what is not sent by then is told as not sent."""
    timeouts = sending.BatchTimeouts(deadline=time.monotonic() - 1)
    scripted.reply("PUT", path(0), 200, {})

    [(_, error)] = sending.send(context.connect(), [volume(0)], timeouts)

    assert str(error) == "PUT /v1/volumes: not sent: the deadline has passed; run it again"
    assert sent(scripted) == []


@pytest.mark.usefixtures("absent")
def test_batch_of_which_one_volume_is_there_has_not_arrived(run, scripted, holds):
    """Another process registered that one meanwhile: the other is sent again, or is not called registered."""
    documents = [volume(0), volume(1)]
    original = scripted._take

    def meanwhile(method, target):
        if method == "PUT":
            holds(documents[0])
        return original(method, target)

    scripted._take = meanwhile
    scripted.replies["PUT", PLURAL] = [(0, ""), (200, {})]

    outcomes, _ = run(*documents)

    assert [item.status for item in outcomes] == ["registered", "registered"]
    assert sent(scripted) == [["v0", "v1"], ["v0", "v1"]]


@pytest.mark.usefixtures("absent")
def test_lost_answer_of_what_arrived_is_not_sent_again(run, scripted, holds):
    """It is read back: the server went on without its caller."""
    document = volume(0, secrets={"password": CANARY})
    original = scripted._take

    def arrives(method, target):
        if method == "PUT":
            holds(document)
        return original(method, target)

    scripted._take = arrives
    scripted.reply("PUT", path(0), 0)

    [outcome], told = run(document)

    assert (outcome.status, told) == ("registered", [])
    assert len(sent(scripted)) == 1


@pytest.mark.usefixtures("absent")
def test_lost_answer_that_could_not_be_read_back_is_looked_at_before_it_is_sent_again(run, scripted, holds):
    """The look comes late, and still before the second request."""
    document = volume(0)
    original = scripted._take

    def arrives(method, target):
        if method == "PUT":
            holds(document)
            scripted.replies[("GET", path(0))].insert(0, (403, "Permission denied"))
        return original(method, target)

    scripted._take = arrives
    scripted.reply("PUT", path(0), 0)

    [outcome], told = run(document)

    assert outcome.status == "registered"
    assert [line.endswith("what was sent could not be read back") for line in told] == [True, False]
    assert len(sent(scripted)) == 1


@pytest.mark.usefixtures("absent")
def test_lost_answer_of_what_did_not_arrive_is_sent_again_and_told(run, scripted):
    """After a read that shows it absent."""
    scripted.replies[("PUT", path(0))] = [(0, ""), (200, {})]

    [outcome], told = run(volume(0))

    assert outcome.status == "registered"
    assert [line.endswith("trying again in 0.001 s (attempt 2 of 5)") for line in told] == [True]
    calls = [(method, target.partition("?")[0]) for method, target, _ in scripted.requests]
    of_the_volume = [call for call in calls if call[1] == path(0)]
    assert of_the_volume == [("GET", path(0)), ("PUT", path(0)), ("GET", path(0)), ("PUT", path(0))]


@pytest.mark.usefixtures("absent")
def test_secrets_of_a_known_volume_cannot_be_read_back(run, scripted, holds):
    """They are sent again, and where no answer ever comes, nobody claims to know."""
    document = volume(0, secrets={"password": CANARY})
    holds(document)
    scripted.reply("PUT", path(0), 0)

    [outcome], _ = run(document)

    assert (outcome.status, outcome.is_broken) == ("unknown", True)
    assert len(sent(scripted)) == applied.ATTEMPTS
    assert CANARY not in outcome.reason


def test_interrupted_step_sends_nothing_more(context, scripted):
    """What was not sent is told as failed, and goes in the next run."""
    cancelled = threading.Event()
    cancelled.set()
    timeouts = sending.BatchTimeouts(deadline=time.monotonic() + 60, cancelled=cancelled)

    answers = list(sending.send(context.client, [volume(0)], timeouts))

    assert [str(error) for _, error in answers] == ["PUT /v1/volumes: not sent: interrupted; run it again"]
    assert sent(scripted) == []


@pytest.mark.usefixtures("absent")
def test_batches_of_a_controller_go_side_by_side(run, scripted):
    """Each waits for its own volumes only; every volume goes once."""
    scripted.replies[("GET", "/v1/plugin/csi/efs")] = [(200, {"ControllerRequired": True})]
    scripted.reply("PUT", PLURAL, 200, {})

    outcomes, _ = run(*(volume(number) for number in range(30)))

    assert {item.status for item in outcomes} == {"registered"}
    assert [len(ids) for ids in sent(scripted)] == [3] * 10
    assert sorted(volume_id for ids in sent(scripted) for volume_id in ids) == sorted(f"v{n}" for n in range(30))


@pytest.mark.usefixtures("absent")
def test_error_in_one_batch_stops_the_others(context, scripted, monkeypatch):
    """A bug is not an outcome: nothing more is sent."""
    scripted.replies[("GET", "/v1/plugin/csi/efs")] = [(200, {"ControllerRequired": True})]

    def broken(*_arguments, **_options):
        raise RuntimeError("broken")

    monkeypatch.setattr(sending.volumes, "register", broken)
    timeouts = sending.BatchTimeouts(deadline=1e9)

    with pytest.raises(RuntimeError, match="broken"):
        list(sending.send(context.connect(), [volume(number) for number in range(30)], timeouts))


def test_id_twice_is_refused_before_anything_is_asked(run, scripted):
    """Which of the two is meant, nobody can know."""
    with pytest.raises(errors.SpecError, match="default/v0: expected each id once in a namespace, got two volumes"):
        run(volume(0), volume(0, external_id="fs-9"))
    assert scripted.requests == []


def test_cluster_that_cannot_be_read_is_not_written(run, scripted):
    """Without a comparison nothing is sent."""
    scripted.reply("GET", path(0), 403, "Permission denied")

    with pytest.raises(errors.NomadApiError, match="csi-read-volume"):
        run(volume(0))
    assert sent(scripted) == []


@pytest.mark.usefixtures("absent")
def test_cluster_without_a_leader_is_asked_again_before_anything_is_sent(run, scripted):
    """And told; a cluster that is not there at all is an error at once."""
    scripted.replies[("GET", path(0))] = [(500, "No cluster leader"), (404, "volume not found")]
    scripted.reply("PUT", path(0), 200, {})

    [outcome], told = run(volume(0))

    assert outcome.status == "registered"
    assert len(told) == 1
    scripted.replies[("GET", path(0))] = [(0, "")]
    with pytest.raises(errors.NomadApiError):
        run(volume(0))


@pytest.mark.usefixtures("absent")
def test_cluster_that_finds_no_leader_is_an_error(run, scripted):
    """After as many attempts as a request has."""
    scripted.replies[("GET", path(0))] = [(500, "No cluster leader")]

    with pytest.raises(errors.NomadApiError, match="No cluster leader"):
        run(volume(0))
    assert [target.partition("?")[0] for target, _ in scripted.sent("GET")] == [path(0)] * applied.ATTEMPTS


def test_plugin_that_could_not_be_looked_at_is_told(run, scripted):
    """Once; its volumes go in small requests, which are right whether it has a controller or not."""
    scripted.reply("GET", "/v1/plugin/csi/efs", 403, "Permission denied")
    for number in range(20):
        scripted.reply("GET", path(number), 404, "volume not found")
    scripted.reply("PUT", PLURAL, 200, {})

    outcomes, told = run(*(volume(number) for number in range(20)))

    assert {item.status for item in outcomes} == {"registered"}
    assert sorted(len(ids) for ids in sent(scripted)) == [2] * 10
    [line] = told
    assert line.startswith("GET /v1/plugin/csi/efs: status 403: Permission denied; ")
    assert line.endswith("; whether plugin efs has a controller is not known: small requests are sent")
