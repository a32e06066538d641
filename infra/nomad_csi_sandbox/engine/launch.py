"""
Provider processes: started, watched and ended.

A process gets a session of its own, so that Ctrl-C reaches the engine alone, and on Linux dies with the engine even
when that is killed outright.
"""

import collections
import concurrent.futures
import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from nomad_csi import errors

START_TIMEOUT_S = 60.0
"""How long a provider may take to print its port."""

END_TIMEOUT_S = 5.0
"""How long a provider may take to end after SIGTERM."""

_LAUNCH = """
import os, sys
parent, command = int(sys.argv[1]), sys.argv[2:]
if sys.platform == "linux":
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)
    if os.getppid() != parent:
        sys.exit(1)
os.execv(command[0], command)
"""
# PR_SET_PDEATHSIG is 1, SIGKILL is 9. The signal comes when the *thread* that started the process ends, so that all
# processes are started from one thread that never does.
_starter = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="starter")


def die_with(parent: int) -> None:
    """Have this process killed when *parent*, which forked it, is gone. Linux only; elsewhere it does nothing."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


class Process:
    """One running provider."""

    def __init__(self, executable: Path, address: str, folder: Path) -> None:
        """Start *executable* in *folder*, give it the engine's *address*, and wait for its port."""
        self.executable = executable
        self._stderr: collections.deque[str] = collections.deque(maxlen=200)
        command = [sys.executable, "-I", "-S", "-c", _LAUNCH, str(os.getpid()), str(executable), address]
        self._process = _starter.submit(self._start, command, folder).result()
        self._drain = threading.Thread(target=self._keep_stderr, daemon=True)
        self._drain.start()
        self.port = self._read_port()

    @staticmethod
    def _start(command: list[str], folder: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _keep_stderr(self) -> None:
        self._stderr.extend(_stream(self._process.stderr))

    def _read_port(self) -> int:
        """Return the port. A provider that prints none in time is ended; raises `errors.RefusedError`."""
        timer = threading.Timer(START_TIMEOUT_S, self._process.kill)
        timer.start()
        try:
            line = _stream(self._process.stdout).readline().strip()
        finally:
            timer.cancel()
        if not line.isdigit():
            self.kill()
            self._drain.join(END_TIMEOUT_S)
            raise errors.RefusedError(f"{self.premature_end()}\nit printed {line!r} where its port should be")
        threading.Thread(target=collections.deque, args=(self._process.stdout, 0), daemon=True).start()
        return int(line)

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def premature_end(self) -> str:
        """Return what the real engine says of a provider that went away, with what the provider wrote last."""
        self._drain.join(1.0)
        return (
            f"Detected that {self.executable} exited prematurely.\n"
            "This is *always* a bug in the provider. Please report the issue to the provider author as appropriate.\n"
            "To assist with debugging we have dumped the STDOUT and STDERR streams of the plugin:\n"
            + "".join(self._stderr).rstrip()
        ).rstrip()

    def stop(self) -> None:
        """End the process, outright if it does not go when asked."""
        if not self.ended:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the process now."""
        self._process.kill()
        self._process.wait()


def _stream(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise errors.RefusedError("the provider was started without a pipe")
    return stream
