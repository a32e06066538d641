"""
The file of a stack's config, which says what of it is encrypted; what Pulumi hands to a program does not.

Source: pulumi/pulumi, ``ProjectStackPath`` in ``sdk/go/common/workspace/paths.go`` and
``declareFlagsAsEnvironmentVariables`` in ``pkg/cmd/pulumi/pulumi.go``, 2026-08-21.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.spec import draft, encrypted, yaml_text

OPTION = "PULUMI_OPTION_CONFIG_FILE"
"""Stands for ``--config-file`` of Pulumi's commands, which tell a program nothing of that option itself."""

SOURCE = "NOMAD_CSI_CONFIG_SOURCE"
"""Names the file that people edit where a tool writes the one that Pulumi reads, as the sandbox does."""

_PROJECT = "Pulumi"
_SUFFIXES = (".yaml", ".yml", ".json")


def path_of(root: Path, stack: str, environment: Mapping[str, str]) -> Path:
    """Return the file that holds the config of *stack*; *root* is the folder of the project file."""
    if given := environment.get(OPTION):
        from_there = Path(environment.get("PWD", ""), given)  # where the command was typed, as far as that is known
        return from_there if from_there.is_file() else root / given
    project = next((file for suffix in _SUFFIXES if (file := root / f"{_PROJECT}{suffix}").is_file()), None)
    if project is None:
        return root / f"{_PROJECT}.{stack}.yaml"
    document = _read(project)
    folder = document.get("stackConfigDir") or document.get("config")  # the second was the name of the first
    return root / (folder if isinstance(folder, str) else "") / f"{_PROJECT}.{stack}{project.suffix}"


def marked(known: Any, path: Path, key: str) -> Any:
    """
    Return *known*, the value of the config *key* as Pulumi decrypted it, with its encrypted texts marked as such.

    *path* is the file of the stack's config; *key* is written as ``project:name``. Raises `errors.SpecError` where the
    file does not say what is encrypted.
    """
    held = _config(path)
    written = held.get(key, held.get(key.partition(":")[2]))
    if isinstance(written, Mapping) and not encrypted.is_secure(written):
        return encrypted.found(known, written)
    got = "an encrypted value" if written else f"a value with encrypted texts, and no {key} in {path} that says which"
    allowed = "the spec in the file of the stack's config, with only its secrets encrypted"
    fix = "encrypt them one by one: `pulumi config set --secret --path`"
    if not written:
        fix = f"where --config-file names another file, name it by the variable {OPTION} instead"
    raise errors.SpecError((errors.Problem(path="", got=got, allowed=allowed, fix=fix),), key)


def located(
    error: errors.SpecError, known: Any, path: Path, key: str, environment: Mapping[str, str]
) -> errors.SpecError:
    """
    Return *error*, of the spec *known* below the config *key*, with its lines in the file *path*.

    Without lines where the file holds another spec, as it does where ``--config-file`` names another file, or where a
    part of it is encrypted.
    """
    held = _config(path)
    name = next((name for name in (key, key.partition(":")[2]) if name in held), None)
    if name is None or held[name] != known:
        return error
    written = Path(environment.get(SOURCE, path))
    places = {problem: f"config.{name}.{problem.path}" for problem in error.problems}
    lines = yaml_text.lines_of(written.read_text(encoding="utf-8"), places.values())
    problems = tuple(
        dataclasses.replace(problem, path=": ".join(filter(None, (f"line {lines[place]}", problem.path))))
        for problem, place in sorted(places.items(), key=lambda item: lines[item[1]])
    )
    return errors.SpecError(problems, f"{key} in {written.name}", error.ids)


def _config(path: Path) -> Mapping[str, Any]:
    """Return the config in the file *path*; empty where it holds none, or is not there."""
    config = _read(path).get("config") if path.is_file() else None
    return config if isinstance(config, Mapping) else {}


def _read(path: Path) -> Mapping[str, Any]:
    document = draft.read_yaml(path.read_text(encoding="utf-8"), str(path))
    return document if isinstance(document, Mapping) else {}
