"""
The supervisor of one task: starts it, passes signals on, and never outlives its agent. Part of the Nomad emulator.

A program of its own (``python -I -S launcher.py``) with one thread, so that everything between fork and exec is safe.
It ends, with its task's whole process group, as soon as its standard input closes: that also happens when the agent
is killed by force. On Linux the kernel moreover kills the task when this process dies (``PR_SET_PDEATHSIG``).

Standard input: one line of JSON ``{"argv", "env", "cwd", "stdout", "stderr"}``, then one signal number per line.
Standard output: one line ``{"pid"}`` or ``{"error"}``, then at the end ``{"exit_code", "signal"}``.
Only the standard library: it runs in isolated mode.
"""

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
from typing import Any

PR_SET_PDEATHSIG = 1


def main() -> int:
    """Run one task to its end."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    line, rest = _first_line()
    if not line:
        return 1
    try:
        pid = _start(json.loads(line))
    except OSError as error:
        _say({"error": f"{error.strerror}: {error.filename}" if error.filename else str(error)})
        return 1
    _say({"pid": pid})
    status = _watch(pid, wake_read, rest)
    _signal_group(pid, signal.SIGKILL)  # what the task left behind
    _say(status)
    return 0


def _first_line() -> tuple[bytes, bytes]:
    data = b""
    while b"\n" not in data:
        chunk = os.read(0, 65536)
        if not chunk:
            return b"", b""
        data += chunk
    line, _, rest = data.partition(b"\n")
    return line, rest


def _say(message: dict[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):  # the agent is gone; no one listens
        os.write(1, json.dumps(message).encode() + b"\n")


def _start(order: dict[str, Any]) -> int:
    """Return the pid of the started program. Raises `OSError` when it cannot be started."""
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None
    error_read, error_write = os.pipe()  # closed by exec: silence means success
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(order, libc, parent, error_write)
    os.close(error_write)
    with os.fdopen(error_read, "rb") as answer:
        failure = answer.read()
    if failure:
        os.waitpid(pid, 0)
        number, name = json.loads(failure)
        raise OSError(number, os.strerror(number), name)
    return pid


def _become(order: dict[str, Any], libc: Any, parent: int, error_write: int) -> None:
    """Turn the forked process into the task. Never returns."""
    try:
        os.setsid()
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGINT):  # a shell ignores SIGINT for what it starts in the background
            signal.signal(number, signal.SIG_DFL)
        _redirect(order)
        os.chdir(order["cwd"])
        os.execve(order["argv"][0], order["argv"], order["env"])  # noqa: S606  # that is what a task is
    except OSError as error:
        os.write(error_write, json.dumps([error.errno, str(error.filename or order["argv"][0])]).encode())
    finally:
        os._exit(127)


def _redirect(order: dict[str, Any]) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for number, path, mode in ((0, os.devnull, os.O_RDONLY), (1, order["stdout"], flags), (2, order["stderr"], flags)):
        descriptor = os.open(path, mode, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)


def _watch(pid: int, wake_read: int, pending: bytes) -> dict[str, int]:
    while True:
        pending = _obey(pid, pending)
        ended = _ended(pid)
        if ended is not None:
            return ended
        ready, _, _ = select.select([0, wake_read], [], [])
        if wake_read in ready:
            os.read(wake_read, 1024)
        if 0 in ready:
            chunk = os.read(0, 1024)
            if not chunk:
                return _abandon(pid)
            pending += chunk


def _obey(pid: int, pending: bytes) -> bytes:
    *lines, rest = pending.split(b"\n")
    for line in lines:
        _signal_group(pid, int(line))
    return rest


def _ended(pid: int) -> dict[str, int] | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return _status(status) if found == pid else None


def _status(status: int) -> dict[str, int]:
    code = os.waitstatus_to_exitcode(status)
    # as the Go runtime: 128 + signal is the code of a killed process
    return {"exit_code": code, "signal": 0} if code >= 0 else {"exit_code": 128 - code, "signal": -code}


def _abandon(pid: int) -> dict[str, int]:
    """The agent is gone: so is its task."""
    _signal_group(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return _status(status)


def _signal_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # the group is empty already
        os.killpg(pid, number)


if __name__ == "__main__":
    sys.exit(main())
