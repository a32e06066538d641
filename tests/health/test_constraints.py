"""A client satisfies a constraint exactly where Nomad's scheduler says so."""

import pytest

from nomad_csi.health import constraints, eligibility
from nomad_csi.health import plugins as statuses
from nomad_csi.plan import model

ZONE = "${attr.platform.aws.placement.availability-zone}"


def constraint(attribute, operator="=", value=""):
    return model.Constraint(attribute=attribute, operator=operator, value=value)


@pytest.mark.parametrize(
    ("operator", "found", "wanted", "result"),
    [
        ("=", "a", "a", True),
        ("=", "a", "b", False),
        ("=", None, "a", False),
        ("!=", "a", "b", True),
        ("!=", "a", "a", False),
        ("!=", None, "a", True),
        ("<", "9", "10", True),
        ("<", "9", "10.5", True),
        ("<", "9", "1e1", True),
        ("<", "9", "1a", False),
        ("<", "B", "a", True),
        ("<=", "10", "10", True),
        (">", "10", "9", True),
        (">", None, "9", False),
        (">=", "9223372036854775807", "9223372036854775807", True),
        (">=", "-1", "-2", True),
        ("is_set", "", "", True),
        ("is_set", None, "", False),
        ("is_not_set", None, "", True),
        ("is_not_set", "", "", False),
        ("regexp", "us-east-1a", "east-[0-9]", True),
        ("regexp", "us-east-1a", "^east", False),
        ("regexp", "us-east-1a", "(", False),
        ("regexp", None, "(", False),
        ("set_contains", "a, b,c", "c ,a", True),
        ("set_contains", "a,b", "a,c", False),
        ("set_contains_any", "a,b", "c, b", True),
        ("set_contains_any", "a,b", "c,d", False),
        ("version", "1.10.0", ">= 1.9", True),
        ("version", "2.0.6-dev", ">= 1.9", False),
        ("semver", "2.0.6-dev", ">= 1.9.0", True),
        ("version", "linux", ">= 1.9", False),
        ("distinct_hosts", None, "true", True),
        ("distinct_property", "r1", "2", True),
        ("unknown", "a", "a", False),
        ("!=", None, "", False),
        ("=", "r1", "${meta.rack}", True),
        ("=", "a", "${meta.rack}", False),
        ("=", "a", "${meta.absent}", False),
        ("!=", "a", "${meta.absent}", True),
        ("version", "1.10.0", "${meta.absent}", False),
    ],
)
def test_operators(node, operator, found, wanted, result):
    """Each operator as the scheduler has it, an attribute that is not set included; Nomad judged the expressions."""
    meta = {"rack": "r1"} | ({} if found is None else {"x": found})
    client = node("a", meta=meta, matches={("${meta.x}", "east-[0-9]"): True, ("${meta.x}", "^east"): False})

    assert constraints.holds(constraint("${meta.x}", operator, wanted), client) is result


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        (ZONE, "us-east-1a"),
        ("${meta.rack}", "r1"),
        ("${node.unique.id}", "id-a"),
        ("${node.unique.name}", "a"),
        ("${node.datacenter}", "dc1"),
        ("${node.class}", "storage"),
        ("${node.pool}", "default"),
        ("${attr.absent}", None),
        ("${meta.absent}", None),
        ("${device.model}", None),
    ],
)
def test_what_an_attribute_is_on_a_client(node, attribute, value):
    """Attributes, meta and the client's own properties."""
    client = node(
        "a",
        node_class="storage",
        attributes={"platform.aws.placement.availability-zone": "us-east-1a"},
        meta={"rack": "r1"},
    )

    assert constraints.value_of(attribute, client) == value


def zoned(node, name, zone, **changes):
    return node(name, attributes={"platform.aws.placement.availability-zone": zone}, **changes)


def test_only_clients_that_meet_every_constraint_are_counted(expected, node, instance, seen):
    """A plugin of one zone is healthy without the other zone's clients."""
    clients = (zoned(node, "a", "us-east-1a"), zoned(node, "b", "us-east-1b"), node("c"))
    wanted = expected(controllers=0, constraints=(constraint(ZONE, "=", "us-east-1a"),))

    status = statuses.compare_plugin(wanted, seen(instance("node", "a")), clients)

    assert (status.status, status.counts) == ("healthy", "1/1 nodes")
    assert eligibility.why_not(wanted, clients[1]) == f"{ZONE} is 'us-east-1b', not = us-east-1a"
    assert eligibility.why_not(wanted, clients[2]) == f"{ZONE} is not set, not = us-east-1a"


def test_constraint_that_no_client_meets_is_never_healthy(expected, node, seen):
    """Zero clients to run on is a finding that names the constraint, not zero of zero."""
    wanted = expected(controllers=0, constraints=(constraint("${meta.rack}", "is_set"),))

    status = statuses.compare_plugin(wanted, seen(), (node("a"), node("b")))

    assert (status.status, status.counts) == ("missing", "0/0 nodes")
    assert str(status.findings[0]) == (
        "no-eligible-node: plugin aws-ebs0: expected at least 1 client that may run the plugin, found none of 2 "
        "clients (${meta.rack} is not set, not is_set: a, b); add or free such a client, or correct datacenters, "
        "node_pool, constraints or task_driver of the plugin"
    )


def test_monolith_is_controller_and_node_on_each_client(expected, node, instance, seen):
    """Each instance counts for both, and as many controllers as nodes are expected."""
    wanted = expected(controllers=0, monolith=True)
    there = seen(*(instance(role, name) for role in ("controller", "node") for name in ("a", "b")))

    status = statuses.compare_plugin(wanted, there, (node("a"), node("b")))

    assert (status.status, status.findings, status.counts) == ("healthy", (), "2/2 nodes, 2/2 controllers")
