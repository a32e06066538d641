"""The paths in CONTRIBUTING.md."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PLACES = (ROOT, ROOT / "infra/nomad_csi")
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
PATHS = sorted(set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", re.sub(r"(?s)```.*?```", "", PAGE))))
ELSEWHERE = {"drivers/NAME.yaml", "dist/site", "dist/sbom.cdx.json", "expected/"}
"""Placeholders, and what a command writes."""


@pytest.mark.parametrize("path", [each for each in PATHS if each not in ELSEWHERE])
def test_path_is_there(path):
    """In the checkout, or in the package."""
    assert any((place / path).exists() for place in PLACES)
