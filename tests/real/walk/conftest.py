"""The world of the walks with both engines on it."""

import shutil
from pathlib import Path

import pytest

from tests.walk import engines, tracks, world

ABSENT = [name for name in ("pulumi", "pulumi-language-python") if shutil.which(name) is None]


def pytest_collection_modifyitems(items):
    """Mark what is here, and skip it where the engine is not at hand."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.real_pulumi)
            item.add_marker(pytest.mark.skipif(bool(ABSENT), reason=f"not on PATH: {', '.join(ABSENT)}"))


@pytest.fixture(scope="session")
def walked_world():
    """Return AWS, clusters and providers in this process."""
    made = world.World()
    yield made
    made.close()


def _track(walked_world, engine, folder):
    folder.mkdir()
    return tracks.Track(walked_world, engine, folder)


@pytest.fixture
def real(walked_world, tmp_path):
    """Return where walks begin on the real engine."""
    with walked_world.quick():
        yield _track(walked_world, engines.Real, tmp_path / "real")


@pytest.fixture
def emulated(walked_world, tmp_path):
    """Return where walks begin on the emulator."""
    with walked_world.quick():
        yield _track(walked_world, engines.Emulated, tmp_path / "emulated")
