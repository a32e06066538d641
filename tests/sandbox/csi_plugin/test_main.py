import os
import signal
import socket
import subprocess
import sys

import pytest

from nomad_csi.csi import probe
from tests.sandbox.csi_plugin.conftest import wait_for


@pytest.fixture
def run(environment):
    """Start the emulator as Nomad does, as a process of its own."""
    started = []

    def start(*words, **variables):
        process = subprocess.Popen(
            [sys.executable, "-m", "nomad_csi_sandbox.csi_plugin", *words],
            env={"PATH": os.environ["PATH"], **environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_process_ends_cleanly_and_takes_its_socket_along(run, folder, number):
    """Nomad stops a task by signal; nothing stays behind."""
    path = folder / "csi.sock"
    process = run("--driver", "aws-ebs", "controller", f"--endpoint=unix://{path}", "--logging-format=text", "--v=2")
    wait_for(path, process)

    process.send_signal(number)

    _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert not path.exists()
    assert "emulator of ebs.csi.aws.com v1.64.0 (controller): listening on" in log


def test_socket_of_a_killed_run_is_replaced(run, folder):
    """A restart in place finds the old socket file and goes on, as the drivers do."""
    path = folder / "csi.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))

    process = run("--driver=aws-efs", f"--endpoint=unix://{path}")

    wait_for(path, process)
    assert probe.probe(str(path), timeout_s=60).ready
