"""A replacement of each kind of resource that fails, and the next run, on both engines: calls and states compared."""

import pytest

from tests.real.walk import kinds

pytestmark = pytest.mark.timeout(900)


def steps(one, broken, wanted):
    """Return what is done: made, replaced with a fault, then as *wanted*, then once more."""
    return [(one.old, None), (one.new, kinds.fault(one.kind, broken)), (wanted, None), (wanted, None)]


def played(world, engine, folder, kind, broken, *, is_taken_back):
    """Return the calls, the outcome and the marks in the state after each step, and whether the object is there."""
    world.empty()
    one = kinds.Resource(world, engine, folder, kind)
    found = []
    for args, fault in steps(one, broken, one.old if is_taken_back else one.new):
        calls, outcome = one.up(args, fault)
        found.append((calls, outcome.is_done, one.state()))
    return found, one.exists()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("is_taken_back", [True, False], ids=["taken back", "tried again"])
@pytest.mark.parametrize("broken", ["Create", "Delete"])
@pytest.mark.parametrize("kind", kinds.KINDS)
def test_both_engines_go_on_alike_after_a_replacement_that_failed(
    walked_world, real, emulated, tmp_path, kind, broken, is_taken_back
):
    """Every kind of resource that is replaced, whichever object goes first: the same calls, the object is there."""
    theirs, ours = (
        played(walked_world, engine, tmp_path / name, kind, broken, is_taken_back=is_taken_back)
        for name, engine in (("real-stack", real), ("emulated-stack", emulated))
    )

    assert ours == theirs
    assert ours[1]
