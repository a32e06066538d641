"""Sequences that are drawn from the abstract world of volumes, on the real engine and two real agents."""

import os

import pytest

from tests.contract import agents
from tests.real.walk import real_clusters, real_engine
from tests.walk import walk, world

SEQUENCES = int(os.environ.get("SOAK_REAL_SEQUENCES", "4"))
"""How many; ``make soak`` plays 40."""

pytestmark = [pytest.mark.real_nomad, pytest.mark.skipif(bool(agents.obstacle()), reason=agents.obstacle())]


@pytest.fixture
def agents_world():
    """Two real agents, AWS and the providers."""
    made = world.World(real_clusters.RealCluster)
    try:
        made.cloud.warm()
        with made.quick():
            yield made
        made.empty()
    finally:
        made.close()


@pytest.mark.timeout(600 + 120 * SEQUENCES)
def test_sequences_end_as_in_the_abstract_world(agents_world, tmp_path):
    """What is registered for which storage, what there is, and what is refused, operation by operation."""
    wrong, count = [], 0
    for seed in range(SEQUENCES):
        engine = real_engine.Real(tmp_path / str(seed), agents_world.environment, agents_world.providers)
        played = walk.Walk(agents_world, engine, tmp_path / str(seed)).play(walk.drawn(seed, walk.LENGTH))
        count += len(played.log)
        wrong += [f"sequence {seed}:", *played.log, *played.wrong] if played.wrong else []

    assert wrong == [], "\n".join(wrong)
    print(f"{SEQUENCES} sequences, {count} operations")  # noqa: T201
