"""
The fields of a spec, each with another value: `test_outputs_everywhere` shows that each reaches a resource.

A field that no component has is one of a whole stack.
"""

import copy
import typing
from collections.abc import Iterator
from pathlib import Path

import pydantic

from nomad_csi.spec import model
from tests import tables

TABLE = tables.load(Path(__file__).with_name("fields.yaml"))
FIELDS = TABLE["fields"]
CHANGES = {path: (TABLE["specs"][row["spec"]], row["value"]) for path, row in FIELDS.items() if "spec" in row}
"""A spec in which the field can be changed, and its other value, by the field's path."""


def models(annotation) -> Iterator[type[pydantic.BaseModel]]:
    """Yield the models that a value of *annotation* may be of."""
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from models(part)


def paths(kind, prefix=""):
    """Yield the path of each field of *kind* that is no model itself. A driver's description is the catalogue's test."""
    marks = {tuple: "[]", dict: "{}"}
    for name, field in kind.model_fields.items():
        inner = [found for found in models(field.annotation) if found is not model.DriverSpec]
        if inner:
            yield from paths(inner[0], f"{prefix}{name}{marks.get(typing.get_origin(field.annotation), '')}.")
        else:
            yield f"{prefix}{name}"


def changed(spec, path, value):
    """Return *spec* with *value* at *path*: in the first item of each list, and of each mapping of names."""
    spec = copy.deepcopy(spec)
    inside = spec
    *way, last = path.split(".")
    for step in way:
        inside = inside.setdefault(step.rstrip("[]{}"), [{}] if step.endswith("[]") else {})
        if step.endswith("[]"):
            inside = inside[0]
        elif step.endswith("{}"):
            inside = next(iter(inside.values()))
    inside[last] = value
    return spec


def test_every_field_of_the_spec_is_in_the_table():
    """A field that is added is changed here, too, or has its reason."""
    assert list(FIELDS) == list(paths(model.StorageSpec))
    assert [path for path in FIELDS if path not in CHANGES and not FIELDS[path].get("reason")] == []
