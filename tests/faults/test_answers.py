"""Answers that are none of the volume's fault: nested errors, no leader, a right taken away, no such namespace."""

import threading

import pytest

from nomad_csi import nomad
from nomad_csi.frame import resource
from nomad_csi.volumes import volume_resource
from tests.faults.conftest import finished, write_volume

REFUSED = "failed to get conn: dial tcp 127.0.0.1:4647: connect: connection refused"


def failing(status, text, *, after=False):
    """Return a fault: answer *status* and *text*, instead of the agent or *after* it did what was asked."""

    def act(handler):
        if after:
            handler.forward()
        handler.answer(status, text)

    return act


@pytest.mark.parametrize(
    ("text", "after", "is_reported"),
    [
        (f"rpc error: {REFUSED}", False, True),
        ("rpc error: rpc error: No cluster leader", False, True),
        ("rpc error: Not ready to serve consistent reads", False, True),
        ("rpc error: EOF", False, True),
        ("rpc error: EOF", True, False),
        ("rpc error: rpc error: leadership lost while committing log", True, False),
        ("rpc error: stream closed", True, False),
    ],
)
def test_nested_error_is_understood_by_its_end(register, proxy, agent, files, held, ids, text, after, is_reported):
    """What did not reach a leader is sent again; what may have is read back first, and sent once where it arrived."""
    path = files("v0")
    proxy.fault("PUT", failing(500, text, after=after))

    done = register(proxy.address, path)

    message = f"PUT /v1/volume/csi/v0: status 500: {text}; trying again in 0.01 s (attempt 2 of 5)\n"
    assert (done.code, done.statuses) == (0, {"registered"})
    assert done.said == (message if is_reported else "")
    assert held() == ids(1)
    assert len([each for each in agent.requests if each["method"] == "PUT" and "volume" in each["path"]]) == 1
    assert finished(register, agent, path)


@pytest.mark.parametrize("arrives", [True, False])
def test_nothing_is_sent_again_unseen(register, proxy, agent, files, held, ids, arrives):
    """The answer is lost, and for a while nothing can be read: what was sent is checked before it is sent again."""
    path = files("v0")

    def lose(handler):
        if arrives:
            handler.forward()
        proxy.fault("GET", failing(500, "No cluster leader"), times=2)
        handler.answer(500, "rpc error: EOF")

    proxy.fault("PUT", lose)

    done = register(proxy.address, path)

    lost = "PUT /v1/volume/csi/v0: status 500: rpc error: EOF; trying again in"
    unread = "GET /v1/volume/csi/v0: status 500: No cluster leader; what was sent could not be read back"
    assert (done.code, done.statuses) == (0, {"registered"})
    assert done.said.splitlines() == [
        unread,
        f"{lost} 0.01 s (attempt 2 of 5)",
        unread,
        f"{lost} 0.02 s (attempt 3 of 5)",
    ]
    assert held() == ids(1)
    assert len(proxy.sent("PUT")) == (1 if arrives else 2)
    assert finished(register, agent, path)


def test_leader_that_does_not_come_leaves_the_volume_for_the_next_run(register, proxy, agent, files, held, ids):
    """It failed, and was not refused: exit code 2, and nothing is registered."""
    path = files("v0")
    proxy.fault("PUT", failing(500, "No cluster leader"), times=99)

    done = register(proxy.address, path)

    assert done.code == 2
    assert done.outcomes == {"default/v0": ("failed", "PUT /v1/volume/csi/v0: status 500: No cluster leader")}
    assert held() == {}
    assert register(agent.url, path).statuses == {"registered"}
    assert held() == ids(1)


@pytest.fixture
def step(proxy, tmp_path):
    """A registration as Pulumi declares it: the class, the context of a step, and its inputs."""
    kind = volume_resource.VolumeRegistrationResource()
    mode = {"accessMode": "multi-node-multi-writer", "attachmentMode": "file-system"}
    given = {"volumeId": "v0", "externalId": "fs-0123456789abcdef0:/v0", "pluginId": "aws-efs0"}
    news, failures = kind.check(given | {"capabilities": [mode]})
    assert failures == ()
    with nomad.Nomad(nomad.Connection(address=proxy.address)) as client:
        yield kind, resource.Context(connect=lambda: client, root=tmp_path, cancelled=threading.Event()), news


def test_up_whose_answer_was_lost_goes_on(step, proxy, held, ids):
    """A read shows that the volume is there; it is sent once."""
    kind, context, news = step
    proxy.fault("PUT", failing(500, "rpc error: EOF", after=True))

    assert kind.create(context, news)[0] == "default/v0"

    assert proxy.sent("PUT") == ["/v1/volume/csi/v0"]
    assert held() == ids(1)


def test_read_that_is_denied_sends_nothing(register, proxy, agent, files, held):
    """Without a comparison no one knows what to send."""
    path = files("v0")
    proxy.fault("GET", failing(403, "Permission denied"), path="/v1/volume/", times=99)

    done = register(proxy.address, path)

    assert (done.code, done.outcomes) == (2, {})
    assert done.said.splitlines(keepends=True)[-1] == (
        "error: GET /v1/volume/csi/v0: status 403: Permission denied; set NOMAD_TOKEN to a token that "
        "has csi-read-volume in namespace default (or csi-mount-volume, read-job)\n"
    )
    assert (held(), proxy.sent("PUT")) == ({}, [])
    assert register(agent.url, path).statuses == {"registered"}


def test_namespace_that_is_not_there_is_named_before_anything_goes_in(register, agent, tmp_path, held):
    """With the command that makes it; then the next run sends all."""
    path = two_namespaces(tmp_path)

    done = register(agent.url, path)

    assert done.code == 1
    assert all("nomad namespace apply two" in done.outcomes[f"two/v{number}"][1] for number in range(2))
    assert held() == {}
    with nomad.Nomad(nomad.Connection(address=agent.url)) as client:
        client.request("PUT", "/v1/namespace", body={"Name": "two"})
    assert register(agent.url, path).statuses == {"registered"}
    assert len(held()) == 4


def two_namespaces(folder):
    """Write two volumes for each of two namespaces; return the folder of their files."""
    made = folder / "volumes"
    made.mkdir()
    for namespace, prefix in (("default", ""), ("two", "two-")):
        for volume_id in ("v0", "v1"):
            own = f"fs-0123456789abcdef0:/{prefix}{volume_id}"
            path = made / f"{namespace}-{volume_id}.volume.hcl"
            write_volume(path, volume_id, namespace=namespace, external_id=own)
    return str(made)
