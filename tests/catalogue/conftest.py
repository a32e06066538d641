"""The folders of this directory: a spec for each driver, and the files that it becomes."""

from pathlib import Path

import pytest

from nomad_csi.cli.common import inputs

HERE = Path(__file__).parent
FOLDERS = tuple(sorted(path.parent for path in HERE.glob("*/storage.yaml")))


def pytest_generate_tests(metafunc):
    """Run a test that asks for a ``folder`` once for each."""
    if "folder" in metafunc.fixturenames:
        metafunc.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


@pytest.fixture
def plan(folder):
    """What the spec of the folder becomes."""
    return inputs.read_plan(folder / "storage.yaml")


@pytest.fixture
def folders():
    """All folders."""
    return FOLDERS
