"""
Read a spec: each plugin and volume is checked separately, so that all problems are reported at once.

The form is the same in a YAML file and in Pulumi stack config. The same rules apply to a component's arguments.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pydantic
import yaml

from nomad_csi import errors
from nomad_csi.spec import expand, model, names, problems, yaml_text

ModelT = TypeVar("ModelT", bound=model.Model)
_YAML = "a YAML document"


_MEMBER = re.compile(r"(volumes\[(\d+)\])\.each\[\d+\]")
"""The path of a member of a set; the path and the index of the set."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The readable parts of a spec without its volumes, and the problems of the rest."""

    protect: bool = True
    snapshots: Mapping[str, model.SnapshotScheduleSpec] | None = None
    """Schedules by name; ``None`` where they could not be read."""

    file_systems: Mapping[str, model.FileSystemSpec] | None = None
    """File systems by name; ``None`` where they could not be read."""

    plugins: Mapping[str, model.PluginSpec] = field(default_factory=dict)
    """The valid plugins by their path in the document, such as ``plugins[0]``."""

    has_all_plugins: bool = False
    """Whether every plugin is valid."""

    problems: tuple[errors.Problem, ...] = ()


def read_yaml(text: str, source: str) -> Any:
    """Return the document in *text*. Raises `errors.SpecError` with line and column; a key given twice is refused."""
    try:
        return yaml_text.load(text)
    except ValueError as error:  # an invalid date or number
        problem = errors.Problem(path="", got=str(error), allowed=_YAML)
        raise errors.SpecError((problem,), source) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        position = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        message = str(getattr(error, "problem", "") or error).splitlines()[0]
        # Text that was parsed as an alias or a tag may be a secret.
        named = re.match(r"(.*?\b(?:alias|tag))\b", message)
        fix = "quote text that begins with * or !" if named else ""
        problem = errors.Problem(path=position, got=named[1] if named else message, allowed=_YAML, fix=fix)
        raise errors.SpecError((problem,), source) from None


def read(document: Any) -> Draft:
    """Return the draft of *document*: a mapping with ``plugins``, ``protect`` and ``file_systems``. Never raises."""
    if not isinstance(document, Mapping):
        got = problems.shown(document)
        allowed = "a mapping with plugins and volumes"
        return Draft(problems=(errors.Problem(path="", got=got, allowed=allowed),))
    problem_list: list[errors.Problem] = []
    written = dict(_listed(document, "plugins", problem_list))
    plugins = {path: check(model.PluginSpec, item, path, problem_list) for path, item in written.items()}
    head = {key: value for key, value in document.items() if key not in ("plugins", "volumes", "classes")}
    top = check(model.StorageSpec, head, "", problem_list)
    return Draft(
        protect=top.protect if top else True,
        snapshots=top.snapshots if top else None,
        file_systems=top.file_systems if top else None,
        plugins={path: plugin for path, plugin in plugins.items() if plugin},
        has_all_plugins=None not in plugins.values() and isinstance(document.get("plugins", []), list | tuple),
        problems=tuple(problem_list),
    )


def fold_sets(problem_list: Iterable[errors.Problem], document: Mapping[str, Any]) -> tuple[errors.Problem, ...]:
    """
    Return *problem_list*, those of *document*, one for each mistake in a set: that of its first volume.

    A set by ``count`` has one path.
    """
    folded: dict[errors.Problem, errors.Problem] = {}
    for problem in problem_list:
        member = _MEMBER.match(problem.path)
        if not member:
            folded[problem] = problem
            continue
        of_set = dataclasses.replace(problem, path=f"{member[1]}{problem.path[member.end() :]}")
        is_counted = "each" not in document["volumes"][int(member[2])]
        folded.setdefault(of_set, of_set if is_counted else problem)
    return tuple(folded.values())


def ids(document: Any) -> dict[str, str]:
    """Return the ids of the plugins and volumes of *document* by path, ``NAMESPACE/ID`` outside of ``default``."""
    by_path = {}
    for key, pattern in (("plugins", names.PLUGIN_ID), ("volumes", names.VOLUME_ID)):
        items = document.get(key) if isinstance(document, Mapping) else None
        for index, item in enumerate(items if isinstance(items, list | tuple) else ()):
            given = item.get("id") if isinstance(item, Mapping) else None
            if isinstance(given, str) and pattern.fullmatch(given):
                namespace = item.get("namespace") if key == "volumes" else None
                is_other = (
                    isinstance(namespace, str) and namespace != "default" and names.NAMESPACE.fullmatch(namespace)
                )
                by_path[f"{key}[{index}]"] = f"{namespace}/{given}" if is_other else given
    return by_path


def each_volume(
    document: Mapping[str, Any], problem_list: list[errors.Problem]
) -> Iterator[tuple[str, model.VolumeSpec | None]]:
    """Yield each volume of *document* with its path; ``None`` for an invalid one, its problems in *problem_list*."""
    for path, item in members(document, problem_list):
        yield path, check(model.VolumeSpec, item, path, problem_list)


def members(document: Mapping[str, Any], problem_list: list[errors.Problem]) -> Iterator[tuple[str, Any]]:
    """
    Yield the path and the keys of each volume of *document*, members of sets included, with the keys of its class.

    Problems of classes and sets are appended to *problem_list*.
    """
    classes = expand.check_classes(document, model.VolumeSpec.model_fields, problem_list)
    for path, written in _listed(document, "volumes", problem_list):
        yield from expand.members(written, path, classes, problem_list)


def check(kind: type[ModelT], value: Any, path: str, problem_list: list[errors.Problem]) -> ModelT | None:
    """Return *value* as a *kind*; if it is invalid, append its problems, with paths below *path*, to *problem_list*."""
    try:
        return _validated(kind, value)
    except pydantic.ValidationError as error:
        problem_list.extend(problems.list_problems(error, kind, path))
    except (TypeError, ValueError) as error:
        allowed = "text, numbers, booleans, lists and mappings"
        problem_list.append(errors.Problem(path=path, got=str(error), allowed=allowed))
    return None


def _validated(kind: type[ModelT], value: Any) -> ModelT:
    # Through JSON: strict about types, and a list stays a list.
    return kind.model_validate_json(json.dumps(value))


def _listed(document: Mapping[str, Any], key: str, problem_list: list[errors.Problem]) -> Iterator[tuple[str, Any]]:
    """Yield the items of the list *key*, each with its path."""
    items = document.get(key, [])
    if not isinstance(items, list | tuple):
        problem_list.append(errors.Problem(path=key, got=problems.shown(items), allowed="a list"))
        return
    for index, item in enumerate(items):
        yield f"{key}[{index}]", item
