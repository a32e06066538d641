"""
The stub of the components' argument classes, for type checkers and editors.

``python -m tests.argument_stub`` writes it again. Its classes are made when the module is imported.
"""

import collections.abc
import textwrap
import typing
from pathlib import Path

from nomad_csi.components import argument_classes, derived_arguments

STUB = Path(argument_classes.__file__).with_suffix(".pyi")
HEAD = '''\
"""Made by ``python -m tests.argument_stub`` from the models of the spec: edit those, or argument_classes.py."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi
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
    return kind.__name__


def documented(text):
    """Return the lines of *text* as a docstring in a class."""
    quoted = f'"""\n{text}\n"""' if "\n" in text or len(text) > 100 else f'"""{text}"""'
    lines = (part for line in quoted.splitlines() for part in textwrap.wrap(line, 110) or [""])
    return textwrap.indent("\n".join(lines), "    ")


def classes():
    """Yield the source of each class, behind those of its fields."""
    for name, made in derived_arguments.CLASSES.items():
        yield f"\nclass {name}(TypedDict):\n{documented(made.__doc__)}"
        texts = derived_arguments.texts(name)
        for key, kind in made.__annotations__.items():
            yield f"    {key}: {source(kind)}\n{documented(texts[key])}"


def written():
    """Return the whole stub."""
    return "\n".join((HEAD, *classes(), ""))


if __name__ == "__main__":
    STUB.write_text(written(), encoding="utf-8")
