"""The world of the walks, one for all tests of a worker, and the emulated engine on it."""

import itertools
import tempfile
from pathlib import Path

import pytest

from tests.walk import engines, walk, world


@pytest.fixture(scope="session")
def walked_world():
    """Return AWS, clusters and providers in this process."""
    made = world.World()
    yield made
    made.close()


@pytest.fixture
def walked(walked_world):
    """Walk a sequence on the emulator: ``walked(names)``. States are in memory where the system has such a folder."""
    memory, count = Path("/dev/shm"), itertools.count()  # on a disk each write of a state would wait for it
    made = tempfile.TemporaryDirectory(prefix="walk", dir=memory if memory.is_dir() else None)

    def play(names):
        engine = engines.Emulated(walked_world.environment, walked_world.providers)
        return walk.Walk(walked_world, engine, Path(folder) / str(next(count))).play(names)

    walked_world.cloud.warm()
    with made as folder, walked_world.quick():
        yield play
    walked_world.empty()  # what AWS has is of the process, and other tests check it
