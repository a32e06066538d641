"""Real code for sequences of the abstract world."""

import itertools
from types import SimpleNamespace

import pytest

from tests.volume import parts
from tests.walk import conftest, engines

walked_world = conftest.walked_world


@pytest.fixture
def track(walked_world, tmp_path):
    """Play sequences on the emulated engine: ``track.play(names)``."""
    count = itertools.count()

    def play(names):
        engine = engines.Emulated(tmp_path, walked_world.environment, walked_world.providers)
        return parts.Parts(walked_world, engine, tmp_path / str(next(count))).play(names)

    walked_world.cloud.warm()
    with walked_world.quick():
        yield SimpleNamespace(play=play)
    walked_world.empty()
