"""Usage errors in the form of all errors: where, the values allowed, the value given, the likely fix."""

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from nomad_csi import errors

# System errors of a file on the command line, as a sentence that names the argument.


FILE_SENTENCES: dict[type[OSError], str] = {
    FileNotFoundError: "there is no file {name!r}",
    IsADirectoryError: "{name!r} is a directory, and a file is wanted",
    NotADirectoryError: "a part of {name!r} is a file, and a directory is wanted",
    PermissionError: "{name!r} may not be read or written by this user",
}
"""Common errors; other errors have the system's own text."""


def describe_file_error(error: OSError, given: Mapping[str, object]) -> str:
    """Return *error* as a sentence, after the option or argument of *given* that names its file."""
    sentence = FILE_SENTENCES.get(type(error))
    name = error.filename2 or error.filename  # of a rename, the destination: the first is a draft next to it
    if not isinstance(name, str):
        return error.strerror or str(error)
    if sentence is None:
        return f"{name}: {error.strerror}"
    argument = _argument(name, given)
    near = _nearest(Path(name)) if isinstance(error, FileNotFoundError) else ""
    fix = f"; did you mean {near}?" if near else ""
    return f"{argument}{': ' if argument else ''}{sentence.format(name=name)}{fix}"


def _nearest(path: Path) -> str:
    """Return the file next to *path* that was likely meant; empty if none of its kind is alone there, or similar."""
    try:
        there = {each.stem: each for each in path.parent.iterdir() if each.suffix == path.suffix and each.is_file()}
    except OSError:
        return ""
    near = list(there) if len(there) == 1 else difflib.get_close_matches(path.stem, there, n=1)
    return str(there[near[0]]) if near else ""


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
    return parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name


def sentence(error: click.UsageError) -> str:
    """Return the message of *error*."""
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        return f"{shown(error.param)}: {error.message}" if error.param else error.message
    problem = _problem(error)
    return str(problem) if problem else error.message


def _problem(error: click.UsageError) -> errors.Problem | None:
    command = error.ctx.command if error.ctx else None
    parameters = command.params if command else []
    if isinstance(error, click.NoSuchOption):
        visible = [name for each in parameters if not getattr(each, "hidden", False) for name in each.opts]
        fix = nearest(error.option_name, [name for name in (*visible, "--help") if name.startswith("-")])
        return errors.Problem(path=error.option_name, got="", allowed="an option of this command", fix=fix)
    if isinstance(error, click.NoSuchCommand) and error.ctx and isinstance(command, click.Group):
        known = command.list_commands(error.ctx)
        allowed = f"a command that `{error.ctx.command_path} --help` lists"
        fix = _find_command(error.ctx, command, error.command_name) or nearest(error.command_name, known)
        return errors.Problem(path="COMMAND", got=repr(error.command_name), allowed=allowed, fix=fix)
    if isinstance(error, click.MissingParameter) and error.param:
        is_option = isinstance(error.param, click.Option)
        allowed = (error.param.metavar if is_option else error.param.help) or "a value"
        return errors.Problem(path=shown(error.param), got="nothing", allowed=allowed)
    if isinstance(error, click.BadOptionUsage):
        takes_none = any(error.option_name in each.opts and getattr(each, "is_flag", False) for each in parameters)
        allowed, got = ("no value", "one") if takes_none else ("a value", "none")
        return errors.Problem(path=error.option_name, got=got, allowed=allowed)
    return None


def _find_command(ctx: click.Context, group: click.Group, word: str) -> str:
    """Return the command of *group* that takes *word* as a value, as a question; empty if there is none."""
    takers = [
        name
        for name, each in (group.commands.items() if ctx.parent else ())
        if any(word in getattr(parameter.type, "choices", ()) for parameter in each.params)
    ]
    return f"did you mean `{ctx.command_path} {takers[0]} {word}`?" if takers else ""
