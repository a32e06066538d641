"""Tasks are real processes, and none survives its agent."""

import signal
import time
from pathlib import Path

import pytest

from nomad_csi import nomad
from nomad_csi.nomad import jobs
from tests import deadlines, servers

JOB = """job "j" {{
  group "g" {{
    task "t" {{
      driver = "raw_exec"
      config {{
        command = "sh"
        args    = ["-c", "echo $$ > {file}.new; mv {file}.new {file}; sleep 600"]
      }}
    }}
  }}
}}
"""


@pytest.fixture
def agent(data_dir):
    """The emulator as a process; ends with the test."""
    words = ("--data-dir", data_dir, "--node", "one=us-east-1a=i-1")
    process, port, _ = servers.start("nomad_csi_sandbox.nomad", data_dir, *words)
    yield process, port
    process.kill()
    process.wait()


def until(look):
    """Wait until *look* returns something true."""
    deadline = time.monotonic() + deadlines.PATIENT_S
    while not look():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_task_survives_its_agent(agent, data_dir, number):
    """Neither an ended nor a killed agent leaves a process behind."""
    process, port = agent
    source = JOB.format(file=data_dir / "pid")
    with nomad.Nomad(nomad.Connection(address=f"http://127.0.0.1:{port}")) as client:
        jobs.register(client, jobs.parse(client, source), source=source, enforce_index=None)
    until((data_dir / "pid").exists)

    process.send_signal(number)

    assert process.wait(120) == (0 if number == signal.SIGTERM else -signal.SIGKILL)
    pid = int((data_dir / "pid").read_text(encoding="utf-8"))
    until(lambda: not _runs(pid))


def _runs(pid):
    """Return whether a process lives; one that only waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
