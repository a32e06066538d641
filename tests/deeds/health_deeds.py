"""The cases of `PluginHealth`: what happens while it waits, step by step, on a clock that only requests and waits move."""

import copy
import dataclasses
import itertools
import json
import threading
from unittest import mock

import yaml

from nomad_csi import errors
from nomad_csi.csi import report
from nomad_csi.health import asked_together, plugin_health, plugin_health_wait
from nomad_csi.health import plugin_health_properties as of_health
from nomad_csi.nomad.http import transport
from nomad_csi.plan import storage
from tests.deeds import agent as agents
from tests.deeds import command_deeds, deeds, verify_deeds
from tests.deeds import plugin as plugins
from tests.deeds.deeds import Case

HEALTH = plugin_health.PluginHealthResource()
REQUEST_S = 0.05
LOGS = "/v1/client/fs/logs/"
PLUGINS = {
    item.expectation.plugin_id: item
    for item in storage.plan_document(yaml.safe_load(command_deeds.SPEC.format(folder="web", size=5))).plugins
}
ZONE = "topology.ebs.csi.aws.com/zone"
ON_NODES = {"evidence": "csi", "onNodes": {"command": "/opt/nomad-csi", "timeoutS": 20}, "stableS": 0}


def checked(plugin_id="ebs", **changes):
    """Return checked inputs for a plugin of the spec."""
    plan = PLUGINS[plugin_id]
    given = of_health.inputs_of(plan.expectation) | {"jobs": {job.job_id: "1" for job in plan.jobs}}
    return deeds.checked_inputs(HEALTH, given | {"timeoutS": 20, "stableS": 2} | changes)


class World:
    """What happens to the cluster at each wait, and the clock."""

    def __init__(self, agent, changes=(), *, interrupted=None, answers=None, broken=()):
        self.agent, self.changes, self.interrupted = agent, list(changes), interrupted
        self.clock, self.answers, self.broken, self.waits = plugins.Clock(), answers or {}, broken, 0

    def wait(self, seconds=None):
        """Let *seconds* pass, have the next change happen, and return whether the operator interrupts."""
        self.clock.sleep(seconds or 0)
        self.waits += 1
        self.agent.messages.append(f"waits {seconds:.2f} s")
        known = self.agent.cluster.state
        if self.changes and (change := self.changes.pop(0)):
            change(known, next(iter(known.nodes.values())))
        return self.waits == self.interrupted

    def is_set(self):
        """Return whether the operator interrupts."""
        return self.waits == self.interrupted

    def set(self):
        """Do nothing."""


class Hooked(agents.Recorded):
    """A transport of which each request takes time; it serves the logs of the probe jobs."""

    def __init__(self, world, before):
        super().__init__(world.agent.application)
        self.world, self.requests, self.fails = world, before.requests, before.fails

    def exchange(self, call, target, content, timeout_s):
        """Answer a request."""
        world, path = self.world, target.partition("?")[0]
        world.clock.sleep(REQUEST_S)
        if len(self.requests) in world.broken:
            self.fails = self.fails | {len(self.requests): "lost"}
        if path.startswith(LOGS) and not self.fails.get(len(self.requests)):
            self.requests.append(((call.method, target, None, agents.STEP_S * round(timeout_s / agents.STEP_S)), 200))
            return transport.Answer(status=200, headers={}, content=world.answers["log"].encode())
        try:
            return super().exchange(call, target, content, timeout_s)
        finally:
            if call.method == "POST" and path == "/v1/jobs":
                _place(world, json.loads(content)["Job"])


class Stop(threading.Event):
    """What ends a probe job; to wait for it takes no time of the wall."""

    def __init__(self, clock):
        super().__init__()
        self._clock = clock

    def wait(self, timeout=None):
        """Let the time pass."""
        self._clock.sleep(timeout or 0)
        return self.is_set()


def _place(world, job):
    """Have the probe job run on each client, and end; one that was refused does not."""
    known = world.agent.cluster.state
    if (job["Namespace"], job["ID"]) not in known.jobs:
        return
    stored, ends = known.jobs[job["Namespace"], job["ID"]].spec, world.answers.get("ends", "complete")
    for node in list(known.nodes.values())[: world.answers.get("clients", 9)]:
        name = f"probe-{node['Name']}"
        known.allocs[name] = verify_deeds.allocation(name, stored, node, index=30, status=ends, task="dead")


def _run(call, *changes, **more):
    """Return the function of a case: *call* gets a context whose waits have *changes* happen, one each."""

    def run(agent, _context, _before=None):
        world = World(agent, changes, **more)
        agent.transport = Hooked(world, agent.transport)
        context, made = deeds.context_of(agent, cancelled=world), asked_together._Batch
        with (
            mock.patch("time.monotonic", world.clock.monotonic),
            mock.patch("time.sleep", world.clock.sleep),
            mock.patch.object(plugin_health_wait, "CANCEL_POLL_S", 60.0),  # seconds of the wall: a look is waited for
            mock.patch.object(asked_together, "_BATCHES", {}),
            mock.patch.object(asked_together, "_Batch", lambda kind: made(kind=kind, stop=Stop(world.clock))),
        ):
            found = call(context)
        agent.messages.append(f"after {world.clock.now_s - 1000:.2f} s")
        return found

    return run


def _create(plugin_id="ebs", **changes):
    return lambda context: HEALTH.create(context, checked(plugin_id, **changes))


def _healed(known, _node):
    for name in ("nodes", "controllers"):
        for info in getattr(known.plugins["ebs"], name).values():
            info.update(Healthy=True, HealthDescription="healthy", ProviderVersion=verify_deeds.VERSION)


def _once_more(known, _node):
    next(iter(known.allocs["plugin-ebs-nodes"].tasks.values())).restarts += 1


def _sick(known, _node):
    next(iter(known.plugins["ebs"].nodes.values())).update(Healthy=False, HealthDescription="no: token=canary-12")


def _second_client(zone="us-east-1b", *, runs=True):
    """Return what adds a client, with an instance or without."""

    def add(known, node):
        second = copy.deepcopy(node) | {"ID": "22222222-2222", "Name": "client-2"}
        second["Attributes"]["platform.aws.placement.availability-zone"] = zone
        known.nodes[second["ID"]] = second
        if runs:
            info = copy.deepcopy(next(iter(known.plugins["ebs"].nodes.values()))) | {"AllocID": "second"}
            info["NodeInfo"]["AccessibleTopology"]["Segments"] = {ZONE: zone}
            known.plugins["ebs"].nodes[second["ID"]] = info
            first = known.allocs["plugin-ebs-nodes"]
            known.allocs["second"] = copy.copy(first)
            vars(known.allocs["second"]).update(alloc_id="second", node_id=second["ID"], node_name="client-2")

    return add


def _both(*changes):
    def change(known, node):
        for each in changes:
            each(known, node)

    return change


def _second_sick(known, _node):
    known.plugins["ebs"].nodes["22222222-2222"].update(Healthy=False, HealthDescription="no disk")


def _with_raw_exec(known, _node):
    for node in known.nodes.values():
        node["Drivers"]["raw_exec"] = {"Detected": True, "Healthy": True}


THERE = verify_deeds.run_jobs
SICK = verify_deeds.then(_sick)
TWO = verify_deeds.then(_second_client())
ASKED = verify_deeds.then(_with_raw_exec)
GONE = verify_deeds.then(lambda known, _: known.plugins.pop("ebs"))


def _said(**changes):
    """Return the log of a probe job: each instance of ``ebs`` is well, but for *changes* of the node instance."""
    common = {"endpoint": "/csi.sock", "status": "ready", "detail": "fine", "latency_ms": 1.0}
    common |= {"name": "ebs.csi.aws.com", "vendor_version": verify_deeds.VERSION}
    node = report.ProbeReport(
        **common | {"node_capabilities": (), "node_id": "i-1", "segments": {ZONE: "us-east-1a"}} | changes
    )
    controller = report.ProbeReport(**common, controller_capabilities=("CREATE_DELETE_VOLUME",))
    reports = {"plugin-ebs-nodes": node.as_json(), "plugin-ebs-controller": controller.as_json()}
    return {"log": json.dumps({"folder": "/plugins", "problem": "", "reports": reports})}


JOBS = {
    "well": _said(),
    "silent": _said(status="silent", detail="no answer: token=canary-14"),
    "other name": _said(name="other"),
    "wrong role": _said(node_capabilities=None),
    "no answer": {"log": "Traceback: password=canary-15"},
    "a problem": {"log": json.dumps({"folder": "/p", "problem": "no permission", "reports": {}})},
    "failed": _said() | {"ends": "failed"},
    "not ended": _said() | {"ends": "running"},
    "not placed": _said() | {"clients": 0},
}


def _outputs(**changes):
    return checked(**changes) | {"status": "partial", "satisfied": False, "verifiedBy": "csi"}


def _inputs(_agent, _context):
    """Check inputs that are wrong, one at a time."""
    given = of_health.inputs_of(PLUGINS["ebs"].expectation)
    changes = {
        "as they are": {},
        "percent 0": {"minHealthyPercent": 0},
        "percent 101": {"minHealthyPercent": 101},
        "percent 50.5": {"minHealthyPercent": 50.5},
        "per zone 0": {"minHealthyPerZone": 0},
        "nodes 0": {"nodes": 0},
        "no time": {"timeoutS": 0},
        "not steady": {"stableS": -1},
        "evidence": {"evidence": "none"},
        "a job without csi": {"onNodes": {}},
        "an image without folder": {"evidence": "csi", "onNodes": {"image": "x/y:1"}},
        "an image": {"evidence": "csi", "onNodes": {"image": "x/y:1", "stateDir": "/s"}},
        "numbers of jobs": {"jobs": {"a": 3, "b": 2.0, "c": 1.5, "d": "x"}},
        "a flag of a job": {"jobs": {"a": True}},
        "no id": {"pluginId": ""},
        "constraint": {"constraints": [{"attribute": "${attr.cpu}", "operator": "is_set", "value": ""}]},
    }
    return {name: HEALTH.check(given | change) for name, change in changes.items()}


def _diffs(_agent, _context):
    old = checked()
    changes = {
        "nothing": {},
        "version": {"version": "v9"},
        "waits": {"timeoutS": 99, "stableS": 9},
        "job": {"jobs": {"plugin-ebs-nodes": "2"}},
        "namespace": {"namespace": "storage"},
        "plugin": {"pluginId": "other"},
        "percent": {"minHealthyPercent": 50},
    }
    outputs = {
        "healthy": {"satisfied": True},
        "not": {"satisfied": False},
        "former": {"verdict": "healthy"},
        "none": {},
    }
    shown = {
        f"{name}, {was}": HEALTH.diff("ebs", old, old | recorded, checked(**change))
        for (name, change), (was, recorded) in itertools.product(changes.items(), outputs.items())
        if was == "healthy" or name == "nothing"
    }
    return shown | {
        f"preview: {name}": HEALTH.preview(checked(**change))
        for name, change in changes.items()
        if name in {"nothing", "percent"}
    }


def _imported(context):
    try:
        return HEALTH.read(context, "ebs", {}, {})
    except errors.RefusedError as error:
        return str(error)


_CASES = (
    Case("well", _run(_create()), before=THERE, fails=True),
    Case("well: the other plugin", _run(_create("efs", stableS=0)), before=THERE),
    Case("well: another timeout", _run(_create(timeoutS=7)), before=THERE),
    Case("sick, then well", _run(_create(), None, _healed), before=SICK),
    Case("sick for ever", _run(_create(timeoutS=4)), before=SICK),
    Case("restarts while it is watched", _run(_create(), None, _once_more), before=THERE),
    Case("restarts again and again", _run(_create(timeoutS=4), *[_once_more] * 9), before=THERE),
    Case("sick now and then", _run(_create(timeoutS=6), *[_sick, None, _healed] * 4), before=THERE),
    Case("too short for the window", _run(_create(timeoutS=1)), before=THERE),
    Case("nothing there", _run(_create(timeoutS=2)), before=GONE),
    Case("interrupted", _run(_create(), interrupted=2), before=SICK),
    Case("unreachable for a while", _run(_create(), broken=range(9, 14)), before=THERE),
    Case("unreachable at first", _run(_create(), broken=range(5)), before=THERE),
    Case("unreachable for too long", _run(_create(timeoutS=100), broken=range(9, 999)), before=THERE),
    Case("unreachable to the end", _run(_create(timeoutS=3), broken=range(999)), before=THERE),
    *(
        Case(f"{change.__name__[1:].replace('_', ' ')}", _run(_create(timeoutS=1)), before=verify_deeds.then(change))
        for change in verify_deeds.CHANGES[1:15]
    ),
    Case("two clients", _run(_create()), before=TWO),
    *(
        Case(f"two clients, one sick: {name}", _run(_create(timeoutS=3, **policy)), before=verify_deeds.then(change))
        for change in (_both(_second_client(), _second_sick), _both(_second_client("us-east-1a"), _second_sick))
        for name, policy in {
            "all": {},
            "50 percent": {"minHealthyPercent": 50},
            "51 percent": {"minHealthyPercent": 51},
            "one in each zone": {"minHealthyPerZone": 1},
        }.items()
    ),
    Case(
        "a client joins",
        _run(_create(timeoutS=5), None, _second_client(runs=False), None, None, _second_client()),
        before=THERE,
    ),
    *(
        Case(
            f"asked by a job: {name}",
            _run(_create(timeoutS=6, **ON_NODES), answers=answers),
            before=ASKED,
            fails=name == "well",
        )
        for name, answers in JOBS.items()
    ),
    Case("asked by a job: no driver for it", _run(_create(timeoutS=6, **ON_NODES), answers=_said()), before=THERE),
    Case("read", _run(lambda context: HEALTH.read(context, "ebs", checked(), _outputs())), before=THERE),
    Case("read: asked by a job", _run(lambda c: HEALTH.read(c, "ebs", checked(**ON_NODES), _outputs())), before=THERE),
    Case(
        "read: asked by a job, sick",
        _run(lambda c: HEALTH.read(c, "ebs", checked(**ON_NODES), _outputs())),
        before=SICK,
    ),
    Case(
        "read: unreachable", _run(lambda c: HEALTH.read(c, "ebs", checked(), _outputs()), broken=range(99)), before=SICK
    ),
    Case("import", _run(_imported), before=THERE),
    Case("update", _run(lambda c: HEALTH.update(c, "ebs", {}, checked(stableS=0, minHealthyPercent=1))), before=THERE),
    Case("delete", _run(lambda c: HEALTH.delete(c, "ebs", _outputs())), before=THERE),
    Case("preview: was not well, is sick", _run(lambda c: HEALTH.preflight(c, _outputs(), checked())), before=SICK),
    Case("preview: was not well, is well", _run(lambda c: HEALTH.preflight(c, _outputs(), checked())), before=THERE),
    Case(
        "preview: was well, is sick",
        _run(lambda c: HEALTH.preflight(c, _outputs() | {"satisfied": True}, checked())),
        before=SICK,
    ),
    Case(
        "preview: unreachable",
        _run(lambda c: HEALTH.preflight(c, _outputs(), checked()), broken=range(99)),
        before=SICK,
    ),
    Case("inputs", _inputs),
    Case("diff", _diffs),
)

CASES = tuple(dataclasses.replace(case, repeats=True) for case in _CASES)
