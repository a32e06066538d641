"""Clients are asked for their attributes only where constraints need them, and once."""

import dataclasses
from urllib import parse

import pytest

from nomad_csi.health import clients
from nomad_csi.plan import model

RACK = model.Constraint(attribute="${meta.rack}", operator="=", value="r1")
DRIVERS = {"docker": {"Detected": True, "Healthy": True}}


def listed(name, **changes):
    ready = {"ID": name, "Name": name, "Datacenter": "dc1", "NodePool": "default", "Status": "ready"}
    return ready | {"SchedulingEligibility": "eligible", "Drivers": DRIVERS, "ModifyIndex": 7} | changes


@pytest.fixture
def asked(scripted):
    """Return the paths that were asked for, without their queries."""
    return lambda: [path.partition("?")[0] for path, _ in scripted.sent("GET")]


def test_without_constraints_the_list_is_enough(context, scripted, expectation, asked):
    """One request, however many clients."""
    scripted.reply("GET", "/v1/nodes", 200, [listed("a"), listed("b")])

    found = clients.ClientCache(context.connect()).read_clients([expectation])

    assert ([node.name for node in found], asked()) == (["a", "b"], ["/v1/nodes"])


def test_with_constraints_clients_of_the_placement_are_asked(context, scripted, expectation, asked):
    """One that is down, too: else it would not be named; not one of another node pool."""
    scripted.reply("GET", "/v1/nodes", 200, [listed("a"), listed("b", Status="down"), listed("c", NodePool="gpu")])
    scripted.reply("GET", "/v1/node/a", 200, listed("a", Meta={"rack": "r1"}, Attributes={"cpu.arch": "amd64"}))
    scripted.reply("GET", "/v1/node/b", 200, listed("b", Meta={"rack": "r2"}, Status="down"))
    wanted = dataclasses.replace(expectation, constraints=(RACK,))

    found = clients.ClientCache(context.connect()).read_clients([wanted])

    assert [(node.meta, node.attributes) for node in found] == [
        ({"rack": "r1"}, {"cpu.arch": "amd64"}),
        ({"rack": "r2"}, {}),
        ({}, {}),
    ]
    assert sorted(asked()) == ["/v1/node/a", "/v1/node/b", "/v1/nodes"]


@pytest.mark.parametrize(
    ("changes", "is_read"),
    [
        ({"constraints": (dataclasses.replace(RACK, attribute="${node.class}", value="${meta.rack}"),)}, True),
        ({"constraints": (dataclasses.replace(RACK, attribute="${node.class}"),)}, False),
        ({"min_healthy_per_zone": 1}, True),
        ({"min_healthy_percent": 1}, False),
    ],
)
def test_clients_are_asked_for_what_is_in_no_list(context, scripted, expectation, asked, changes, is_read):
    """An attribute on either side of a constraint, and the zone where each needs some; not of another placement."""
    scripted.reply("GET", "/v1/nodes", 200, [listed("a"), listed("c", NodePool="gpu")])
    scripted.reply("GET", "/v1/node/a", 200, listed("a"))

    clients.ClientCache(context.connect()).read_clients([expectation, dataclasses.replace(expectation, **changes)])

    assert asked() == ["/v1/nodes", "/v1/node/a"][: 1 + is_read]


def test_nomad_evaluates_regular_expressions(context, scripted, expectation):
    """One request for all clients; an expression that it refuses leaves the question open."""
    names = ["a", "b"]
    scripted.reply("GET", "/v1/nodes", 200, [listed(name) for name in names])
    scripted.reply("GET", "/v1/nodes", 200, [listed("b")])
    scripted.reply("GET", "/v1/nodes", 400, "failed to compile regular expression")
    by_name = model.Constraint(attribute="${node.unique.name}", operator="regexp", value='^"?b')
    refused = dataclasses.replace(by_name, value="(")
    wanted = dataclasses.replace(expectation, constraints=(by_name, refused))

    found = clients.ClientCache(context.connect()).read_clients([wanted])

    key = ("${node.unique.name}", '^"?b')
    assert [node.matches for node in found] == [{key: False}, {key: True}]
    assert parse.unquote_plus(scripted.sent("GET")[1][0]).endswith(r'filter=Name matches "^\x22?b"')


def test_what_a_client_said_is_kept_until_it_changes(context, scripted, expectation, asked):
    """A look every half second does not ask a thousand clients each time."""
    scripted.reply("GET", "/v1/nodes", 200, [listed("a")])
    scripted.reply("GET", "/v1/nodes", 200, [listed("a")])
    scripted.reply("GET", "/v1/nodes", 200, [listed("a", ModifyIndex=8)])
    scripted.reply("GET", "/v1/node/a", 200, listed("a", Meta={"rack": "r1"}))
    scripted.reply("GET", "/v1/node/a", 200, listed("a", Meta={"rack": "r2"}, ModifyIndex=8))
    watched = clients.ClientCache(context.connect())
    wanted = dataclasses.replace(expectation, constraints=(RACK,))

    racks = [node.meta["rack"] for _ in range(3) for node in watched.read_clients([wanted])]

    assert racks == ["r1", "r1", "r2"]
    assert asked() == ["/v1/nodes", "/v1/node/a", "/v1/nodes", "/v1/nodes", "/v1/node/a"]
