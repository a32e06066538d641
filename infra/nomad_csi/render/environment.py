"""
The Jinja2 environment of all templates: what passed no quoting filter is an error.

Job files are HCL2 and are read with other rules than volume files; so each has filters of its own.
"""

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jinja2

from nomad_csi import errors
from nomad_csi.hcl import quote


class Quoted(str):
    """HCL text that came out of a filter and may stand in a file as it is."""

    __slots__ = ()


_MAY_STAND = (Quoted, jinja2.Undefined)
"""An undefined name raises an error of its own, with the name, when it is printed."""


class UnquotedValueError(errors.NomadCsiError):
    """A template printed a value that passed no filter."""


@functools.cache
def environment() -> jinja2.Environment:
    """Return the environment that all templates share."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates_folder()),
        undefined=jinja2.StrictUndefined,
        finalize=_refuse_unquoted,
        autoescape=False,  # noqa: S701  # HCL, not HTML; what is unquoted is refused
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.filters.update(FILTERS)
    return made


def templates_folder() -> Path:
    """Return the folder of the templates: inside an installed package, or at the top of a checkout."""
    installed = Path(__file__).parents[1] / "templates"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "templates"


def _refuse_unquoted(value: Any) -> Any:
    if isinstance(value, _MAY_STAND):
        return value
    raise UnquotedValueError(f"a template printed a {type(value).__name__} that passed no quoting filter")


def _texts(values: Iterable[str]) -> Quoted:
    return Quoted(f"[{', '.join(quote.job_string(value) for value in values)}]")


def _arguments(values: Iterable[str]) -> Quoted:
    return Quoted("[\n" + "".join(f"{quote.config_string(value)},\n" for value in values) + "]")


def _folders(values: Iterable[str]) -> Quoted:
    return Quoted("[\n" + "".join(f"{quote.job_string(f'{value}:{value}')},\n" for value in values) + "]")


FILTERS = {
    "comment": lambda text: Quoted(quote.comment(text)),
    "identifier": lambda name: Quoted(quote.identifier(name)),
    "number": lambda value: Quoted(quote.number(value)),
    "text": lambda text: Quoted(quote.job_string(text)),
    "texts": _texts,
    "arguments": _arguments,
    "folders": _folders,
    "volume_text": lambda text: Quoted(quote.string(text)),
    "volume_texts": lambda texts: Quoted(quote.string_list(texts)),
    "volume_map": lambda texts: Quoted(quote.string_map(texts)),
}
"""``text`` and its neighbours are for job files, ``volume_...`` for volume files."""
