"""
An emulated Nomad without HTTP, which records each request and fails those that a test chooses.

Ids that are drawn are counted, waits take no time, and reads run one after the other, so that two runs are alike.
"""

import contextlib
import copy
import io
import itertools
import json
import os
import re
import shutil
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from nomad_csi import cli, concurrency, errors, nomad
from nomad_csi.frame import resource
from nomad_csi.nomad import classify, transport
from nomad_csi_sandbox.nomad import app, cluster, state
from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.storage import csi_client, plugins

ADDRESS = "http://127.0.0.1:4646"
GIB = 2**30
STEP_S = 5
TABLES = ("volumes", "jobs", "plugins", "variables", "nodes", "allocs")
WAIT = re.compile(r"&index=[0-9]+&wait=([0-9]+)ms")

ABILITIES = (
    "SupportsCreateDelete",
    "SupportsExpand",
    "SupportsCreateDeleteSnapshot",
    "SupportsListSnapshots",
    "SupportsAttachDetach",
)


class Disks:
    """A controller that creates disks and snapshots, and remembers them."""

    def __init__(self):
        self.disks, self.names, self.made, self.calls, self.is_ready = {}, {}, [], [], True

    def validate_volume(self, external_id, volume):
        self.calls.append(("validate", external_id, dict(volume["Secrets"])))

    def create_volume(self, volume):
        self.calls.append(("create", volume["Name"], dict(volume["Secrets"])))
        found = self.disks.setdefault(volume["Name"], f"vol-{len(self.disks) + 1}")
        size = volume["RequestedCapacityMin"] or GIB
        topologies = (volume["RequestedTopologies"] or {}).get("Required") or []
        return {"ExternalID": found, "Capacity": size, "Context": {"made": "yes"}, "Topologies": topologies[:1]}

    def expand_volume(self, volume):
        self.calls.append(("expand", volume["ExternalID"], dict(volume["Secrets"])))
        return volume["RequestedCapacityMin"]

    def create_snapshot(self, external_id, wanted):
        self.calls.append(("snapshot", external_id, wanted["Name"], dict(wanted["Secrets"]), wanted["Parameters"]))
        if wanted["Name"] in self.names:
            return self.names[wanted["Name"]]
        made = self.names[wanted["Name"]] = {
            "ExternalSourceVolumeID": external_id,
            "ID": f"snap-{len(self.made) + 1}",
            "SizeBytes": 5 * GIB,
            "CreateTime": 1_700_000_000 + len(self.made),
            "IsReady": self.is_ready,
        }
        self.made.append(made)
        return made

    def delete_snapshot(self, snapshot_id, secrets):
        self.calls.append(("delete snapshot", snapshot_id, dict(secrets)))
        self.made = [item for item in self.made if item["ID"] != snapshot_id]

    def list_snapshots(self, per_page, token, secrets):
        self.calls.append(("list snapshots", per_page, token, dict(secrets)))
        start, count = int(token or 0), per_page or len(self.made)
        following = str(start + count) if start + count < len(self.made) else ""
        return self.made[start : start + count], following


class Recorded:
    """The transport of a client: requests reach the emulator at once, and are in `requests`."""

    def __init__(self, application):
        self._application = application
        self.requests, self.fails = [], {}
        """Method, target, body and seconds; ``refused`` or ``lost`` by the number of a request."""

    def exchange(self, call, target, content, timeout_s):
        """Answer as the emulator does, but for the fault that is set for this request."""
        limit_s = STEP_S * round(timeout_s / STEP_S)  # of a deadline, whose remainder differs by the time of a run
        fault = self.fails.get(len(self.requests))
        if waits := WAIT.search(target):  # a blocking query is answered at once, and its time passes
            time.sleep(int(waits[1]) / 1000)
            target = WAIT.sub("", target)
        self.requests.append((call.method, target, json.loads(content) if content else None, limit_s))
        if fault == "refused":
            return transport.Answer(status=500, headers={}, content=b"no such luck")
        path, _, query = target.partition("?")
        answer = self._application.test_client().open(
            path=path,
            query_string=query,
            method=call.method,
            data=content,
            headers={"Content-Type": "application/json"},
        )
        if fault == "lost":
            raise self.lost(call, "no answer")
        return transport.Answer(status=answer.status_code, headers=dict(answer.headers), content=answer.data)

    def lost(self, call, message):
        """Return the error of a call without an answer, as the real transport does."""
        found = classify.unanswered(call)
        return errors.NomadApiError(
            call.method, call.path, f"{ADDRESS}: {message}", kind=found.kind, advice=found.advice
        )

    def close(self):
        """Nothing is open."""


@dataclass
class Agent:
    """The emulator, its controller, and the client of the product."""

    cluster: cluster.Cluster
    application: object
    folder: Path
    """For the files of a test; emptied by `restart`."""

    disks: Disks = field(default_factory=Disks)
    transport: Recorded = None
    messages: list = field(default_factory=list)

    def __post_init__(self):
        self.clients = copy.deepcopy(self.cluster.state.nodes)

    def restart(self):
        """Begin with an empty cluster that has two namespaces, and the plugins ``ebs`` and ``efs``."""
        known = self.cluster.state
        with known.lock:
            for name in TABLES:
                getattr(known, name).clear()
            known.nodes.update(copy.deepcopy(self.clients))
            known.index = 10
            for name in ("prod", "storage"):
                known.namespaces.setdefault(name, dict(known.namespaces["default"]) | {"Name": name})
            for plugin_id in ("ebs", "efs"):
                known.plugins[plugin_id] = state.PluginRecord(
                    plugin_id=plugin_id,
                    create_index=2,
                    modify_index=3,
                    provider=f"{plugin_id}.csi.example",
                    version="v1",
                )
            known.plugins["ebs"].controller_required = True
            info = {"ControllerInfo": dict.fromkeys(ABILITIES, True), "Healthy": True, "AllocID": "a", "NodeInfo": None}
            known.plugins["ebs"].controllers["n"] = info | {"PluginID": "ebs", "Provider": "ebs.csi.example"}
        self.disks.__init__()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.transport, self.messages = Recorded(self.application), []

    def keep(self):
        """Return the present state, to go back to."""
        known = self.cluster.state
        tables = {name: copy.deepcopy(getattr(known, name)) for name in TABLES}
        return tables, known.index, copy.deepcopy(self.disks.__dict__)

    def go_back(self, kept):
        """Restore the state that `keep` returned."""
        tables, index, disks = copy.deepcopy(kept)
        with self.cluster.state.lock:
            for name, table in tables.items():
                getattr(self.cluster.state, name).clear()
                getattr(self.cluster.state, name).update(table)
            self.cluster.state.index = index
        self.disks.__dict__.update(disks)
        self.disks.calls = []
        self.transport, self.messages = Recorded(self.application), []

    def left(self):
        """Return the storage of volumes by key, which jobs run, the items of variables by path, and the disks."""
        known = self.cluster.state
        return (
            {key: record.spec["ExternalID"] for key, record in known.volumes.items()},
            {key: not job.spec["Stop"] for key, job in known.jobs.items()},
            {key: copy.deepcopy(item["Items"]) for key, item in known.variables.items()},
            dict(self.disks.disks),
        )

    def client(self):
        """Return a client of the product."""
        return nomad.Nomad(nomad.Connection(address=ADDRESS), timeout_s=30.0)

    def context(self):
        """Return the context of a step, whose messages are added to `messages`."""
        client, add = self.client(), self.messages.append
        return resource.Context(
            connect=lambda: client,
            status=add,
            warn=add,
            stack="shop/prod",
            urn="urn:x",
            root=self.folder,
            cancelled=NeverCancelled(),
        )


@contextlib.contextmanager
def running(folder):
    """Run an agent whose clients start nothing, and have the product's transports reach it."""
    spec = nodes.NodeSpec(name="client-1", zone="us-east-1a", instance_id="i-1")
    made = cluster.Cluster(cluster.Settings(data_dir=Path(folder), nodes=[spec], environment={"PATH": "/usr/bin:/bin"}))
    made.evaluate_soon = lambda *_: None  # indexes count changes of the product only
    found = Agent(made, app.create_app(made), Path(folder, "files"))
    found.restart()
    try:
        with contextlib.ExitStack() as stack:
            for patch in _patches(found):
                stack.enter_context(patch)
            yield found
    finally:
        made.close()


def typed(folder, *words):
    """Type a command in *folder*, with the agent's address in the environment; return its code, output and errors."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, {"NOMAD_ADDR": ADDRESS}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = cli.main(["-C", str(folder), *words])
    return code, out.getvalue(), err.getvalue()


def _patches(found):
    @contextlib.contextmanager
    def connected(_path, _timeout_s):
        yield found.disks

    def connect(_settings):
        return found.transport

    def in_order(calls, *, workers, ahead=None):
        del workers, ahead
        for call in list(calls):
            yield call()

    return (
        mock.patch.object(transport, "Transport", connect),
        mock.patch.object(csi_client, "connected", connected),
        mock.patch.object(plugins, "controller_sockets", return_value=["socket"]),
        mock.patch.object(concurrency, "run_in_order", in_order),
        mock.patch.object(concurrency, "each", in_order),
        *_clock(),
    )


def _clock():
    """Return the patches of a clock on which the waits of this thread take no time."""
    owner, real, real_sleep, real_wait = threading.get_ident(), time.monotonic, time.sleep, threading.Event.wait
    passed = [0.0]

    def sleep(seconds):
        if threading.get_ident() != owner:
            real_sleep(seconds)
        passed[0] += seconds

    def wait(event, timeout=None):
        if timeout is None or threading.get_ident() != owner:
            return real_wait(event, timeout)
        if not event.is_set():
            time.sleep(timeout)
        return event.is_set()

    def now():
        return real() + passed[0]

    return (
        mock.patch("time.sleep", sleep),
        mock.patch("time.monotonic", now),
        mock.patch.object(threading.Event, "wait", wait),
    )


class NeverCancelled(threading.Event):
    """An interrupt that never comes; to wait for it takes no time."""

    def wait(self, timeout=None):
        """Let the time pass."""
        time.sleep(timeout or 0)
        return False


@contextlib.contextmanager
def counted():
    """Count what would be drawn: ``0001``, ``0002``."""
    numbers = itertools.count(1)

    def drawn():
        return uuid.UUID(int=next(numbers))

    with (
        mock.patch("secrets.token_hex", lambda count=8: f"{next(numbers):0{2 * count}x}"),
        mock.patch("uuid.uuid4", drawn),
    ):
        yield
