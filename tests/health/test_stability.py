"""Steady means: the same instances, healthy, without a restart, for all of the window."""

import pytest

from nomad_csi.health import plugins, stability


@pytest.fixture
def look(expected, node, instance, seen, ran):
    """Return a factory of checks a plugin with one node instance."""

    def make(*, restarts=0, **changes):
        task = ran("node", "a", restarts=restarts, alloc_id=changes.get("alloc_id", "node-a"))
        there = seen(instance("node", "a", **changes), ran=[task])
        return plugins.compare_plugin(expected(controllers=0), there, (node("a"),)), there

    return make


def test_steady_after_the_window(look, expected):
    """Healthy from 10 s on is verified at 13 s, not before, whatever it was at 7 s."""
    watch = stability.Stability(expected(stable_s=3))

    seen = [watch.observe(at, *look(healthy=at > 7)) for at in (7, 10, 11, 12.9, 13)]

    assert seen == [False, False, False, False, True]


def test_restart_begins_the_window_again(look, expected):
    """An instance that restarted in place is new, whatever Nomad calls it."""
    watch = stability.Stability(expected(stable_s=3))
    watch.observe(10, *look(restarts=2))

    assert not watch.observe(13, *look(restarts=3))
    message = "1 restart on a (allocation node-a): it runs, but has not reported healthy yet"
    assert [(finding.code, finding.found) for finding in watch.unsteady] == [("instance-restarted", message)]
    assert watch.observe(16, *look(restarts=3))


def test_lost_sight_begins_the_window_again(look, expected):
    """What was not seen was not steady."""
    watch = stability.Stability(expected(stable_s=3))
    watch.observe(10, *look())
    watch.lose_sight()

    assert not watch.observe(13, *look())
    assert watch.observe(16, *look())


def test_controller_on_a_client_that_drains_is_not_the_one_that_is_wanted(expected, node, instance, seen, ran):
    """It is about to go."""
    places = [("node", "a"), ("controller", "a"), ("controller", "b")]
    there = seen(*(instance(*place) for place in places), ran=[ran(*place) for place in places])
    status = plugins.compare_plugin(expected(), there, (node("a"), node("b", draining=True)))
    steady = {(row.role, row.node_id, row.alloc_id) for row in status.instances}

    assert plugins.is_enough(expected(), status, steady)
    assert not plugins.is_enough(expected(), status, steady - {("controller", "id-a", "controller-a")})
