"""What all tests share: no environment of an operator reaches them."""

import os
import runpy
import types
from pathlib import Path

import pytest

FOREIGN = ("NOMAD_", "AWS_", "PULUMI_")


@pytest.fixture(autouse=True)
def _no_foreign_environment(monkeypatch):
    """A test sees nothing of the cluster, account or backend its runner is logged in to."""
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def hostile():
    """Makers of hostile text: what is in ``tests/hostile.py``."""
    return types.SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("hostile.py"))))
