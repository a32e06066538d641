"""The judgement of one place, over the whole product of what can be the case, against a table."""

import dataclasses
import functools
import itertools
from pathlib import Path
from typing import NamedTuple

import pytest

from nomad_csi.health import eligibility, instances, observed_plugin
from nomad_csi.health import plugins as statuses
from nomad_csi.nomad import jobs
from tests.plugin_samples import EXPECTATION, make_instance, make_node, make_plugin

TABLE = Path(__file__).with_name("judgements.txt")
OWN = [
    "none",
    *(
        f"{desired}:{status}"
        for desired in ("run", "stop", "evict")
        for status in ("pending", "running", "complete", "failed", "lost", "unknown")
    ),
]
CLIENTS = {
    "ready": {},
    "ineligible": {"eligible": False},
    "draining": {"eligible": False, "draining": True},
    "down": {"status": "down"},
    "disconnected": {"status": "disconnected"},
    "unlisted": None,
}
NAMES = {"equal": "ebs.csi.aws.com", "other": "other.csi", "empty": ""}
VERSIONS = {"equal": "v1.64.0", "other": "v9", "empty": ""}
SILENT = observed_plugin.Probed(reached=True, status="silent", detail="silent: no answer")
READY = observed_plugin.Probed(reached=True, healthy=True, status="ready", provider=NAMES["equal"], version="v1.64.0")
SOCKETS = {
    "ready": READY,
    "ready-v9": dataclasses.replace(READY, version="v9"),
    "not-ready": dataclasses.replace(READY, healthy=False, status="not-ready"),
    "other": dataclasses.replace(READY, healthy=False, status="wrong-name", provider="other.csi"),
    "silent": SILENT,
    "absent": observed_plugin.NOT_ASKED,
    "no-answer": observed_plugin.Probed(reached=False, status="no-answer", detail="the client is down"),
}


class Case(NamedTuple):
    """What is the case at one place."""

    place: str
    client: str
    listed: str
    health: str
    own: str
    next: str
    name: str
    version: str
    socket: str


def cases():
    """Yield every case that there can be."""
    for place, client in itertools.product(("node", "counted"), CLIENTS):
        for listed, own in itertools.product(("nothing", "own", "other", "elsewhere", "any"), OWN):
            if (listed == "own" and own == "none") or (listed == "any" and own != "none"):
                continue  # a plan that names no jobs has no allocations
            healths = ("-",) if listed == "nothing" else ("healthy", "unhealthy")
            others = ("none", "pending", "running", "failed") if listed == "own" else ("none",)
            words = ("-",) if listed == "nothing" else NAMES
            for rest in itertools.product(healths, [own], others, words, words, SOCKETS):
                yield Case(place, client, listed, *rest)


@functools.cache
def client(state):
    """Return a client in *state*."""
    node = make_node("a", node_id="a")
    return None if CLIENTS[state] is None else dataclasses.replace(node, **CLIENTS[state])


@functools.cache
def allocation(own, alloc_id, node_id="a"):
    """Return an allocation of the plan's job: ``run:pending``; ``none`` for none."""
    if own == "none":
        return None
    desired, _, status = own.partition(":")
    ran = jobs.Allocation(
        alloc_id=alloc_id,
        node_id=node_id,
        node_name=node_id,
        client_status=status,
        desired_status=desired,
        task_events=(),
        restarts=0,
    )
    return observed_plugin.Ran(job_id="plan", allocation=ran)


@functools.cache
def instance(place, health, name, version):
    """Return the instance in Nomad's record."""
    return make_instance(
        "node" if place == "node" else "controller",
        "",
        node_id="a",
        alloc_id="listed",
        healthy=health == "healthy",
        health_description="",
        provider=NAMES[name],
        provider_version=VERSIONS[version],
        segments={},
    )


def judge(case):
    """Return what becomes of *case*."""
    own = allocation(case.own, "listed" if case.listed == "own" else "own")
    wanted = own if case.listed != "own" else allocation(f"run:{case.next}" if case.next != "none" else "none", "next")
    place = instances.ClientRole(
        expectation=EXPECTATION,
        role="node" if case.place == "node" else "controller",
        node_id="a",
        client=client(case.client),
        instance=None if case.listed == "nothing" else instance(case.place, case.health, case.name, case.version),
        names_jobs=case.listed != "any",
        ours={"own": own, "elsewhere": allocation("run:running", "listed", "b")}.get(case.listed),
        stranger="job old" if case.listed == "other" else "",
        wanted=wanted if wanted and wanted.is_wanted else None,
        csi=SOCKETS[case.socket],
    )
    return instances.judge(place)


def table(section):
    """Return the rows of a section: a test for each column, then the outcome."""
    lines = TABLE.read_text().partition(f"[{section}]\n")[2].partition("[")[0].splitlines()
    return [line.split() for line in lines if line.strip() and not line.startswith("#")]


@functools.cache
def matches(pattern, value):
    """Return whether a cell of the table matches: ``a|b``, ``!a``, ``run:*``, ``*:running``."""
    if pattern.startswith("!"):
        return not matches(pattern[1:], value)
    given = value.split(":")
    return any(
        each == "*"
        or (
            len(each.split(":")) == len(given)
            and all(x in ("*", y) for x, y in zip(each.split(":"), given, strict=True))
        )
        for each in pattern.split("|")
    )


def look_up(rows, values, used):
    """Return the outcome of the first row that matches *values*."""
    for number, row in enumerate(rows):
        if all(map(matches, row, values)):
            used.add(number)
            return tuple(row[len(values) :])
    raise AssertionError(values)


def test_every_case_is_judged_as_the_table_says():
    """All of them, and no row of the table is idle."""
    standings, codes = table("standing"), table("code")
    used_standings, used_codes, wrong, known = set(), set(), [], {}
    every = list(cases())
    for case in every:
        judgement_ = judge(case)
        of_place = (case.place, case.client, case.listed, case.own, case.next)
        if of_place not in known:
            [known[of_place]] = look_up(standings, of_place, used_standings)
        standing = known[of_place]
        values = (standing, case.listed, case.health, *case[4:])
        if values not in known:
            known[values] = look_up(codes, values, used_codes)
        shown = ("extra" if judgement_.surplus else "expected", judgement_.code or "healthy", judgement_.evidence)
        if shown != (standing, *known[values]):
            wrong.append((case, shown, standing, known[values]))

    assert wrong[:5] == []
    assert (len(used_standings), len(used_codes)) == (len(standings), len(codes))
    assert len(every) == 169_428


ZONES = {"a": "us-east-1a", "b": "us-east-1b"}
STATES = [state for state in CLIENTS if state != "unlisted"]
SITUATIONS = ("ours", "proven", "sick", "starting", "foreign", "nothing")


def clients_of(states):
    """Return clients a and b in *states*, each in a zone of its own."""
    return tuple(
        dataclasses.replace(client(state), node_id=name, name=name, attributes={eligibility.CLIENT_ATTRIBUTES[0]: zone})
        for (name, zone), state in zip(ZONES.items(), states, strict=True)
    )


def found_of(situations):
    """Return a plugin with an instance of each situation on clients a and b."""
    there, ran, probed = [], [], {}
    for name, situation in zip(ZONES, situations, strict=True):
        if situation not in {"nothing", "foreign"}:
            ran.append(allocation("run:running", name, name))
        if situation not in {"nothing", "starting"}:
            item = instance("node", "unhealthy" if situation == "sick" else "healthy", "equal", "equal")
            there.append(dataclasses.replace(item, node_id=name, alloc_id=name))
        if situation == "proven":
            probed[name, "node"] = READY
    record = make_plugin(*there, controller_required=False, nodes_expected=2)
    return observed_plugin.ObservedPlugin(plugin=record, names_jobs=True, ran=tuple(ran), probed=probed)


@pytest.mark.parametrize("evidence", ["nomad", "csi"])
@pytest.mark.parametrize("policy", [{}, {"min_healthy_percent": 50}, {"min_healthy_per_zone": 1}])
def test_a_plugin_is_healthy_only_by_its_own_and_no_client_or_zone_vanishes(policy, evidence):
    """Two clients in two zones, in every state, with everything that can be there."""
    expectation = dataclasses.replace(EXPECTATION, controllers=0, evidence=evidence, **policy)
    good = {"proven"} if evidence == "csi" else {"ours", "proven"}
    for states, situations in itertools.product(
        itertools.product(STATES, repeat=2), itertools.product(SITUATIONS, repeat=2)
    ):
        status = statuses.compare_plugin(expectation, found_of(situations), clients_of(states))

        wanted = [name for name, state in zip(ZONES, states, strict=True) if state == "ready"]
        well = [name for name, situation in zip(ZONES, situations, strict=True) if name in wanted and situation in good]
        calm = [row.node_id for row in status.instances if row.status == "healthy" and not row.is_extra]
        said = " ".join(
            item.found for item in status.findings if item.code in {"client-not-counted", "no-eligible-node"}
        )
        needed = {"all": len(wanted), "at least 50 %": 1, "at least 1 in each zone": 2}[status.policy]
        case = (states, situations)
        assert status.expected_nodes == len(wanted), case
        assert all(any(row.node_id == name for row in status.instances) for name in wanted), case
        assert all(f": {name}" in said or f", {name}" in said for name in ZONES if name not in wanted), case
        assert set(well) <= set(calm), case
        assert not status.ok or len(well) >= max(needed, 1), case
        assert policy or status.ok == (bool(wanted) and well == wanted), case
