"""The world of the walks, one for all tests of a worker, and the emulated engine on it."""

import tempfile
from pathlib import Path

import pytest

from tests.walk import engines, tracks, world


@pytest.fixture(scope="session")
def walked_world():
    """Return AWS, clusters and providers in this process."""
    made = world.World()
    yield made
    made.close()


@pytest.fixture
def track(walked_world):
    """Return where walks begin on the emulator. States are in memory where the system has such a folder."""
    memory = Path("/dev/shm")  # on a disk each write of a state would wait for it
    made = tempfile.TemporaryDirectory(prefix="walk", dir=memory if memory.is_dir() else None)
    with made as folder, walked_world.quick():
        yield tracks.Track(walked_world, engines.Emulated, Path(folder))
    walked_world.empty()  # what AWS has is of the process, and other tests check it
