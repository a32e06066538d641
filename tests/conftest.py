"""What all tests share: no environment of an operator reaches them."""

import gc
import os
import signal
import threading
import time
from pathlib import Path

import hypothesis
import pytest
from xdist.scheduler import loadscope

from tests import programs, slowest, tiers

SHARED = {
    "tests/contract": "real agent",
    "tests/real": "real agent",
    "tests/real/engines": "",
    "tests/real/own_cluster": "",
    "tests/real/program": "",
    "tests/real/walk": "",
}
"""
Folders whose tests share what is started once, like a real agent, so that one worker runs them all; the nearest counts.

Files that start their own are runs of their own: with them one worker had half an hour more to do than the others.
"""

SLEEP_MAX_S = 0.05
MAY_SLEEP = {
    *("contract", "e2e", "faults", "real", "sandbox"),
}
"""Where processes are on the other side, or a peer that takes its time."""

FOREIGN = ("NOMAD_", "AWS_", "PULUMI_")

hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
"""Hypothesis tries the same examples each time, so a test fails for a change and not by chance; test-all draws new ones."""

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A runner in the background is not interrupted by Ctrl-C, and hands that down to all commands that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class ByFile(loadscope.LoadScopeScheduling):
    """
    Keeps the tests of one file on one worker, with what they share, and those of `SHARED` on one, too.

    The marks of ``--dist loadgroup`` are without effect in pytest-xdist 3.8.0 with pytest 9.2.0 (tried 2026-11-22).
    """

    def _split_scope(self, nodeid):
        return scope_of(nodeid)


def scope_of(nodeid):
    """Return what one worker runs: a file of tests, or all files that share what is started once."""
    file = nodeid.partition("::")[0]
    return next((SHARED[str(each)] for each in Path(file).parents if str(each) in SHARED), "") or file


def pytest_addoption(parser):
    """Let the targets of the Makefile say which tests they mean."""
    parser.addoption("--record-seconds", action="store_true", help="write the seconds of each file: tests/seconds.json")
    parser.addoption(
        "--tier", choices=[*tiers.TIERS, tiers.REAL], help="run these tests only; tests/tiers.py has the table"
    )


def pytest_configure(config):
    """Paths on the command line are run whatever their tier."""
    config.option.loadscopereorder = False  # it begins with the files that have the most tests
    if config.args_source is config.ArgsSource.ARGS and not hasattr(config, "workerinput"):
        config.option.tier = None
    if config.option.record_seconds:
        config.pluginmanager.register(slowest.Recorder())


def pytest_ignore_collect(collection_path, config):
    """Leave out the files of later tiers before they are imported."""
    is_ours = collection_path.name.startswith("test_") and tiers.TESTS in collection_path.parents
    if config.option.tier not in tiers.TIERS or not is_ours:
        return None
    return True if not tiers.runs(config.option.tier, collection_path.relative_to(tiers.PROJECT)) else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items, config):
    """Keep what needs a real program, where that is asked for; begin with the longest files."""
    if config.option.tier == tiers.REAL:
        others = [item for item in items if not tiers.needs_program(item)]
        config.hook.pytest_deselected(items=others)
        left_out = {id(item) for item in others}
        items[:] = [item for item in items if id(item) not in left_out]
    slowest.sort(items, scope_of, slowest.recorded())


def pytest_collection_finish():
    """Leave what was collected out of garbage collection, which would look at it again and again: a quarter less CPU."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """Have a skip fail where none is wanted: a test that is always skipped verifies nothing."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple) and programs.unwanted(report.longrepr[2]):
        report.outcome, report.longrepr = "failed", f"{programs.WITHOUT} does not name it: {report.longrepr[2]}"
    return report


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Run one worker more than there are cores: many tests wait for processes."""
    return (os.cpu_count() or 1) + 1


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
def _no_sleep(request, monkeypatch):
    """A test hands in a clock of `tests.clocks`, and does not sleep."""
    scopes = {
        str(each.relative_to(tiers.TESTS))
        for each in (request.path, *request.path.parents)
        if tiers.TESTS in each.parents
    }
    sleep = time.sleep

    def refuse(seconds):
        if seconds > SLEEP_MAX_S and threading.current_thread() is threading.main_thread():
            pytest.fail(f"slept for {seconds:g} s: hand in a clock of tests/clocks.py")
        sleep(seconds)

    if scopes and not MAY_SLEEP & scopes:
        monkeypatch.setattr(time, "sleep", refuse)


@pytest.fixture(autouse=True)
def _no_foreign_environment(monkeypatch):
    """A test sees nothing of the cluster, account or backend its runner is logged in to, or its machine is of."""
    for name in list(os.environ):
        if name.startswith(FOREIGN):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
