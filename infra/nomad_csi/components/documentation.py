"""What `help` shows of a component: its arguments and its outputs, with their descriptions."""

import contextlib
import contextvars
import enum
import inspect
import textwrap
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NotRequired

from nomad_csi.text import docstrings

_WIDTH = 100


_IS_BRIEF = contextvars.ContextVar("is_brief", default=False)


@contextlib.contextmanager
def brief() -> Iterator[None]:
    """Have the documentation of components be their summary: the whole takes seconds, and a schema has it elsewhere."""
    token = _IS_BRIEF.set(True)
    try:
        yield
    finally:
        _IS_BRIEF.reset(token)


def of_component(component: type, summary: str, kind: Any) -> str:
    """Return the documentation of *component*, which takes the arguments of the class *kind*."""
    if _IS_BRIEF.get():
        return summary
    lines = [inspect.cleandoc(summary), "", "Arguments, by keyword or in a dictionary:"]
    for path, typed, text in _arguments(kind, ""):
        lines += [
            "",
            f"  {path}: {typed}",
            _filled(text),
        ]
    lines += ["", "Outputs:"]
    for name, text in output_texts(component).items():
        lines += ["", f"  {name}", _filled(text)]
    return "\n".join(lines)


def signature(_: type, kind: Any) -> inspect.Signature:
    """Return the signature of a component with the arguments of the class *kind*, the required ones first."""
    by_keyword = inspect.Parameter.KEYWORD_ONLY
    required = [name for name in kind.__annotations__ if name in kind.__required_keys__]
    optional = [name for name in kind.__annotations__ if name not in kind.__required_keys__]
    return inspect.Signature(
        [
            inspect.Parameter("resource_name", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(inspect.Parameter(name, by_keyword) for name in required),
            *(inspect.Parameter(name, by_keyword, default=None) for name in (*optional, "opts")),
        ]
    )


def output_texts(component: type) -> dict[str, str]:
    """Return the description of each output of *component*: Python keeps no docstring of an attribute."""
    texts: dict[str, str] = {}
    for kind in reversed(component.__mro__):
        if kind.__module__.startswith(__package__):
            texts |= docstrings.declared_by(kind)
    return texts


def output_types(component: type) -> dict[str, Any]:
    """Return the type of each output of *component*."""
    found: dict[str, Any] = {}
    for kind in reversed(component.__mro__):
        if kind.__module__.startswith(__package__):
            found |= inspect.get_annotations(kind)
    return found


def _arguments(kind: Any, prefix: str) -> Iterator[tuple[str, str, str]]:
    """Yield the path, type and description of each argument of the class *kind*, and of each field of one."""
    from nomad_csi.components import derived_arguments  # noqa: PLC0415  # it imports modules of components

    texts = derived_arguments.texts(kind.__name__)
    for name, declared in kind.__annotations__.items():
        path = f"{prefix}{name}"
        needed = ", required" if name in kind.__required_keys__ else ""
        yield path, f"{written(declared)}{needed}", texts[name]
        if typing.is_typeddict(inner := _innermost(declared)):
            yield from _arguments(inner, f"{path}[]." if _is_list(declared) else f"{path}.")


def _filled(text: str) -> str:
    indent = " " * 4
    return textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def written(kind: Any) -> str:
    """Return *kind*, the type of an argument, as Python writes it."""
    origin, of = typing.get_origin(kind), typing.get_args(kind)
    if origin is NotRequired:
        return written(of[0])
    if origin is typing.Union:
        return f"Input[{written(of[0])}]"
    if origin is Sequence:
        return f"Sequence[{written(of[0])}]"
    if origin is Mapping:
        return f"Mapping[{written(of[0])}, {written(of[1])}]"
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return f"Literal[{', '.join(repr(item.value) for item in kind)}]"
    return str(kind.__name__)


def _unwrapped(kind: Any) -> Any:
    while typing.get_origin(kind) in (NotRequired, typing.Union):
        kind = typing.get_args(kind)[0]
    return kind


def _is_list(kind: Any) -> bool:
    return typing.get_origin(_unwrapped(kind)) is Sequence


def _innermost(kind: Any) -> Any:
    """Return the type of the items of a list, or *kind* itself."""
    kind = _unwrapped(kind)
    return _unwrapped(typing.get_args(kind)[0]) if typing.get_origin(kind) is Sequence else kind
