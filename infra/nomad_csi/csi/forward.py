"""
Endpoints as they are written: placeholders, and sockets on other machines, ``ssh://user@host/run/csi.sock``.

The system's ``ssh`` forwards a socket for as long as needed.

The connection (keys, jumps, known hosts) follows the configuration of ``ssh`` itself; it is
never prompted for a password. The socket must be open to the user there, which for plugins of Nomad means root.
Source: OpenSSH 9.2, ssh(1) (``-L local_socket:remote_socket``), ssh_config(5) (``ExitOnForwardFailure``).
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nomad_csi import errors
from nomad_csi.clock import SYSTEM, Clock
from nomad_csi.csi import endpoint

PROGRAM = "ssh"
SCHEME = "ssh://"
FORM = "ssh://USER@HOST[:PORT]/run/csi.sock"
CONNECT_S = 15
"""Timeout of ``ssh`` until the connection is up, in seconds."""

_POLL_S = 0.05
_WORDS = 400
"""Characters kept of the output of ``ssh``."""

_ADDRESS = re.compile(
    r"ssh://(?:(?P<user>[A-Za-z0-9._][A-Za-z0-9._-]*)@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._][A-Za-z0-9._-]*)"
    r"(?::(?P<port>\d{1,5}))?(?P<path>/[^/:][^:]*)"  # ``ssh -L`` takes ":" for the end of a path
)
_BY_HAND = "try the same `ssh` by hand: the name, the host's key, and a key without a password (ssh-add)"


@dataclass(frozen=True, kw_only=True)
class Reached:
    """An endpoint that can be called from here."""

    text: str
    """As it was written."""

    local: str
    """What `endpoint.parse` reads: the same, or the near end of a forwarded socket."""

    output: Path | None = None
    """File with the output of ``ssh``; ``None``: nothing is forwarded."""

    def why_broken(self) -> str | None:
        """Return the output of ``ssh``, which names what broke a forwarded socket; ``None``: there is none."""
        words = _words(self.output) if self.output else ""
        return f"output of ssh: {words}" if words else None

    def renamed(self, error: errors.CsiError) -> errors.CsiError:
        """Return *error* with the endpoint as it was written, and the cause of a broken forwarding as advice."""
        why = self.why_broken() if error.code == "UNAVAILABLE" else None
        advice = why or error.advice
        return errors.CsiError(self.text, error.message, code=error.code, advice=advice, is_answer=error.is_answer)


def check(text: str) -> None:
    """Raise `errors.CsiError` for a *text* that is no endpoint; makes no call."""
    if not text.lower().startswith(SCHEME):
        endpoint.parse(text)
    else:
        _address(text)


def _address(text: str) -> re.Match[str]:
    """Return the parts of *text*. Raises `errors.CsiError`."""
    address = _ADDRESS.fullmatch(text)
    if address is None:
        raise errors.CsiError(text, f"expected {FORM}, got {text!r}")
    return address


@contextmanager
def reached(text: str, *, clock: Clock = SYSTEM) -> Iterator[Reached]:
    """
    Make the endpoint *text* reachable from here while the block runs; only ``ssh://`` needs anything.

    Raises `errors.CsiError` for a text that is no endpoint, and if the connection cannot be made.
    """
    if not text.lower().startswith(SCHEME):
        endpoint.parse(text)
        yield Reached(text=text, local=text)
        return
    address = _address(text)
    program = shutil.which(PROGRAM)
    if program is None:
        raise errors.CsiError(text, "no `ssh` on PATH", advice="install OpenSSH's client")
    with tempfile.TemporaryDirectory(prefix="nomad-csi-") as folder:  # mode 0700: no other user has access
        near, output = Path(folder) / "csi.sock", Path(folder) / "output"
        endpoint.parse(str(near))
        with _running([program, *_arguments(address, near)], output) as process:
            _wait(text, process, near, output, clock)
            yield Reached(text=text, local=str(near), output=output)


def _arguments(address: re.Match[str], near: Path) -> list[str]:
    user = ["-l", address["user"]] if address["user"] else []
    port = ["-p", address["port"]] if address["port"] else []
    options = ("BatchMode=yes", "ExitOnForwardFailure=yes", "ControlMaster=no", "ControlPath=none")
    switches = [word for option in (*options, f"ConnectTimeout={CONNECT_S}") for word in ("-o", option)]
    forwarding = ["-L", f"{near}:{address['path']}"]
    return ["-N", "-T", *switches, *user, *port, *forwarding, "--", address["host"].strip("[]")]


@contextmanager
def _running(words: list[str], output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``ssh`` in its own process group, so that this process handles an interrupt at the keyboard."""
    with output.open("wb") as log:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=os.environ.copy()
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _wait(text: str, process: subprocess.Popen[bytes], near: Path, output: Path, clock: Clock) -> None:
    """Return when the local end of the socket exists."""
    while not near.is_socket():
        if process.poll() is not None:
            words = _words(output) or "without output"
            raise errors.CsiError(text, f"ssh ended with {process.returncode}: {words}", advice=_BY_HAND)
        clock.sleep(_POLL_S)


def _words(output: Path) -> str:
    lines = (" ".join(line.split()) for line in output.read_text(encoding="utf-8", errors="replace").splitlines())
    return "; ".join(dict.fromkeys(filter(None, lines)))[-_WORDS:]


# Placeholders of an endpoint in a spec: the socket path of a plugin has the id of its allocation, which changes with
# each change of the job.


ALLOC_ID = "{alloc_id}"
NODE_NAME = "{node_name}"
"""The client, as ``ssh`` knows it."""

_SAMPLE = {ALLOC_ID: "00000000-0000-0000-0000-000000000000", NODE_NAME: "client-1"}


def check_written(written: str) -> None:
    """Raise `errors.CsiError` if *written* is no endpoint, for any values of its placeholders."""
    check(fill(written, _SAMPLE))


def has_placeholders(written: str) -> bool:
    """Return whether *written* has any placeholder."""
    return any(name in written for name in _SAMPLE)


def fill(written: str, values: Mapping[str, str]) -> str:
    """Return *written* with each placeholder's value."""
    for name, value in values.items():
        written = written.replace(name, value)
    return written
