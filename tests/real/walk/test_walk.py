"""Walks on the real engine: data stays where it was written until its loss is named and confirmed."""

import os
import random

import pytest

from tests.walk import engines, stacks, tracks

WALKS = int(os.environ.get("SOAK_REAL_WALKS", "5"))
SEED = int(os.environ.get("WALK_SEED") or random.randrange(1_000_000))  # noqa: S311  # no secret
LONGEST = 3
"""Steps of a walk at most: each is two commands of some seconds."""

COMPLETE = 100
"""Walks that have every kind of step and fault; ``make soak`` takes as many."""


@pytest.mark.timeout(600 + 240 * WALKS)
def test_no_walk_on_the_real_engine_loses_data(real):
    """As on the emulator, of which the real engine is the judge."""
    happened = real.explore(WALKS, SEED, longest=LONGEST)

    assert "done" in {outcome for _, outcome in happened}
    if WALKS >= COMPLETE:
        assert tracks.missing(happened) == set()


def test_renamed_state_is_as_the_real_command_leaves_it(real):
    """Stack and project: the walks on the emulator rename a state by the same rules."""
    walk = real.walk(("disk",), [])
    [stack] = walk.stacks
    expected = engines.renamed(walk.engine.export(stack.place), stack.place, "other", "bank")

    walk.engine.rename(stack.place, "other", "bank")

    found = walk.engine.export(stack.place)
    assert found["deployment"]["resources"] == expected["deployment"]["resources"]


@pytest.mark.parametrize("kind", ["aws:ebs/volume:Volume", "nomad-csi:index:VolumeRegistration"])
def test_dropped_resource_takes_its_dependents_as_the_real_command_does(real, kind):
    """``pulumi state delete --target-dependents``, which the walks on the emulator do to the state as well."""
    walk = real.walk(("disk",), [])
    [stack] = walk.stacks
    [urn] = [each["urn"] for each in walk.resources(stack) if each["type"] == kind]
    expected = engines.without(walk.engine.export(stack.place), urn)

    walk.engine.drop(stack.place, urn)

    assert walk.resources(stack) == expected["deployment"]["resources"]


def test_both_engines_take_one_walk_alike(real, emulated):
    """The same outcome of each step: done or refused."""
    steps = [
        ("rename stack", 0, 0, 0),
        ("fail replacement", 0, 0, 0),
        ("up", 0, 0, 7),
        ("copy rewritten", 0, 0, 0),
        ("up", 1, 0, 0),
        ("destroy", 0, 0, 0),
    ]

    walks = [track.walk((next(iter(stacks.KINDS)),), steps) for track in (real, emulated)]

    theirs, ours = ([(line.startswith("  "), line.endswith("done")) for line in walk.log] for walk in walks)
    assert ours == theirs, "\n".join(line for walk in walks for line in walk.log)
    assert [walk.wrong for walk in walks] == [[], []]
