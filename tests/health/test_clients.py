"""Clients are asked for their attributes only where constraints need them, and once."""

import dataclasses

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

    assert [(node.meta, node.attributes) for node in found] == [({"rack": "r1"}, {}), ({"rack": "r2"}, {}), ({}, {})]
    assert sorted(asked()) == ["/v1/node/a", "/v1/node/b", "/v1/nodes"]


def test_what_each_client_has_for_itself_is_asked_of_each(context, scripted, expectation, asked):
    """Nobody shares a host name: Nomad is not asked who else has it."""
    names = ["a", "b", "c", "d"]
    scripted.reply("GET", "/v1/nodes", 200, [listed(name) for name in names])
    for name in names:
        scripted.reply("GET", f"/v1/node/{name}", 200, listed(name, Attributes={"unique.hostname": f"{name}.lan"}))
    by_host = model.Constraint(attribute="${attr.unique.hostname}", operator="=", value="a.lan")

    found = clients.ClientCache(context.connect()).read_clients(
        [dataclasses.replace(expectation, constraints=(by_host,))]
    )

    assert [node.attributes["unique.hostname"] for node in found] == ["a.lan", "b.lan", "c.lan", "d.lan"]
    assert sorted(asked()) == ["/v1/node/a", "/v1/node/b", "/v1/node/c", "/v1/node/d", "/v1/nodes"]


def test_name_and_id_of_a_client_cost_no_call(context, scripted, expectation, asked):
    """They stand in the list."""
    scripted.reply("GET", "/v1/nodes", 200, [listed(name) for name in ("a", "b", "c", "d")])
    by_name = model.Constraint(attribute="${node.unique.name}", operator="=", value="a")

    clients.ClientCache(context.connect()).read_clients([dataclasses.replace(expectation, constraints=(by_name,))])

    assert asked() == ["/v1/nodes"]


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
