"""Servers of the sandbox as processes of their own, and ports for others."""

import contextlib
import json
import socket
import subprocess
import sys
import time

from tests import deadlines


def start(module, folder, *words, environment=None):
    """
    Start *module* and return its process, its port and its ready file, as soon as that is there.

    Its output goes into *folder*; *environment* is all that it sees, by default what this process does.
    """
    ready_file, log = folder / f"{module}.json", folder / f"{module}.log"
    command = [sys.executable, "-m", module, "--ready-file", str(ready_file), *map(str, words)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=output)
    deadline = time.monotonic() + deadlines.PATIENT_S
    while not ready_file.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            raise AssertionError(log.read_text())
        time.sleep(0.02)
    return process, json.loads(ready_file.read_text())["port"], ready_file


def end(process):
    """End *process*, if it has not ended, and return its exit code."""
    process.terminate()
    return process.wait(timeout=deadlines.PATIENT_S)


@contextlib.contextmanager
def running(module, folder, *words, environment=None):
    """Run *module*, and yield its port."""
    process, port, _ = start(module, folder, *words, environment=environment)
    try:
        yield port
    finally:
        end(process)


def free_ports(count):
    """Return ports that nothing listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]
