"""
The Pulumi program, run in this process as the language host would run it in another.

Source: pulumi/pulumi, ``sdk/python/cmd/pulumi-language-python-exec``.
"""

import asyncio
import contextlib
import io
import logging
import os
import runpy
import sys
import traceback
from concurrent import futures
from pathlib import Path
from typing import Any

import pulumi
from pulumi import runtime

from nomad_csi_sandbox.engine import deployment, monitor, service

SHOWN_ALREADY = 32
"""The exit code by which a program says that it has told what is wrong (``pulumi.log.error``)."""

EXITED = "an unhandled error occurred: program exited with non-zero exit code: "
"""How the engine reports another code (seen of pulumi 3.260, 2026-11-28)."""

WORKERS = 64
"""Threads for the SDK's calls: waiting steps shall not keep registrations from being heard."""


def run(run: deployment.Deployment, engine: service.Engine) -> None:
    """Run the program. What goes wrong in it is told through *run*; returns when all steps are done."""
    runtime.set_all_config(dict(run.project.config), list(run.project.secret_keys))
    settings: Any = {
        "project": run.project.name,
        "stack": run.project.stack,
        "monitor": monitor.Monitor(run),
        "engine": engine,
        "parallel": run.parallel,
        "dry_run": run.dry,
        "organization": "organization",
        "root_directory": str(run.project.root),
    }
    runtime.configure(runtime.Settings(**settings))
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # the SDK leaves tasks behind when it stops early
    os.chdir(run.project.program)
    loop = asyncio.new_event_loop()
    try:
        with futures.ThreadPoolExecutor(WORKERS) as workers, contextlib.redirect_stdout(_Lines(engine)):
            _run(run, loop, workers)
    finally:
        loop.close()


def _run(run: deployment.Deployment, loop: asyncio.AbstractEventLoop, workers: futures.ThreadPoolExecutor) -> None:
    loop.set_default_executor(workers)
    entry = run.project.program
    try:
        loop.run_until_complete(runtime.run_in_stack(lambda: _ignore(runpy.run_path(str(entry), run_name="__main__"))))
    except pulumi.RunError as error:
        # The SDK logs it and exits with 1; the engine reports that, too.
        _tell(run, str(error), f"{EXITED}1")
    except SystemExit as error:
        if error.code not in (None, 0, SHOWN_ALREADY):
            if isinstance(error.code, str):  # Python prints it and exits with 1
                print(error.code)
            _tell(run, f"{EXITED}{error.code if isinstance(error.code, int) else 1}")
        elif error.code == SHOWN_ALREADY:
            run.halted.set()
    except Exception:  # noqa: BLE001  # whatever a program raises is shown and ends the run
        _tell(run, f"Program failed with an unhandled exception:\n{_own_trace(entry)}")


def _ignore(_globals: dict[str, Any]) -> None:
    """Return nothing: the globals of the program are no coroutine to wait for."""


def _tell(run: deployment.Deployment, *messages: str) -> None:
    """Report *messages*, unless the run has come to its end already: then they are only an echo of that."""
    if not run.stopped:
        for message in messages:
            run.fail("same", "", message)


def _own_trace(entry: Path) -> str:
    """Return the traceback from the program on: what leads to it is ours and the SDK's."""
    kind, error, trace = sys.exc_info()
    frames = traceback.extract_tb(trace)
    last = len(frames) - 1
    first = next((index for index, frame in enumerate(frames) if Path(frame.filename).parent == entry), last)
    return "".join(traceback.format_exception(kind, error, trace, limit=first - len(frames))).rstrip()


class _Lines(io.TextIOBase):
    """Takes what a program prints, and shows it line by line at the stack."""

    def __init__(self, engine: service.Engine) -> None:
        self._engine = engine
        self._rest = ""

    def write(self, text: str) -> int:
        """Show the lines that *text* completes."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if line:
                pulumi.log.info(line)
        return len(text)
