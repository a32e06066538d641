"""A client satisfies a constraint exactly where Nomad's scheduler says so."""

import pytest

from nomad_csi.health import constraints
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
        ("not", "a", "b", True),
        ("==", "a", "a", True),
        ("is", "a", "a", True),
        ("set_contains_all", "a,b", "b", True),
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
