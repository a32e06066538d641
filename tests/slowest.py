"""
How long the files of tests take: the longest are started first.

`seconds.json` beside this file has the seconds of the last recorded run.
"""

import json
from collections import defaultdict
from pathlib import Path

RECORDED = Path(__file__).with_name("seconds.json")
"""Seconds of each file; ``make test-seconds`` writes it."""

UNKNOWN_S = float("inf")
"""Assumed of a file that is not recorded: begun last, a long one would run alone at the end."""


def recorded():
    """Return seconds by file."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def sort(items, scope_of, recorded):
    """Sort collected *items*: the scopes that took longest come first, and the tests of one stay together."""
    files = {item.nodeid.partition("::")[0]: scope_of(item.nodeid) for item in items}
    totals = defaultdict(float)
    for file, scope in files.items():
        totals[scope] += recorded.get(file, UNKNOWN_S)
    items.sort(key=lambda item: -totals[scope_of(item.nodeid)])


class Recorder:
    """Adds up what the tests of each file take, and writes it into `RECORDED`, without files that are gone."""

    def __init__(self):
        self._files = defaultdict(float)

    def pytest_runtest_logreport(self, report):
        """Take a report, of this process or of a worker."""
        self._files[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self, session):
        """Write. A worker knows its own files only."""
        if not hasattr(session.config, "workerinput"):
            known = recorded() | {file: round(seconds, 1) for file, seconds in self._files.items()}
            left = {file: seconds for file, seconds in known.items() if (RECORDED.parents[1] / file).exists()}
            RECORDED.write_text(f"{json.dumps(left, indent=0, sort_keys=True)}\n", encoding="utf-8")
