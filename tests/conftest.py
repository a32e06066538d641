"""What all tests share: no environment of an operator reaches them."""

import os
import signal
from pathlib import Path

import pytest

REAL = ("real", "contract")
"""Folders of tests that a real agent serves; one is started for all of them, so one worker runs them all."""

FOREIGN = ("NOMAD_", "AWS_", "PULUMI_")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A runner in the background is not interrupted by Ctrl-C, and hands that down to all commands that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Keep the tests of one file on one worker, and all that need a real agent on the same one."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        item.add_marker(pytest.mark.xdist_group("real agent" if folder in REAL else str(item.path)))


@pytest.fixture(autouse=True)
def _no_foreign_environment(monkeypatch):
    """A test sees nothing of the cluster, account or backend its runner is logged in to."""
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
