"""
``python -m nomad_csi.render.own_worker``: renders a user's own templates, within limits of the operating system.

Requests come on standard input, as `own` sends them: the working directory, folder, name and values, pickled, after
their length. Each reply is one line of JSON: ``text``, or ``error`` and whether it was one of the limits, or
``problems`` and ``source`` of an `errors.SpecError`. Source: getrlimit(2) and setrlimit(2), Linux man-pages 6.9.
"""

import contextlib
import functools
import json
import math
import os
import pickle
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox
from jinja2 import exceptions

from nomad_csi import errors
from nomad_csi.render import environment, own
from nomad_csi.render.own import TemplateError

# A user's own templates, rendered by Jinja2's sandbox; every error names the template and its line.
#
# The sandbox gives no access to Python's internals. It limits neither time nor memory: only `own_worker` calls this,
# whose process has limits. The size of a ``range``, and of a repeated string, is limited at once. Source:
# https://jinja.palletsprojects.com/en/stable/sandbox/ ("Security Considerations"), 2026-11-21.


RANGE_LIMIT = 10_000
"""Numbers that all ``range`` calls of one file may return."""

SIZE_LIMIT = 1_048_576
"""Characters of one file. Nomad accepts jobs of up to 1 MiB by default (``job_max_source_size``)."""


class _Environment(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """Jinja2's sandbox; a multiplication makes no long string, a power no large number."""

    intercepted_binops = frozenset({"*", "**"})

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Allow methods of Python's and Jinja2's own types only: pydantic's models can load and execute anything."""
        is_plain = type(obj).__module__.partition(".")[0] in {"builtins", "jinja2"}
        return super().is_safe_attribute(obj, attr, value) and (is_plain or not callable(value))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "**" or not all(isinstance(side, int | float) for side in (left, right)):
            raise exceptions.SecurityError(f"{operator} is for two numbers only, and ** for none")
        return super().call_binop(context, operator, left, right)


class _Range:
    """``range``, with a limit on all numbers of one file."""

    def __init__(self) -> None:
        self._left = RANGE_LIMIT

    def __call__(self, *bounds: int) -> range:
        numbers = range(*bounds)
        self._left -= len(numbers)
        if self._left < 0:
            raise exceptions.SecurityError(f"range() gives more than {RANGE_LIMIT} numbers")
        return numbers


def render(folder: Path, name: str, values: Mapping[str, Any]) -> str:
    """
    Render template *name* with *values*; templates in *folder* override ours.

    Raises `TemplateError` for a template that cannot be read, or does something forbidden, and `errors.SpecError` for a
    value that cannot be written in a file.
    """
    try:
        template = _environment(folder, Path.cwd()).get_template(name)
        return _bounded(template, {"range": _Range()} | dict(values))
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"{_place(folder, error.name or name)}, line {error.lineno}: {error.message}") from None
    except jinja2.TemplateNotFound as error:
        raise TemplateError(f"{_where(folder, name, error)}: there is no template {error.name!r}") from None
    except RecursionError as error:
        raise TemplateError(f"{_where(folder, name, error)}: it includes or calls itself without end") from None
    except (jinja2.TemplateError, environment.UnquotedValueError) as error:
        raise TemplateError(f"{_where(folder, name, error)}: {error}") from None
    except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, UnicodeError) as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise TemplateError(f"{_where(folder, name, error)}: {reason}") from None


def _bounded(template: jinja2.Template, values: Mapping[str, Any]) -> str:
    parts: list[str] = []
    size = 0
    for part in template.generate(values):
        size += len(part)
        if size > SIZE_LIMIT:
            raise jinja2.TemplateRuntimeError(f"it makes more than {SIZE_LIMIT} characters: does it loop?")
        parts.append(part)
    return "".join(parts)


@functools.cache
def _environment(folder: Path, base: Path) -> jinja2.Environment:
    """Return the environment for *folder*; a relative one is below *base*."""
    if not folder.is_dir():
        raise TemplateError(f"templates: {folder} is not a folder")
    ours = sorted(path.name for path in environment.templates_folder().glob("*.hcl.j2"))
    if not any((folder / name).is_file() for name in ours):
        raise TemplateError(f"templates: {folder} holds none of {', '.join(ours)}, so nothing there is used")
    made = environment.configured(_Environment, [base / folder, environment.templates_folder()])
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


# The process, and the limits that it sets for itself.


CPU_LIMIT_S = 3
"""Processor time for one file; one of ours takes a hundredth of a second."""

MEMORY_LIMIT_BYTES = 1 << 30
"""Address space of this process. Without a file, it takes a third of it."""


class TooLongError(jinja2.TemplateRuntimeError):
    """A template has exceeded its processor time."""


_is_over = False
"""Whether the current template has exceeded its processor time."""

_TOO_LONG = f"it takes more than {CPU_LIMIT_S} s of processor time: does it loop?"


def main() -> None:
    """Answer requests until standard input ends."""
    with contextlib.suppress(ValueError):  # macOS keeps no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))
    signal.signal(signal.SIGXCPU, _end)
    while size := sys.stdin.buffer.read(own.SIZE.size):
        base, folder, name, values = pickle.loads(sys.stdin.buffer.read(own.SIZE.unpack(size)[0]))  # noqa: S301  # our own
        os.chdir(base)
        _limit_time()
        reply = _reply(folder, name, values)
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def _limit_time() -> None:
    global _is_over  # noqa: PLW0603
    _is_over = False
    limit_s, hard_s = math.ceil(time.process_time()) + CPU_LIMIT_S, resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard_s != resource.RLIM_INFINITY:
        limit_s = min(limit_s, hard_s)
    resource.setrlimit(resource.RLIMIT_CPU, (limit_s, hard_s))  # only root may raise the second


def _end(_number: int, _frame: Any) -> None:
    global _is_over  # noqa: PLW0603  # the handler of the error may fail, too, and hide it
    _is_over = True
    raise TooLongError(_TOO_LONG)


def _reply(folder: Any, name: str, values: Any) -> dict[str, Any]:
    try:
        return {"text": render(folder, name, values)}
    except errors.SpecError as error:
        return {"problems": [asdict(problem) for problem in error.problems], "source": error.source}
    except own.TemplateError as error:
        text = f"template {name}: {_TOO_LONG}" if _is_over and _TOO_LONG not in str(error) else str(error)
        return {"error": text, own.IS_WORN: _is_over or isinstance(error.__context__, MemoryError)}


if __name__ == "__main__":
    main()
