"""The command where the machine denies it something: streams, files, a home, a locale. One error, and nothing half done."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import deadlines

COMMAND = f"{sys.executable} -B -m nomad_csi"

LIMITS = {
    "no home": "unset HOME",
    "home that is not there": "export HOME=/nonexistent",
    "home that nobody can write to": "export HOME=/proc",
    "few files": "ulimit -n 16",
    "small files": "ulimit -f 1",
    "plain locale": "export LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0",
    "private files": "umask 077",
}
"""What a shell does before the command."""


@pytest.fixture
def run(tmp_path):
    """Run the command behind a line of shell, in a session of its own, without a terminal: ``run(line, "check", path)``."""
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path)}

    def call(line, *words, program=COMMAND):
        command = ["sh", "-c", f'{line}; exec {program} "$@"', "sh", *map(str, words)]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            start_new_session=True,
            timeout=deadlines.PATIENT_S,
            check=False,
        )

    return call


@pytest.mark.parametrize("limit", LIMITS)
def test_registration_is_whole_and_its_output_is_what_it_always_is(limit, run, proxy, files, held, ids):
    """With its progress on standard error."""
    path = files("v0", "v1")
    proxy.fault("PUT", lambda handler: handler.reset())

    done = run(LIMITS[limit], "apply", path, "--yes", "--timeout", "30s", "--address", proxy.address, "--json")

    assert done.returncode == 0, done.stderr
    assert held() == ids(2)
    assert [item["status"] for item in json.loads(done.stdout)["volumes"]] == ["registered"] * 2
    assert done.stderr.endswith("; trying again in 1 s (attempt 2 of 5)\n")
    assert done.stderr.count("attempt 2 of 5") == 1


def test_files_that_the_kernel_cuts_off_are_not_left(run, tmp_path):
    """None of `init` is left; what stood there stays."""
    (tmp_path / ".gitignore").write_text("own\n")

    done = run("ulimit -f 0", "init", "--hcl", "--storage", "csi-hostpath", tmp_path)

    assert done.returncode == 2
    assert done.stderr == "error: File too large\n"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {".gitignore": "own\n"}


PROVIDER = f"{sys.executable} -B -m nomad_csi.provider"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("exec >/dev/full", "No space left on device"),
        ("ulimit -f 0", "No usable temporary directory found in ["),
    ],
)
def test_provider_that_cannot_start_says_why_in_a_line(line, why, run):
    """The engine shows that line instead of a port that never came; nothing serves on."""
    done = run(line, program=PROVIDER)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: the provider nomad-csi cannot start: {why}")
    assert done.stderr.count("\n") == 1
