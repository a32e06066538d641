"""
Situations of a plugin: what is expected, what was found, and the clients there are.

``situations.txt`` has the status of each, whole, which was read and found right;
`python -m tests.health.situations` writes it as it is now.
"""

import dataclasses
import functools
from pathlib import Path

from nomad_csi.health import observed_plugin, plugins
from nomad_csi.nomad import jobs
from nomad_csi.plan import model
from tests.plugin_samples import EXPECTATION, make_instance, make_node, make_ran, make_seen

RECORDED = Path(__file__).with_name("situations.txt")
ZONE = "platform.aws.placement.availability-zone"
S = 1_000_000_000
PROVED = observed_plugin.Probed(
    reached=True, healthy=True, status="ready", provider="ebs.csi.aws.com", version="v1.64.0"
)
LATE = observed_plugin.Probed(reached=False, status="no-answer", detail="the client is down", advice="check the client")
UNWELL = observed_plugin.Probed(reached=True, status="not-ready", detail="not-ready: soon", provider="ebs.csi.aws.com")
ONE_ANSWERS = {("controller-a", "controller"): PROVED, ("controller-b", "controller"): LATE}
IN_ZONE = model.Constraint(attribute=f"${{attr.{ZONE}}}", operator="=", value="us-east-1a")
LEAVES = {"draining": True, "eligible": False}


def judge(*instances, clients="ab", before=None, seen=(), **expected):
    """Return the status of a plugin with node instances alone, unless controllers are expected."""
    expectation = dataclasses.replace(EXPECTATION, **{"controllers": 0} | expected)
    there = make_seen(*instances, **dict(seen))
    given = tuple(make_node(item) if isinstance(item, str) else item for item in clients)
    return plugins.compare_plugin(expectation, there, given, before)


def node(name, **changes):
    """Return a node instance."""
    return make_instance("node", name, **changes)


def controller(name, **changes):
    """Return a controller."""
    return make_instance("controller", name, **changes)


def probed(**answers):
    """Return the answers of node instances by the names of their clients."""
    return {(f"node-{name}", "node"): answer for name, answer in answers.items()}


def zoned(name, zone, **changes):
    """Return a client in a zone."""
    return make_node(name, attributes={ZONE: zone} if zone else {}, **changes)


def events(*lived, name="a", **changes):
    """Return the allocation of a node instance whose task had these events, each with its second."""
    told = tuple(jobs.TaskEvent(time_ns=at * S, type=kind, message=f"at {at}", task="p") for kind, at in lived)
    return make_ran("node", name, task_events=told, **changes)


STARTED = (("Received", 0), ("Task Setup", 0), ("Started", 1), ("Plugin became healthy", 10))
FELL = (("Terminated", 20), ("Started", 26), ("Terminated", 30), ("Started", 36), ("Terminated", 40), ("Started", 46))
FELL_BY_PROBES = tuple((f"Plugin became {'un' * (at // 10 % 2 == 0)}healthy", at) for at in range(20, 80, 10))
BROKE = ("Plugin became unhealthy", "Terminated", "Started")
FAILED = (
    *STARTED[:3],
    *((kind, at + more) for at in (30, 76, 122) for kind, more in zip(BROKE, (0, 1, 16), strict=True)),
    ("Plugin became healthy", 150),
)
RESTARTED = (*STARTED, ("Terminated", 100), ("Restarting", 100), ("Started", 106))
OTHER = {"namespace": "default", "job_id": "old", "roles": frozenset({"node"})}
BOTH = (node("a"), node("b"))
ENDED = make_ran("node", "c", client_status="complete", desired_status="stop")


def other(client_status="running", desired_status="run", client="a", **changes):
    """Return a job beside the plan's with an allocation on a client."""
    ran = make_ran("old", client, client_status=client_status, desired_status=desired_status).allocation
    return observed_plugin.OtherJob(**OTHER | {"allocations": (ran,)} | changes)


SITUATIONS = {
    "all is well": lambda: judge(*BOTH),
    "nothing was found": lambda: judge(None),
    "no client": lambda: judge(clients=()),
    "one missing": lambda: judge(node("a")),
    "one unhealthy": lambda: judge(node("a"), node("b", healthy=False, health_description="denied\nby AWS")),
    "all unhealthy": lambda: judge(*(node(name, healthy=False) for name in "ab")),
    "one hung by Nomad, and proved by its socket": lambda: judge(
        node("a", healthy=False, health_description="Deadline exceeded"), node("b"), seen={"probed": probed(a=PROVED)}
    ),
    "one unhealthy of four, half is enough": lambda: judge(
        *(node(name, healthy=name != "c") for name in "abcd"), clients="abcd", min_healthy_percent=50
    ),
    "two of four, half is enough": lambda: judge(
        *(node(name, healthy=name in "ab") for name in "abcd"), clients="abcd", min_healthy_percent=50
    ),
    "one of three, half is not": lambda: judge(
        *(node(name, healthy=name == "a") for name in "abc"), clients="abc", min_healthy_percent=50
    ),
    "none of one, 1 % is one": lambda: judge(node("a", healthy=False), clients="a", min_healthy_percent=1),
    "a percentage of no client": lambda: judge(clients=(), min_healthy_percent=50, min_healthy_per_zone=1),
    "one in each of two zones": lambda: judge(
        node("a", segments={"x/zone": "z1"}),
        node("b", segments={"x/zone": "z2"}, healthy=False),
        clients=(zoned("a", "z1"), zoned("b", "z2"), zoned("c", "z2", status="down"), zoned("d", "", **LEAVES)),
        min_healthy_per_zone=1,
        min_healthy_percent=50,
    ),
    "exactly the minimum of a zone": lambda: judge(
        *(node(name, segments={}) for name in "ab"),
        clients=(zoned("a", "z1"), zoned("b", "z1"), zoned("c", "z1", **LEAVES)),
        min_healthy_per_zone=2,
    ),
    "a zone whose client takes nothing": lambda: judge(
        node("a"),
        clients=(zoned("a", "us-east-1a"), make_node("b", attributes={"platform.gce.zone": "us-east-1b"}, **LEAVES)),
        min_healthy_per_zone=1,
    ),
    "clients without a zone": lambda: judge(node("a", segments={}), clients="ab", min_healthy_per_zone=2),
    "a wrong driver, tolerated": lambda: judge(node("a", provider="other"), node("b"), min_healthy_percent=50),
    "a wrong version, tolerated": lambda: judge(node("a", provider_version="v1"), node("b"), min_healthy_percent=50),
    "no name and no version": lambda: judge(node("a", provider="", provider_version=""), node("b")),
    "any version will do": lambda: judge(node("a", provider_version=""), node("b"), version=""),
    "all unhealthy, and one is wanted in each zone": lambda: judge(
        *(node(name, healthy=False, segments={"x/zone": zone}) for name, zone in ("az", "by")), min_healthy_per_zone=1
    ),
    "an allocation that ends, of a number": lambda: judge(
        *BOTH, nodes=2, seen={"ran": [make_ran("node", "a"), make_ran("node", "b", desired_status="stop")]}
    ),
    "an answer from a client that need not have it alone": lambda: judge(
        *BOTH,
        clients=("a", make_node("b", **LEAVES)),
        min_healthy_percent=50,
        seen={"probed": probed(a=LATE, b=PROVED)},
    ),
    "every client leaves": lambda: judge(*BOTH, clients=(make_node("a", **LEAVES), make_node("b", **LEAVES))),
    "a controller in a zone": lambda: judge(controller("a"), *BOTH, clients=(zoned("a", "z1"), "b"), controllers=1),
    "a record of another driver": lambda: judge(*BOTH, seen={"provider": "other"}),
    "a record of no driver": lambda: judge(*BOTH, seen={"provider": ""}),
    "a missing capability": lambda: judge(
        node("a", supports=frozenset({"StageVolume"})), node("b"), node_supports=("StageVolume", "ExpandVolume")
    ),
    "clients of which one leaves": lambda: judge(node("a"), clients=("a", make_node("b", **LEAVES))),
    "clients of which one takes nothing": lambda: judge(*BOTH, clients=("a", make_node("b", eligible=False))),
    "clients of which two take nothing": lambda: judge(
        node("a"), clients=("a", *(make_node(name, eligible=False) for name in "bc"))
    ),
    "a client that is down and takes nothing": lambda: judge(
        node("a"), clients=("a", make_node("b", status="down", eligible=False))
    ),
    "no client takes it": lambda: judge(
        clients=(*(make_node(name, **LEAVES) for name in "ca"), make_node("b", datacenter="eu")), datacenters=("dc1",)
    ),
    "no client takes it, by constraints": lambda: judge(
        clients=(make_node("a", drivers={}),), datacenters=("eu",), node_pool="gpu"
    ),
    "no client meets the constraints": lambda: judge(
        clients=(zoned("a", "us-east-1b"), "b"),
        constraints=(dataclasses.replace(IN_ZONE, operator="is_set", value=""), IN_ZONE),
    ),
    "one client of three meets the constraints": lambda: judge(
        node("a"), clients=(zoned("a", "us-east-1a"), zoned("b", "us-east-1b", **LEAVES), "c"), constraints=(IN_ZONE,)
    ),
    "an extra instance of an unlisted client": lambda: judge(*BOTH, node("gone", healthy=False)),
    "a controller": lambda: judge(controller("a"), *BOTH, controllers=1),
    "a controller starts": lambda: judge(
        *BOTH,
        controllers=1,
        seen={
            "ran": [*(make_ran("node", name) for name in "ab"), make_ran("controller", "a", client_status="pending")]
        },
    ),
    "no controller": lambda: judge(*BOTH, controllers=1),
    "an unhealthy controller of two": lambda: judge(
        controller("a"), controller("b", healthy=False), *BOTH, controllers=2
    ),
    "a controller more than wanted": lambda: judge(controller("a"), controller("b"), *BOTH, controllers=1),
    "an unhealthy controller more than wanted": lambda: judge(
        controller("a"), controller("b", healthy=False), *BOTH, controllers=1
    ),
    "an unhealthy controller, where half of the nodes is enough": lambda: judge(
        controller("a", healthy=False), *BOTH, controllers=1, min_healthy_percent=50
    ),
    "a controller where none is wanted": lambda: judge(controller("a"), *BOTH),
    "a controller on a client that leaves": lambda: judge(
        controller("b"), node("a"), clients=("a", make_node("b", **LEAVES)), controllers=1
    ),
    "more controllers than clients": lambda: judge(node("a"), clients="a", controllers=2),
    "as many controllers as clients": lambda: judge(*map(controller, "ab"), *BOTH, controllers=2),
    "more controllers than clients while one leaves": lambda: judge(
        node("a"), clients=("a", make_node("b", **LEAVES)), controllers=2
    ),
    "more controllers than clients, also with the one that leaves": lambda: judge(
        node("a"), clients=("a", make_node("b", **LEAVES)), controllers=3
    ),
    "more controllers than clients, and a number of instances that they hold": lambda: judge(
        *BOTH, nodes=2, controllers=3
    ),
    "no instances, and a controller": lambda: judge(controller("a"), nodes=0, controllers=1),
    "a number of instances": lambda: judge(*BOTH, clients="abc", nodes=2),
    "a number of instances, of which one starts": lambda: judge(
        node("a"),
        nodes=2,
        seen={"ran": [make_ran("node", "a"), make_ran("node", "b", client_status="pending"), ENDED]},
    ),
    "fewer than the number": lambda: judge(node("a"), clients="abc", nodes=2),
    "a number above the clients": lambda: judge(*BOTH, nodes=3),
    "nothing is expected": lambda: judge(nodes=0),
    "a monolith": lambda: judge(*map(controller, "ab"), *BOTH, monolith=True),
    "a monolith that lacks one": lambda: judge(controller("a"), node("a"), monolith=True),
    "a monolith that lacks a controller": lambda: judge(controller("a"), *BOTH, monolith=True),
    "a monolith with an unhealthy one": lambda: judge(
        controller("a"), controller("b", healthy=False), node("a"), node("b", healthy=False), monolith=True
    ),
    "a monolith whose one task is unhealthy in both roles": lambda: judge(
        controller("a", alloc_id="node-a", healthy=False), node("a", healthy=False), clients="a", monolith=True
    ),
    "an unhealthy instance without a description": lambda: judge(
        node("a", healthy=False, health_description=""), clients="a"
    ),
    "a monolith with an unhealthy one, tolerated": lambda: judge(
        controller("a"),
        controller("b", healthy=False),
        node("a"),
        node("b", healthy=False),
        monolith=True,
        min_healthy_percent=50,
    ),
    "sockets that all answer": lambda: judge(*BOTH, seen={"probed": probed(a=PROVED, b=PROVED)}, evidence="csi"),
    "a socket that was not asked": lambda: judge(*BOTH, seen={"probed": probed(a=PROVED)}, evidence="csi"),
    "a socket that gave no answer": lambda: judge(*BOTH, seen={"probed": probed(a=PROVED, b=LATE)}, evidence="csi"),
    "a socket without an answer, tolerated": lambda: judge(
        *BOTH, seen={"probed": probed(a=PROVED, b=LATE)}, min_healthy_percent=50
    ),
    "a socket without an answer, where half is not enough": lambda: judge(
        *BOTH, seen={"probed": probed(a=PROVED, b=LATE)}, min_healthy_percent=51
    ),
    "many sockets without an answer, one without a reason": lambda: judge(
        *map(node, "abcdefgh"),
        clients="abcdefgh",
        seen={"probed": probed(**dict.fromkeys("abcdefg", LATE), h=dataclasses.replace(LATE, detail="", advice=""))},
    ),
    "a socket of the wrong role, and one that is not ready and says no more": lambda: judge(
        *BOTH,
        seen={
            "probed": probed(
                a=dataclasses.replace(UNWELL, status="wrong-role", detail="wrong-role: no node part"),
                b=dataclasses.replace(UNWELL, detail=""),
            )
        },
    ),
    "a socket that is not ready": lambda: judge(*BOTH, seen={"probed": probed(a=UNWELL)}),
    "controllers without an answer": lambda: judge(
        controller("a"), *BOTH, controllers=1, seen={"probed": {("controller-a", "controller"): LATE}}
    ),
    **{
        f"one of two controllers without an answer, of {wanted}": functools.partial(
            lambda wanted: judge(*map(controller, "ab"), *BOTH, controllers=wanted, seen={"probed": ONE_ANSWERS}),
            wanted,
        )
        for wanted in (1, 2)
    },
    "no controller that answered, and none is wanted": lambda: judge(
        controller("a"), *BOTH, seen={"probed": {("controller-a", "controller"): LATE}}
    ),
    "a socket of another driver": lambda: judge(
        *BOTH, seen={"probed": probed(a=dataclasses.replace(PROVED, provider="other.csi"))}
    ),
    "a silent socket": lambda: judge(
        *BOTH, seen={"probed": probed(a=observed_plugin.Probed(reached=True, status="silent", detail="silent: late"))}
    ),
    "an extra instance without an answer": lambda: judge(
        *BOTH, clients=("a", make_node("b", **LEAVES)), seen={"probed": probed(a=PROVED, b=LATE)}
    ),
    "a job is missing": lambda: judge(
        node("a"), seen={"missing_jobs": ("plugin-nodes",), "ran": [make_ran("node", "a")]}
    ),
    "a job is missing, and its allocation ends": lambda: judge(
        node("a"), clients="a", seen={"ran": [make_ran("node", "a", desired_status="stop")], "missing_jobs": ("nodes",)}
    ),
    "all jobs are missing": lambda: judge(
        seen={"missing_jobs": ("plugin-nodes", "plugin-controller"), "names_jobs": True}
    ),
    "instances of another job": lambda: judge(
        *BOTH,
        seen={
            "ran": [make_ran("node", "a")],
            "others": (
                other(job_id="hidden", unread="denied", allocations=()),
                other(job_id="strange", allocations=(make_ran("node", "b").allocation,)),
            ),
        },
    ),
    "an instance of a job that may not be read": lambda: judge(
        *BOTH, seen={"ran": [make_ran("node", "a")], "others": (other(unread="denied", allocations=()),)}
    ),
    "an instance of a job that is not known": lambda: judge(*BOTH, seen={"ran": [make_ran("node", "a")]}),
    "instances of another job, tolerated": lambda: judge(
        *BOTH, seen={"ran": [make_ran("node", "a")]}, min_healthy_percent=50
    ),
    "an instance of another job where the plan's failed": lambda: judge(
        *BOTH,
        seen={
            "ran": [make_ran("node", "a"), make_ran("node", "b", alloc_id="own", client_status="failed")],
            "others": (other(job_id="strange", allocations=(make_ran("node", "b").allocation,)),),
        },
    ),
    "another job beside": lambda: judge(
        *map(node, "abdfe"),
        clients="abdfe",
        seen={
            "ran": [make_ran("node", name) for name in "abdfe"],
            "others": (
                other(allocations=tuple(make_ran("old", name).allocation for name in "fbeda")),
                other(namespace="prod", job_id="prod"),
                other("complete", job_id="ended"),
                other("running", "stop", job_id="ends"),
                other(client="c", job_id="elsewhere"),
            ),
        },
    ),
    "another job's controller beside": lambda: judge(
        *BOTH,
        seen={"ran": [make_ran("node", name) for name in "ab"], "others": (other(roles=frozenset({"controller"})),)},
    ),
    "one starts": lambda: judge(node("a"), seen={"ran": [make_ran("node", "a"), events(*STARTED[:3], name="b")]}),
    "one is pending": lambda: judge(
        node("a"),
        seen={"ran": [make_ran("node", "a"), make_ran("node", "b", client_status="pending", node_name="")]},
    ),
    "one failed to start": lambda: judge(
        node("a"), seen={"ran": [make_ran("node", "a"), events(("Driver Failure", 2), name="b", restarts=2)]}
    ),
    "one failed to start, again and again": lambda: judge(
        node("a"), seen={"ran": [make_ran("node", "a"), events(("Driver Failure", 2), name="b", restarts=3)]}
    ),
    "a job whose type is not known": lambda: judge(
        node("a"), seen={"ran": [make_ran("node", "a"), dataclasses.replace(make_ran("node", "b"), job_type="")]}
    ),
    "an allocation that ends": lambda: judge(
        *BOTH, seen={"ran": [make_ran("node", "a"), make_ran("node", "b", desired_status="stop")]}
    ),
    "two allocations on a client": lambda: judge(
        *BOTH,
        seen={"ran": [make_ran("node", "a"), *(make_ran("node", "b", alloc_id=f"{n}-b") for n in ("node", 2, 3))]},
    ),
    "a record of an allocation elsewhere": lambda: judge(
        node("a"),
        node("b", alloc_id="0123456789"),
        seen={"ran": [make_ran("node", "a"), make_ran("node", "c", alloc_id="0123456789")]},
    ),
    "an allocation that is lost": lambda: judge(
        *BOTH, seen={"ran": [make_ran("node", "a"), make_ran("node", "b", client_status="lost")]}
    ),
    "an older job": lambda: judge(
        *BOTH, seen={"ran": [make_ran("node", "a", outdated="version 1"), make_ran("node", "b")]}
    ),
    "one flaps and is unhealthy": lambda: judge(
        node("a", healthy=False), clients="a", seen={"ran": [events(*STARTED, *FELL)], "now_ns": 231 * S}
    ),
    "one restarted, and proves itself": lambda: judge(
        node("a"),
        clients="a",
        seen={"ran": [events(*RESTARTED, restarts=1)], "now_ns": 120 * S, "probed": probed(a=PROVED)},
    ),
    "one restarted between two checks": lambda: judge(
        *BOTH,
        seen={"ran": [make_ran("node", "a", restarts=2), make_ran("node", "b", restarts=2)]},
        before=make_seen(*BOTH, ran=[make_ran("node", "a", restarts=1), make_ran("node", "b", restarts=2)]),
    ),
}


def _lived(told, now_s, restarts):
    return lambda: judge(node("a"), clients="a", seen={"ran": [events(*told, restarts=restarts)], "now_ns": now_s * S})


SITUATIONS |= {
    name: _lived(*lived)
    for name, lived in {
        "one flaps": ((*STARTED, *FELL), 50, 0),
        "one flapped ten minutes ago": ((*STARTED, *FELL), 620, 0),
        "one fell twice by its probes": ((*STARTED, *FELL_BY_PROBES[:4]), 80, 0),
        "one fell by its probes, and Nomad dropped its first events": (FELL_BY_PROBES, 80, 0),
        "one failed to start often, and is well": (FAILED, 151, 0),
        "one just restarted": (RESTARTED, 120, 1),
        "one just restarted, by a clock that is behind": (RESTARTED, 100, 1),
        "one just restarted, by a clock that is far behind": (RESTARTED, 46, 1),
        "one restarted, and was checked at once": ((*RESTARTED, ("Plugin became healthy", 106)), 120, 1),
        "one started twice, and was not restarted": (RESTARTED, 120, 0),
        "one restarted a minute ago": (RESTARTED, 166, 1),
    }.items()
}
"""What the events of a task tell of its history, at some second."""


def lines(status):
    """Yield the status in lines."""
    yield f"{status.status}: {status.counts}, {status.policy}, by {status.evidence}, zones {dict(status.zones)}"
    for row in status.instances:
        words = [row.role, row.node_name, row.zone, row.status, row.evidence, row.nomad, row.socket]
        yield f"{'extra ' if row.is_extra else ''}{' '.join(word or '-' for word in words)}: {row.detail}"
    for item in status.findings:
        yield f"{item.severity} {item}{f' [{chr(44).join(item.links)}]' if item.links else ''}"
    yield from (f"unserved {item.alloc_id}" for item in status.unserved)
    yield from map(str, status.explanations)


def recorded():
    """Return the lines of each situation."""
    sections = RECORDED.read_text(encoding="utf-8").split("\n== ")[1:]
    return {name: text.rstrip("\n").split("\n") for name, _, text in (each.partition("\n") for each in sections)}


def main():
    """Write the status of each situation."""
    parts = ["# Written by `python -m tests.health.situations`.\n"]
    for name, bring in SITUATIONS.items():
        parts += [f"\n== {name}\n", *(f"{line}\n" for line in lines(bring()))]
    RECORDED.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
