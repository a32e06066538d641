"""The docstrings of attributes, which Python does not keep: they are read from the source."""

import ast
import functools
import inspect
import itertools
import sys
from collections.abc import Iterator, Mapping


def of_attributes(kind: type) -> dict[str, str]:
    """Return the docstring of each attribute that the class *kind* or one of its bases declares, on one line."""
    texts: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        texts |= declared_by(base)
    return texts


def declared_by(kind: type) -> Mapping[str, str]:
    """Return the docstring of each attribute that the class *kind* itself declares."""
    return _of_module(kind.__module__).get(kind.__name__, {})


@functools.cache
def _of_module(name: str) -> dict[str, dict[str, str]]:
    """Return the docstrings by class; none for what is not written in Python."""
    try:
        source = inspect.getsource(sys.modules[name])
    except (OSError, TypeError):
        return {}
    return {item.name: dict(_in_body(item.body)) for item in ast.parse(source).body if isinstance(item, ast.ClassDef)}


def _in_body(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for declared, text in itertools.pairwise(body):
        if (
            isinstance(declared, ast.AnnAssign)
            and isinstance(declared.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
            and isinstance(text.value.value, str)
        ):
            yield declared.target.id, " ".join(text.value.value.split())
