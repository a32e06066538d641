"""Sockets behind ssh: with a fake for `ssh`, and with OpenSSH where its server is installed."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nomad_csi import errors
from nomad_csi.csi import forward, probe
from tests import deadlines, programs

FAKE = Path(__file__).with_name("fake_ssh.py")
OPENSSH = ("sshd", "ssh", "ssh-keygen")


@pytest.fixture
def calls(folder, monkeypatch):
    """Put a fake for ssh first on PATH; call it for the process ids and words of its runs."""
    program = folder / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SSH_FAKE_LOG", str(folder / "calls"))

    def read():
        return [line.split(" ", 1) for line in (folder / "calls").read_text().splitlines()]

    return read


def is_alive(pid):
    return Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("text", ["/run/Csi.sock", "unix:///run/csi.sock", "127.0.0.1:9000", "tcp://127.0.0.1:9000"])
def test_other_endpoints_are_reached_as_they_are(text):
    """Nothing is started for them."""
    with forward.reached(text) as reached:
        assert (reached.text, reached.local, reached.why_broken()) == (text, text, None)


def test_a_socket_behind_ssh_is_probed_as_if_it_were_here(start_plugin, calls):
    """User and port go to ssh, which is never asked for a password; it ends with the block."""
    far = start_plugin().socket
    with forward.reached(f"ssh://root@[::1]:2222{far}") as reached:
        report = probe.probe(reached.local, timeout_s=deadlines.PATIENT_S)
        [(pid, words)] = calls()
        assert is_alive(pid)

    assert report.status == "ready"
    never = "-o BatchMode=yes -o ExitOnForwardFailure=yes -o ControlMaster=no -o ControlPath=none -o ConnectTimeout=15"
    assert words == f"-N -T {never} -l root -p 2222 -L {reached.local}:{far} -- ::1"
    assert not is_alive(pid)
    assert not Path(reached.local).parent.exists()


def test_a_socket_that_is_not_there_is_told_from_a_host_that_is_not(calls, folder):
    """The connection stands, and the far end refuses: the words of ssh say so."""
    with forward.reached(f"ssh://client-1{folder}/gone.sock") as reached:
        probe.probe(reached.local, timeout_s=deadlines.PATIENT_S)
        report = probe.probe(reached.local, timeout_s=deadlines.PATIENT_S)
        error = reached.renamed(errors.CsiError(reached.local, "no", code="UNAVAILABLE", is_answer=False))
        other = reached.renamed(errors.CsiError(reached.local, "no", code="INTERNAL", advice="as said"))

    assert report.status == "error"
    assert len(calls()) == 1
    assert error.endpoint == f"ssh://client-1{folder}/gone.sock"
    assert error.advice == "output of ssh: channel 2: open failed: connect failed: open failed"
    assert (error.is_answer, other.is_answer, other.advice) == (False, True, "as said")


@pytest.mark.usefixtures("calls")
def test_ssh_that_ends_without_a_word(folder):
    """The error has its exit code."""
    (folder / "bin" / "ssh").write_text("#!/bin/sh\nexit 3\n")

    with (
        pytest.raises(errors.CsiError, match=r"run/csi\.sock: ssh ended with 3: without output; try the same `ssh`"),
        forward.reached("ssh://client-1/run/csi.sock"),
    ):
        pass


@pytest.mark.parametrize("rest", ["", "-" + 400 * "x"])
def test_rejects_a_host_that_nobody_knows(calls, rest):
    """The last words of ssh, and what to do."""
    with pytest.raises(errors.CsiError) as caught, forward.reached(f"ssh://no-such-host{rest}/run/csi.sock"):
        pass

    unknown = f"ssh: Could not resolve hostname no-such-host{rest}: Name or service not known"
    assert caught.value.message == f"ssh ended with 255: {unknown[-400:]}"
    assert caught.value.advice == (
        "try the same `ssh` by hand: the name, the host's key, and a key without a password (ssh-add)"
    )
    assert not is_alive(calls()[0][0])


@pytest.mark.parametrize(
    "text",
    [
        "ssh://",
        "ssh://host",
        "ssh://host/",
        "ssh://-oProxyCommand=x/run/csi.sock",
        "ssh://a@-b/c",
        "ssh://h:x/run/csi.sock",
        "ssh://root@h/run/a:b.sock",
        "SSH://root@h/run/a.sock",
    ],
)
def test_rejects_what_names_no_host_and_socket(text):
    """Nothing that ssh would take for an option reaches it."""
    refused = pytest.raises(errors.CsiError, match=r"expected ssh://USER@HOST\[:PORT\]/run/csi.sock")
    with refused:
        forward.check(text)
    with refused, forward.reached(text):
        pass


def test_says_when_there_is_no_ssh(monkeypatch, folder):
    """The system's own program is used, and may be missing."""
    monkeypatch.setenv("PATH", str(folder))

    with (
        pytest.raises(errors.CsiError, match=r"^ssh://host/run/csi\.sock: no `ssh` on PATH; install OpenSSH's client$"),
        forward.reached("ssh://host/run/csi.sock"),
    ):
        pass


@pytest.fixture
def privileges():
    """The folder in which OpenSSH's server separates its privileges where root runs it; removed if it is the test's."""
    place = Path("/run/sshd")
    if os.geteuid() != 0 or place.exists():
        yield
        return
    place.mkdir()
    yield
    place.rmdir()


@pytest.fixture
def server(folder, monkeypatch, privileges):  # noqa: ARG001 - it is there for as long as the server runs
    """Run OpenSSH's server on 127.0.0.1 for one key, and let `ssh` find that key; return its port."""
    if absent := [name for name in OPENSSH if programs.path_of(name) is None]:
        pytest.skip(f"not on PATH: {', '.join(absent)}")
    for name in ("host", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (folder / "sshd_config").write_text(
        f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/key.pub\nStrictModes no\nUsePAM no\nPidFile none\n"
        f"PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
    )
    (folder / "ssh_config").write_text(f"Host *\n  IdentityFile {folder}/key\n  UserKnownHostsFile {folder}/known\n")
    (folder / "known").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
    program = folder / "bin" / "ssh"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{shutil.which("ssh")}" -F "{folder}/ssh_config" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    words = [
        programs.path_of("sshd"),
        "-D",
        "-e",
        "-f",
        str(folder / "sshd_config"),
        "-o",
        f"ListenAddress=127.0.0.1:{port}",
    ]
    with (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    _until_listening(port, process, folder)
    yield port
    process.terminate()
    process.wait(deadlines.PATIENT_S)


def _until_listening(port, process, folder):
    deadline = time.monotonic() + deadlines.PATIENT_S
    while True:
        assert process.poll() is None, (folder / "sshd.log").read_text()
        assert time.monotonic() < deadline
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)


def test_real_ssh_reaches_a_plugin(server, start_plugin):
    """OpenSSH itself forwards, and a host with another key is not trusted."""
    where = f"ssh://{getpass.getuser()}@127.0.0.1:{server}{start_plugin().socket}"

    with forward.reached(where) as reached:
        assert probe.probe(reached.local, timeout_s=deadlines.PATIENT_S).status == "ready"
