"""
Templates of an operator's own, which go before ours. Every error names the template and its line.

They are the operator's text and trusted to end; Jinja2's sandbox keeps Python's internals from them. Source:
https://jinja.palletsprojects.com/en/stable/sandbox/, 2026-11-21.
"""

import functools
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

from nomad_csi import errors
from nomad_csi.render import environment


class TemplateError(errors.NomadCsiError):
    """A user's own template cannot be rendered. The message has the template, the line and the reason."""


def render(folder: Path, name: str, values: Mapping[str, Any]) -> str:
    """
    Render template *name* with *values*; templates in *folder* override ours.

    Raises `TemplateError` for a template that cannot be read, or does something forbidden, and `errors.SpecError` for a
    value that cannot be written in a file.
    """
    try:
        return _environment(folder, Path.cwd()).get_template(name).render(values)
    except (errors.SpecError, TemplateError):
        raise
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"{_place(folder, error.name or name)}, line {error.lineno}: {error.message}") from None
    except jinja2.TemplateNotFound as error:
        raise TemplateError(f"{_where(folder, name, error)}: there is no template {error.name!r}") from None
    except RecursionError as error:
        raise TemplateError(f"{_where(folder, name, error)}: it includes or calls itself without end") from None
    except (jinja2.TemplateError, environment.UnquotedValueError) as error:
        raise TemplateError(f"{_where(folder, name, error)}: {error}") from None
    except Exception as error:  # noqa: BLE001  # a template may do anything that Python can do with its values
        raise TemplateError(f"{_where(folder, name, error)}: {type(error).__name__}: {error}") from None


@functools.cache
def _environment(folder: Path, base: Path) -> jinja2.Environment:
    """Return the environment for *folder*; a relative one is below *base*."""
    if not folder.is_dir():
        raise TemplateError(f"templates: {folder} is not a folder")
    ours = sorted(path.name for path in environment.templates_folder().glob("*.hcl.j2"))
    if not any((folder / name).is_file() for name in ours):
        raise TemplateError(f"templates: {folder} holds none of {', '.join(ours)}, so nothing there is used")
    folders = [base / folder, environment.templates_folder()]
    made = environment.configured(jinja2.sandbox.ImmutableSandboxedEnvironment, folders)
    made.auto_reload = True
    made.filters.update({name: _strict(made.filters[name]) for name in environment.FILTERS})
    return made


def _strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the filter *function*, which raises an undefined name's own error."""

    def call(value: Any, *more: Any) -> Any:
        if isinstance(value, jinja2.Undefined):
            str(value)  # raises, with the name
        return function(value, *more)

    return call


def _place(folder: Path, name: str) -> str:
    own = folder / name
    return f"template {own if own.is_file() else name}"


def _where(folder: Path, name: str, error: BaseException) -> str:
    """Return template and line of the innermost template frame in the traceback of *error*."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".j2")]
    if not frames:
        return _place(folder, name)
    return f"{_place(folder, Path(frames[-1].filename).name)}, line {frames[-1].lineno}"
