"""
The Jinja2 environment of all templates: a value that passed no quoting filter is an error.

Job files are HCL2 and are parsed by other rules than volume files; so each has its own filters.
"""

import base64
import functools
import hashlib
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

from nomad_csi import errors
from nomad_csi.hcl import quote
from nomad_csi.text import foreign, listing


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
    jinja_environment = kind(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        finalize=finalize or _refuse_unquoted,
        autoescape=autoescape,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja_environment.filters.update(FILTERS)
    return jinja_environment


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
    "number": lambda value: Quoted(repr(value)),
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


# Templates of an operator's own, which go before ours. Every error names the template and its line.
#
# They are the operator's text and trusted to end; Jinja2's sandbox keeps Python's internals from them. Source:
# https://jinja.palletsprojects.com/en/stable/sandbox/, 2026-11-21.


class TemplateError(errors.NomadCsiError):
    """A user's own template cannot be rendered. The message has the template, the line and the reason."""


def render_own(folder: Path, name: str, values: Mapping[str, Any]) -> str:
    """
    Render template *name* with *values*; templates in *folder* override ours.

    Raises `TemplateError` for a template that cannot be read, or does something forbidden, and `errors.SpecError` for a
    value that cannot be written in a file.
    """
    try:
        return _own_environment(folder.absolute()).get_template(name).render(values)
    except (errors.SpecError, TemplateError):
        raise
    except jinja2.TemplateSyntaxError as error:
        broken = _template_name(folder, error.name or name)
        raise TemplateError(f"{broken}, line {error.lineno}: {error.message}") from None
    except (jinja2.TemplateError, UnquotedValueError) as error:
        raise TemplateError(f"{_where(folder, name, error)}: {error}") from None
    except Exception as error:  # noqa: BLE001  # a template may do anything that Python can do with its values
        raise TemplateError(f"{_where(folder, name, error)}: {type(error).__name__}: {error}") from None


@functools.cache
def _own_environment(folder: Path) -> jinja2.Environment:
    if not folder.is_dir():
        raise TemplateError(f"templates: {folder} is not a folder")
    ours = sorted(path.name for path in templates_folder().glob("*.hcl.j2"))
    if not any((folder / name).is_file() for name in ours):
        raise TemplateError(f"templates: {folder} holds none of {', '.join(ours)}, so nothing there is used")
    jinja_environment = configured(jinja2.sandbox.ImmutableSandboxedEnvironment, [folder, templates_folder()])
    jinja_environment.filters.update({name: _strict(jinja_environment.filters[name]) for name in FILTERS})
    return jinja_environment


def _strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the filter *function*, which raises an undefined name's own error."""

    def call(value: Any, *more: Any) -> Any:
        if isinstance(value, jinja2.Undefined):
            str(value)  # raises, with the name
        return function(value, *more)

    return call


def _template_name(folder: Path, name: str) -> str:
    own = folder / name
    return f"template {own if own.is_file() else name}"


def _where(folder: Path, name: str, error: BaseException) -> str:
    """Return template and line of the innermost template frame in the traceback of *error*."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".j2")]
    if not frames:
        return _template_name(folder, name)
    return f"{_template_name(folder, Path(frames[-1].filename).name)}, line {frames[-1].lineno}"


# The page of a report: one HTML file that loads and runs nothing.
#
# Text from a cluster may be hostile: everything is escaped, control characters are spelled out, and the page's own
# content security policy forbids scripts, frames, forms and the network.


def html(page: Any, *, shown_rows: int, tool_version: str) -> str:
    """
    Return *page* as HTML, with *shown_rows* rows of a table shown; the others can be expanded.

    *tool_version* is that of this package.
    """
    jinja_environment = configured(jinja2.Environment, [templates_folder()], _shown, autoescape=True)
    jinja_environment.filters["plain"] = lambda number: str(int(number))
    jinja_environment.globals["counted"] = listing.grouped
    style = (templates_folder() / "_report.css").read_text(encoding="utf-8")
    values = {"style": style, "policy": _policy(style), "shown_rows": shown_rows, "tool_version": tool_version}
    return jinja_environment.get_template("report.html.j2").render(values, page=page)


def _policy(style: str) -> str:
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def _shown(value: Any) -> Any:
    """Return *value* in printable form: numbers with separators, text made visible. Markup comes from macros."""
    if hasattr(value, "__html__") or isinstance(value, jinja2.Undefined):
        return value
    return f"{value:,}" if isinstance(value, int) else foreign.visible(value)
