"""
CSI plugins without gRPC, which record each call: its address, request and time limit.

An answer takes a quarter of a second, on a clock of its own.
"""

import contextlib
import json
from concurrent import futures
from unittest import mock

import grpc
from google.protobuf import json_format

from nomad_csi import concurrency
from nomad_csi.csi import endpoint
from nomad_csi.csi.v1 import csi_pb2

TAKES_S = 0.25


class Clock:
    """A clock that advances by sleeps, and by the time of answers."""

    def __init__(self):
        self.now_s = 1000.0

    def monotonic(self):
        """Return the time."""
        return self.now_s

    def sleep(self, seconds):
        """Let the time pass."""
        self.now_s += seconds


class Answered:
    """A call that has ended, with a response or a refusal: code and message."""

    def __init__(self, answer):
        self._answer = answer

    def add_done_callback(self, callback):
        """Call at once."""
        callback(self)

    def code(self):
        """Return the status."""
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
    """The plugins behind all addresses; `answers` by RPC are responses, refusals, or functions of the request."""

    def __init__(self, answers, say):
        self.answers, self.say, self.clock = answers, say, Clock()

    def connect(self, target, options):
        """Return a channel to *target*."""
        self.say(f"connects to {target}, for {dict(options)['grpc.min_reconnect_backoff_ms']} ms")
        return Channel(self, target)

    def answer(self, name, request, timeout_s):
        """Return the call of an RPC."""
        self.say(f"{name} {json.dumps(json_format.MessageToDict(request), sort_keys=True)} ({timeout_s:g} s)")
        self.clock.sleep(TAKES_S)
        known = self.answers.get(name, ("UNIMPLEMENTED", "unknown service"))
        return Answered(known(request) if callable(known) else known)


class Channel:
    """A channel."""

    def __init__(self, plugins, target):
        self._plugins, self._target = plugins, target

    def unary_unary(self, path, **_):
        """Return an object that calls an RPC."""
        name = path.rpartition("/")[2]
        return mock.Mock(future=lambda request, timeout: self._plugins.answer(name, request, timeout))

    def close(self):
        """Nothing is open."""


class InOrder(futures.Executor):
    """Workers that run one call after the other."""

    def __init__(self, *_, **__):
        super().__init__()

    def submit(self, call, /, *values, **more):
        """Return a future that has ended."""
        found = futures.Future()
        concurrency.settle(lambda: call(*values, **more), found)
        return found

    def map(self, call, *values, **_):
        """Return the results."""
        return [call(*each) for each in zip(*values, strict=True)]


@contextlib.contextmanager
def running(answers, say):
    """Have all channels lead to plugins that give *answers*; *say* receives a line for each call."""
    found = Plugins(answers, say)
    with (
        mock.patch.object(grpc, "insecure_channel", found.connect),
        mock.patch("time.monotonic", found.clock.monotonic),
        mock.patch("time.sleep", found.clock.sleep),
        mock.patch.object(endpoint, "check"),
        mock.patch.object(futures, "ThreadPoolExecutor", InOrder),
    ):
        yield found


def controller_can(*numbers):
    """Return the abilities of a controller."""
    found = [csi_pb2.ControllerServiceCapability(rpc={"type": number}) for number in numbers]
    return csi_pb2.ControllerGetCapabilitiesResponse(capabilities=found)


def healthy(**changes):
    """Return the answers of a healthy plugin, except for *changes*."""
    return {
        "Probe": csi_pb2.ProbeResponse(),
        "GetPluginInfo": csi_pb2.GetPluginInfoResponse(name="ebs.csi.aws.com", vendor_version="v1.64.0"),
        "GetPluginCapabilities": csi_pb2.GetPluginCapabilitiesResponse(
            capabilities=[{"service": {"type": 1}}, {"service": {"type": 2}}]
        ),
        "ControllerGetCapabilities": controller_can(1, 2, 77),
        "NodeGetInfo": csi_pb2.NodeGetInfoResponse(node_id="i-1", max_volumes_per_node=26),
        "NodeGetCapabilities": csi_pb2.NodeGetCapabilitiesResponse(capabilities=[{"rpc": {"type": 1}}]),
    } | changes
