"""An instance counts only where it is the plan's own: job, allocation, client, plugin, name, version and socket."""

import pytest

from nomad_csi.health import observed_plugin, plugins

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
        return items, observed_plugin.OtherJob(
            namespace="default", job_id="old", roles=frozenset(roles), allocations=allocations
        )

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
