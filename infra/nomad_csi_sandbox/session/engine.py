"""Running the engine of the sandbox: `pulumi` where it is real, the stand-in else. Same operations, same program."""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import yaml

from nomad_csi import errors
from nomad_csi_sandbox.session import folder, foreground


def run(place: folder.Folder, operation: str, environment: Mapping[str, str], *, real: bool) -> int:
    """Run *operation* with its output passed through. Return its exit code."""
    command = _real(place, operation, environment) if real else _stand_in(place, operation)
    return foreground.run(command, environment, place.project)


def outputs(place: folder.Folder, environment: Mapping[str, str], *, real: bool) -> dict[str, Any]:
    """Return the stack's outputs."""
    found = _stack(place, environment, real=real)
    return dict(found.get("outputs") or {})


def resources(place: folder.Folder, environment: Mapping[str, str], *, real: bool) -> list[dict[str, Any]]:
    """Return the resources in the state, in the shape of ``pulumi stack export``; providers are left out."""
    if real:
        _make_stack(place, environment)
        command = ["pulumi", "stack", "export", "--stack", folder.STACK]
        done = subprocess.run(command, env=dict(environment), cwd=place.project, check=True, capture_output=True)
        state = json.loads(done.stdout)
    else:
        state = json.loads(place.state.read_text()) if place.state.exists() else {}
    found = (state.get("deployment") or {}).get("resources") or []
    return [resource for resource in found if not resource["type"].startswith("pulumi:providers:")]


def _stack(place: folder.Folder, environment: Mapping[str, str], *, real: bool) -> Mapping[str, Any]:
    found = resources(place, environment, real=real)
    return next((resource for resource in found if resource["type"] == "pulumi:pulumi:Stack"), {})


def _stand_in(place: folder.Folder, operation: str) -> list[str]:
    command = [sys.executable, "-m", "nomad_csi_sandbox.engine", operation, "--project", str(place.project)]
    stack = ["--stack", folder.STACK, "--config-file", str(place.engine_config)]
    return [*command, *stack, "--state", str(place.state), *_options(operation)]


def _real(place: folder.Folder, operation: str, environment: Mapping[str, str]) -> list[str]:
    _make_stack(place, environment)
    answer = [] if operation == "preview" else ["--yes"]
    return [
        "pulumi",
        operation,
        "--stack",
        folder.STACK,
        "--config-file",
        str(place.engine_config),
        *answer,
        *_options(operation),
    ]


def _options(operation: str) -> list[str]:
    """Return what both engines are told. Creates of a killed run are forgotten: storage is found by its tags."""
    return ["--clear-pending-creates"] if operation == "refresh" else []


def _make_stack(place: folder.Folder, environment: Mapping[str, str]) -> None:
    """
    Make the stack if it is not there. Raises `errors.NomadCsiError` when `pulumi` has gone from PATH.

    Pulumi writes the salt of a new stack beside the project file, and takes no other file for it (3.260): so a project
    of the same name in the sandbox's folder makes it, beside which is the config that the engine reads.
    """
    project = yaml.safe_load((place.project / "Pulumi.yaml").read_text())
    (place.path / "Pulumi.yaml").write_text(yaml.safe_dump({"name": project["name"], "runtime": "python"}))
    command = ["pulumi", "stack", "select", "--create", folder.STACK]
    try:
        subprocess.run(command, env=dict(environment), cwd=place.path, check=True, stdout=subprocess.DEVNULL)
    except FileNotFoundError:
        raise errors.NomadCsiError(
            "this sandbox was made with pulumi, which is not on PATH now; put it back, or take the sandbox down with it"
        ) from None
