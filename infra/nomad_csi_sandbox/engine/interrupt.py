"""Ctrl-C: the first asks everything to end and keeps the state, the second ends everything."""

import os
import signal
import sys
import threading
from typing import Any

from nomad_csi_sandbox.engine import deployment

KILLED = 130
"""Exit code after the second Ctrl-C: 128 and the number of SIGINT."""


def install(job: deployment.Deployment) -> None:
    """Answer SIGINT and SIGTERM for as long as *job* runs."""

    def interrupted(_number: int, _frame: Any) -> None:
        if job.cancelled.is_set():
            job.snapshot.closed = True
            job.providers.kill()
            os._exit(KILLED)
        job.cancelled.set()
        threading.Thread(target=_cancel, args=(job,), daemon=True).start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupted)


def _cancel(job: deployment.Deployment) -> None:
    """Notify the operator and the providers. In a thread: the main one may hold any lock when a signal comes."""
    job.display.title("^C received; cancelling. If you would like to terminate immediately, press ^C again.")
    sys.stdout.flush()
    job.providers.cancel()
