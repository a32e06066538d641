"""The world of the walks with both engines on it."""

import shutil
from pathlib import Path

import pytest

from tests.real.walk import real_engine
from tests.walk import engines, world

ABSENT = [name for name in ("pulumi", "pulumi-language-python") if shutil.which(name) is None]


def pytest_collection_modifyitems(items):
    """Mark what is here, and skip it where the engine is not at hand."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.real_pulumi)
            item.add_marker(pytest.mark.skipif(bool(ABSENT), reason=f"not on PATH: {', '.join(ABSENT)}"))


@pytest.fixture(scope="session")
def session_world():
    """Return AWS, clusters and providers in this process."""
    made = world.World()
    yield made
    made.close()


@pytest.fixture
def walked_world(session_world):
    """Return the same, for one test."""
    with session_world.quick():
        yield session_world
    session_world.empty()


@pytest.fixture
def real(walked_world, tmp_path):
    """Return the real engine."""
    return real_engine.Real(tmp_path / "real", walked_world.environment, walked_world.providers)


@pytest.fixture
def emulated(walked_world):
    """Return the emulator of it."""
    return engines.Emulated(walked_world.environment, walked_world.providers)
