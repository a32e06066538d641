"""A second job under the plugin's id: told also where Nomad lists the plan's own instance."""

import dataclasses

import pytest

from nomad_csi.health import gather, observed_plugin, plugins
from tests.plugin_samples import make_seen


def told(status):
    """Return severity and text of each finding."""
    return [(item.severity, str(item)) for item in status.findings]


def other(*allocations, roles=("node",), **changes):
    """Return another job with these allocations."""
    allocations = tuple(item.allocation for item in allocations)
    known = {"namespace": "default", "job_id": "old", "roles": frozenset(roles), "allocations": allocations}
    return observed_plugin.OtherJob(**known | changes)


@pytest.fixture
def judge(expected, node, instance, seen, ran):
    """Judge a healthy plugin on clients a and b beside another job."""

    def compare(*others):
        there = seen(
            instance("node", "a"), instance("node", "b"), ran=[ran("node", "a"), ran("node", "b")], others=others
        )
        return plugins.compare_plugin(expected(controllers=0), there, (node("a"), node("b")))

    return compare


def test_second_job_beside_the_plans_is_told(judge, ran):
    """All is healthy, as Nomad sees one of both; the clients are named."""
    status = judge(other(ran("node", "a", alloc_id="x"), ran("node", "b", alloc_id="y"), namespace="storage"))

    assert (status.status, status.ok) == ("healthy", True)
    assert told(status) == [
        (
            "warning",
            "job-duplicate: plugin aws-ebs0: expected no instances of job old of namespace storage on the clients of "
            "the plan's jobs, found instances on a, b; stop one of the two jobs: a plugin id can run only once on a client, and Nomad calls "
            "the instance that started last",
        )
    ]


@pytest.mark.parametrize(
    ("changes", "roles"),
    [
        ({"desired_status": "stop"}, ("node",)),
        ({"client_status": "complete"}, ("node",)),
        ({"node_id": "id-c"}, ("node",)),
        ({}, ("controller",)),
    ],
)
def test_second_job_that_is_in_nobodys_way_is_not_told(judge, ran, changes, roles):
    """It ends, or ended, or runs elsewhere, or runs controllers."""
    assert told(judge(other(ran("node", "a", **({"alloc_id": "x"} | changes)), roles=roles))) == []


def test_of_a_plugin_whose_jobs_are_not_known_no_job_is_another_one():
    """Nothing is read of them."""
    plugin = dataclasses.replace(make_seen().plugin, jobs=frozenset({("default", "old")}))

    assert gather.other_jobs_of(None, (), plugin) == ()
