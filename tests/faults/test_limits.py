"""The command where the machine denies it something: streams, files, a home, a locale. One error, and nothing half done."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nomad_csi import cli
from tests import deadlines

COMMAND = f"{sys.executable} -B -m nomad_csi"

STARTS_ANOTHER = f"""{sys.executable} -B -c '
import subprocess, sys
from nomad_csi.cli.common import output
child = "import os; [os.fstat(number) for number in range(3)]"
with output.guarded():
    sys.exit(subprocess.run([sys.executable, "-c", child]).returncode)'"""
"""A command that starts a program which needs its three streams."""

LIMITS = {
    "no input": "exec <&-",
    "no output": "exec >&-",
    "no error output": "exec 2>&-",
    "no streams": "exec <&- >&- 2>&-",
    "full error output": "exec 2>/dev/full",
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


@pytest.fixture
def run_python():
    """Run code in a process of its own, whose limits may change, and return what it prints: ``run_python(code, path)``."""

    def call(code, *words):
        command = [sys.executable, "-B", "-c", code, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, timeout=deadlines.PATIENT_S, check=True).stdout

    return call


@pytest.mark.parametrize("limit", LIMITS)
def test_registration_is_whole_and_its_output_is_what_it_always_is(limit, run, proxy, files, held, ids):
    """Also its progress stays where it belongs: with standard error closed, the JSON on standard output is JSON."""
    path = files("v0", "v1")
    proxy.fault("PUT", lambda handler: handler.reset())

    done = run(LIMITS[limit], "apply", path, "--yes", "--timeout", "30s", "--address", proxy.address, "--json")

    assert done.returncode == 0, done.stderr
    assert held() == ids(2)
    if ">&-" not in LIMITS[limit].replace("2>&-", ""):
        assert [item["status"] for item in json.loads(done.stdout)["volumes"]] == ["registered"] * 2
    told = "" if "error output" in limit or limit == "no streams" else "; trying again in 1 s (attempt 2 of 5)\n"
    assert done.stderr.endswith(told)
    assert done.stderr.count("attempt 2 of 5") == bool(told)


@pytest.mark.parametrize(
    ("line", "words", "code"),
    [
        ("exec 2>/dev/full", ["check", "/nonexistent.yaml"], 2),
        ("exec >/dev/full 2>/dev/full", ["check", "/nonexistent.yaml"], 2),
        ("exec >/dev/full 2>/dev/full", ["--version"], 2),
        ("exec 2>/dev/full", ["no-command"], 64),
        ("exec 2>/dev/full", [], 64),
        ("exec <&- >&- 2>&-", ["check", "/nonexistent.yaml"], 2),
        ("exec 2>&-", ["no-command"], 64),
    ],
)
def test_exit_code_is_the_same_where_nothing_can_be_said(line, words, code, run):
    """An error that finds no room on standard error is still that error; with that closed, it is not said elsewhere."""
    done = run(line, *words)

    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["init", "--hcl", "there"], 64, "--storage: expected kinds of storage, one or more of "),
        (["remove", "default/v0", "--address", "http://127.0.0.1:9"], 2, "no connection: Connection refused"),
    ],
)
def test_closed_input_is_no_terminal(words, code, told, run, tmp_path):
    """What asks on a terminal says what to give instead of an answer; nothing is written."""
    done = run("exec <&-", *words)

    assert "Traceback" not in done.stderr
    assert done.returncode == code
    assert told in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", ["no input", "no output", "no error output", "no streams"])
def test_programs_that_the_command_starts_find_their_streams_open(limit, run):
    """The engine and the parts of a sandbox are such programs: a stream that is not there is theirs to stumble on."""
    done = run(LIMITS[limit], program=STARTS_ANOTHER)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_files_that_the_kernel_cuts_off_are_named(run, tmp_path):
    """Neither a rendered file nor one of `init` is left; what stood there stays."""
    (tmp_path / ".gitignore").write_text("own\n")

    done = run("ulimit -f 0", "init", "--hcl", "--storage", "csi-hostpath", tmp_path)

    assert done.returncode == 2
    assert done.stderr == f"error: {tmp_path}/storage.yaml: File too large\n"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {".gitignore": "own\n"}


def test_private_files_are_rendered_private(run, spec, tmp_path):
    """Who asks for that with a umask gets it, and the next run finds the files unchanged."""
    words = ["render", spec("v0"), "--out", tmp_path / "rendered"]

    first, second = (run("umask 077", *words) for _ in range(2))

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "rendered").rglob("*")} == {0}
    assert cli.main(["render", "--check", *map(str, words[1:])]) == 0


def test_plain_locale_shows_any_name(run, tmp_path):
    """A file whose name the locale cannot write is read, and shown with escapes."""
    (tmp_path / "größe.yaml").write_text("plugins: 3\n")

    done = run(LIMITS["plain locale"], "check", tmp_path / "größe.yaml")

    assert done.returncode == 1
    assert "plugins: expected a list, got 3" in done.stderr
    assert done.stderr.isascii()


PROVIDER = f"{sys.executable} -B -m nomad_csi.provider"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("exec >&-", "standard output is closed, on which the engine reads the port"),
        ("exec >/dev/full", "No space left on device"),
        ("ulimit -n 16", "open files: expected a limit of at least 64, got 16; raise it with `ulimit -n 64`"),
        ("ulimit -f 0", "No usable temporary directory found in ["),
    ],
)
def test_provider_that_cannot_start_says_why_in_a_line(line, why, run):
    """The engine shows that line instead of a port that never came; nothing serves on."""
    done = run(line, program=PROVIDER)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: the provider nomad-csi cannot start: {why}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("ulimit -n 16", "open files: expected a limit of at least 64, got 16; raise it with `ulimit -n 64`"),
        ("ulimit -f 1", "{project}/Pulumi.sandbox.yaml: File too large"),
    ],
)
def test_sandbox_that_cannot_start_names_what_is_missing_and_leaves_nothing(line, why, run, tmp_path):
    """Neither a part of a file nor a process stays, and the folder can be used afterwards."""
    project = tmp_path / "project"

    done = run(line, "sandbox", "--project", project, "up", "--engine", "emulator", "--nomad", "emulator")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {why.format(project=project)}\n"
    assert not project.exists()


def test_record_of_a_sandbox_that_finds_no_room_stays_as_it_was(run_python, tmp_path):
    """What the sandbox knows of its processes is whole: `down` goes on from there."""
    code = """
import resource, signal, sys
from pathlib import Path
from nomad_csi_sandbox.session import folder

place = folder.Folder(Path(sys.argv[1]))
place.make()
place.save(folder.Record(data_dir="before"))
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
try:
    place.save(folder.Record(data_dir="after" * 100))
except OSError as error:
    print(error)
print(place.load().data_dir, sorted(path.name for path in place.path.glob("record*")))
"""

    done = run_python(code, tmp_path)

    assert done.splitlines() == [
        f"[Errno 27] File too large: '{tmp_path}/.sandbox/record.json'",
        "before ['record.json']",
    ]
