"""Sequences that are drawn from the abstract world end the same way on the real code, operation by operation."""

import os

import pytest

from tests.volume import parts

SEQUENCES = int(os.environ.get("SOAK_SEQUENCES", "3"))
"""How many; ``make test-all`` plays 20, ``make soak`` 200."""


@pytest.mark.timeout(120 + 30 * SEQUENCES)
def test_sequences_end_as_in_the_abstract_world(track):
    """What is registered for which storage, what there is, and what is refused."""
    wrong = []
    for seed in range(SEQUENCES):
        played = track.play(parts.drawn(seed, parts.LENGTH))
        wrong += [f"sequence {seed}:", *played.log, *played.wrong] if played.wrong else []

    assert wrong == [], "\n".join(wrong)
