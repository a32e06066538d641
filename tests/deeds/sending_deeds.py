"""Registrations of several volumes: refused, busy, lost, interrupted, late; and which of them are sent again."""

import dataclasses
import json
import time
from unittest import mock

from nomad_csi.nomad import transport
from nomad_csi.plan import registration
from nomad_csi.volumes import sending
from tests.deeds import agent as agents
from tests.deeds.deeds import Case

BUSY = "controller validate volume: rpc error: code = Aborted desc = busy with {0}"
MODES = (registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),)


def _document(volume_id, plugin_id="ebs", **more):
    known = {"volume_id": volume_id, "namespace": "prod", "name": volume_id, "external_id": f"vol-{volume_id}"}
    return registration.VolumeRegistration(**known | {"plugin_id": plugin_id, "capabilities": MODES} | more)


THREE = tuple(_document(each, "efs") for each in "abc")
SECRET = tuple(dataclasses.replace(each, secrets={"key": "canary-5"}) for each in THREE)
SEVERAL = (*map(_document, "def"), *THREE[:2], _document("g", namespace="default"))


def _send(*answers, documents=THREE, new=False, at=None, within_s=100.0, **timeouts):
    """
    Return what sends *documents*; the *answers* come first, and then those of the emulator.

    An answer is a status with a message, ``lost`` (done), ``gone`` (not done), or warnings. *at*: what happens with the
    event that interrupts, and the number of the requests so far.
    """

    def run(agent, _context):
        left, sent, cancelled = list(answers), agent.transport.exchange, agents.Cancelled()

        def exchange(call, target, *given):
            if at is not None:
                at(cancelled, len(agent.transport.requests))
            if call.method != "PUT" or not left:
                return sent(call, target, *given)
            first = left.pop(0)
            if isinstance(first, tuple):
                agent.transport.requests.append(((call.method, target, json.loads(given[0]), 0), first[0]))
                return transport.Answer(status=first[0], headers={}, content=first[1].encode())
            if first == "gone":
                agent.transport.requests.append(((call.method, target, json.loads(given[0]), 0), "not done"))
                raise agent.transport.lost(call, "the connection broke")
            if first == "lost":
                agent.transport.fails = {len(agent.transport.requests): "lost"}
                return sent(call, target, *given)
            answer = sent(call, target, *given)
            return dataclasses.replace(answer, content=json.dumps({"Warnings": first}).encode())

        limits = {"deadline": time.monotonic() + within_s, "attempts": 3} | timeouts
        limits |= {"report": agent.messages.append, "cancelled": cancelled}
        with mock.patch.object(agent.transport, "exchange", exchange):
            sender = sending.Sender(agent.client(), sending.RetryPolicy(**limits), sending.CircuitBreaker())
            done = [(each, sender.send(each, is_new=new)) for each in documents]
        agent.messages += [f"{each.key}: {error and f'{error.kind}: {error}'}" for each, error in done]

    return run


def _after(count, change):
    return lambda cancelled, sent: change(cancelled) if sent >= count else None


def _later(_cancelled):
    time.sleep(1000)


def _slow(_cancelled, _sent):
    time.sleep(60)


def _set(cancelled):
    cancelled.set()


def _there(agent, _context):
    """Have the first of the volumes registered as wanted, and the second with other modes."""
    for each, mode in (("a", "single-node-writer"), ("b", "multi-node-multi-writer")):
        modes = [{"AccessMode": mode, "AttachmentMode": "file-system"}]
        row = {"ID": each, "Name": each, "PluginID": "efs", "ExternalID": f"vol-{each}", "RequestedCapabilities": modes}
        agent.client().request("PUT", f"/v1/volume/csi/{each}", query={"namespace": "prod"}, body={"Volumes": [row]})


BUSY_B = (500, BUSY.format("vol-b"))
CASES = (
    Case("three", _send(), fails=True),
    Case("three, one attempt", _send("lost", attempts=1)),
    Case("of several plugins and namespaces", _send(documents=SEVERAL), fails=True),
    Case("warnings", _send("careful\n", "also here", documents=SEVERAL)),
    Case("one is refused", _send((400, "no"))),
    Case("no right", _send((403, "Permission denied"))),
    Case("busy", _send(BUSY_B)),
    Case("busy for good", _send(*[BUSY_B] * 9)),
    Case("slow for good", _send(*[(500, "rpc error: EOF")] * 9, documents=SEVERAL, at=_slow, within_s=1000)),
    Case("no leader", _send((500, "No cluster leader"), (500, "No cluster leader"))),
    Case("no leader for good", _send(*[(500, "No cluster leader")] * 9)),
    Case("lost, arrived", _send("lost")),
    Case("lost, arrived, all are new", _send("lost", new=True)),
    Case("lost, not arrived", _send("gone")),
    Case("lost, not arrived, for good", _send(*["gone"] * 9)),
    Case("some were there", _send("gone"), before=_there),
    Case("lost with secrets", _send("lost", documents=SECRET, new=True)),
    Case("lost with secrets, not new", _send("lost", documents=SECRET)),
    Case("interrupted", _send(at=_after(0, _set))),
    Case("interrupted between two", _send((400, "no"), at=_after(2, _set))),
    Case("interrupted while it waits", _send((500, "No cluster leader"), at=_after(1, _set))),
    Case("late", _send(at=_after(0, _later))),
    Case("no time to wait", _send((500, "No cluster leader"), within_s=0.5)),
    Case("one alone", _send("gone", documents=THREE[:1])),
)
