"""
Expand storage classes and volume sets into single volumes.

``class: fast`` applies the preset ``classes.fast``, key by key; the volume's own keys override it. ``count: 3`` expands
the volume ``data`` to ``data[0]``, ``data[1]`` and ``data[2]``, for jobs with ``per_alloc``. ``each: [{...}, {...}]``
does so with keys of its own for each volume.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.spec import problems

COUNT_LIMIT = 1_000
"""Most volumes of one set."""

KEYS = frozenset({"class", "count", "each"})

OF_ONE = ("id", "moved_from")
"""Keys unique to a volume: not allowed in a class, and suffixed with an index in a set."""


def members(
    written: Any, path: str, classes: Mapping[str, Any], problem_list: list[errors.Problem]
) -> Iterator[tuple[str, Any]]:
    """Yield each volume of *written*, at *path*, with its own path; append problems to *problem_list*."""
    if not isinstance(written, Mapping):
        yield path, written
        return
    whole = {key: value for key, value in written.items() if key not in KEYS}
    if "class" in written:
        whole = _merged(_preset(written["class"], f"{path}.class", classes, problem_list), whole)
    each = _each(written, path, problem_list)
    if each and "each" not in written and _has_own_storage(whole) and len(each) > 1:
        allowed = "each instead of count: it gives every volume an external_id of its own"
        got = f"{len(each)} with one external_id"
        problem_list.append(errors.Problem(path=f"{path}.count", got=got, allowed=allowed))
        each = [{}]
    if each is None:
        yield path, whole
        return
    for index, own in enumerate(each):
        # An id that is not a string stays unchanged, and is refused with the rest.
        identified = {key: f"{whole[key]}[{index}]" for key in OF_ONE if isinstance(whole.get(key), str)}
        yield f"{path}.each[{index}]", _merged(whole, own) | identified


def _has_own_storage(whole: Mapping[str, Any]) -> bool:
    """Return whether a volume names storage that it shares with no other volume."""
    existing = whole.get("existing")
    return isinstance(existing, Mapping) and "external_id" in existing and not whole.get("shares_storage")


def check_classes(
    document: Mapping[str, Any], known: Mapping[str, Any], problem_list: list[errors.Problem]
) -> Mapping[str, Any]:
    """Return the presets of *document*; append keys that are not *known* keys of a volume to *problem_list*."""
    classes = document.get("classes", {})
    if not isinstance(classes, Mapping):
        problem_list.append(errors.Problem(path="classes", got=problems.shown(classes), allowed="a mapping"))
        return {}
    taken = sorted(set(known) - set(OF_ONE))
    sound: dict[str, dict[str, Any]] = {}
    for name, preset in classes.items():
        if not isinstance(preset, Mapping):
            path, allowed = f"classes.{name}", "a mapping, parts of a volume"
            problem_list.append(errors.Problem(path=path, got=problems.shown(preset), allowed=allowed))
            continue
        sound[name] = {key: value for key, value in preset.items() if key in taken}
        for key in (key for key in preset if key not in taken):
            close = "" if key in OF_ONE else problems.suggestion(str(key), known)
            problem_list.append(problems.unknown_key(f"classes.{name}.{key}", taken, close))
    return sound


def _preset(name: Any, path: str, classes: Mapping[str, Any], problem_list: list[errors.Problem]) -> Mapping[str, Any]:
    if isinstance(name, str) and name in classes:
        return classes[name]  # type: ignore[no-any-return]
    problem_list.append(problems.unknown_name(path, name, classes, "class", "add it under classes"))
    return {}


def _each(written: Mapping[str, Any], path: str, problem_list: list[errors.Problem]) -> list[Mapping[str, Any]] | None:
    """Return the own keys of each volume of a set; ``None`` where *written* is a single volume."""
    count, each = written.get("count"), written.get("each")
    if count is None and each is None:
        return None
    if count is not None and not (type(count) is int and 1 <= count <= COUNT_LIMIT):
        allowed = f"a whole number of 1 to {COUNT_LIMIT}"
        problem_list.append(errors.Problem(path=f"{path}.count", got=problems.shown(count), allowed=allowed))
        return [{}]
    if each is None:
        return [{}] * (count or 1)
    if not isinstance(each, list | tuple) or not each or not all(isinstance(own, Mapping) for own in each):
        allowed = "a list with a mapping for each volume"
        problem_list.append(errors.Problem(path=f"{path}.each", got=problems.shown(each), allowed=allowed))
        return [{}]
    if count not in (None, len(each)):
        allowed = f"{len(each)}, as many as there are in each, or no count"
        problem_list.append(errors.Problem(path=f"{path}.count", got=str(count), allowed=allowed))
    return list(each)


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return *under* overridden by *over*; mappings are merged key by key, other values are replaced."""
    both = dict(under)
    for key, value in over.items():
        below = both.get(key)
        both[key] = _merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return both
