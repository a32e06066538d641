"""The descriptions of arguments and outputs, for the package schema, the stubs and the page of the components."""

import inspect
import json

from nomad_csi.components import arguments
from nomad_csi.text import docstrings
from tests.pages import spec_keys


def texts(fields, path):
    """Return the description of each of the *fields* of arguments at *path*: Python keeps no docstring of a key."""
    schemas = {model: model.model_json_schema() for _, model in fields.values()}
    return {
        key: _text(schemas[model]["properties"][key], schemas[model].get("$defs", {})) + _plain_note(f"{path}{key}")
        for key, (_, model) in fields.items()
    }


def _plain_note(path):
    """Return the end of the description of the argument at *path* where it is no output."""
    reason = arguments.PLAIN.get(path)
    return f" No output: {reason}." if reason else ""


def _text(value, parts):
    """Return the description of a key of the JSON schema, its allowed values and its default."""
    text = " ".join(spec_keys.meaning(value, parts).split())
    for item in (value, *value.get("anyOf", ())):
        if not all(str(name) in text for name in item.get("enum", ())):
            text += f" One of {', '.join(map(str, item['enum']))}."
        if "minimum" in item and "maximum" in item:
            text += f" {item['minimum']} to {item['maximum']}."
    default = value.get("default")
    given = default if isinstance(default, str) else json.dumps(default)
    return f"{text} Default: ``{given}``." if isinstance(default, str | int | float) and given else text


def output_texts(component):
    """Return the description of each output of *component*: Python keeps no docstring of an attribute."""
    found = {}
    for kind in _own_classes(component):
        found |= docstrings.declared_by(kind)
    return found


def output_types(component):
    """Return the type of each output of *component*."""
    found = {}
    for kind in _own_classes(component):
        found |= inspect.get_annotations(kind)
    return found


def _own_classes(component):
    return [kind for kind in reversed(component.__mro__) if kind.__module__.startswith("nomad_csi.components")]
