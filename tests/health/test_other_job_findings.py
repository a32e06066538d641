"""A second job under the plugin's id: told also where Nomad lists the plan's own instance."""

import pytest

from nomad_csi.health import found, other_job_findings, plugins
from nomad_csi.nomad.records import jobs
from nomad_csi.plan import model


def told(status):
    """Return severity and text of each finding."""
    return [(item.severity, str(item)) for item in status.findings]


def other(*allocations, roles=("node",), **changes):
    """Return another job with these allocations."""
    allocations = tuple(item.allocation for item in allocations)
    known = {"namespace": "default", "job_id": "old", "roles": frozenset(roles), "allocations": allocations}
    return found.OtherJob(**known | changes)


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


def test_instance_of_the_second_job_that_nomad_lists_is_told_once(expected, node, instance, seen, ran):
    """As an error, of that client."""
    there = seen(
        instance("node", "a", alloc_id="x"), ran=[ran("node", "a")], others=(other(ran("node", "a", alloc_id="x")),)
    )

    status = plugins.compare_plugin(expected(controllers=0), there, (node("a"),))

    assert [(item.severity, item.code) for item in status.findings] == [("error", "instance-duplicate")]


def test_many_clients_are_a_number(expected, node, instance, seen, ran):
    """Five names are enough."""
    names = "abcdefg"
    there = seen(
        *(instance("node", name) for name in names),
        ran=[ran("node", name) for name in names],
        others=(other(*(ran("node", name, alloc_id=f"x-{name}") for name in names)),),
    )

    [finding] = plugins.compare_plugin(expected(controllers=0), there, tuple(map(node, names))).findings

    assert finding.found == "instances on a, b, c, d, e and 2 more"


def test_job_that_cannot_be_read_is_told(judge):
    """With what the token lacks."""
    status = judge(other(unread="GET /v1/job/old: status 403: Permission denied"))

    assert told(status) == [
        (
            "warning",
            "job-unread: plugin aws-ebs0: expected to see where job old runs the plugin, found GET /v1/job/old: status 403: "
            "Permission denied; use a token that may read jobs in that job's namespace",
        )
    ]


@pytest.mark.parametrize("status", ["pending", "running"])
def test_instance_of_another_job_stands_for_no_task_that_is_on_its_way(expected, node, instance, seen, ran, status):
    """What another job runs there verifies nothing of the plan's own task, also before that has begun."""
    there = seen(instance("node", "a", alloc_id="x"), ran=[ran("node", "a", client_status=status)])

    status = plugins.compare_plugin(expected(controllers=0), there, (node("a"),))

    assert (status.status, status.healthy_nodes) == ("duplicate", 0)


# --- before anything of the plan runs


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

    def check(*tasks, every_part=False, clients=("a", "b"), allocation=None, **of_other):
        item = other(ran("node", "a", **allocation or {}), **{"stands_for": "node"} | of_other)
        there = [each if not isinstance(each, str) else node(each) for each in clients]
        found_ = other_job_findings.check_before(tasks or (task(),), [item], there, every_part=every_part)
        return [(each.severity, str(each)) for each in found_]

    return check


def test_job_that_runs_the_plugin_already_is_an_error_with_both_ways_out(before):
    """Nothing of the plan runs yet; afterwards two would."""
    assert before(owner="shop/prod") == [
        (
            "error",
            "job-conflict: plugin aws-ebs0: expected no instances of job default/old on the clients of job "
            "default/plugin-aws-ebs0-node, found instances on a; the job belongs to stack shop/prod; take it over (job_ids: {node: old} and adopt: true at the "
            "plugin), or stop it while none of the plugin's volumes is claimed (`nomad job stop -namespace default old`)",
        )
    ]


def test_job_of_another_namespace_is_taken_over_there(before):
    """The spec's plugin runs in one namespace."""
    [(_, said)] = before(namespace="storage")

    assert "the job belongs to no stack; take it over (job_ids: {node: old}, namespace: storage and adopt: true" in said
    assert "`nomad job stop -namespace storage old`" in said


@pytest.mark.parametrize(
    "changes", [{"stands_for": ""}, {"stands_for": "monolith", "roles": ("node", "controller")}, {"job_id": "a b"}]
)
def test_job_that_no_job_of_the_plan_can_become_is_only_stopped(before, changes):
    """It runs more than one part, another one, or has an id that a spec does not know."""
    [(_, said)] = before(**changes)

    assert "; stop it while none" in said
    assert "take it over" not in said


def test_another_part_is_in_nobodys_way_unless_all_are_asked_for(before):
    """A controller beside a node instance."""
    assert before(task("controller")) == []
    assert [severity for severity, _ in before(task("controller"), every_part=True)] == ["error"]


@pytest.mark.parametrize(
    ("given", "is_told"),
    [
        ({"node_pool": "disks"}, False),
        ({"datacenters": ("dc2",)}, False),
        ({"constraints": (model.Constraint(attribute="${node.class}", operator="=", value="disks"),)}, False),
        ({"constraints": (model.Constraint(attribute="${node.class}", operator="=", value=""),)}, True),
        (
            {"constraints": (model.Constraint(attribute="${node.unique.name}", operator="regexp", value="(?i:A)"),)},
            True,
        ),
        ({"task_driver": "podman"}, True),
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


def test_job_that_cannot_be_read_is_a_warning_before_too(before):
    """Nobody knows where it runs."""
    [(severity, said)] = before(unread="status 403")

    assert severity == "warning"
    assert said.startswith(
        "job-unread: plugin aws-ebs0: expected to see where job default/old runs the plugin, found status 403"
    )
