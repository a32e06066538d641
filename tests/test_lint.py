"""Style, types and layers: what `make lint` runs, beside the tests and not before them."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
TOOLS = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    ["ruff format --check .", "ruff check .", "mypy", "mypy tests/typed_program.py", "lint-imports"],
)
def test_lint_finds_nothing(command):
    """Given the tree as it is, each tool ends with 0; its output says what it found."""
    program, *words = command.split()
    done = subprocess.run([TOOLS / program, *words], cwd=PROJECT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
