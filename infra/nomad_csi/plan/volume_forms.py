"""
The formats of a volume's document: a volume file, Nomad's JSON, and the inputs of a Pulumi resource.

Names in each format derive from the fields of `registration`.
"""

import functools
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, fields
from operator import attrgetter
from typing import Any, Literal

from nomad_csi.plan import registration
from nomad_csi.spec.names import UNKNOWN

Form = Literal["file", "api", "property"]
Kind = Literal["text", "texts", "map", "bytes", "places", "capabilities"]

_KINDS: Mapping[Any, Kind] = {
    str: "text",
    tuple[str, ...]: "texts",
    Mapping[str, str]: "map",
    int: "bytes",
    tuple[Mapping[str, str], ...]: "places",
    tuple[registration.Capability, ...]: "capabilities",
}
_SEGMENTS = {"api": "Segments", "property": "segments"}
_WORDS = {"fs": "FS", "id": "ID"}
"""Words that Nomad's API spells in capitals."""


def _names(item: Field[Any]) -> dict[str, str]:
    """Return the names of the field *item* by form."""
    first, *rest = item.name.split("_")
    spelled = {
        "file": item.name,
        "api": "".join(_WORDS.get(word, word.title()) for word in (first, *rest)),
        "property": "".join([first, *map(str.title, rest)]),
    }
    return spelled | dict(item.metadata)


_CAPABILITY = {item.name: _names(item) for item in fields(registration.Capability)}


@dataclass(frozen=True, kw_only=True)
class DocumentField:
    """A field of the document, and its name in each form; a dot separates nested names."""

    attribute: str
    """Such as ``mount_options.fs_type``."""

    kind: Kind
    file: str
    api: str
    property: str

    @functools.cached_property
    def value(self) -> Callable[[registration.VolumeRegistration], Any]:
        """The function that returns the field's value of a document."""
        return attrgetter(self.attribute)

    @functools.cached_property
    def paths(self) -> Mapping[str, tuple[list[str], str]]:
        """The path of objects to the field, and its key in the last of them, by form."""
        split = {form: getattr(self, form).split(".") for form in typing.get_args(Form)}
        return {form: (way[:-1], way[-1]) for form, way in split.items()}


def _declared(kind: type, names: Mapping[str, str], attribute: str = "") -> Iterable[DocumentField]:
    hints = typing.get_type_hints(kind)
    for item in fields(kind):
        if item.metadata == registration.IS_OWN:
            continue
        path = {form: f"{names[form]}{name}" for form, name in _names(item).items()}
        if hints[item.name] is registration.MountOptions:
            inner = {form: f"{name}." for form, name in path.items()}
            yield from _declared(registration.MountOptions, inner, f"{item.name}.")
        else:
            yield DocumentField(attribute=f"{attribute}{item.name}", kind=_KINDS[hints[item.name]], **path)


FIELDS = tuple(_declared(registration.VolumeRegistration, {"file": "", "api": "", "property": ""}))
"""All fields that have a form; the others are specific to this package."""


def names(source: Form, target: Form, *kinds: Kind) -> dict[str, str]:
    """Return the names in *target* of the top-level fields of these *kinds*, by their names in *source*."""
    return {
        getattr(item, source): getattr(item, target)
        for item in FIELDS
        if item.kind in kinds and "." not in item.attribute
    }


def capability_names(source: Form, target: Form) -> dict[str, str]:
    """Return the names in *target* of a capability's fields, by their names in *source*."""
    return {item[source]: item[target] for item in _CAPABILITY.values()}


def read(tree: Any, form: Form) -> registration.VolumeRegistration:
    """
    Return the document in *tree*, which is in *form* and was validated; an absent value is the empty one of its type.

    ``UNKNOWN`` becomes a text of its own in the shape of its field.
    """
    found: dict[str, Any] = {}
    mount: dict[str, Any] = {}
    for item in FIELDS:
        way, key = item.paths[form]
        inside, _, attribute = item.attribute.rpartition(".")
        value = functools.reduce(_inside, [*way, key], tree)
        (mount if inside else found)[attribute] = _read(item.kind, value, form)
    return registration.VolumeRegistration(**found, mount_options=registration.MountOptions(**mount))


def write(document: registration.VolumeRegistration, form: Form) -> dict[str, Any]:
    """Return *document* in *form*, without empty values."""
    tree: dict[str, Any] = {}
    for item in FIELDS:
        if value := item.value(document):
            way, key = item.paths[form]
            node = functools.reduce(lambda inside, name: inside.setdefault(name, {}), way, tree)
            node[key] = _written(item.kind, value, form)
    return tree


def _inside(node: Any, key: str) -> Any:
    return node if node in (None, UNKNOWN) else node.get(key)


def _read(kind: Kind, value: Any, form: Form) -> Any:  # a line for each kind
    rows = (UNKNOWN,) if value == UNKNOWN else tuple(value or ()) if kind not in ("text", "bytes") else ()
    match kind:
        case "text":
            return str(value or "")
        case "texts":
            return rows
        case "map":
            return {UNKNOWN: UNKNOWN} if value == UNKNOWN else value or {}
        case "bytes":
            return -1 if value == UNKNOWN else int(value or 0)
        case "places":
            return tuple(_read("map", _inside(row, _SEGMENTS[form]), form) for row in rows)
        case "capabilities":
            names = {name: of[form] for name, of in _CAPABILITY.items()}
            return tuple(
                registration.Capability(**{name: str(_inside(row, key) or "") for name, key in names.items()})
                for row in rows
            )


def _written(kind: Kind, value: Any, form: Form) -> Any:
    match kind:
        case "texts":
            return list(value)
        case "map":
            return dict(value)
        case "places":
            return [{_SEGMENTS[form]: dict(segments)} for segments in value]
        case "capabilities":
            return [{of[form]: getattr(item, name) for name, of in _CAPABILITY.items()} for item in value]
        case _:
            return value
