"""Usage errors in the form of all errors: where, the values allowed, the value given, the likely fix."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from nomad_csi import errors

# System errors of a file on the command line, as a sentence that names the argument.


def describe_file_error(error: OSError, given: Mapping[str, object]) -> str:
    """Return *error* as a sentence, after the option or argument of *given* that names its file."""
    name = error.filename2 or error.filename  # of a rename, the destination: the first is a draft next to it
    if not isinstance(name, str):
        return error.strerror or str(error)
    argument = _argument(name, given)
    near = _nearest(Path(name)) if isinstance(error, FileNotFoundError) else ""
    fix = f"; did you mean {near}?" if near else ""
    return f"{argument}{': ' if argument else ''}{name}: {error.strerror}{fix}"


def _nearest(path: Path) -> str:
    """Return the file next to *path*, of the same kind, that was likely meant; empty if none is similar."""
    try:
        near = difflib.get_close_matches(path.name, [item.name for item in path.parent.glob(f"*{path.suffix}")], n=1)
    except OSError:
        return ""
    return str(path.parent / near[0]) if near else ""


def _argument(name: str, given: Mapping[str, object]) -> str:
    for key, value in given.items():
        paths = value if isinstance(value, list | tuple) else [value]
        if any(isinstance(path, Path) and str(path) == name for path in paths):
            return key
    return ""


# Errors of arguments and options.


NEAR = 0.66
"""Minimum similarity, of 1, of a suggestion."""


class UsageError(errors.SpecError):
    """Valid arguments that conflict; the exit code is that of ``sysexits.h``."""


def refuse(problems: Iterable[errors.Problem]) -> None:
    """Raise `UsageError` if there are *problems* with the options of the current command."""
    if found := tuple(problems):
        raise UsageError(found, click.get_current_context().command_path)


def wrong(allowed: str, got: str, fix: str = "") -> click.BadParameter:
    """Return the error for an invalid value; Click adds its parameter."""
    return click.BadParameter(str(errors.Problem(path="", got=repr(got), allowed=allowed, fix=fix)))


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the likely one of *known*, as a question; empty if none is similar."""
    names = list(known)
    swapped = [name for name in names if sorted(name) == sorted(word)]
    found = swapped or difflib.get_close_matches(word, names, n=1, cutoff=NEAR)
    return f"did you mean {found[0]}?" if found else ""


def shown(parameter: click.Parameter) -> str:
    """Return the name of *parameter* on the command line."""
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return "".join(each for each in parameter.human_readable_name if each not in "[].")


def sentence(error: click.UsageError) -> str:
    """Return the message of *error*; of an invalid value, after the name of its parameter."""
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter) and error.param:
        return f"{shown(error.param)}: {error.message}"
    return error.format_message()
