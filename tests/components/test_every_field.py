"""What a spec accepts reaches a resource: each of its fields is changed, and an input of a resource changes."""

import copy
import json
import typing
from collections.abc import Iterator
from pathlib import Path

import pulumi
import pydantic
import pytest
import yaml
from pulumi.runtime import mocks

from nomad_csi.spec import model

TABLE = yaml.safe_load(Path(__file__).with_name("fields.yaml").read_text(encoding="utf-8"))
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


@pytest.fixture(scope="module")
def known():
    """The resources of each spec that is changed, by its name."""
    return {}


@pytest.fixture
def register(new_cloud, ready_stack, monkeypatch):
    """Return a function that registers the resources of a spec, and gives what they were registered with."""
    requests = []
    register = mocks.MockMonitor.RegisterResource

    def record(self, request):
        # A component has its arguments as inputs, whatever becomes of them.
        inputs = pulumi.runtime.rpc.deserialize_properties(request.object) if request.custom else {}
        aliases = sorted(alias.SerializeToString().hex() for alias in request.aliases)
        text = json.dumps(inputs, sort_keys=True, default=str)
        requests.append((request.type, request.name, request.protect, aliases, text))
        return register(self, request)

    monkeypatch.setattr(mocks.MockMonitor, "RegisterResource", record)

    def declare(spec):
        requests.clear()
        cloud = new_cloud()
        cloud.recorder.file_systems = {"data": "fs-0123456789abcdef0", "other": "fs-0fedcba9876543210"}
        ready_stack(cloud, spec, renderTo="out")
        return sorted(made for made in requests if made[0] != "pulumi:pulumi:Stack")  # of a process, once

    return declare


def test_every_field_of_the_spec_is_in_the_table():
    """A field that is added is changed here, too, or has its reason."""
    assert list(FIELDS) == list(paths(model.StorageSpec))
    assert [path for path in FIELDS if path not in CHANGES and not FIELDS[path].get("reason")] == []


def test_equal_specs_make_equal_resources(register):
    """So a difference below is one of the field."""
    assert register(TABLE["specs"]["ebs"]) == register(copy.deepcopy(TABLE["specs"]["ebs"]))


@pytest.mark.parametrize("path", CHANGES)
def test_field_reaches_a_resource(register, known, path):
    """A value that is accepted and reaches nothing would be dropped in silence."""
    spec, value = CHANGES[path]
    base = FIELDS[path]["spec"]

    if base not in known:
        known[base] = register(spec)

    assert register(changed(spec, path, value)) != known[base]
