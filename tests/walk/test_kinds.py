"""A replacement of each kind of resource that fails, and what the next run leaves, on the emulated engine."""

import pytest

from tests.walk import kinds


@pytest.fixture
def resource(track):
    """Make a stack of one resource: ``resource(kind)``."""
    return track.resource


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_replacement_that_cannot_be_made_and_is_taken_back_leaves_the_object(resource, kind):
    """What was deleted ahead is made again and stays; what was to be created first was never gone."""
    one = resource(kind)
    assert one.up(one.old)[1].is_done
    assert not one.up(one.new, kinds.fault(kind, "Create"))[1].is_done
    assert one.state() == ([{"pendingReplacement": True}] if kind in kinds.DELETED_FIRST else [{}])

    _, outcome = one.up(one.old)

    assert outcome.is_done, outcome.text
    assert one.state() == [{}]
    assert one.exists()


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_replacement_whose_deletion_fails_is_finished_by_the_next_run(resource, kind):
    """Deleted ahead, the old object is still there; deleted last, it is marked, and goes."""
    one = resource(kind)
    one.up(one.old)
    assert not one.up(one.new, kinds.fault(kind, "Delete"))[1].is_done
    assert one.state() == ([{}] if kind in kinds.DELETED_FIRST else [{}, {"delete": True}])

    _, outcome = one.up(one.new)

    assert outcome.is_done, outcome.text
    assert one.state() == [{}]
    assert one.exists()
