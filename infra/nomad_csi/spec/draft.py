"""
Read a spec: each plugin and volume is checked separately, so that all problems are reported at once.

The form is the same in a YAML file and in Pulumi stack config. The same rules apply to a component's arguments.
"""

import copy
import dataclasses
import functools
import json
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pydantic
import yaml

from nomad_csi import errors
from nomad_csi.spec import expand, model, names, problems, yaml_text

ModelT = TypeVar("ModelT", bound=model.Model)


_MEMBER = re.compile(r"(volumes\[\d+\])\.each\[\d+\]")
"""The path of a member of a set."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The readable parts of a spec, and the problems of the rest."""

    protect: bool = True
    snapshots: Mapping[str, model.SnapshotScheduleSpec] | None = field(default_factory=dict)
    """Schedules by name; ``None`` where they could not be read."""

    file_systems: Mapping[str, model.FileSystemSpec] | None = field(default_factory=dict)
    """File systems by name; ``None`` where they could not be read."""

    plugins: Mapping[str, model.PluginSpec] = field(default_factory=dict)
    """Plugins by their path in the document, such as ``plugins[0]``; invalid ones as far as they could be repaired."""

    volumes: Mapping[str, model.VolumeSpec] = field(default_factory=dict)
    """Volumes by their path; members of a set by the set's path and ``.each[0]``."""

    written: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    """The same plugins and volumes as written, with the presets of their classes."""

    guessed: frozenset[str] = frozenset()
    """
    Paths of items with problems other than misspelt keys. Placeholders replace the invalid parts, only to find further
    problems.
    """

    replaced: tuple[str, ...] = ()
    """Paths of parts that are placeholders as a whole: problems that a rule finds there are meaningless."""

    problems: tuple[errors.Problem, ...] = ()


def read_yaml(text: str, source: str) -> Any:
    """Return the document in *text*. Raises `errors.SpecError` with line and column; a key given twice is refused."""
    try:
        return yaml_text.load(text)
    except ValueError as error:  # an invalid date or number
        raise errors.SpecError((_yaml_problem("", str(error)),), source) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        message = str(getattr(error, "problem", "") or error).splitlines()[0]
        raise errors.SpecError((_yaml_problem(place, message),), source) from None


_PLAIN = {
    "expected <block end>, but found": (
        "a line with another indentation than its list or mapping",
        "align it with the lines above",
    ),
    "mapping values are not allowed": ("a ':' where no key can be", "quote the value, or check the indentation"),
    "could not find expected ':'": ("a line without ':'", "write KEY: VALUE"),
    "expected ',' or '}'": ("a '{' without its '}'", "close it in the lines above"),
    "expected ',' or ']'": ("a '[' without its ']'", "close it in the lines above"),
    "found character '\\t'": ("a tab", "indent with spaces"),
}
"""Prefix of a PyYAML message -> the message in the user's terms, and the fix."""


def _yaml_problem(place: str, message: str) -> errors.Problem:
    """Return the problem for a YAML *message*, without a value that was parsed as an alias or a tag: maybe a secret."""
    named = re.match(r"(.*\b(?:alias|tag)) ['\"]", message)
    if named is None:
        got, fix = next((plain for begin, plain in _PLAIN.items() if message.startswith(begin)), (message, ""))
        return errors.Problem(path=place, got=got, allowed="a YAML document", fix=fix)
    return errors.Problem(path=place, got=named[1], allowed="a YAML document", fix="quote text that begins with * or !")


def read(document: Any) -> Draft:
    """Return the draft of *document*: a mapping with ``plugins``, ``volumes`` and ``protect``. Never raises."""
    if not isinstance(document, Mapping):
        got = problems.shown(document)
        allowed = "a mapping with plugins and volumes"
        return Draft(problems=(errors.Problem(path="", got=got, allowed=allowed),))
    found: list[errors.Problem] = []
    plugins = dict(_listed(document, "plugins", found))
    volumes = dict(_members(document, found))
    guessed: set[str] = set()
    replaced: list[str] = []
    head = {key: value for key, value in document.items() if key not in ("plugins", "volumes", "classes")}
    top = check(model.StorageSpec, head, "", found)
    return Draft(
        protect=top.protect if top else True,
        snapshots=top.snapshots if top else None,
        file_systems=top.file_systems if top else None,
        plugins=_items(plugins, model.PluginSpec, found, guessed, replaced),
        volumes=_items(volumes, model.VolumeSpec, found, guessed, replaced),
        written={path: item for path, item in {**plugins, **volumes}.items() if isinstance(item, Mapping)},
        guessed=frozenset(guessed),
        replaced=tuple(replaced),
        problems=tuple(found),
    )


def fold_counted(found: Iterable[errors.Problem], document: Any) -> tuple[errors.Problem, ...]:
    """Return the problems *found* with their paths in *document*, each once: a set by ``count`` has one path."""
    listed = document.get("volumes") if isinstance(document, Mapping) else None
    sets = {
        f"volumes[{index}]"
        for index, item in enumerate(listed if isinstance(listed, list | tuple) else ())
        if isinstance(item, Mapping) and "each" not in item
    }

    def placed(problem: errors.Problem) -> errors.Problem:
        member = _MEMBER.match(problem.path)
        if not member or member[1] not in sets:
            return problem
        return dataclasses.replace(problem, path=f"{member[1]}{problem.path[member.end() :]}")

    return tuple(dict.fromkeys(map(placed, found)))


def ids(document: Any) -> dict[str, str]:
    """Return the ids of the plugins and volumes of *document* by path, ``NAMESPACE/ID`` outside of ``default``."""
    found = {}
    for key, pattern in (("plugins", names.PLUGIN_ID), ("volumes", names.VOLUME_ID)):
        items = document.get(key) if isinstance(document, Mapping) else None
        for index, item in enumerate(items if isinstance(items, list | tuple) else ()):
            given = item.get("id") if isinstance(item, Mapping) else None
            if isinstance(given, str) and pattern.fullmatch(given):
                namespace = item.get("namespace") if key == "volumes" else None
                is_other = (
                    isinstance(namespace, str) and namespace != "default" and names.NAMESPACE.fullmatch(namespace)
                )
                found[f"{key}[{index}]"] = f"{namespace}/{given}" if is_other else given
    return found


def volume_keys(document: Any) -> Iterator[tuple[str, str]]:
    """Yield namespace and id of each volume of *document*, members of sets included; volumes without id are skipped."""
    for _, item in _members(document if isinstance(document, Mapping) else {}, []):
        found = item if isinstance(item, Mapping) else {}
        key = f"{found.get('namespace', 'default')}/{found.get('id')}"
        if isinstance(found.get("id"), str) and names.VOLUME_KEY.fullmatch(key):
            namespace, _, volume_id = key.partition("/")
            yield namespace, volume_id


def each_volume(
    document: Mapping[str, Any], found: list[errors.Problem]
) -> Iterator[tuple[str, model.VolumeSpec | None]]:
    """Yield each volume of *document* with its path; ``None`` for an invalid one, with its problems in *found*."""
    for path, item in _members(document, found):
        yield path, check(model.VolumeSpec, item, path, found)


def members(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each volume of a sound *document* as written, with the keys of its class, and its path."""
    yield from _members(document, [])


def _members(document: Mapping[str, Any], found: list[errors.Problem]) -> Iterator[tuple[str, Any]]:
    """Yield each volume of *document*, members of sets included, with its path and the keys of its class."""
    classes = expand.check_classes(document, model.VolumeSpec.model_fields, found)
    for path, written in _listed(document, "volumes", found):
        yield from expand.members(written, path, classes, found)


def check(kind: type[ModelT], value: Any, path: str, found: list[errors.Problem]) -> ModelT | None:
    """
    Return *value* as a *kind*; if it is invalid, append its problems, with paths below *path*, to *found*.

    A misspelt key is one problem; further problems are found as if it were spelt correctly.
    """
    try:
        return _validated(kind, value)
    except pydantic.ValidationError as error:
        respelt, known = _respelt(kind, value, error)
        if halves := tuple(problems.half_characters(value, path)):
            found.extend(halves)
        elif known:
            misspelt = {errors.path_of(path, location) for location in known}
            found.extend(item for item in problems.list_problems(error, kind, path) if item.path in misspelt)
            check(kind, respelt, path, found)
        else:
            found.extend(problems.list_problems(error, kind, path))
    except (TypeError, ValueError) as error:
        found.append(errors.Problem(path=path, got=str(error), allowed="text, numbers, booleans, lists and mappings"))
    return None


def _respelt(kind: type[ModelT], value: Any, error: pydantic.ValidationError) -> tuple[Any, list[tuple[Any, ...]]]:
    """Return *value* with the misspelt keys in *error* corrected, and their locations."""
    respelt, known = copy.deepcopy(value), []
    for location, meant in problems.misspelt(error, kind):
        *above, key = location
        holder = functools.reduce(operator.getitem, above, respelt)
        if meant not in holder:
            holder[meant] = holder.pop(key)
            known.append(location)
    return respelt, known


def _validated(kind: type[ModelT], value: Any) -> ModelT:
    # Through JSON: strict about types, and a list stays a list.
    return kind.model_validate_json(json.dumps(value))


def _listed(document: Mapping[str, Any], key: str, found: list[errors.Problem]) -> Iterator[tuple[str, Any]]:
    """Yield the items of the list *key*, each with its path."""
    items = document.get(key, [])
    if not isinstance(items, list | tuple):
        found.append(errors.Problem(path=key, got=problems.shown(items), allowed="a list"))
        return
    for index, item in enumerate(items):
        yield f"{key}[{index}]", item


def _items(
    items: Mapping[str, Any],
    kind: type[ModelT],
    found: list[errors.Problem],
    guessed: set[str],
    replaced: list[str],
) -> dict[str, ModelT]:
    """Return *items* by path: valid ones, and invalid ones as far as `_repaired` can repair them."""
    checked = {path: _member(kind, item, path, found) for path, item in items.items()}
    for path in [path for path, value in checked.items() if value is None]:
        checked[path] = _repaired(kind, items[path], path, guessed, replaced)
    return {path: value for path, value in checked.items() if value is not None}


def _member(kind: type[ModelT], item: Any, path: str, found: list[errors.Problem]) -> ModelT | None:
    """Do as `check`, but report a problem of all members of a set only for the first one."""
    own: list[errors.Problem] = []
    value = check(kind, item, path, own)
    first, is_set, index = path.rpartition(".each[")
    if is_set and index != "0]":
        reported = {(problem.path.removeprefix(f"{first}.each[0]"), problem.got) for problem in found}
        own = [problem for problem in own if (problem.path.removeprefix(path), problem.got) not in reported]
    found.extend(own)
    return value


_PLACEHOLDERS = {"id": "known-later", "aws_region": "us-east-1", "availability_zone": "us-east-1a"}
"""Placeholders for invalid required values. Other keys have a default, or cannot be checked without a value."""

_SOURCES: Mapping[str, Any] = {
    "ebs": {"availability_zone": "us-east-1a", "size_gib": 125},
    "efs": {
        "mount_targets": [{"availability_zone": "us-east-1a"}],
        "clients": {"cidr_blocks": ["192.0.2.0/24"]},
    },
    "existing": {"external_id": ""},
    "create": {"capacity_min_gib": 1},
}
"""Placeholder sources of a volume, for a source that cannot be repaired."""


def _repaired(kind: type[ModelT], value: Any, path: str, guessed: set[str], replaced: list[str]) -> ModelT | None:
    """
    Return *value*, at *path*, without its invalid parts; ``None`` where too little would remain.

    Text is converted to the number or boolean that is required, and a misspelt key is corrected. Where other repairs
    are needed, *path* is added to *guessed*. The path of each part that is a placeholder as a whole, which rules must
    not report, is appended to *replaced*.
    """
    rest = copy.deepcopy(value)
    parts: list[str] = []
    for attempt in (None, _repair, _replace, None):
        try:
            mended = _validated(kind, rest)
            if attempt is not _repair:
                guessed.add(path)
        except pydantic.ValidationError as error:
            if attempt:
                parts += attempt(rest, error)
            else:
                rest, _ = _respelt(kind, rest, error)
        except (TypeError, ValueError):
            return None
        else:
            replaced += [f"{path}.{name}" for name in parts]
            return mended
    return None


def _repair(value: Any, error: pydantic.ValidationError) -> list[str]:
    """Repair, replace or remove each invalid part of *value*. Return the replaced sources."""
    found = error.errors(include_url=False)
    for item in reversed(found):
        _drop(value, item["loc"], _meant(item["type"], item["input"]))
    return [item["loc"][0] for item in found if len(item["loc"]) == 1 and item["loc"][0] in _SOURCES]  # type: ignore[misc]


def _replace(value: Any, error: pydantic.ValidationError) -> list[str]:
    """Replace or remove each part of *value* that is still invalid. Return these parts."""
    names = [str(item["loc"][0]) for item in error.errors(include_url=False) if item["loc"]]
    for name in names if isinstance(value, dict) else ():
        value.pop(name, None)
        if name in _SOURCES:
            value[name] = _SOURCES[name]
    return names


def _meant(code: str, value: Any) -> Any:
    """Return the number or boolean in the text *value*, where an error *code* requires one; else ``None``."""
    if not isinstance(value, str):
        return None
    if code.startswith("int_") and re.fullmatch(r"\d{1,9}", value):
        return int(value)
    return {"true": True, "false": False}.get(value.lower()) if code.startswith("bool_") else None


def _drop(value: Any, location: Sequence[Any], meant: Any) -> None:
    """Replace the value at *location* of *value* with *meant* or a placeholder, or remove it."""
    for step in location[:-1]:
        value = value[step] if isinstance(value, list) or step in value else {}
    if location and meant is not None:
        value[location[-1]] = meant
    elif location and location[-1] in _PLACEHOLDERS:
        value[location[-1]] = _PLACEHOLDERS[location[-1]]
    elif len(location) == 1 and location[0] in _SOURCES:
        value[location[0]] = _SOURCES[location[0]]
    elif location and isinstance(value, dict):
        value.pop(location[-1], None)
