"""A folder for what has sockets in it."""

import shutil
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def data_dir():
    """A folder with a short name: the path of a socket may have 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="nc"))
    yield folder
    shutil.rmtree(folder)
