"""
A CSI plugin without gRPC, which writes down each call: its address, request and time limit.

What it answers takes as many seconds as a test says, on a clock of its own.
"""

import contextlib
import json
import threading
from concurrent import futures
from unittest import mock

import grpc
from google.protobuf import json_format

from nomad_csi import concurrency
from nomad_csi.csi import endpoint
from nomad_csi.csi.v1 import csi_pb2

HANGS = "hangs"
"""What stands for an answer that does not come: gRPC ends the call at its deadline."""

OPEN = "open"
"""The same where gRPC does not end it, so that the caller has to."""


class Clock:
    """A clock that goes on by what is slept, and by what plugins take."""

    def __init__(self):
        self.now_s = 1000.0

    def monotonic(self):
        """Return the time."""
        return self.now_s

    def sleep(self, seconds):
        """Let the time pass."""
        self.now_s += seconds


class Answered:
    """A call that ended, or hangs until it is cancelled."""

    def __init__(self, answer, clock, timeout_s, takes_s):
        self._answer = answer
        self._hangs = answer == HANGS or takes_s >= timeout_s
        if answer != OPEN:
            clock.sleep(timeout_s if self._hangs else takes_s)

    def add_done_callback(self, callback):
        """Call at once, but where the call stays open."""
        if self._answer != OPEN:
            callback(self)

    def code(self):
        """Return the status."""
        if self._hangs:
            return grpc.StatusCode.DEADLINE_EXCEEDED
        return grpc.StatusCode[self._answer[0]] if isinstance(self._answer, tuple) else grpc.StatusCode.OK

    def details(self):
        """Return the message of a refusal."""
        return self._answer[1]

    def result(self):
        """Return the response."""
        return self._answer

    def cancel(self):
        """Do nothing: it has ended."""


class Plugins:
    """The plugins behind all addresses; `answers` are messages, refusals or `HANGS`, by RPC or by address and RPC."""

    def __init__(self, agent, answers, *, takes_s=0.25):
        self.agent, self.answers, self.takes_s, self.clock = agent, answers, takes_s, Clock()
        self.calls = 0
        self.faults = {}
        """Answers by the number of the call, before all others."""

        self.is_shown = True

    def say(self, text):
        """Write *text* down."""
        if self.is_shown:
            self.agent.messages.append(text)

    def connect(self, target, options):
        """Return a channel to *target*."""
        shortest = dict(options)["grpc.min_reconnect_backoff_ms"]
        self.say(f"connects to {target}, for {shortest} ms")
        return Channel(self, target)

    def answer(self, target, name, request, timeout_s):
        """Return the call of an RPC."""
        self.calls += 1
        sent = json.dumps(json_format.MessageToDict(request), sort_keys=True)
        self.say(f"{name} {sent} ({timeout_s:g} s)")
        known = self.answers.get((target, name), self.answers.get(name, ("UNIMPLEMENTED", "unknown service")))
        if isinstance(known, list):
            known = known.pop(0) if len(known) > 1 else known[0]
        known = self.faults.get(self.calls, known)
        return Answered(known(request) if callable(known) else known, self.clock, timeout_s, self.takes_s)


class Channel:
    """A channel; closed when its block ends."""

    def __init__(self, plugins, target):
        self._plugins, self._target = plugins, target

    def unary_unary(self, path, **_):
        """Return what calls an RPC."""
        found = mock.Mock(spec=["future"])
        name = path.rpartition("/")[2]
        found.future = lambda request, timeout: self._plugins.answer(self._target, name, request, timeout)
        return found

    def close(self):
        """Write that it is closed."""
        self._plugins.say("closes")


class InOrder(futures.Executor):
    """Workers that run one call after the other."""

    def __init__(self, *_, **__):
        super().__init__()

    def submit(self, call, /, *values, **more):
        """Return what has ended."""
        found = futures.Future()
        concurrency.settle(lambda: call(*values, **more), found)
        return found

    def map(self, call, *values, **_):
        """Return the results."""
        return [call(*each) for each in zip(*values, strict=True)]


class Cancelled(threading.Event):
    """An interrupt that comes when it was looked at as often as a test says, a second each time."""

    def __init__(self, looks, clock):
        super().__init__()
        self._left, self._clock = looks, clock

    def is_set(self):
        """Return whether it has come."""
        self._left -= 1
        self._clock.sleep(1)
        return self._left < 0


@contextlib.contextmanager
def running(agent, answers, **more):
    """Have all channels lead to plugins that give *answers*."""
    found = Plugins(agent, answers, **more)
    with (
        mock.patch.object(grpc, "insecure_channel", found.connect),
        mock.patch("time.monotonic", found.clock.monotonic),
        mock.patch("time.sleep", found.clock.sleep),
        mock.patch.object(endpoint, "check"),
        mock.patch.object(futures, "ThreadPoolExecutor", InOrder),
    ):
        yield found


def capability(kind, number):
    """Return what a plugin says it can: *kind* is ``controller``, ``node``, ``service`` or ``volume_expansion``."""
    if kind == "controller":
        return csi_pb2.ControllerServiceCapability(rpc={"type": number})
    if kind == "node":
        return csi_pb2.NodeServiceCapability(rpc={"type": number})
    return csi_pb2.PluginCapability(**{kind: {"type": number}})


def all_answers(**changes):
    """Return the answers of a plugin that is well, but for *changes*."""
    return {
        "Probe": csi_pb2.ProbeResponse(),
        "GetPluginInfo": csi_pb2.GetPluginInfoResponse(name="ebs.csi.aws.com", vendor_version="v1.64.0"),
        "GetPluginCapabilities": csi_pb2.GetPluginCapabilitiesResponse(
            capabilities=[capability("service", 2), capability("service", 1), capability("volume_expansion", 1)]
        ),
        "ControllerGetCapabilities": csi_pb2.ControllerGetCapabilitiesResponse(
            capabilities=[capability("controller", 2), capability("controller", 1), capability("controller", 77)]
        ),
        "NodeGetInfo": csi_pb2.NodeGetInfoResponse(
            node_id="i-1", max_volumes_per_node=26, accessible_topology={"segments": {"zone": "a"}}
        ),
        "NodeGetCapabilities": csi_pb2.NodeGetCapabilitiesResponse(capabilities=[capability("node", 1)]),
    } | changes
