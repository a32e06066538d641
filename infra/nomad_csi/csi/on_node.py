"""
Probe all plugins on this machine: each socket in the client's plugin folder, concurrently.

Nomad keeps a plugin's socket at ``<state_dir>/csi/plugins/<alloc_id>/csi.sock``; only root may enter the folders.
Source: hashicorp/nomad, ``client/allocrunner/taskrunner/plugin_supervisor_hook.go``, 2026-08-21.
"""

import functools
import time
from collections.abc import Mapping
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.csi import endpoint, probe, report, validation

SOCKET = "csi.sock"


@dataclass(frozen=True, kw_only=True)
class Answers:
    """Probe results of the plugins on one machine."""

    folder: str
    problem: str = ""
    """Why the folder could not be read; empty: it was."""

    reports: Mapping[str, report.ProbeReport] = field(default_factory=dict)
    """By allocation id."""

    validated: Mapping[str, Mapping[validation.Key, validation.Validated]] = field(default_factory=dict)
    """Controllers' validation results of volumes, by allocation id; only of ready controllers with a task."""

    @property
    def all_ready(self) -> bool:
        """Whether every plugin on this machine is ready, and all could be probed."""
        return not self.problem and all(found.ready for found in self.reports.values())

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `json.dumps`."""
        reports = {alloc_id: found.as_json() for alloc_id, found in self.reports.items()}
        document = {"folder": self.folder, "problem": self.problem, "reports": reports}
        wrong = {alloc_id: validation.wrong_as_json(found) for alloc_id, found in self.validated.items()}
        return document | ({"validated": wrong} if wrong else {})

    def as_lines(self) -> list[str]:
        """Return a line for each plugin, and one for a problem."""
        lines = [found.as_line() for found in self.reports.values()]
        if self.problem:
            return [*lines, f"{self.folder}: {self.problem}"]
        return lines or [f"{self.folder}: no plugin runs here"]


_NOTHING = validation.ValidationTask(seconds=0.0, by_allocation={})


def ask_all(folder: Path, *, timeout_s: float = 5.0, volumes: validation.ValidationTask = _NOTHING) -> Answers:
    """
    Probe every plugin whose socket is in *folder*; a failure of one is a result.

    *timeout_s* is the limit for all requests to all plugins together, which run concurrently, and for each of the
    *volumes* that their controllers validate. With more plugins than `probe.AT_ONCE`, later ones have
    the rest of it, and at least half of it.

    A folder without plugins gives no reports, and is no problem.
    """
    resolved = folder.resolve()  # links and ".." count against the 107 bytes of a socket's path
    try:
        sockets = {path.name: path / SOCKET for path in sorted(resolved.iterdir())}
    except FileNotFoundError:
        return Answers(folder=str(resolved), problem=_absent(resolved))
    except NotADirectoryError:
        return Answers(folder=str(resolved), problem="it is no folder; name the one that holds a folder per allocation")
    except PermissionError:
        return Answers(folder=str(resolved), problem=f"no permission to read there; {_AS_ROOT}")
    until = time.monotonic() + timeout_s
    with futures.ThreadPoolExecutor(probe.AT_ONCE) as pool:
        found = list(pool.map(functools.partial(_ask, until=until, timeout_s=timeout_s), sockets.values()))
    reports = dict(zip(sockets, found, strict=True))
    asked = {
        alloc_id: validation.ask(str(sockets[alloc_id]), questions, timeout_s=timeout_s, seconds=volumes.seconds)
        for alloc_id, questions in volumes.by_allocation.items()
        if alloc_id in reports and reports[alloc_id].ready and reports[alloc_id].controller_capabilities is not None
    }
    return Answers(folder=str(resolved), reports=reports, validated=asked)


_AS_ROOT = "run as root: Nomad keeps the sockets of plugins in folders that only root may enter"


def _absent(resolved: Path) -> str:
    """Return what a missing folder means: a client creates it with its first plugin, below its own state folder."""
    if resolved.parent.name == "csi" and resolved.parent.parent.is_dir():
        return ""
    return "there is no such folder; it is STATE_DIR/csi/plugins, with the client's state_dir, or else DATA_DIR/client"


def _ask(socket: Path, *, until: float, timeout_s: float) -> report.ProbeReport:
    """Probe one plugin until the common deadline *until* on the monotonic clock, at least for half of *timeout_s*."""
    try:
        endpoint.parse(str(socket))
    except errors.CsiError as error:
        detail = f"{error.message}; {error.advice}"
        return report.ProbeReport(endpoint=str(socket), status="error", detail=detail, latency_ms=0.0)
    return probe.probe_until(str(socket), until=until, timeout_s=timeout_s)
