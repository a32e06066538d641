"""Running the engine of the sandbox: `pulumi` where it is real, the emulator else. Same operations, same program."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from nomad_csi import errors
from nomad_csi_sandbox.session import folder, foreground, processes

INTERRUPTED = {"preview": "interrupted; nothing was changed"}
SAFE = "interrupted; it is safe to run it again"
"""What is said once after a Ctrl-C, by operation."""


def run(
    paths: folder.Folder,
    operation: str,
    environment: Mapping[str, str],
    *,
    real: bool,
    options: Sequence[str] = (),
    described: bool = False,
) -> int:
    """
    Run *operation* with its output passed through. Return its exit code.

    *options* are those of `pulumi`; *described*: that the engine is an emulator was printed already.
    """
    command = _real(paths, operation, environment) if real else _emulator(paths, operation)
    command += [*_options(operation), *options, *(["--no-banner"] if described and not real else [])]
    # Killed outright, pulumi leaves its providers running; by the mark `down` finds them.
    variables = dict(environment) | {processes.MARK: str(paths.project)}
    return foreground.run(command, variables, paths.project, interrupted=INTERRUPTED.get(operation, SAFE))


def outputs(paths: folder.Folder, environment: Mapping[str, str], *, real: bool) -> dict[str, Any]:
    """Return the stack's outputs."""
    found = _stack(paths, environment, real=real)
    return dict(found.get("outputs") or {})


def resources(paths: folder.Folder, environment: Mapping[str, str], *, real: bool) -> list[dict[str, Any]]:
    """Return the resources in the state, in the shape of ``pulumi stack export``; providers are left out."""
    if real:
        _make_stack(paths, environment)
        state = json.loads(_pulumi(["stack", "export", "--stack", folder.STACK], environment, paths.project))
    else:
        state = json.loads(paths.state.read_text()) if paths.state.exists() else {}
    found = (state.get("deployment") or {}).get("resources") or []
    return [resource for resource in found if not resource["type"].startswith("pulumi:providers:")]


def _stack(paths: folder.Folder, environment: Mapping[str, str], *, real: bool) -> Mapping[str, Any]:
    found = resources(paths, environment, real=real)
    return next((resource for resource in found if resource["type"] == "pulumi:pulumi:Stack"), {})


def _emulator(paths: folder.Folder, operation: str) -> list[str]:
    command = [sys.executable, "-m", "nomad_csi_sandbox.engine", operation, "--project", str(paths.project)]
    stack = ["--stack", folder.STACK, "--config-file", str(paths.engine_config)]
    return [*command, *stack, "--state", str(paths.state)]


def _real(paths: folder.Folder, operation: str, environment: Mapping[str, str]) -> list[str]:
    _make_stack(paths, environment)
    _forget_locks_of_the_dead(paths)
    answer = [] if operation == "preview" else ["--yes"]
    stack = ["--stack", folder.STACK, "--config-file", str(paths.engine_config)]
    return ["pulumi", operation, *stack, "--suppress-progress", *answer]


def _options(operation: str) -> list[str]:
    """Return what both engines are told. Creates of a killed run are forgotten: storage is found by its tags."""
    return ["--clear-pending-creates"] if operation == "refresh" else []


def _make_stack(paths: folder.Folder, environment: Mapping[str, str]) -> None:
    """
    Make the stack if it is not there.

    Pulumi writes the salt of a new stack beside the project file, and takes no other file for it (3.260): so a project
    of the same name in the sandbox's folder makes it, beside which is the config that the engine reads.
    """
    project = yaml.safe_load((paths.project / "Pulumi.yaml").read_text())
    own = yaml.safe_dump({"name": project["name"], "runtime": "python"})
    folder.write_private(paths.path / "Pulumi.yaml", own)
    _pulumi(["stack", "select", "--create", folder.STACK], environment, paths.path)


def _forget_locks_of_the_dead(paths: folder.Folder) -> None:
    """
    Remove the locks of pulumi processes that were killed: no one else works in the backend of a sandbox.

    Source: pulumi/pulumi, ``lockContent`` in ``pkg/backend/diy/lock.go``, 2026-08-21.
    """
    for lock in paths.backend.glob(".pulumi/locks/**/*.json"):
        pid = json.loads(lock.read_text())["pid"]
        if not processes.runs(pid):
            print(f"forgetting the lock of pulumi's process {pid}, which has ended", flush=True)
            lock.unlink()


def _pulumi(words: Sequence[str], environment: Mapping[str, str], cwd: Path) -> str:
    """Return what ``pulumi`` prints. Raises `errors.NomadCsiError` when it fails, or has gone from PATH."""
    command = ["pulumi", *words]
    try:
        done = subprocess.run(command, env=dict(environment), cwd=cwd, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        raise errors.NomadCsiError(
            "this sandbox was made with pulumi, which is not on PATH now; put it back, or take the sandbox down with it"
        ) from None
    if done.returncode:
        raise errors.NomadCsiError(f"pulumi {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
