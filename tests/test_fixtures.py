"""What tests request exists, also where the test is skipped on this machine."""

import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
SKIPPED = """
import pytest

@pytest.fixture(scope="module")
def plan(cloud):
    return cloud

@pytest.fixture
def known():
    return 1

@pytest.mark.skip(reason="no such program on PATH")
def test_moved(plan): pass

@pytest.mark.skip(reason="no such program on PATH")
@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("way", ["a"])
def test_marked(request, known, way): pass

@pytest.mark.skip(reason="no such program on PATH")
@pytest.mark.parametrize("way", ["a"])
def test_whole(request, known, way): pass
"""


def test_fixture_that_is_missing_fails_a_skipped_test(tmp_path):
    """Given skipped tests, two of which request what does not exist: these fail, and the third is skipped."""
    (tmp_path / "test_skipped.py").write_text(SKIPPED)
    words = ["--rootdir", tmp_path, "-c", "/dev/null", "-p", "tests.conftest", "-p", "no:randomly", tmp_path]

    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=PROJECT, capture_output=True, text=True, check=False, timeout=60
    )

    failed = re.findall(r"ERROR at setup of (\S+) _+\nfixture not found: (.*)\n", done.stdout)
    assert failed == [("test_moved", "cloud"), ("test_marked[a]", "agent")]
    assert "= 1 skipped, 2 errors in" in done.stdout
