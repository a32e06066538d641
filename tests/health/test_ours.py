"""An instance counts only where it is the plan's own: job, allocation, client, plugin, name, version and socket."""

import pytest

from nomad_csi.health import found, plugins

ZONE = "platform.aws.placement.availability-zone"


@pytest.fixture
def old(instance, ran):
    """Return what job ``old`` runs on clients: its instances in Nomad's record, and the job."""

    def make(*names, roles=("node",)):
        items = tuple(
            instance(role, name, alloc_id=f"old-{role}-{name}", provider="ebs.csi.aws.com")
            for name in names
            for role in roles
        )
        allocations = tuple(ran(item.role, item.node_id[3:], alloc_id=item.alloc_id).allocation for item in items)
        return items, found.OtherJob(namespace="default", job_id="old", roles=frozenset(roles), allocations=allocations)

    return make


def test_blocked_job_is_not_healthy_by_what_another_job_runs(expected, node, seen, old):
    """The plan's job placed nothing: both clients are missing, by one finding that names the other job."""
    items, job = old("a", "b")

    status = plugins.compare_plugin(
        expected(controllers=0), seen(*items, others=(job,), names_jobs=True), (node("a"), node("b"))
    )

    assert (status.ok, status.status, status.counts) == (False, "missing", "0/2 nodes")
    assert [(row.status, row.detail) for row in status.instances] == [("missing", "served by job old")] * 2
    assert [(item.code, item.found) for item in status.findings] == [("job-foreign", "served by job old on a, b")]


def test_failed_allocations_are_not_healthy_by_what_another_job_runs(expected, node, seen, old, ran):
    """The cause of the plan's own failure stands beside the other job's name."""
    items, job = old("a")
    failed = ran("node", "a", client_status="failed", events=[("Driver Failure", "no such image")])

    status = plugins.compare_plugin(expected(controllers=0), seen(*items, ran=[failed], others=(job,)), (node("a"),))

    assert (status.status, status.counts) == ("missing", "0/1 nodes")
    assert status.instances[0].detail == "served by job old; of the plan: Driver Failure: no such image"


def test_one_client_that_only_another_job_serves_is_missing(expected, node, instance, seen, old, ran):
    """The plan's own instance on the other client counts."""
    items, job = old("b")

    status = plugins.compare_plugin(
        expected(controllers=0),
        seen(instance("node", "a"), *items, ran=[ran("node", "a")], others=(job,)),
        (node("a"), node("b")),
    )

    assert (status.status, status.counts) == ("partial", "1/2 nodes")
    assert [row.status for row in status.instances] == ["healthy", "missing"]


def test_controller_of_another_job_is_none_of_the_plans(expected, node, instance, seen, old, ran):
    """It is listed, and does not count."""
    items, job = old("a", roles=("controller",))

    status = plugins.compare_plugin(
        expected(), seen(*items, instance("node", "a"), ran=[ran("node", "a")], others=(job,)), (node("a"),)
    )

    assert (status.ok, status.counts) == (False, "1/1 nodes, 0/1 controllers")
    assert [(item.severity, item.code, item.found) for item in status.findings] == [
        ("error", "controller-missing", "0 that ever reported healthy; not counted: a (served by job old)"),
        ("warning", "instance-extra", "served by job old"),
    ]
    assert next((row.role, row.is_extra, row.detail) for row in status.instances) == (
        "controller",
        True,
        "served by job old",
    )


@pytest.mark.parametrize("desired", ["stop", "evict"])
def test_instance_that_shall_stop_is_missing(expected, node, instance, seen, ran, desired):
    """Nomad calls it healthy for as long as it runs."""
    status = plugins.compare_plugin(
        expected(controllers=0),
        seen(instance("node", "a"), ran=[ran("node", "a", desired_status=desired)]),
        (node("a"),),
    )

    assert (status.status, status.counts) == ("missing", "0/1 nodes")
    assert status.instances[0].detail == f"its allocation node-a ends (desired status {desired})"


def test_allocation_of_another_client_proves_nothing(expected, node, instance, seen, ran):
    """Nomad's record has it on a, and the allocation is b's."""
    status = plugins.compare_plugin(
        expected(controllers=0),
        seen(instance("node", "a"), ran=[ran("node", "a", node_id="id-b", node_name="b")]),
        (node("a"),),
    )

    assert (status.status, status.counts) == ("missing", "0/1 nodes")
    assert status.instances[0].detail == "Nomad's record names allocation node-a, which is on b"


def test_instance_without_a_name_is_not_the_plans(expected, node, instance, seen):
    """Neither Nomad nor the socket says which driver it is."""
    status = plugins.compare_plugin(expected(controllers=0), seen(instance("node", "a", provider="")), (node("a"),))

    assert (status.status, status.instances[0].detail) == ("wrong-identity", "it reports no name")


def test_instance_without_a_version_is_not_the_planned_one(expected, node, instance, seen):
    """A plan with a version wants it reported."""
    there = seen(instance("node", "a", provider_version=""))

    status = plugins.compare_plugin(expected(controllers=0), there, (node("a"),))

    assert [(item.code, item.found) for item in status.findings] == [("version-differs", "version not given")]


@pytest.mark.parametrize("state", [{"eligible": False}, {"draining": True, "eligible": False}, {"status": "down"}])
def test_zone_whose_clients_take_nothing_keeps_its_minimum(expected, node, instance, seen, ran, state):
    """It has none that is healthy, and does not disappear."""
    clients = (node("a", attributes={ZONE: "us-east-1a"}), node("b", attributes={ZONE: "us-east-1b"}, **state))

    status = plugins.compare_plugin(
        expected(controllers=0, min_healthy_per_zone=1), seen(instance("node", "a"), ran=[ran("node", "a")]), clients
    )

    short = [item for item in status.findings if item.code == "too-few-healthy-in-zone"]
    assert [(item.expected, item.found) for item in short] == [
        ("at least 1 in us-east-1b node instances healthy", "0, of 1 client there")
    ]


def test_client_that_is_not_counted_is_named(expected, node, instance, seen):
    """One warning for all of them, with the reason; a client of another pool is none of the plugin's."""
    clients = (node("a"), node("b", draining=True, eligible=False), node("c", status="down"), node("d", node_pool="x"))

    status = plugins.compare_plugin(expected(controllers=0), seen(instance("node", "a")), clients)

    assert (status.status, status.counts) == ("healthy", "1/1 nodes")
    assert [(item.severity, item.code, item.found) for item in status.findings] == [
        ("warning", "client-not-counted", "draining: b; status down: c")
    ]
