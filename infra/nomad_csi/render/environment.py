"""
The Jinja2 environment of all templates: a value that passed no quoting filter is an error.

Job files are HCL2 and are parsed by other rules than volume files; so each has its own filters.
"""

import functools
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import jinja2

from nomad_csi import errors
from nomad_csi.hcl import quote
from nomad_csi.text import listing


class Quoted(str):
    """HCL text that a filter returned and that is printed unchanged."""

    __slots__ = ()


_MAY_STAND = (Quoted, jinja2.Undefined)
"""An undefined name raises its own error, with the name, when it is printed."""


class UnquotedValueError(errors.NomadCsiError):
    """A template printed a value that passed no filter."""


@functools.cache
def environment() -> jinja2.Environment:
    """Return the environment of all our templates."""
    return configured(jinja2.Environment, [templates_folder()])


def configured(
    kind: type[jinja2.Environment],
    folders: Sequence[Path],
    finalize: Callable[[Any], Any] | None = None,
    *,
    autoescape: bool = False,
) -> jinja2.Environment:
    """
    Return an environment of a *kind* that loads each template from the first of *folders* that has it.

    *finalize* is called with every printed value; without it, a value that passed no quoting filter is refused.
    """
    made = kind(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        finalize=finalize or _refuse_unquoted,
        autoescape=autoescape,
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


def _argument(text: str, secret_variables: Iterable[str] = ()) -> Quoted:
    return Quoted(quote.config_string(text, secret_variables))


def _arguments(values: Iterable[str], secret_variables: Iterable[str] = ()) -> Quoted:
    return Quoted("[\n" + "".join(f"{quote.config_string(value, secret_variables)},\n" for value in values) + "]")


def _lines(values: Iterable[str]) -> Quoted:
    return Quoted("[\n" + "".join(f"{quote.job_string(value)},\n" for value in values) + "]")


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f'"{seconds}s"' if rest or minutes <= 1 else f'"{minutes}m"'


FILTERS = {
    "comment": lambda text: Quoted(quote.comment(text)),
    "identifier": lambda name: Quoted(quote.identifier(name)),
    "number": lambda value: Quoted(quote.number(value)),
    "text": lambda text: Quoted(quote.job_string(text)),
    "texts": _texts,
    "argument": _argument,
    "arguments": _arguments,
    "attribute": lambda text: Quoted(quote.attribute_string(text)),
    "boolean": lambda value: Quoted(quote.boolean(value)),
    "heredoc": lambda text: Quoted(quote.heredoc(text)),
    "size": lambda count: Quoted(quote.string(listing.size(count))),
    "lines": _lines,
    "seconds": lambda number: Quoted(_duration(number)),
    "volume_text": lambda text: Quoted(quote.string(text)),
    "volume_texts": lambda texts: Quoted(quote.string_list(texts)),
    "volume_map": lambda texts: Quoted(quote.string_map(texts)),
}
"""``text`` and similar filters are for job files, ``volume_...`` for volume files."""
