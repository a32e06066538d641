"""A hostile environment: nothing of it is believed, no request goes where it points, no second run interferes."""

import contextlib
import shutil
import socket
import threading
import time
from pathlib import Path

import pytest

from tests import deadlines

PROJECT = Path(__file__).parents[2]


class Recorder:
    """Listens on loopback and records what anybody sends there; answers nobody."""

    def __init__(self):
        self.received = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                connection.settimeout(0.5)
                self.received.append(connection.recv(4096))

    def close(self):
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()


@pytest.fixture
def recorder():
    """A server that nobody may talk to."""
    found = Recorder()
    yield found
    found.close()


@pytest.fixture
def noise(tmp_path):
    """A folder for PYTHONPATH whose module is imported by every Python that believes in it, and says so in a file."""
    folder = tmp_path / "noise"
    folder.mkdir()
    seen = folder / "seen.txt"
    code = f"import sys\nwith open({str(seen)!r}, 'a') as file:\n    print(*sys.orig_argv, file=file)\n"
    (folder / "sitecustomize.py").write_text(code)
    (folder / "startup.py").write_text(code)
    return folder


def hostile(recorder, noise):
    """Return variables that lead to the *recorder*, or astray."""
    url = f"http://{recorder.address}"
    proxies = {name: url for word in ("http", "https", "all") for name in (f"{word}_proxy", f"{word.upper()}_PROXY")}
    return proxies | {
        "NOMAD_ADDR": url,
        "NOMAD_TOKEN": "hostile",
        "NOMAD_NAMESPACE": "hostile",
        "AWS_PROFILE": "hostile",
        "AWS_ENDPOINT_URL": url,
        "AWS_ENDPOINT_URL_EC2": url,
        "AWS_ACCESS_KEY_ID": "hostile",
        "AWS_REGION": "eu-central-1",
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": url,
        "PULUMI_BACKEND_URL": url,
        "PULUMI_ACCESS_TOKEN": "hostile",
        "PULUMI_DEBUG_PROVIDERS": "aws:1,nomad-csi:1",
        "NOMAD_CSI_SANDBOX": "engine:real",
        "NOMAD_CSI_ROOT": "/proc",
        "PYTHONPATH": str(noise),
        "PYTHONSTARTUP": str(noise / "startup.py"),
        "no_proxy": "",
        "NO_PROXY": "",
    }


def small(sandbox):
    """Leave only the EBS plugin and its volume, which need all of AWS, Nomad and the engine."""

    def keep_ebs(storage):
        storage["plugins"] = storage["plugins"][:1]
        storage["volumes"] = storage["volumes"][:1]

    sandbox.edit(keep_ebs)


def test_up_believes_nothing_of_its_environment(sandbox, recorder, noise):
    """A whole run, from nothing, with an empty HOME: it succeeds, and nobody asks where the variables point."""
    small(sandbox)
    variables = hostile(recorder, noise) | {"HOME": ""}

    done = sandbox.up(environment=variables)
    shown = sandbox.run("exec", "--", "env", environment=variables)
    again = sandbox.run("preview", environment=variables | {"HOME": "/proc"})  # nobody can write there, root neither

    assert done.returncode == 0, done.stdout + done.stderr
    assert again.returncode == 0, again.stdout + again.stderr
    assert "unchanged" in again.stdout
    assert recorder.received == []
    assert recorder.address not in shown.stdout
    assert "hostile" not in shown.stdout
    believers = (noise / "seen.txt").read_text().splitlines()
    assert len(believers) == 3  # the three commands themselves: Python reads it before any of their code runs
    assert all(" sandbox --project " in line for line in believers)
    assert not any((sandbox.project / name).exists() for name in ("~", "$HOME"))


def test_a_second_up_is_refused_while_one_runs_and_a_second_project_while_one_is_up(sandbox, tmp_path):
    """One at a time, each told who is in the way; the first is not disturbed."""
    small(sandbox)
    first = sandbox.start("up", "--engine", "emulator", "--nomad", "emulator")
    lock = sandbox.project / ".sandbox/lock"
    until = time.monotonic() + deadlines.PATIENT_S
    while not lock.exists() and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.5)
    second = sandbox.up()

    output, _ = first.communicate(timeout=240)
    other = _copy(sandbox, tmp_path / "other")
    third = other.up()

    assert (second.returncode, second.stdout) == (1, "")
    command = f"nomad-csi sandbox --project {sandbox.project} up --engine emulator --nomad emulator"
    assert second.stderr == f"refused: `{command}` (process {first.pid}) works on this sandbox; wait for it to end\n"
    assert first.returncode == 0, output
    holder = sandbox.project.resolve()
    fix = "take that sandbox down, or change client_data_dir in Pulumi.sandbox.yaml"
    assert third.returncode == 1
    assert third.stderr == f"refused: {sandbox.data_dir} is in use by {holder}; {fix}\n"
    assert sandbox.run("status").returncode == 0
    assert other.run("down").stdout == "There is no sandbox here; nothing to take down.\n"
    assert sandbox.run("status").returncode == 0


def _copy(sandbox, project):
    """Return a sandbox of another project with the same config, and so the same data directory."""
    ignored = shutil.ignore_patterns(".sandbox", "rendered")
    shutil.copytree(sandbox.project, project, symlinks=True, ignore=ignored)
    return type(sandbox)(project, sandbox.data_dir)
