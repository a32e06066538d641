"""
The stubs of the components, of their argument classes and of the resource classes, for type checkers and editors.

``python -m tests.schema`` writes them. These classes are created when their module is imported.
"""

import collections.abc
import enum
import inspect
import json
import textwrap
import typing
from pathlib import Path

from nomad_csi import components
from nomad_csi.components import argument_classes, resources, volume
from nomad_csi.spec import names
from nomad_csi.text import docstrings
from tests.schema import descriptions, package

COMPONENTS = Path(components.__file__).with_suffix(".pyi")
STUB = Path(argument_classes.__file__).with_suffix(".pyi")
RESOURCES = Path(resources.__file__).with_suffix(".pyi")
HEAD = '''\
"""Made by ``python -m tests.schema`` from the models of the spec: edit those, or argument_classes.py."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import pulumi

def classes() -> Mapping[str, Any]:
    """Return all classes by name."""

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


def source(kind):
    """Return *kind*, the type of an argument, as Python writes it."""
    origin, of = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.NotRequired:
        return f"NotRequired[{source(of[0])}]"
    if origin is typing.Union and any(typing.get_origin(item) is collections.abc.Awaitable for item in of):
        return f"pulumi.Input[{source(of[0])}]"
    if origin is collections.abc.Sequence:
        return f"Sequence[{source(of[0])}]"
    if origin is collections.abc.Mapping:
        return f"Mapping[{source(of[0])}, {source(of[1])}]"
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return f"Literal[{', '.join(json.dumps(item.value) for item in kind)}]"
    return kind.__name__


def documented(text):
    """Return the lines of *text* as a docstring in a class."""
    quoted = f'"""\n{text}\n"""' if "\n" in text or len(text) > 100 else f'"""{text}"""'
    lines = (part for line in quoted.splitlines() for part in textwrap.wrap(line, 110) or [""])
    return textwrap.indent("\n".join(lines), "    ")


def classes():
    """Yield the source of each class, behind those of its fields."""
    for name, made in argument_classes.classes().items():
        yield f"\nclass {name}(TypedDict):\n{documented(made.__doc__)}"
        texts = descriptions.texts(name)
        for key, kind in made.__annotations__.items():
            yield f"    {key}: {source(kind)}\n{documented(texts[key])}"


def declared_type(item):
    """Return the type of the property *item* of the package schema as Python writes it."""
    if item.get("type") == "array":
        return f"Sequence[{declared_type(item['items'])}]"
    return {"string": "str", "number": "float", "boolean": "bool"}.get(item.get("type"), "Mapping[str, Any]")


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
                typed = f"{names.python_name(key)}: pulumi.Output[{declared_type(item)}]"
                yield f"    {typed}\n{documented(item['description'])}"
        yield "    def __init__(\n        self,\n        resource_name: str,\n        *,"
        required = set(found["requiredInputs"])
        for key, item in sorted(found["inputProperties"].items(), key=lambda pair: pair[0] not in required):
            absent = "" if key in required else " | None = None"
            yield f"        {names.python_name(key)}: pulumi.Input[{declared_type(item)}]{absent},"
        yield "        opts: pulumi.ResourceOptions | None = None,\n    ) -> None: ..."


def component_classes():
    """Yield the source of each component: its outputs, and its arguments in a dictionary and by keyword."""
    for made in components.COMPONENTS:
        kind = made.__init__.__annotations__["args"]
        yield f"\nclass {made.__name__}(pulumi.ComponentResource):\n{documented(made.__doc__.partition(chr(10))[0])}"
        outputs = descriptions.output_types(made)
        for name, text in descriptions.output_texts(made).items():
            of = source(typing.get_args(outputs[name])[0])
            yield f"    {name}: pulumi.Output[{of}]\n{documented(text)}"
        options = "opts: pulumi.ResourceOptions | None = None"
        yield "    @overload"
        yield f"    def __init__(self, resource_name: str, args: {kind.__name__}, {options}) -> None: ..."
        yield "    @overload\n    def __init__(\n        self,\n        resource_name: str,\n        *,"
        for name in inspect.signature(made).parameters:
            if name in kind.__annotations__:
                typed = source(kind.__annotations__[name]).removeprefix("NotRequired[")
                is_required = name in kind.__required_keys__
                yield f"        {name}: {typed if is_required else f'{typed[:-1]} | None = None'},"
        yield f"        {options},\n    ) -> None: ..."


def output_classes():
    """Yield the source of each class of an output."""
    for made in (volume.VolumeBlock, volume.VolumeMount, volume.Claim):
        yield f"\nclass {made.__name__}(TypedDict):\n{documented(inspect.getdoc(made))}"
        for name, text in docstrings.declared_by(made).items():
            yield f"    {name}: {source(made.__annotations__[name])}\n{documented(text)}"


def imports():
    """Yield the imports of the stub of the components, and what they export."""
    for module, found in ((argument_classes, argument_classes.classes()), (resources, vars(resources))):
        exported = sorted(name for name in found if module is argument_classes or name in components.__all__)
        yield f"from {module.__name__} import ("
        yield from (f"    {name} as {name}," for name in exported)
        yield ")"
    yield f"\n__all__ = {json.dumps(components.__all__)}"
    yield "\nCOMPONENTS: tuple[type[pulumi.ComponentResource], ...]"


def written():
    """Return the text of each stub by its path."""
    return {
        COMPONENTS: "\n".join((COMPONENTS_HEAD, *imports(), *output_classes(), *component_classes(), "")),
        STUB: "\n".join((HEAD, *classes(), "")),
        RESOURCES: "\n".join((RESOURCES_HEAD, *resource_classes(), "")),
    }
