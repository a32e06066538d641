"""What all tests share: no environment of an operator reaches them."""

import os
import signal

import pytest
from xdist.scheduler import loadscope

REAL = ("real", "contract")
"""Folders of tests that a real agent serves; one is started for all of them, so one worker runs them all."""

FOREIGN = ("NOMAD_", "AWS_", "PULUMI_")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A runner in the background is not interrupted by Ctrl-C, and hands that down to all commands that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class ByFile(loadscope.LoadScopeScheduling):
    """
    Keeps the tests of one file on one worker, with what they share, and all that a real agent serves on the same one.

    The marks of ``--dist loadgroup`` are without effect in pytest-xdist 3.8.0 with pytest 9.2.0 (tried 2026-11-22).
    """

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0]
        return "real agent" if file.split("/")[1] in REAL else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Have tests handed out so."""
    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Fail a test that requests a fixture that does not exist: a skip for want of a program would hide that."""
    closure = getattr(item, "_fixtureinfo", None)  # what pytest's fixture manager resolved when it collected the test
    missing = set(closure.names_closure) - {"request", *closure.name2fixturedefs} if closure else ()
    if missing:
        pytest.fail(f"fixture not found: {', '.join(sorted(missing))}", pytrace=False)


@pytest.fixture(autouse=True)
def _no_foreign_environment(monkeypatch):
    """A test sees nothing of the cluster, account or backend its runner is logged in to."""
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
