"""Registrations that arrive together go out together, and each caller hears of its own volume."""

import dataclasses
import threading
import time
from concurrent import futures

import pytest

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.ownership import owner_records, registration_ownership
from nomad_csi.plan import registration
from nomad_csi.registration import concurrent_registrations
from nomad_csi_sandbox.nomad import cluster, server, state
from nomad_csi_sandbox.nomad.clients import nodes

MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
COUNT = 8
GATHER_S = 7
DEADLINE_S = 10
"""A caller that has no answer by then waits for ever."""

OURS = registration_ownership.Requester(owner="shop/prod", stack_id="9f86d081884c7d65")
TO_OTHER = registration_ownership.Requester(owner="bank/prod", adopts=True)
NOBODY = {"requester": registration_ownership.NO_OWNER, "token": owner_records.NO_TOKEN}
pause = time.sleep


def volume(number, **fields):
    """Return a volume of plugin ``efs``."""
    document = registration.VolumeRegistration(
        volume_id=f"v{number}", name=f"v{number}", external_id=f"fs-{number}", plugin_id="efs", capabilities=(MODE,)
    )
    return dataclasses.replace(document, **fields)


def answered(coalescer, documents, **how):
    """Register each of *documents* in a thread of its own; return where their answers go: ``None``, or why not."""

    def attempt(document, answer):
        try:
            coalescer.register(document, **{"tell": print, "cancelled": threading.Event(), **NOBODY} | how)
        except errors.NomadCsiError as error:
            answer.set_result(error)
        except BaseException as bug:  # noqa: BLE001  # raised again where the answer is read
            answer.set_exception(bug)
        else:
            answer.set_result(None)

    answers = [futures.Future() for _ in documents]
    for document, answer in zip(documents, answers, strict=True):
        threading.Thread(target=attempt, args=(document, answer), daemon=True).start()
    return answers


def until(is_reached):
    """Wait for what other threads do."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_reached():
        assert time.monotonic() < deadline
        pause(0.001)


def gathered_in(coalescer):
    """Return how many wait in *coalescer* for others."""
    return sum(map(len, list(coalescer._gathering.values())))


@pytest.fixture
def together(context, monkeypatch):
    """Register documents, each in a thread of its own, all gathered before one is sent: ``together(*documents)``."""

    def run(*documents, client=None, **how):
        all_here = threading.Event()
        monkeypatch.setattr(concurrent_registrations.time, "sleep", lambda seconds: all_here.wait(DEADLINE_S + seconds))
        coalescer = concurrent_registrations.Coalescer(client or context.connect(), gather_s=GATHER_S)
        answers = answered(coalescer, documents, **{"tell": context.warn, "cancelled": context.cancelled} | how)
        until(lambda: gathered_in(coalescer) == len(documents))
        all_here.set()
        return [answer.result(DEADLINE_S) for answer in answers]

    return run


@pytest.fixture
def owned(tmp_path):
    """A client of an emulator with the plugin ``efs``, where volumes have owners."""
    node = nodes.NodeSpec(name="one", zone="us-east-1a", instance_id="")
    made = cluster.Settings(data_dir=tmp_path, nodes=[node], environment={})
    with server.Server(cluster.Cluster(made)) as serving, nomad.Nomad(nomad.Connection(address=serving.url)) as client:
        serving.cluster.state.plugins["efs"] = state.PluginRecord(plugin_id="efs", create_index=1, modify_index=1)
        yield client


@pytest.fixture
def sending(monkeypatch):
    """Let a test say what sending comes to: ``sending(lambda documents: ...)``; return what else was handed over."""
    handed_over = []

    def say(answers):
        def send(client, documents, timeouts, **_):
            handed_over.append((client, timeouts))
            yield from answers(documents)

        monkeypatch.setattr(concurrent_registrations.sending, "send", send)
        return handed_over

    return say


def records(client):
    """Return owner and nonce of each volume that has a record."""
    found = registration_ownership.owner_records_of(client).read([("default", f"v{number}") for number in range(COUNT)])
    return {volume_id: (owner.owner, owner.nonce) for (_, volume_id), owner in found.owners.items()}


@pytest.fixture
def node_only(scripted):
    """Let the plugin have no controller."""
    scripted.reply("GET", "/v1/plugin/csi/efs", 200, {"ID": "efs", "ControllerRequired": False})


@pytest.mark.usefixtures("node_only")
def test_callers_of_one_moment_share_a_request(together, scripted):
    """One request for all of them."""
    scripted.reply("PUT", "/v1/volumes", 200, {"Volumes": []})

    answers = together(*(volume(number) for number in range(COUNT)))

    assert answers == [None] * COUNT
    [(_, body)] = scripted.sent("PUT")
    assert sorted(item["ID"] for item in body["Volumes"]) == [f"v{number}" for number in range(COUNT)]


@pytest.mark.usefixtures("node_only")
def test_volume_that_two_callers_register_has_an_answer_for_each(together, scripted):
    """Two resources of a program with one volume id: Nomad accepts both, and neither waits for the other."""
    scripted.reply("PUT", "/v1/volumes", 200, {"Volumes": []})

    assert together(volume(1), volume(1)) == [None, None]


@pytest.mark.usefixtures("node_only")
def test_refusal_of_one_is_the_error_of_one(together, scripted):
    """The sentence names it, so the others go together, and only its caller hears of it."""
    scripted.reply("PUT", "/v1/volumes", 500, "volume identity cannot be updated: v3")
    scripted.reply("PUT", "/v1/volumes", 200, {"Volumes": []})
    scripted.reply("PUT", "/v1/volume/csi/v3", 500, "volume identity cannot be updated: v3")

    answers = together(*(volume(number) for number in range(COUNT)))

    assert [number for number, answer in enumerate(answers) if answer] == [3]
    assert str(answers[3]).startswith("PUT /v1/volume/csi/v3: status 500: volume identity cannot be updated: v3")
    assert len(scripted.sent("PUT")) == 3


def test_plugins_and_namespaces_do_not_share(together, scripted):
    """What is wrong with one plugin, or slow, is not the others' affair."""
    for plugin_id in ("efs", "other"):
        scripted.reply("GET", f"/v1/plugin/csi/{plugin_id}", 200, {"ControllerRequired": False})
    scripted.reply("PUT", "/v1/volume/csi/v0", 200, {"Volumes": []})
    scripted.reply("PUT", "/v1/volume/csi/v1", 500, "no CSI plugin named: other could be found")
    scripted.reply("PUT", "/v1/volume/csi/v2", 200, {"Volumes": []})

    answers = together(volume(0), volume(1, plugin_id="other"), volume(2, namespace="storage"))

    assert [answer is None for answer in answers] == [True, False, True]


@pytest.mark.usefixtures("node_only")
def test_lost_answer_is_each_caller_s_to_read_back(together, scripted):
    """Nothing is sent again by itself; the errors are not one object that threads share."""
    scripted.reply("PUT", "/v1/volumes", 0)

    first, second = together(volume(0), volume(1))

    assert (first.kind, second.kind) == ("ambiguous", "ambiguous")
    assert first is not second
    assert len(scripted.sent("PUT")) == 1


REFUSED = errors.NomadApiError(
    "PUT", "/v1/volumes", "busy", status=500, kind="retry", advice="wait", is_connected=False
)


def test_error_has_all_that_nomad_said(together, sending):
    """A copy of it reaches each caller."""
    sending(lambda documents: ((document, REFUSED) for document in documents))

    first, second = together(volume(0), volume(1))

    assert vars(first) == vars(second) == vars(REFUSED)
    assert first is not second


def test_bug_reaches_every_caller_without_an_answer(together, sending):
    """It does not wait for what never comes; an answer that is there already stays."""

    def broken(documents):
        yield next(document for document in documents if document.volume_id == "v1"), REFUSED
        raise errors.NomadCsiError("broken")

    sending(broken)

    answers = together(volume(0), volume(1), volume(2))

    assert [str(answer) for answer in (answers[0], answers[2])] == ["broken", "broken"]
    assert str(answers[1]) in {str(REFUSED), "broken"}  # where it is the first one, it hears of the bug


def test_batch_has_a_deadline_and_the_ears_of_its_first_caller(together, sending, context):
    """Twice what one request may take, and an interruption ends it."""
    handed_over = sending(lambda documents: ((document, None) for document in documents))

    together(volume(0))

    [(client, timeouts)] = handed_over
    left_s = timeouts.deadline - time.monotonic()
    assert 2 * volumes.REGISTER_TIMEOUT_S - DEADLINE_S < left_s <= 2 * volumes.REGISTER_TIMEOUT_S
    assert (client, timeouts.tell, timeouts.cancelled) == (context.connect(), context.warn, context.cancelled)
    assert timeouts.attempts == 1


def test_owner_is_recorded_and_each_caller_hears_of_its_own_volume(together, owned, heard):
    """One is another stack's, one is refused by Nomad and free again, one is there already with other storage."""
    marks = registration_ownership.owner_records_of(owned)
    marks.acquire(registration_ownership.without_tokens([("default", "v1")]), TO_OTHER)
    volumes.register(owned, [volume(3, external_id="fs-9")])
    token = owner_records.OwnerToken(nonce="5e884898da28")

    answers = together(
        volume(0), volume(1), volume(2, capabilities=()), volume(3), client=owned, requester=OURS, token=token
    )

    assert answers[0] is None
    assert str(answers[1]) == (
        "volume default/v1 belongs to stack bank/prod: choose another id, or set adopt: true to take it over"
    )
    assert isinstance(answers[1], errors.RefusedError)
    assert "must include at least one capability block" in str(answers[2])
    assert "volume external ID cannot be updated" in str(answers[3])
    ours = ("shop/prod", "5e884898da28")
    assert records(owned) == {"v0": ours, "v1": ("bank/prod", ""), "v3": ours}
    assert [item.volume_id for item in volumes.list_volumes(owned, "default")] == ["v0", "v3"]
    assert heard["warn"] == ["registered meanwhile: default/v3; owner records stay"]


def test_two_stacks_at_one_moment_record_their_own(owned, sending, monkeypatch):
    """They share no batch, although plugin and namespace are the same."""
    handed_over = sending(lambda documents: ((document, None) for document in documents))
    all_here = threading.Event()
    monkeypatch.setattr(concurrent_registrations.time, "sleep", lambda _seconds: all_here.wait(DEADLINE_S))
    coalescer = concurrent_registrations.Coalescer(owned)

    answers = answered(coalescer, [volume(0)], requester=OURS) + answered(coalescer, [volume(1)], requester=TO_OTHER)
    until(lambda: gathered_in(coalescer) == 2)
    all_here.set()

    assert [answer.result(DEADLINE_S) for answer in answers] == [None, None]
    assert records(owned) == {"v0": ("shop/prod", ""), "v1": ("bank/prod", "")}
    assert len(handed_over) == 2


def test_record_that_another_run_removed_meanwhile_is_back_afterwards(together, owned, sending):
    """And a volume that another stack took in that moment is not ours."""
    marks = registration_ownership.owner_records_of(owned)

    def sent(documents):
        volumes.register(owned, documents)
        marks.release(registration_ownership.without_tokens([("default", "v0")]), OURS)
        marks.acquire(registration_ownership.without_tokens([("default", "v1")]), TO_OTHER)
        yield from ((document, None) for document in documents)

    sending(sent)
    token = owner_records.OwnerToken(nonce="5e884898da28")

    answers = together(volume(0), volume(1), client=owned, requester=OURS, token=token)

    assert answers[0] is None
    assert str(answers[1]) == (
        "volume default/v1 belongs to stack bank/prod now, and was registered by this run: resolve the ownership"
    )
    assert isinstance(answers[1], errors.RefusedError)
    assert records(owned) == {"v0": ("shop/prod", "5e884898da28"), "v1": ("bank/prod", "")}


def test_record_of_another_resource_of_the_stack_stays_after_a_refusal(together, owned, sending):
    """It holds the volume by its own nonce."""
    moved = owner_records.OwnerToken(nonce="0d8f7c9e11aa")

    def sent(documents):
        registration_ownership.owner_records_of(owned).acquire({("default", "v0"): moved}, OURS)
        yield from ((document, REFUSED) for document in documents)

    sending(sent)
    token = owner_records.OwnerToken(recorded="5e884898da28", nonce="5e884898da28")

    [answer] = together(volume(0), client=owned, requester=OURS, token=token)

    assert str(answer) == str(REFUSED)
    assert records(owned) == {"v0": ("shop/prod", "0d8f7c9e11aa")}


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ((403, "Permission denied"), (403, ""), "volumes of namespace default are registered without an owner record"),
        (
            (404, "variable not found"),
            (500, "boom"),
            "could not be determined whether the owner records of default/v0 still exist",
        ),
    ],
)
def test_first_caller_hears_what_owner_records_come_to(together, scripted, sending, heard, before, after, line):
    """The token may not read them, or Nomad does not answer afterwards; the volume is registered."""
    page = ("GET", f"/v1/var/{owner_records.path_of('v0')}")

    def sent(documents):
        scripted.replies[page] = [after]
        yield from ((document, None) for document in documents)

    scripted.replies[page] = [before]
    handed_over = sending(sent)

    assert together(volume(0), requester=OURS) == [None]

    assert [line in each for each in heard["warn"]] == [True]
    assert len(handed_over) == 1


def test_first_caller_hears_that_records_were_not_written_before_a_refusal(together, scripted, sending, heard):
    """Nothing is looked at afterwards then."""
    scripted.reply("GET", f"/v1/var/{owner_records.path_of('v0')}", 403, "Permission denied")
    sending(lambda documents: ((document, REFUSED) for document in documents))

    [answer] = together(volume(0), requester=OURS)

    assert str(answer) == str(REFUSED)
    assert [each.partition(":")[0] for each in heard["warn"]] == [
        "volumes of namespace default are registered without an owner record"
    ]


@pytest.mark.parametrize(("others", "times"), [(0, 1), (1, 2), (3, 4), (50, concurrent_registrations.GATHERINGS)])
@pytest.mark.usefixtures("node_only")
def test_first_one_waits_as_long_as_others_come(context, scripted, monkeypatch, others, times):
    """Once more after each time that another one joined, and not for ever."""
    scripted.reply("PUT", "/v1/volumes", 200, {"Volumes": []})
    scripted.reply("PUT", "/v1/volume/csi/v0", 200, {"Volumes": []})
    coalescer = concurrent_registrations.Coalescer(context.connect(), gather_s=GATHER_S)
    slept, answers = [], []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) <= others:
            answers.extend(answered(coalescer, [volume(len(slept))]))
            until(lambda: gathered_in(coalescer) == len(slept) + 1)

    monkeypatch.setattr(concurrent_registrations.time, "sleep", sleep)
    answers += answered(coalescer, [volume(0)])

    until(lambda: len(answers) == min(others, times) + 1)
    assert [answer.result(DEADLINE_S) for answer in answers] == [None] * len(answers)
    assert slept == [GATHER_S] * times
    assert len([path for path, _ in scripted.sent("PUT") if path.startswith("/v1/volume")]) == 1
    assert gathered_in(coalescer) == 0


@pytest.mark.usefixtures("node_only")
def test_client_has_one_coalescer(context, scripted):
    """However many threads ask; it sends with that client."""
    scripted.reply("PUT", "/v1/volume/csi/v0", 200, {"Volumes": []})
    client = context.connect()

    [answer] = answered(concurrent_registrations.coalescer_of(client), [volume(0)])

    assert answer.result(DEADLINE_S) is None
    assert concurrent_registrations.coalescer_of(client) is concurrent_registrations.coalescer_of(client)
    with nomad.Nomad(nomad.Connection(address="http://127.0.0.1:1")) as other:
        assert concurrent_registrations.coalescer_of(other) is not concurrent_registrations.coalescer_of(client)
