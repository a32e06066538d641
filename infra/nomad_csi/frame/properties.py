"""
Properties of custom resources, declared once for `check` and for the package schema.

Values are JSON values; `UNKNOWN` is accepted wherever a value is.
"""

import difflib
import functools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Literal

from nomad_csi.spec import names

# Property paths as Pulumi writes them: ``a.b``, ``a[0]``, ``a["b.c"]``.
#
# Source: pulumi/pulumi, ``sdk/go/common/resource/property_path.go``, ``ParsePropertyPath``.


_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_FIRST_NAME = re.compile(r"[^.\[]*")


def join_path(path: str, step: str | int) -> str:
    """Return the path of *step* below *path*: ``join("a", "b.c")`` is ``'a["b.c"]'``."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    if not _PLAIN_NAME.fullmatch(step):
        quoted = step.replace("\\", "\\\\").replace('"', '\\"')
        return f'{path}["{quoted}"]'
    return f"{path}.{step}" if path else step


def top_of_path(path: str) -> str:
    """Return the top-level property of *path*: ``top("a[0].b")`` is ``"a"``."""
    found = _FIRST_NAME.match(path)
    return found.group() if found else path


def is_covered(path: str, by: Iterable[str]) -> bool:
    """Return whether *path* is one of the paths in *by*, or below one; ``[*]`` matches any index or name."""
    return any(_pattern(cover).match(path) for cover in by)


def _pattern(cover: str) -> re.Pattern[str]:
    any_step = r"(\[\d+\]|\[\"(?:[^\"\\]|\\.)*\"\]|\.[\w$]+)"
    parts = [re.escape(part) for part in cover.split("[*]")]
    return re.compile(any_step.join(parts) + r"(?![\w$])")


# Declarations of properties.


UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""Pulumi's marker of an unknown value (pulumi SDK, ``pulumi/runtime/rpc.py``, ``UNKNOWN``)."""

SHOWN_LIMIT = 60
"""Maximum length of a value in a failure."""

Kind = Literal["text", "number", "flag", "list", "map", "record"]

_TYPES: Mapping[Kind, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "flag": (bool,),
    "list": (list, tuple),
    "map": (Mapping,),
    "record": (Mapping,),
}
_NAMES: Mapping[Kind, str] = {
    "text": "text",
    "number": "a number",
    "flag": "true or false",
    "list": "a list",
    "map": "a mapping of names to text",
    "record": "a mapping",
}


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A failed check: path and reason. The provider never names the property on the wire."""

    path: str
    reason: str


@dataclass(frozen=True)
class Range:
    """The range of numbers of a property."""

    words: str
    """The range as a phrase that follows "expected"."""

    least: float
    most: float = math.inf
    is_whole: bool = True

    def has(self, given: float) -> bool:
        """Return whether *given* is in the range."""
        is_one = math.isfinite(given) and (not self.is_whole or given == int(given))
        return is_one and self.least <= given <= self.most


@dataclass(frozen=True)
class Property:
    """One property of a custom resource, or of an object in one."""

    kind: Kind
    description: str = ""
    _: KW_ONLY
    required: bool = False

    default: Any = None
    """The value that `check` fills in for an absent property; ``None``: it stays absent."""

    may_be_empty: bool = False
    """Whether ``""`` is a value. Otherwise an empty optional property is absent, an empty required one missing."""

    secret: bool = False
    replaces: bool = False
    """Whether a change needs a new object."""

    compared: bool = True
    """Whether a change of it changes the object; false for options of a step, and for the source of a value."""

    recorded: bool = True
    """Whether it is an output, too; false for values that only a step reads."""

    internal: bool = False
    """Whether it is an output that only the provider reads, in the state: programs do not have it."""

    one_of: tuple[str, ...] = ()
    """The allowed strings; empty: any."""

    pattern: re.Pattern[str] | None = None
    pattern_says: str = ""
    """The pattern as a phrase that follows "expected"."""

    range: Range | None = None
    """The allowed numbers; ``None``: any."""

    item: "Property | None" = None
    """Items of a list; a map always has string values."""

    type_name: str = ""
    """Name of an object's type in the package schema."""

    fields: Mapping[str, "Property"] = field(default_factory=dict)
    """Properties of an object."""


text = functools.partial(Property, "text")
number = functools.partial(Property, "number")
flag = functools.partial(Property, "flag")
items = functools.partial(Property, "list")
texts = functools.partial(Property, "list", item=text())
mapping = functools.partial(Property, "map")
record = functools.partial(Property, "record")


@functools.cache
def python_name(name: str) -> str:
    """Return the *name* of a property as Python writes it: ``external_id`` for ``externalId``."""
    return re.sub(r"(?=[A-Z])", "_", name).lower()


def secret_names(declared: Mapping[str, Property]) -> frozenset[str]:
    """Return the names of the *declared* properties that are always secret."""
    return frozenset(name for name, item in declared.items() if item.secret)


def spread_unknown(declared: Property, value: Any) -> Any:
    """
    Return a *value* of the kind that is *declared*, with `UNKNOWN` only instead of a string.

    ``UNKNOWN`` instead of a list or an object becomes one that holds it, and instead of a number ``-1``: it differs
    from every known value, and has its shape.
    """
    match declared.kind:
        case "list":
            item = declared.item or Property(kind="text")
            return [spread_unknown(item, each) for each in ([UNKNOWN] if value == UNKNOWN else value)]
        case "map":
            return {UNKNOWN: UNKNOWN} if value == UNKNOWN else value
        case "record":
            given = dict.fromkeys(declared.fields, UNKNOWN) if value == UNKNOWN else value
            return {name: spread_unknown(declared.fields[name], each) for name, each in given.items()}
        case "number":
            return -1 if value == UNKNOWN else value
        case _:
            return value


def has_unknown(value: Any) -> bool:
    """Return whether *value*, or a part of it, is unknown."""
    if isinstance(value, Mapping):
        return any(map(has_unknown, value.values()))
    return any(map(has_unknown, value)) if isinstance(value, list) else value == UNKNOWN


def check(
    declared: Mapping[str, Property], given: Mapping[str, Any], path: str = ""
) -> tuple[dict[str, Any], tuple[Failure, ...]]:
    """
    Return *given* with defaults filled in and empty optional properties left out, and all failures.

    The result is in a normal form, so that an observed state can be compared with it.
    """
    failures = [
        _unknown_name(path, name, declared) for name in given if name not in declared and given[name] is not None
    ]
    values: dict[str, Any] = {}
    for name, item in declared.items():
        value, wrong = _check_named(item, given.get(name), join_path(path, name))
        failures.extend(wrong)
        if value is not None:
            values[name] = value
    return values, tuple(failures)


def _check_named(declared: Property, given: Any, path: str) -> tuple[Any, list[Failure]]:
    value, failures = (None, []) if given is None else _check_value(declared, given, path)
    if failures or value == UNKNOWN:
        return value, failures
    if not _is_empty(declared, value):
        return value, []
    if declared.required:
        return None, [Failure(path=path, reason="expected a value, got nothing")]
    return declared.default, []


def _is_empty(declared: Property, value: Any) -> bool:
    if value is None:
        return True
    return not declared.may_be_empty and (value is False or value in ("", [], {}))


def _check_value(declared: Property, given: Any, path: str) -> tuple[Any, list[Failure]]:
    if given == UNKNOWN:
        return given, []
    if not _fits(declared.kind, given):
        return None, [_failure(declared, path, _NAMES[declared.kind], given)]
    match declared.kind:
        case "record":
            values, wrong = check(declared.fields, given, path)
            return values, list(wrong)
        case "list":
            return _check_items(declared, enumerate(given), path)
        case "map":
            return _check_map(declared, given, path)
        case _:
            return given, _check_scalar(declared, given, path)


def _fits(kind: Kind, given: Any) -> bool:
    is_flag = isinstance(given, bool)  # Python counts it among the numbers, JSON does not
    return isinstance(given, _TYPES[kind]) and is_flag == (kind == "flag")


def _check_scalar(declared: Property, given: Any, path: str) -> list[Failure]:
    if given == "":
        return []  # `_check_named` decides whether that is a value
    if declared.one_of and given not in declared.one_of:
        return [_failure(declared, path, f"one of {', '.join(declared.one_of)}", given)]
    if declared.pattern and not declared.pattern.fullmatch(given):
        return [_failure(declared, path, declared.pattern_says, given)]
    if declared.range and not declared.range.has(given):
        return [_failure(declared, path, declared.range.words, given)]
    return []


def _check_items(declared: Property, given: Iterable[tuple[int, Any]], path: str) -> tuple[Any, list[Failure]]:
    item = replace(declared.item or Property(kind="text"), required=True)
    checked = [_check_named(item, value, join_path(path, position)) for position, value in given]
    return [value for value, _ in checked], [failure for _, wrong in checked for failure in wrong]


def _check_map(declared: Property, given: Mapping[str, Any], path: str) -> tuple[Any, list[Failure]]:
    text = Property(kind="text", secret=declared.secret)
    failures = [
        failure for name, value in given.items() for failure in _check_value(text, value, join_path(path, name))[1]
    ]
    return dict(given), failures


def _unknown_name(path: str, name: str, declared: Mapping[str, Property]) -> Failure:
    close = difflib.get_close_matches(name, declared, n=1)
    hint = f"did you mean {close[0]}" if close else "remove it"
    known = ", ".join(sorted(declared))
    return Failure(path=join_path(path, name), reason=f"expected one of {known}, got an unknown property; {hint}")


def _failure(declared: Property, path: str, allowed: str, given: Any) -> Failure:
    return Failure(path=path, reason=f"expected {allowed}, got {'[secret]' if declared.secret else shown(given)}")


def shown(value: Any) -> str:
    """Return *value* as a short string: ``shown("a")`` is ``"'a'"``, ``shown(True)`` is ``"true"``."""
    if isinstance(value, Mapping | list | tuple):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= SHOWN_LIMIT else f"{text[: SHOWN_LIMIT - 3]}..."


# Properties of several resources: their patterns and the messages of these; each resource has its own description.


def namespace(description: str, *, replaces: bool = True) -> Property:
    """Return a Nomad namespace, ``default`` when omitted."""
    return text(
        description,
        default="default",
        replaces=replaces,
        pattern=names.NAMESPACE,
        pattern_says="up to 128 letters, digits and '-'",
    )


def plugin_id(description: str, *, replaces: bool = True) -> Property:
    """Return the id of a CSI plugin."""
    return text(
        description,
        required=True,
        replaces=replaces,
        pattern=names.PLUGIN_ID,
        pattern_says="up to 63 letters, digits, '.', '_' and '-', the first a letter or digit",
    )
