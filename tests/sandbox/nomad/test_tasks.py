"""Tasks are real processes: environment, restarts, ends, and no survivors."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests import servers

SHOW = 'import json, os, sys; print(json.dumps({"args": sys.argv[1:], "env": dict(os.environ)}))'


def test_task_gets_its_names_and_the_agents_environment(api, job, data_dir):
    """Options are filled in, env keeps what is unknown, and the node's zone is handed down."""
    env = 'env {\n A = "${node.unique.name} ${NOT_KNOWN}"\n}'
    args = ["-c", SHOW, "${node.unique.name}", "${NOMAD_JOB_ID}", "${attr.unique.hostname}"]

    api.run(job("j", kind="batch", command=sys.executable, args=args, task=env))

    [alloc] = api.until_status("j", "complete")
    log = data_dir / "alloc" / alloc["ID"] / "alloc" / "logs" / "t.stdout.0"
    found = json.loads(log.read_text(encoding="utf-8"))
    assert found["args"] == ["one", "j", "one"]
    assert found["env"]["A"] == "one ${NOT_KNOWN}"
    assert found["env"]["NOMAD_ALLOC_ID"] == alloc["ID"]
    assert found["env"]["NOMAD_CSI_SANDBOX_ZONE"] == "us-east-1a"
    assert found["env"]["NOMAD_CSI_SANDBOX_INSTANCE_ID"] == "i-1"
    assert found["env"]["PATH"] == os.environ["PATH"]


@pytest.fixture
def agent(data_dir):
    """The emulator as a process; ends with the test."""
    words = ("--data-dir", data_dir, "--node", "one=us-east-1a=i-1")
    process, port, _ = servers.start("nomad_csi_sandbox.nomad", data_dir, *words)
    yield process, port
    process.kill()
    process.wait()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_task_survives_its_agent(agent, api, job, data_dir, number):
    """Neither an ended nor a killed agent leaves a process behind."""
    process, port = agent
    api.url = f"http://127.0.0.1:{port}"
    pid_file = data_dir / "pid"
    api.run(job("j", command="sh", args=["-c", f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; sleep 600"]))
    api.until(pid_file.exists, bool)

    process.send_signal(number)

    assert process.wait(120) == (0 if number == signal.SIGTERM else -signal.SIGKILL)
    pid = int(pid_file.read_text(encoding="utf-8"))
    api.until(lambda: _runs(pid), lambda runs: not runs)


def _runs(pid):
    """Tell whether a process lives; one that only waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
