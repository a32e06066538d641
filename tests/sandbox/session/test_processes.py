"""Processes of a sandbox: started, watched, ended."""

import os
import subprocess
import sys

import pytest

from nomad_csi import errors
from nomad_csi_sandbox.session import folder, processes

VARIABLE = "NOMAD_CSI_SANDBOX_TEST_MARK"
WAIT = "import time; time.sleep(600)"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAIT!r}], env={{}})"


@pytest.fixture
def paths(tmp_path):
    """The folder of a sandbox that is not up."""
    made = folder.Folder(tmp_path)
    made.make()
    return made


@pytest.fixture
def wait_for_ever():
    """Start processes with these variables that wait; all are ended after the test: ``wait_for_ever({"A": "1"})``."""
    started = []

    def run(variables):
        process = subprocess.Popen([sys.executable, "-c", WAIT], env=variables)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()


def test_program_that_ends_at_once_is_told_with_the_end_of_its_log(paths):
    """It is no use to wait for its port."""
    command = [sys.executable, "-c", "print('no such address'); raise SystemExit(1)"]

    with pytest.raises(errors.NomadCsiError, match="agent did not start: no such address"):
        processes.launch(paths, "agent", command, os.environ, lambda: 0)


def test_program_is_ended_when_the_wait_for_it_is_interrupted(paths):
    """No one would know of it afterwards."""
    command = [sys.executable, "-c", f"import os; print(os.getpid(), flush=True); {WAIT}"]
    log = paths.logs / "agent.log"

    def interrupt():
        if text := log.read_text():
            raise KeyboardInterrupt(text)
        return 0

    with pytest.raises(KeyboardInterrupt) as raised:
        processes.launch(paths, "agent", command, os.environ, interrupt)

    with pytest.raises(ProcessLookupError):
        os.kill(int(str(raised.value)), 0)


def test_what_carries_a_mark_is_ended_with_all_that_it_started(tmp_path, wait_for_ever):
    """Its child has another environment and is found by its parent; a process with another mark stays."""
    mine = subprocess.Popen([sys.executable, "-c", PARENT], env={VARIABLE: str(tmp_path)}, start_new_session=True)
    other = wait_for_ever({VARIABLE: f"{tmp_path}2"})
    while len(processes._marked(VARIABLE, str(tmp_path))) < 2:
        assert mine.poll() is None

    marked = processes._marked(VARIABLE, str(tmp_path))
    processes.end_marked(VARIABLE, str(tmp_path))

    mine.wait()
    assert not any(processes._start_time(pid) for pid in marked)
    assert other.poll() is None


def test_what_outlived_the_command_that_ran_it_is_ended(tmp_path, wait_for_ever):
    """As the providers of a pulumi that was killed; what still has its command, as a shell, stays."""
    own = {VARIABLE: str(tmp_path)}
    ended = wait_for_ever({})
    gone = {processes.GUARD: f"{ended.pid} {processes._start_time(ended.pid)}"}
    orphan = wait_for_ever(own | gone)
    kept = [
        wait_for_ever(variables) for variables in (own | processes.guarded(), own, {VARIABLE: f"{tmp_path}2"} | gone)
    ]
    ended.kill()
    ended.wait()

    processes.end_orphans(VARIABLE, str(tmp_path))

    assert not processes.runs(orphan.pid)  # who collected its exit status, Popen or end_orphans(), is a race
    assert [process.poll() for process in kept] == [None, None, None]
