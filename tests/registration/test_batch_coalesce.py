"""Registrations that arrive together go out together, and each caller hears of its own volume."""

import dataclasses
import threading
from concurrent import futures

import pytest

from nomad_csi import errors
from nomad_csi.plan import registration
from nomad_csi.registration import batch_coalesce

MODE = registration.Capability(access_mode="multi-node-multi-writer", attachment_mode="file-system")
COUNT = 8


def volume(number, **fields):
    """Return a volume of plugin ``efs``."""
    document = registration.VolumeRegistration(
        volume_id=f"v{number}", name=f"v{number}", external_id=f"fs-{number}", plugin_id="efs", capabilities=(MODE,)
    )
    return dataclasses.replace(document, **fields)


@pytest.fixture
def together(context, monkeypatch):
    """Register documents, each in a thread of its own, all gathered before one is sent: ``together(*documents)``."""
    gathered = threading.Event()
    coalescer = batch_coalesce.Coalescer(context.connect(), gather_s=7)
    monkeypatch.setattr(batch_coalesce.time, "sleep", lambda seconds: gathered.wait(seconds * 10))

    def attempt(document):
        try:
            coalescer.register(document, tell=context.warn, cancelled=context.cancelled)
        except errors.NomadCsiError as error:
            return error
        return None

    def run(*documents):
        with futures.ThreadPoolExecutor(len(documents)) as pool:
            running = [pool.submit(attempt, document) for document in documents]
            while sum(len(group) for group in coalescer._gathering.values()) < len(documents):
                pass
            gathered.set()
            return [done.result() for done in running]

    return run


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


def test_bug_reaches_every_caller(together, monkeypatch):
    """Nobody waits for an answer that never comes."""

    def broken(*_arguments):
        raise errors.NomadCsiError("broken")

    monkeypatch.setattr(batch_coalesce.batch_send, "send", broken)

    assert [str(answer) for answer in together(volume(0), volume(1))] == ["broken", "broken"]


def test_client_has_one_coalescer(context):
    """However many threads ask."""
    client = context.connect()

    assert batch_coalesce.of(client) is batch_coalesce.of(client)
