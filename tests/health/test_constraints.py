"""A client satisfies a constraint exactly where Nomad's scheduler says so."""

from pathlib import Path

import pytest

from nomad_csi.health import constraints
from nomad_csi.plan import model
from tests import tables


def constraint(attribute, operator="=", value=""):
    return model.Constraint(attribute=attribute, operator=operator, value=value)


ROWS = tables.load(Path(__file__).with_name("constraints.yaml"))


@pytest.mark.parametrize(("operator", "found", "wanted", "result"), ROWS["operators"])
def test_operators(node, operator, found, wanted, result):
    """Each operator as the scheduler has it, an attribute that is not set included; Nomad judged the expressions."""
    meta = {"rack": "r1"} | ({} if found is None else {"x": found})
    client = node("a", meta=meta, matches={("${meta.x}", "east-[0-9]"): True, ("${meta.x}", "^east"): False})

    assert constraints.holds(constraint("${meta.x}", operator, wanted), client) is result


@pytest.mark.parametrize(("attribute", "value"), ROWS["attributes"])
def test_what_an_attribute_is_on_a_client(node, attribute, value):
    """Attributes, meta and the client's own properties."""
    client = node(
        "a",
        node_class="storage",
        attributes={"platform.aws.placement.availability-zone": "us-east-1a"},
        meta={"rack": "r1"},
    )

    assert constraints.value_of(attribute, client) == value
