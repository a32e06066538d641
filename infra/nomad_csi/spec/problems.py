"""Convert pydantic's errors to problems for the operator: path, value, allowed values, likely fix."""

import difflib
import re
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pydantic

from nomad_csi import errors
from nomad_csi.spec import base, plugin

SHOWN_LIMIT = 60
"""Characters of a value that a problem shows."""

SECRET_KEYS = frozenset({"secrets", "environment", "token", "config"})
"""Keys below which no value is ever shown."""

_OF_KEY = "[key]"
"""Marker of pydantic for an invalid key of a mapping, not its value."""


_ALLOWED = {
    "model_type": "a mapping",
    "string_too_short": "text",
    "too_short": "at least {min_length} item",
    "value_error": "{error}",
}
"""Allowed values by error code, where they do not follow pydantic's "Input should be"."""


def shown(value: Any) -> str:
    """Return *value* as short text: ``shown("a")`` is ``"'a'"``. The content of a mapping or list may be secret."""
    if value and isinstance(value, Mapping | list | tuple):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    if value is None:
        return "nothing"
    text = repr(value) if not isinstance(value, bool) else str(value).lower()
    return text if len(text) <= SHOWN_LIMIT else f"{text[: SHOWN_LIMIT - 3]}..."


def list_problems(
    error: pydantic.ValidationError, kind: type[pydantic.BaseModel], path: str, secrets: frozenset[str] = SECRET_KEYS
) -> Iterator[errors.Problem]:
    """Yield a problem for each error of a *kind*, with paths below *path*, and no value below a key in *secrets*."""
    items = error.errors(include_url=False)
    misspelt = [location for item in items if (location := _meant_location(item, kind))]
    for item in items:
        if item["type"] != "missing" or _written(item["loc"]) not in misspelt:
            yield _problem(item, kind, path, secrets)


def _meant_location(item: Any, kind: type[pydantic.BaseModel]) -> tuple[Any, ...] | None:
    """Return the location of the key that an unknown one probably means, which is then not missing."""
    *above, key = _written(item["loc"]) or ("",)
    is_unknown = item["type"] == "extra_forbidden"
    close = suggestion(str(key), sorted(base.fields_of(_kind_at(kind, tuple(above))))) if is_unknown else ""
    return (*above, close) if close else None


def _problem(item: Any, kind: type[pydantic.BaseModel], path: str, secrets: frozenset[str]) -> errors.Problem:
    location = _written(item["loc"])
    code, context = item["type"], item.get("ctx") or {}
    where = errors.path_of(path, location)
    hidden = bool(secrets.intersection(location)) or code == "json_invalid"
    got = "[secret]" if hidden else shown(item["input"])
    if code == "extra_forbidden":
        return _unknown_key(where, location, kind)
    if code == "missing":
        return errors.Problem(path=where, got="nothing", allowed="a value", fix=f"add {location[-1]}")
    if code == "rule":
        return errors.Problem(path=where, got=context["got"], allowed=context["allowed"])
    own = _ALLOWED.get(code)
    allowed = own.format(**context) if own else item["msg"].removeprefix("Input should be ")
    return errors.Problem(path=where, got=got, allowed=allowed)


def _written(location: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return *location* in the document, without pydantic's own steps."""
    return tuple(step for step in location if step not in (plugin.CATALOGUE, plugin.OWN, _OF_KEY))


def _unknown_key(where: str, location: tuple[Any, ...], kind: type[pydantic.BaseModel]) -> errors.Problem:
    inner, key = _kind_at(kind, location[:-1]), str(location[-1])
    known = sorted(base.fields_of(inner))
    return unknown_key(where, known, suggestion(key, known) or _below(key, inner))


def unknown_key(path: str, known: Iterable[str], close: str) -> errors.Problem:
    """Return the problem of an unknown key at *path*; *close* is the *known* key that is probably meant, if any."""
    if close:
        return errors.Problem(path=path, got="unknown key", allowed="", fix=f"did you mean {close}?")
    return errors.Problem(path=path, got="an unknown key", allowed=f"one of {', '.join(known)}", fix="remove it")


def suggestion(given: str, known: Iterable[str]) -> str:
    """Return the *known* name that *given* probably means: ``size_gib`` for ``sizeGib`` or ``size``; empty: none."""
    names = tuple(known)
    if (written := _snake_case(given)) in names:
        return written
    return next(iter(difflib.get_close_matches(written, names, n=1)), "")


def unknown_name(path: str, name: Any, known: Iterable[str], kind: str, fix: str) -> errors.Problem:
    """Return the problem of an unknown *name* of a *kind*, of which *known* ones are in the spec."""
    allowed = f"a {kind} of this spec: {', '.join(known) or 'there is none'}"
    return errors.Problem(path=path, got=shown(name), allowed=allowed, fix=fix)


def _snake_case(given: str) -> str:
    """Return ``availability_zone`` for ``availabilityZone``."""
    return re.sub(r"(?<=[a-z0-9])[A-Z]+", lambda match: f"_{match[0]}", given).replace("-", "_").lower()


def _below(given: str, kind: type[pydantic.BaseModel]) -> str:
    """Return the path of a key that is *given* one level too high: ``existing.external_id``; empty: none."""
    written, paths = _snake_case(given), []
    for name, field in base.fields_of(kind).items():
        inner = model_in(field.annotation)
        if inner and written in base.fields_of(inner):
            paths.append(f"{name}[].{written}" if "tuple[" in str(field.annotation) else f"{name}.{written}")
    return " or ".join(paths)


def _kind_at(kind: type[pydantic.BaseModel], location: tuple[Any, ...]) -> type[pydantic.BaseModel]:
    """Return the model at *location* of a *kind*."""
    for step in location:
        if isinstance(step, int):
            continue
        known = base.fields_of(kind)
        inner = model_in(known[step].annotation) if step in known else None
        if inner is None:
            break
        kind = inner
    return kind


def model_in(annotation: Any) -> type[pydantic.BaseModel] | None:
    """Return the model inside *annotation*, through unions, tuples and Annotated."""
    if typing.get_origin(annotation) is None and isinstance(annotation, type):
        return annotation if issubclass(annotation, pydantic.BaseModel) else None
    return next((model for part in typing.get_args(annotation) if (model := model_in(part))), None)
