"""Many plugins at once: those that hang cost one deadline together, no status is false, and nothing is left behind."""

import asyncio
import dataclasses
import gc
import shutil
import socket
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import grpc
import pytest

from nomad_csi.csi import report
from nomad_csi.csi.v1 import csi_pb2, csi_pb2_grpc
from nomad_csi.health import found, gather
from nomad_csi.health import plugins as statuses
from nomad_csi.nomad import nodes, plugins

DEADLINE_S = 10.0
"""Twice that of users, for a machine that does other things as well."""

SLOW_S = 1.0
"""How late a slow plugin answers its first question."""

GRPC_POOL = 16
"""So many threads may the pool of gRPC itself have made: it is one for the whole process."""

NAME = "efs.csi.aws.com"


class _Identity(csi_pb2_grpc.IdentityServicer):
    def __init__(self, delay_s):
        self.delay_s = delay_s

    async def Probe(self, *_):  # noqa: N802  # CSI's name
        await asyncio.sleep(self.delay_s)
        return csi_pb2.ProbeResponse()

    async def GetPluginInfo(self, *_):  # noqa: N802
        return csi_pb2.GetPluginInfoResponse(name=NAME, vendor_version="v3.4.1")

    async def GetPluginCapabilities(self, *_):  # noqa: N802
        return csi_pb2.GetPluginCapabilitiesResponse()


class _Node(csi_pb2_grpc.NodeServicer):
    async def NodeGetInfo(self, *_):  # noqa: N802
        return csi_pb2.NodeGetInfoResponse(node_id="n")

    async def NodeGetCapabilities(self, *_):  # noqa: N802
        return csi_pb2.NodeGetCapabilitiesResponse()


class Fleet:
    """Healthy and slow plugins in one thread of this process, and sockets of dead and of hung ones."""

    def __init__(self, data_dir):
        self.data_dir = data_dir
        self._loop = asyncio.new_event_loop()
        self._servers = []
        self._open = []
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def path(self, name):
        path = Path(gather.socket_path(str(self.data_dir), name))
        path.parent.mkdir(parents=True, exist_ok=True)
        return str(path)

    def serve(self, names, delay_s):
        asyncio.run_coroutine_threadsafe(self._serve(names, delay_s), self._loop).result(30)

    async def _serve(self, names, delay_s):
        server = grpc.aio.server()
        csi_pb2_grpc.add_IdentityServicer_to_server(_Identity(delay_s), server)
        csi_pb2_grpc.add_NodeServicer_to_server(_Node(), server)
        for name in names:
            server.add_insecure_port(f"unix:{self.path(name)}")
        await server.start()
        self._servers.append(server)

    def dead(self, names):
        """Leave the socket files of processes that are gone."""
        for name in names:
            with socket.socket(socket.AF_UNIX) as left:
                left.bind(self.path(name))

    def hung(self, names):
        """Accept connections in the kernel and never speak."""
        for name in names:
            made = socket.socket(socket.AF_UNIX)
            made.bind(self.path(name))
            made.listen(4096)
            self._open.append(made)

    def close(self):
        for server in self._servers:
            asyncio.run_coroutine_threadsafe(server.stop(None), self._loop).result(30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        for made in self._open:
            made.close()


@pytest.fixture
def fleet():
    """No plugin yet, in a folder with a name short enough for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="nf"))
    made = Fleet(folder)
    yield made
    made.close()
    shutil.rmtree(folder)


@pytest.fixture
def wanted(expectation, fleet):
    """What is expected of the plugin that all of the fleet's sockets are instances of."""
    return dataclasses.replace(
        expectation, provider=NAME, version="v3.4.1", client_data_dir=str(fleet.data_dir), evidence="csi"
    )


def told(names):
    """Return what Nomad says of instances with these allocations, each on a client of its own: all are healthy."""
    there = [
        plugins.Instance(
            role="node",
            node_id=name,
            alloc_id=name,
            healthy=True,
            health_description="healthy",
            provider=NAME,
            provider_version="v3.4.1",
            segments={},
            max_volumes=None,
            supports=frozenset(),
        )
        for name in names
    ]
    record = plugins.Plugin(
        plugin_id="aws-ebs0",
        provider=NAME,
        version="v3.4.1",
        controller_required=False,
        controllers=(),
        nodes=tuple(there),
        controllers_expected=0,
        nodes_expected=0,
    )
    return found.PluginFound(plugin=record)


def clients(names):
    """Return a client for each name."""
    return tuple(
        nodes.Node(
            node_id=name,
            name=name,
            datacenter="dc1",
            node_pool="default",
            node_class="",
            status="ready",
            eligible=True,
            draining=False,
            drivers={"docker": True},
        )
        for name in names
    )


def test_a_hundred_sockets_cost_one_deadline(fleet, wanted):
    """50 healthy, 25 slow, 15 dead and 10 that hang: each is what it is, and no deadline comes after another."""
    kinds = {"h": (50, "healthy"), "s": (25, "healthy"), "d": (15, "unhealthy"), "q": (10, "hung")}
    expected = {f"{kind}{number}": state for kind, (count, state) in kinds.items() for number in range(count)}
    fleet.serve([name for name in expected if name[0] == "h"], 0.0)
    fleet.serve([name for name in expected if name[0] == "s"], SLOW_S)
    fleet.dead([name for name in expected if name[0] == "d"])
    fleet.hung([name for name in expected if name[0] == "q"])

    began = time.monotonic()
    [seen] = gather.probe_all([(wanted, told(expected))], timeout_s=DEADLINE_S)
    status = statuses.compare_plugin(wanted, seen, clients(expected))
    took_s = time.monotonic() - began

    assert {row.alloc_id: row.status for row in status.instances} == expected
    assert (status.status, status.counts) == ("partial", "75/100 nodes")
    assert took_s < 4 * DEADLINE_S  # of ten that hang


def test_a_thousand_hung_plugins_leave_nothing_behind(fleet, wanted):
    """Neither a thread, of Python or not, nor a file: each question is cancelled at its deadline and its channel closed."""
    names = [f"q{number}" for number in range(90)] + [f"g{number}" for number in range(10)]
    fleet.hung(names[:90])
    fleet.serve(names[90:], 3600.0)  # they take the question, and hang over it
    gather.probe_all([(wanted, told(names[89:91]))], timeout_s=0.2)  # what gRPC makes once, and keeps
    threads, tasks, files = _threads_and_files()
    allowed = (threads, tasks + GRPC_POOL, files)

    answers = Counter()
    for _ in range(10):
        [seen] = gather.probe_all([(wanted, told(names))], timeout_s=0.2)
        answers.update(item.status for item in seen.probed.values())

    assert answers == {"silent": 1000}
    deadline = time.monotonic() + 60
    while any(now > then for now, then in zip(_threads_and_files(), allowed, strict=True)):
        gc.collect()
        found = [thread.name for thread in threading.enumerate()]
        assert time.monotonic() < deadline, (allowed, _threads_and_files(), found)
        time.sleep(0.05)


def test_silence_is_asked_again_where_nobody_could_listen(monkeypatch, wanted):
    """On a machine that was too busy, an answer may have come unheard: once more, and only those."""
    asked = []

    def probe(endpoint, *, timeout_s, **_):
        asked.append(Path(endpoint).parent.name)
        if asked.count("b") == 1 and asked[-1] == "b":
            late_ms = timeout_s * 1500  # the processor is given to others
            return report.ProbeReport(endpoint=endpoint, status="silent", detail="no answer", latency_ms=late_ms)
        return report.ProbeReport(endpoint=endpoint, status="ready", detail="", latency_ms=1.0, name=NAME)

    monkeypatch.setattr(gather.probe, "probe", probe)
    monkeypatch.setattr(gather, "_hidden", lambda _: "")

    [seen] = gather.probe_all([(wanted, told(["a", "b"]))], timeout_s=0.1)

    assert {key[0]: item.status for key, item in seen.probed.items()} == {"a": "ready", "b": "ready"}
    assert sorted(asked) == ["a", "b", "b"]


def _threads_and_files():
    """Count all threads of this process, those of Python among them, and its open files."""
    kinds = (threading.enumerate(), Path("/proc/self/task").iterdir(), Path("/proc/self/fd").iterdir())
    return tuple(sum(1 for _ in kind) for kind in kinds)
