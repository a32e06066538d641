"""
Whatever people do to stacks in whatever order, data stays where it was written until its loss is named and confirmed.

``make test`` takes the same walks each time, ``make soak`` others: the seed is printed with a failure, and
``WALK_SEED=7 pytest tests/walk`` takes the same again. The steps of the shortest walk that goes wrong are printed too,
as they stand in `KNOWN`.
"""

import os

import pytest

from tests.walk import tracks

ALL_KINDS = 30
"""The fewest walks that have every kind of step."""

WALKS = int(os.environ.get("SOAK_WALKS", "3"))
"""Walks that are taken; ``make test-all`` takes `ALL_KINDS`, and ``make soak`` more."""

SEED = int(os.environ.get("WALK_SEED", "1"))
"""``make soak`` gives another one each time."""

LONGEST = 5
"""Steps of a walk at most."""

KNOWN = {
    "a move that was killed after the new resource took over, and taken back": (
        ("legacy",),
        [("wrap", 0, 0, 6), ("wrap", 0, 0, 0), ("rename stack", 0, 0, 0), ("destroy", 0, 0, 0)],
    ),
    "such a move of what the plugin makes": (
        ("scratch",),
        [("unprotect and wrap", 0, 0, 6), ("wrap", 0, 0, 0), ("rename stack", 0, 0, 0)],
    ),
    "a deletion by the stack that took a volume over, after an up of the one that lost it": (
        ("scratch",),
        [("copy rewritten", 0, 1, 0), ("unprotect and remove", 1, 1, 1)],
    ),
    "a confirmed destroy of what a forgotten mount target left in the state": (
        ("shared",),
        [("drop state", 0, 0, 9), ("unprotect and destroy", 1, 1, 0)],
    ),
    "a confirmed destroy that was killed, and went on under a copy of the state with the first stack's name in it": (
        ("scratch",),
        [("unprotect and destroy", 1, 1, 1), ("copy as it is", 0, 1, 0), ("destroy", 1, 1, 0)],
    ),
}
"""
Walks that went wrong once. The first of these deregistered a volume that the program declared, the second refused
whatever came after it. In the others it was the walk that judged wrong: it took a volume for another stack's, or did
not see that the preview had named what it deleted.
"""


@pytest.mark.timeout(600 + 20 * WALKS)
def test_no_walk_loses_data(track):
    """Nothing written is deleted, shared, exchanged or left unregistered, on walks of any order."""
    happened = track.explore(WALKS, SEED, longest=LONGEST)

    assert WALKS < ALL_KINDS or tracks.missing(happened) == set()


@pytest.mark.parametrize(("slots", "steps"), KNOWN.values(), ids=KNOWN)
def test_walk_that_went_wrong_once(track, slots, steps):
    """It does no more."""
    track.assert_safe(slots, steps)
