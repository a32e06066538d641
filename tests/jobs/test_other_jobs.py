"""A second job under the plugin's id is refused before anything of the plan runs beside it."""

import pytest

from nomad_csi.health import observed_plugin
from nomad_csi.jobs import conflicts
from nomad_csi.nomad import jobs
from nomad_csi.plan import model


def other(*allocations, roles=("node",), **changes):
    """Return another job with these allocations."""
    allocations = tuple(item.allocation for item in allocations)
    known = {"namespace": "default", "job_id": "old", "roles": frozenset(roles), "allocations": allocations}
    return observed_plugin.OtherJob(**known | changes)


def task(role="node", **changes):
    """Return a task of the plan that is to run everywhere."""
    known = {
        "job_id": f"plugin-aws-ebs0-{role}",
        "namespace": "default",
        "job_type": "system",
        "plugin_id": "aws-ebs0",
        "role": role,
        "task_driver": "docker",
        "privileged": True,
        "host_network": False,
        "own_credentials": False,
        "datacenters": ("*",),
        "node_pool": "default",
    }
    return jobs.PluginTask(**known | changes)


@pytest.fixture
def before(node, ran):
    """Judge what is to run on clients a and b beside a job with an instance on a."""

    def check(*tasks, clients=("a", "b"), on=("a",), allocation=None, **of_other):
        item = other(*(ran("node", name, **allocation or {}) for name in on), **{"stands_for": "node"} | of_other)
        there = [each if not isinstance(each, str) else node(each) for each in clients]
        found_ = conflicts.Beside(others=(item,), clients=tuple(there)).check(tasks or (task(),))
        return [(each.severity, str(each)) for each in found_]

    return check


def test_job_of_another_namespace_is_taken_over_there(before):
    """The spec's plugin runs in one namespace."""
    [(_, said)] = before(namespace="storage", job_id="ol$", clients="abcde", on="edcba")

    assert (
        "found instances on a, b, c, d, e; the job belongs to no stack; take it over (job_ids: {node: ol$}, namespace: storage and adopt: true"
        in said
    )
    assert "`nomad job stop -namespace storage 'ol$'`" in said


@pytest.mark.parametrize("changes", [{"stands_for": ""}, {"stands_for": "monolith", "roles": ("node", "controller")}])
def test_job_that_no_job_of_the_plan_can_become_is_only_stopped(before, changes):
    """It runs more than one part, or another one."""
    [(_, said)] = before(**changes)

    assert "; stop it while none" in said
    assert "take it over" not in said


@pytest.mark.parametrize(
    ("given", "is_told"),
    [
        ({"node_pool": "disks"}, False),
        ({"datacenters": ("dc2",)}, False),
        ({"constraints": (model.Constraint(attribute="${node.class}", operator="=", value="disks"),)}, False),
        ({"constraints": (model.Constraint(attribute="${node.class}", operator="=", value=""),)}, True),
        ({"task_driver": "podman"}, True),
        ({"role": "monolith"}, True),
        ({"role": "controller"}, False),
    ],
)
def test_only_clients_that_the_plans_job_would_use_count(before, given, is_told):
    """By pool, datacenter and constraints; a task driver may be there tomorrow."""
    assert bool(before(task(**given))) is is_told


@pytest.mark.parametrize(
    ("allocation", "is_told"),
    [
        ({"client_status": "pending"}, True),
        ({"desired_status": "stop"}, True),
        ({"desired_status": "stop", "client_status": "pending"}, False),
        ({"client_status": "complete"}, False),
        ({"client_status": "unknown"}, False),
        ({"node_id": "id-gone"}, False),
    ],
)
def test_instance_counts_from_its_start_to_its_end(before, allocation, is_told):
    """One that is stopped runs until it has ended."""
    assert bool(before(allocation=allocation)) is is_told
