"""Processes that die, stop or are not ready, on a real server with two clients: what hides from Nomad's health, and what does not."""

import signal

import pytest

from tests.real import two_clients

pytestmark = pytest.mark.real_nomad


@pytest.fixture(scope="module")
def cluster():
    """Both clients, and all plugins at once: they get well together."""
    with two_clients.started() as made:
        made.plugins = {name: made.run(name, health_timeout="2m") for name in ("killed", "stopped", "unready")}
        yield made


def test_killed_in_place_is_restarted_while_nomad_calls_it_healthy(cluster):
    """Nomad's record does not change; the task's events do."""
    plugin = cluster.plugins["killed"]
    plugin.until("healthy", "healthy", "healthy")
    plugin.kill("c1")

    seen = plugin.look()

    assert [item.healthy for item in seen.seen.plugin.nodes] == [True, True]
    assert [row.status for row in seen.status.instances] == ["restarted", "healthy"]
    assert seen.status.status == "partial"
    plugin.until("healthy")  # a minute later its word counts again


def test_stopped_process_is_hung_and_one_of_two_is_enough(cluster):
    """SIGSTOP: in Nomad's own words after up to 46 s; allowed for by a policy, and not hidden."""
    plugin = cluster.plugins["stopped"]
    plugin.until("healthy", "healthy", "healthy")
    plugin.signal("c2", signal.SIGSTOP)
    try:
        seen = plugin.until("partial", "healthy", "hung", min_healthy_percent=50)
    finally:
        plugin.signal("c2", signal.SIGCONT)

    assert seen.status.ok
    assert [(item.severity, item.code) for item in seen.status.findings] == [("warning", "instance-tolerated")]


def test_not_ready_is_unhealthy_and_its_log_is_read(cluster):
    """What it says of itself, through Nomad."""
    plugin = cluster.plugins["unready"]
    plugin.until("healthy", "healthy", "healthy")
    plugin.fault("c1", probe="not-ready")

    seen = plugin.until("partial", "unhealthy", "healthy")

    assert {cause.where for cause in plugin.explained(seen) if cause.kind in {"log", "note"}} == {
        f"on c1 (allocation {plugin.allocation('c1').alloc_id[:8]})"
    }
