"""Who is placed where."""

import pytest

from nomad_csi_sandbox.nomad.clients import nodes
from nomad_csi_sandbox.nomad.hcl import parse
from nomad_csi_sandbox.nomad.jobs import defaults, scheduler, stored


@pytest.fixture
def two_nodes():
    """Two nodes in two zones."""
    specs = [nodes.NodeSpec(name=name, zone=zone, instance_id="") for name, zone in (("one", "a"), ("two", "b"))]
    return [nodes.document(spec, http_address="127.0.0.1:1", now="") for spec in specs]


@pytest.fixture
def decide(two_nodes):
    """Decide on the only group of a job file."""

    def decide_it(text, existing=(), volume_problem=lambda *_: ""):
        job = stored.from_api(defaults.canonical(parse.parse(text)))
        return scheduler.decide(job, two_nodes, existing, volume_problem).groups["g"]

    return decide_it


def test_distinct_hosts_leaves_the_rest_unplaced(decide, job):
    """Three instances on two nodes: two are placed, one waits and says why."""
    constraint = 'count = 3\n constraint {\n operator = "distinct_hosts"\n value = "true"\n}'

    found = decide(job("j", group=constraint))

    assert (len({place.node_id for place in found.place}), found.queued) == (2, 1)
    assert found.failure["ConstraintFiltered"] == {"distinct_hosts": 2}


@pytest.mark.parametrize(
    ("attribute", "value", "placed"),
    [
        ("${attr.platform.aws.placement.availability-zone}", "b", 1),
        ("${node.unique.name}", "one", 1),
        ("${node.datacenter}", "dc9", 0),
        ("${meta.absent}", "x", 0),
    ],
)
def test_constraint_filters_nodes(decide, job, attribute, value, placed):
    """Only nodes that the constraint holds for are taken."""
    constraint = f'constraint {{\n attribute = "{attribute}"\n value = "{value}"\n}}'

    assert len(decide(job("j", kind="system", group=constraint)).place) == placed


def test_volume_problem_is_named_for_each_node(decide, job):
    """The volume's sentence stands in the metrics."""
    found = decide(job("j"), volume_problem=lambda *_: "missing CSI volume(s) v")

    assert found.failure["ConstraintFiltered"] == {"missing CSI volume(s) v": 2}
