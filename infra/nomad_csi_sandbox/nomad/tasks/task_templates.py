"""
The templates of a task: filled in before it starts, once what they need is there. Part of the Nomad emulator.

A change of a variable afterwards is not seen: the emulator never renders again.
Source: hashicorp/nomad, ``client/allocrunner/taskrunner/template/template.go``, 2026-08-21.
"""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nomad_csi_sandbox.nomad import state
from nomad_csi_sandbox.nomad.tasks import events, interpolate, task_env, template_text

Json = dict[str, Any]

LOOK_S = 0.1
"""How often it looks whether a missing variable is there by now."""


class TemplateError(Exception):
    """A template that can never be written; reads as a sentence."""


def write_all(
    place: task_env.TaskPlace, known: state.State, stopping: threading.Event, record: Callable[[Json], None]
) -> dict[str, str]:
    """
    Write the templates of a task, and return the variables that they add to its environment.

    Waits for Nomad variables that do not exist, and says so in one event; ends early when *stopping* is set.
    Raises `TemplateError`.
    """
    told: tuple[str, ...] = ()
    while not stopping.is_set():
        try:
            return _write_each(place, known)
        except template_text.MissingError as error:
            if error.paths != told:
                told = error.paths
                record(events.template_missing(told, place.job["Namespace"]))
        except template_text.UnplayedError as error:
            raise TemplateError(str(error)) from error
        stopping.wait(LOOK_S)
    return {}


def _write_each(place: task_env.TaskPlace, known: state.State) -> dict[str, str]:
    environment = task_env.environment(place)
    texts = [(template, _text(template, place, known, environment)) for template in place.task["Templates"] or []]
    found: dict[str, str] = {}
    for template, text in texts:
        target = _target(place, template, environment)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(int(template["Perms"] or "0644", 8))
        found |= template_text.environment_of(text) if template["Envvars"] else {}
    return found


def _text(template: Json, place: task_env.TaskPlace, known: state.State, environment: Mapping[str, str]) -> str:
    if template["SourcePath"]:
        raise TemplateError("the sandbox's Nomad emulator plays templates with data only, not with a source")

    def look(path: str) -> Mapping[str, str] | None:
        with known.lock:
            variable = known.variables.get((place.job["Namespace"], path))
            return None if variable is None else variable["Items"]

    return template_text.render(template["EmbeddedTmpl"], look, environment)


def _target(place: task_env.TaskPlace, template: Json, environment: Mapping[str, str]) -> Path:
    target = place.task_dir / interpolate.keep_unknown(template["DestPath"], environment)
    if not target.resolve().is_relative_to(place.alloc_dir.resolve()):
        raise TemplateError("template destination path escapes alloc directory")
    return target
