"""
A folder for temporary files, and a home, of each test file's own: what is left in one tells which file left it.

`tests.supervised` names the folder of the run in `RUN`; without it, nothing changes.
"""

import os
import tempfile
from pathlib import Path

import pytest

RUN = "TEST_RUN"
"""Variable with the folder of the run."""

HOME = "h"
"""Behind the name of a file's folder: its home. All names are short, because sockets are in these folders."""

LOG = ".files"
"""Behind the name of a worker: what ran there, a line with folder and file for each file of tests."""


class RunFolders:
    """Moves TMPDIR and HOME of this process with the file whose tests it runs."""

    def __init__(self):
        self._run = None
        self._number = 0
        self._file = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        """Begin another folder with another file."""
        # Only the process that runs tests takes it, and no pytest that a test starts.
        self._run = self._run or os.environ.pop(RUN, "")
        file = item.nodeid.partition("::")[0]
        if self._run and file != self._file:
            self._file = file
            self._begin()

    def _begin(self):
        worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
        self._number += 1
        folder = Path(self._run, f"{worker}-{self._number}")
        home = folder.with_name(folder.name + HOME)
        folder.mkdir()
        home.mkdir()
        os.environ.update({"TMPDIR": str(folder), "HOME": str(home)})
        tempfile.tempdir = None  # asked for again
        with Path(self._run, f"{worker}{LOG}").open("a", encoding="utf-8") as log:
            log.write(f"{folder.name}\t{self._file}\n")


def read(run):
    """Return the folder and the test file of each line that the workers of the run in the folder *run* wrote."""
    logs = sorted(run.glob(f"*{LOG}"))
    return [tuple(line.split("\t")) for path in logs for line in path.read_text(encoding="utf-8").splitlines()]
