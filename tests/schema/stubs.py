"""
The stubs of the components, of their argument classes and of the resource classes, for type checkers and editors.

``python -m tests.schema`` writes them. These classes are created when their module is imported.
"""

import inspect
import json
import textwrap
from pathlib import Path

from nomad_csi import components
from nomad_csi.components import argument_classes, resources
from nomad_csi.provider import hosting
from nomad_csi.spec import names
from tests.schema import package

OUTPUTS = ("VolumeBlock", "VolumeMount", "Claim")
"""Types of outputs."""

COMPONENTS = Path(components.__file__).with_suffix(".pyi")
STUB = Path(argument_classes.__file__).with_suffix(".pyi")
RESOURCES = Path(resources.__file__).with_suffix(".pyi")
HEAD = '''\
"""Made by ``python -m tests.schema`` from the models of the spec: edit those, or argument_classes.py."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import pulumi
'''
COMPONENTS_HEAD = '''\
"""Made by ``python -m tests.schema`` from the components: edit these."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, overload

import pulumi

'''
RESOURCES_HEAD = '''\
"""Made by ``python -m tests.schema`` from what the resources declare: edit that, or resources.py."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi

from nomad_csi.components.declared_resource import Provider as Provider
'''


def typed(item, types, given="", quoted=json.dumps):
    """
    Return the type of the property *item* of the package schema as Python writes it.

    *types* are those of the package, ``None``: any mapping; *given* is the class of what may be an output in it, such as
    ``pulumi.Input``; *quoted* writes the values of a list.
    """

    def inner(part):
        written = typed(part, types, given, quoted)
        return f"{given}[{written}]" if given and not part.get("plain") else written

    if item.get("type") in _SCALARS:
        return _SCALARS[item["type"]]
    if item.get("type") == "array":
        return f"Sequence[{inner(item['items'])}]"
    if item.get("$ref") == hosting.ANY:
        return "Any"
    if types is None:
        return "Mapping[str, Any]"
    if "$ref" not in item:
        return f"Mapping[str, {inner(item['additionalProperties'])}]"
    name, values = item["$ref"].rpartition(":")[2], types[item["$ref"].removeprefix("#/types/")].get("enum", ())
    return f"Literal[{', '.join(quoted(each['value']) for each in values)}]" if values else name


def argument(item, types, given="pulumi.Input", quoted=json.dumps):
    """Return the type of the argument *item*, which may be an output unless it is plain."""
    written = typed(item, types, given, quoted)
    return written if item.get("plain") else f"{given}[{written}]"


_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def documented(text):
    """Return the lines of *text* as a docstring in a class."""
    quoted = f'"""\n{text}\n"""' if "\n" in text or len(text) > 100 else f'"""{text}"""'
    lines = (part for line in quoted.splitlines() for part in textwrap.wrap(line, 110) or [""])
    return textwrap.indent("\n".join(lines), "    ")


def classes(schema):
    """Yield the source of each class of arguments, and of each part of one."""
    given = {
        f"{made.__name__}Args": {
            "description": argument_classes.description(f"{made.__name__}Args"),
            "properties": item["inputProperties"],
            "required": item["requiredInputs"],
        }
        for made, item in of_components(schema)
    }
    for name, item in sorted({**given, **argument_parts(schema)}.items()):
        yield f"\nclass {name}(TypedDict):\n{documented(item['description'])}"
        for key, one in item["properties"].items():
            written = argument(one, schema["types"])
            written = written if key in item["required"] else f"NotRequired[{written}]"
            yield f"    {names.python_name(key)}: {written}\n{documented(one['description'])}"


def of_components(schema):
    """Return each component with its part of the *schema*."""
    return [(made, schema["resources"][f"{names.TYPES}{made.__name__}"]) for made in components.COMPONENTS]


def resource_classes():
    """Yield the source of each resource class: its arguments, and its properties."""
    described = package.merged({})["resources"]
    for name, made in inspect.getmembers(resources, inspect.isclass):
        if name == "Provider":
            continue
        found = described[f"nomad-csi:index:{name}"]
        yield f"\nclass {name}(pulumi.CustomResource):\n{documented(inspect.getdoc(made))}"
        for key, item in found["properties"].items():
            if key != "sandbox":
                of = typed(item, None)
                yield f"    {names.python_name(key)}: pulumi.Output[{of}]\n{documented(item['description'])}"
        yield "    def __init__(\n        self,\n        resource_name: str,\n        *,"
        required = set(found["requiredInputs"])
        for key, item in sorted(found["inputProperties"].items(), key=lambda pair: pair[0] not in required):
            absent = "" if key in required else " | None = None"
            yield f"        {names.python_name(key)}: pulumi.Input[{typed(item, None)}]{absent},"
        yield "        opts: pulumi.ResourceOptions | None = None,\n    ) -> None: ..."


def component_classes(schema):
    """Yield the source of each component: its outputs, and its arguments in a dictionary and by keyword."""
    options = "opts: pulumi.ResourceOptions | None = None"
    for made, item in of_components(schema):
        yield f"\nclass {made.__name__}(pulumi.ComponentResource):\n{documented(made.__doc__.partition(chr(10))[0])}"
        for key, one in item["properties"].items():
            of = typed(one, schema["types"])
            yield f"    {names.python_name(key)}: pulumi.Output[{of}]\n{documented(one['description'])}"
        yield "    @overload"
        yield f"    def __init__(self, resource_name: str, args: {made.__name__}Args, {options}) -> None: ..."
        yield "    @overload\n    def __init__(\n        self,\n        resource_name: str,\n        *,"
        required = set(item["requiredInputs"])
        for key, one in sorted(item["inputProperties"].items(), key=lambda pair: pair[0] not in required):
            absent = "" if key in required else " | None = None"
            yield f"        {names.python_name(key)}: {argument(one, schema['types'])}{absent},"
        yield f"        {options},\n    ) -> None: ..."


def output_classes(schema):
    """Yield the source of each class of an output."""
    for name in OUTPUTS:
        item = schema["types"][f"{names.TYPES}{name}"]
        yield f"\nclass {name}(TypedDict):\n{documented(item['description'])}"
        for key, one in item["properties"].items():
            yield f"    {names.python_name(key)}: {typed(one, schema['types'])}\n{documented(one['description'])}"


def imports(schema):
    """Yield the imports of the stub of the components, and what they export."""
    parts = argument_parts(schema)
    yield f"from {argument_classes.__name__} import {', '.join(parts)}"
    for module in (argument_classes, resources):
        yield f"from {module.__name__} import ("
        yield from (f"    {name} as {name}," for name in components.__all__ if hasattr(module, name))
        yield ")"
    yield f"\n__all__ = {json.dumps(components.__all__)}"
    yield "\nCOMPONENTS: tuple[type[pulumi.ComponentResource], ...]"


def argument_parts(schema):
    """Return the types of parts of arguments in the *schema*, by their names."""
    found = {token.removeprefix(names.TYPES): item for token, item in schema["types"].items() if "enum" not in item}
    return {name: item for name, item in sorted(found.items()) if name not in OUTPUTS}


def written():
    """Return the text of each stub by its path."""
    schema = package.of_components()
    return {
        COMPONENTS: "\n".join(
            (COMPONENTS_HEAD, *imports(schema), *output_classes(schema), *component_classes(schema), "")
        ),
        STUB: "\n".join((HEAD, *classes(schema), "")),
        RESOURCES: "\n".join((RESOURCES_HEAD, *resource_classes(), "")),
    }
