"""Which files of tests take the time: wall and CPU seconds of each, printed before pytest's last line."""

import json
import os
import time
from collections import defaultdict
from pathlib import Path

import pytest

SHOWN = 10

EVERY_FILE = "TEST_SECONDS"
"""Variable that names a file; the figures of every file are written there, as JSON."""


def _cpu_s():
    """Return CPU seconds of this process and of the children that it waited for."""
    return sum(os.times()[:4])


class Slowest:
    """Adds up what the reports say, in the process that prints."""

    def __init__(self):
        self._began = 0.0, 0.0
        self._files = defaultdict(lambda: [0.0, 0.0, 0])

    def pytest_runtest_logstart(self):
        """Begin to count: what passed since the test before was waiting for a test, or collecting them."""
        self._began = time.monotonic(), _cpu_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item, call):  # noqa: ARG002 - the names are pytest's
        """Add what has passed since the report before. What files share counts where it is made and where it ends."""
        report = yield
        now = time.monotonic(), _cpu_s()
        report.wall_s, report.cpu_s = (after - before for before, after in zip(self._began, now, strict=True))
        self._began = now
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
        if path := os.environ.get(EVERY_FILE):
            Path(path).write_text(json.dumps(rows), encoding="utf-8")
