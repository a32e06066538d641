"""
How long tests take: the seconds of each file, and a limit for each test.

`seconds.json` beside this file has the seconds of the last recorded run; the longest files are started first.
"""

import json
import os
import time
from collections import defaultdict
from pathlib import Path

import pytest

SHOWN = 10

RECORDED = Path(__file__).with_name("seconds.json")
"""Wall and CPU seconds of each file; ``make test-seconds`` writes it."""

UNKNOWN_S = float("inf")
"""Assumed of a file that is not recorded: begun last, a long one would run alone at the end."""

LIMITS_S = {"check": 2.0, "test": 5.0}
"""CPU seconds that a test may take, with the processes that it waits for, by tier."""

REFERENCE_S = 0.1
"""CPU seconds of `measure_speed` on a quiet machine of 2026; a slower machine gets longer limits."""


def recorded():
    """Return wall and CPU seconds by file."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def sort(items, scope_of, recorded):
    """Sort collected *items*: the scopes that took longest come first, and the tests of one stay together."""
    files = {item.nodeid.partition("::")[0]: scope_of(item.nodeid) for item in items}
    totals = defaultdict(float)
    for file, scope in files.items():
        totals[scope] += recorded.get(file, [UNKNOWN_S])[0]
    items.sort(key=lambda item: -totals[scope_of(item.nodeid)])


def _cpu_s():
    """Return CPU seconds of this process and of the children that it waited for."""
    return sum(os.times()[:4])


def measure_speed():
    """Return CPU seconds of a fixed amount of work."""
    began = time.process_time()
    for _ in range(10):
        sum(range(10**6))
    return time.process_time() - began


class Slowest:
    """Times the tests of this process; the process that prints adds up what the reports say."""

    def __init__(self, tier, *, is_recorded):
        """*tier*: whose limit holds, ``None`` for none; *is_recorded*: whether to write `RECORDED`."""
        self._limit_s = LIMITS_S.get(tier, float("inf"))
        self._is_recorded = is_recorded
        self._began = 0.0, 0.0
        self._files = defaultdict(lambda: [0.0, 0.0, 0])

    def pytest_sessionstart(self):
        """Lengthen the limit on a slow machine."""
        self._limit_s *= max(1.0, measure_speed() / REFERENCE_S)

    def pytest_runtest_logstart(self):
        """Begin to count: what passed since the test before was waiting for a test, or collecting them."""
        self._began = time.monotonic(), _cpu_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):  # noqa: ARG002 - the names are pytest's
        """Add what has passed since the report before, and fail a test above the limit."""
        report = yield
        now = time.monotonic(), _cpu_s()
        report.wall_s, report.cpu_s = (after - before for before, after in zip(self._began, now, strict=True))
        self._began = now
        if report.when == "call" and report.passed and report.cpu_s > self._limit_s and not is_long(item):
            report.outcome = "failed"
            report.longrepr = (
                f"took {report.cpu_s:.1f} CPU seconds, and a test of this tier may take {self._limit_s:.1f}: "
                "make it cheaper, move its file to a later tier (tests/tiers.py), or mark it `long` with the reason"
            )
        return report

    def pytest_runtest_logreport(self, report):
        """Take a report, of this process or of a worker."""
        total = self._files[report.nodeid.partition("::")[0]]
        total[0] += getattr(report, "wall_s", 0.0)  # a worker that crashed reports no time
        total[1] += getattr(report, "cpu_s", 0.0)
        total[2] += report.when == "call"

    def pytest_terminal_summary(self, terminalreporter, config):
        """Print the slowest, slowest first. A worker knows its own files only, and prints nothing."""
        if hasattr(config, "workerinput"):
            return
        rows = sorted(((wall, cpu, tests, file) for file, (wall, cpu, tests) in self._files.items()), reverse=True)
        if len(rows) > SHOWN:
            terminalreporter.section(f"slowest {SHOWN} files of {len(rows)}")
            terminalreporter.line("wall s  CPU s  tests  file (CPU: without processes that outlive their test)")
            for wall, cpu, tests, file in rows[:SHOWN]:
                terminalreporter.line(f"{wall:6.1f} {cpu:6.1f} {tests:6d}  {file}")
        if self._is_recorded:
            _record({file: [round(wall, 1), round(cpu, 1)] for wall, cpu, _, file in rows})


def is_long(item):
    """Return whether a collected test may take longer than the limit of its tier."""
    return item.get_closest_marker("long") is not None


def _record(seconds):
    """Write *seconds* for the files that ran; drop files that are gone."""
    project = RECORDED.parents[1]
    known = {file: row for file, row in (recorded() | seconds).items() if (project / file).exists()}
    lines = ",\n".join(f"{json.dumps(file)}: {json.dumps(row)}" for file, row in sorted(known.items()))
    RECORDED.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
