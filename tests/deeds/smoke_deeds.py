"""The smoke test of a volume: each course that one of its jobs can take, each end of its two rounds, each objection."""

import dataclasses
import itertools
import json
import types
from unittest import mock

from nomad_csi import errors
from nomad_csi.aws import ebs_volumes, regions
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import smoke, smoke_round
from nomad_csi.nomad import jobs, volumes
from nomad_csi.plan import registration
from nomad_csi.plan import smoke as plan
from tests import clocks
from tests.deeds import part_deeds
from tests.deeds.deeds import Case

JOB = plan.SmokeJob(
    job_id="smoke-write",
    namespace="prod",
    region="",
    volume_id="web",
    access_mode="single-node-writer",
    task_driver="docker",
    image="busybox",
    node_ids=["n1"],
    kind="write",
    token="abc",
)
NONE = (None, (), False)


def _ended(status, *events):
    return [NONE, ("running", ("Started",), True), (status, events, True), (status, events, False)]


COURSES = {
    "well": [
        NONE,
        ("pending", (), False),
        ("pending", (), True),
        ("running", ("Started",), True),
        ("running", ("Started",), True),
        ("complete", ("Started", "Terminated: Exit Code: 0"), True),
        ("complete", ("Started", "Terminated: Exit Code: 0"), False),
    ],
    "well, at once": [("complete", ("Started",), False)],
    "never placed": [NONE],
    "never started": [("pending", ("Setup: pulls",), True)],
    "never started, without an event": [("pending", (), False)],
    "gone": [("pending", (), False), NONE],
    "claim stays": [("complete", ("Started",), True)],
    "failed, claim stays": [("failed", ("Started", "Terminated: Exit Code: 43"), True)],
    **{f"exit {code}": _ended("failed", f"Terminated: Exit Code: {code}") for code in (0, 1, *plan.EXIT_MEANS)},
    "several exits": _ended("failed", "Terminated: Exit Code: 42", "Killing: ", "Terminated: Exit Code: 45"),
    "several events": _ended("failed", *(f"Event: text {number}" for number in range(5))),
    "setup failure": _ended(
        "failed", "Setup Failure: no mount", "Driver Failure: no image", "Terminated: Exit Code: 9"
    ),
    "lost": _ended("lost"),
    "a silent event": _ended("failed", "Killing: "),
}
REFUSED = errors.NomadApiError("PUT", "/v1/jobs", "no such luck", status=500, kind="refused")
LOST = errors.NomadApiError("PUT", "/v1/jobs", "the connection broke", kind="ambiguous")
FAULTS = {
    "no room": {"groups": {"g": "1 unplaced", "h": "none fits"}},
    "register refused": {"register": REFUSED},
    "register lost": {"register": LOST},
    "interrupted": {"claims": KeyboardInterrupt()},
    "stop refused": {"stop": REFUSED},
    "stop refused as it is interrupted": {"claims": KeyboardInterrupt(), "stop": REFUSED},
    "never ends": {"course": "never started"},
}


class Course:
    """A Nomad in which a job takes the states of a course: one more with each look at its allocation, or at the claim after its end."""

    def __init__(self, steps, **faults):
        self.steps, self.faults, self.at, self.done = steps, faults, -1, []

    def _do(self, name, text=""):
        self.done.append(f"{name}{text}")
        if error := self.faults.get(name):
            raise error

    def _step(self):
        return self.steps[max(0, min(self.at, len(self.steps) - 1))]

    def _allocations(self, *_):
        self.at += 1
        status, events, _ = self._step()
        pairs = [event.partition(": ") for event in events]
        shown = tuple(types.SimpleNamespace(type=kind, message=text) for kind, _, text in pairs)
        given = {"client_status": status, "desired_status": "run", "task_events": shown, "restarts": 0}
        return (jobs.Allocation(alloc_id="a1", node_id="n1", node_name="one", **given),) if status else ()

    def _volume(self, *_):
        if error := self.faults.get("claims"):
            raise error
        status, _, is_claimed = self._step()
        self.at += status in volumes.ENDED
        claims = [types.SimpleNamespace(alloc_id="a1")] if is_claimed else []
        return types.SimpleNamespace(claims=[types.SimpleNamespace(alloc_id="other"), *claims])

    def run(self):
        """Return what `smoke_round.Watch.run` returns, reports and does."""
        groups = types.SimpleNamespace(failed_groups=self.faults.get("groups", {}))
        fake = {
            "parse": lambda *_, **__: {"ID": "smoke-write"},
            "plan": lambda *_: groups,
            "register": lambda *_, enforce_index, **__: self._do("register", f" at {enforce_index}"),
            "stop": lambda *_, purge: self._do("stop", " and purge" if purge else ""),
            "allocations": self._allocations,
        }
        messages, clock = [], clocks.Clock()
        watch = smoke_round.Watch(types.SimpleNamespace(clock=clock), timeout_s=5.0, tell=messages.append)
        with (
            mock.patch.multiple(smoke_round.jobs, **fake),
            mock.patch.object(smoke_round.volumes, "get", self._volume),
        ):
            try:
                found = smoke_round._round(done := watch.run(JOB)), done.node_id, done.left_behind
            except (errors.NomadCsiError, KeyboardInterrupt) as error:
                found = f"{type(error).__name__}: {error}"
        return [found, f"after {clock.now():.2f} s, has run: {watch.has_run}", self.done, messages]


def _courses(agent, _context):
    for name, steps in COURSES.items():
        agent.messages += [f"## {name}", *map(json.dumps, Course(steps).run())]
    for name, faults in FAULTS.items():
        steps = COURSES[faults.get("course", "well")]
        agent.messages += [f"## {name}", *map(json.dumps, Course(steps, **faults).run())]


def _round(kind, node, reason="", mount_s=None, left=()):
    return smoke_round.SmokeRound(
        kind=kind,
        node_name=node,
        node_id=node,
        reason=reason,
        times=smoke_round.Times(attach_s=1.0, mount_s=mount_s, detach_s=2.0),
        left_behind=left,
    )


WRITES = {
    "writes": _round("write", "one", mount_s=1.0),
    "does not write": _round("write", "one", "not placed"),
    "does not write, mounted": _round("write", "one", "exit 43", 1.0, ("job a is left",)),
    "refused": errors.RefusedError("no client"),
    "fails": REFUSED,
    "interrupted": KeyboardInterrupt(),
}
READS = {
    "reads": _round("read", "two", mount_s=1.0),
    "reads on the same": _round("read", "one", mount_s=1.0),
    "does not read": _round("read", "two", "exit 44", None, ("job b is left",)),
    "refused": errors.RefusedError("no client"),
    "fails": REFUSED,
    "interrupted": KeyboardInterrupt(),
}
EBS = "vol-0123456789abcdef0"
FREE = aws_records.AttachedVolume(external_id=EBS, state="available")
USED = aws_records.AttachedVolume(external_id=EBS, state="in-use")
CLIENTS = tuple(plan.SmokeClient(node_id=name, name=name, drivers=frozenset({"docker"})) for name in ("one", "two"))
FILES = (registration.Capability(access_mode="single-node-writer", attachment_mode="file-system"),)
BLOCKS = (registration.Capability(access_mode="single-node-writer", attachment_mode="block-device"),)


def _of(**changes):
    known = {"capabilities": FILES, "claims": (), "schedulable": True, "topologies": ()}
    return dataclasses.replace(part_deeds._volume("web"), **known | changes)


def _tried(external_id, clients, rounds, *, no_room="", has_run=True, **options):
    """Return what a smoke test returns and reports whose jobs end as *rounds* say, by their kind."""
    messages, sent = [], []
    jobs_run = options.pop("jobs_run", [])

    def run(watch, job):
        jobs_run.append(json.dumps(dataclasses.asdict(job)))
        sent.append(f"{job.kind} on {' '.join(job.node_ids)}{'' if job.has_mounts else ', no mounts'}")
        watch.has_run = has_run
        if isinstance(rounds[job.kind], BaseException):
            raise rounds[job.kind]
        return rounds[job.kind]

    observed = types.SimpleNamespace(volumes={EBS: options.pop("seen", FREE)})
    with (
        mock.patch.object(smoke, "_checked", return_value=(_of(external_id=external_id), clients, "docker")),
        mock.patch.object(smoke_round.Watch, "run", run),
        mock.patch.object(smoke_round.Watch, "objection", return_value=no_room),
        mock.patch.object(ebs_volumes, "read_attachments", return_value=observed),
        mock.patch.object(smoke.secrets, "token_hex", return_value="abc"),
    ):
        try:
            found = smoke.try_out(
                types.SimpleNamespace(clock=None), ("prod", "web"), tell=messages.append, **options
            ).as_json()
            found = {name: value for name, value in found.items() if name != "rounds"}
        except (errors.NomadCsiError, KeyboardInterrupt) as error:
            found = f"{type(error).__name__}: {error}"
    return [json.dumps(found), f"{'; '.join(sent)}; {messages}"]


def _rounds(agent, _context):
    shown = {}
    for (first, write), (second, read) in itertools.product(WRITES.items(), READS.items()):
        for name, options in (("", {}), ("in the sandbox", {"sandbox": "mark"}), ("never run", {"has_run": False})):
            found = _tried("fs-1", CLIENTS, {"write": write, "read": read}, **options)
            shown.setdefault(tuple(found), []).append(f"{first}, {second}{f', {name}' if name else ''}")
    well = {"write": WRITES["writes"], "read": READS["reads on the same"]}
    for name, found in {
        "one client": _tried("fs-1", CLIENTS[:1], well),
        "no room on the other": _tried("fs-1", CLIENTS, well, no_room="full"),
        "EBS, not asked": _tried(EBS, CLIENTS, well),
        "EBS, free": _tried(EBS, CLIENTS, well, aws=regions.Choice(named="eu-west-1")),
        "EBS, used": _tried(EBS, CLIENTS, well, aws=regions.Choice(named="eu-west-1"), seen=USED),
        "EFS": _tried("fs-1", CLIENTS, well, aws=regions.Choice(named="eu-west-1")),
    }.items():
        shown.setdefault(tuple(found), []).append(name)
    for found, names in shown.items():
        agent.messages += [f"## {' | '.join(names)}", *found]
    jobs_run = ["## jobs"]
    _tried("fs-1", CLIENTS, well, wish=plan.Wish(region="eu", image="own:1"), jobs_run=jobs_run)
    agent.messages += jobs_run


CLAIM = volumes.Claim(
    alloc_id="a1", node_id="n1", node_name="one", mode="write", job_id="shop", namespace="prod", client_status="running"
)
VOLUMES = {
    "free": {},
    "block device": {"capabilities": BLOCKS},
    "no capability": {"capabilities": ()},
    "in use": {"claims": (CLAIM,)},
    "not schedulable": {"schedulable": False},
    "all": {"capabilities": BLOCKS, "claims": (CLAIM,), "schedulable": False},
    "in two places": {"topologies": ({"zone": "a"}, {"zone": "b", "rack": "1"})},
}


def _objections(agent, _context):
    other = dataclasses.replace(CLIENTS[0], drivers=frozenset({"java"}))
    for (name, changes), (who, clients), driver in itertools.product(
        VOLUMES.items(), {"two clients": CLIENTS, "another driver": (other,), "no client": ()}.items(), ("", "exec")
    ):
        with (
            mock.patch.object(smoke.volumes, "get", return_value=_of(**changes)),
            mock.patch.object(smoke, "_fitting", return_value=clients),
        ):
            try:
                _, able, chosen = smoke._checked(None, ("prod", "web"), plan.Wish(task_driver=driver))
                found = f"{[each.name for each in able]} by {chosen}"
            except errors.RefusedError as error:
                found = str(error)
        agent.messages.append(f"{name}, {who}{f', {driver}' if driver else ''}: {found}")
    for members in ("", "web is a set"):
        with (
            mock.patch.object(smoke.volumes, "get", return_value=None),
            mock.patch.object(smoke.volumes, "members", return_value=members),
        ):
            try:
                smoke._checked(None, ("prod", "web"), plan.Wish())
            except errors.RefusedError as error:
                agent.messages.append(f"not registered: {error}")


CASES = (
    Case("courses of a job", _courses),
    Case("rounds", _rounds),
    Case("objections", _objections),
)
