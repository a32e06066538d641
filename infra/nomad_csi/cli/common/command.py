"""
Commands and options, on Click's own classes: constraints, sections of help, options that every command has, errors.

A command's function receives all values in one `Arguments`. Usage errors have the form of all errors: path, the values
allowed, the value given, the likely fix.
"""

import contextlib
import functools
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from nomad_csi import errors
from nomad_csi.cli.common import output

OPTIONS, CONNECTION, SHARED = "options", "connection to Nomad", "shared"
"""Sections of help: the default one; two that `nomad-csi help` describes once."""

PATH = click.Path(path_type=Path, readable=False)
"""A file or directory; whether it exists is checked when it is read."""

PATHS = frozenset({"DIR", "FILE", "OUT.json", "SPEC", "SPEC|FILE"})
"""Names of values of type `PATH`."""

Declared = TypeVar("Declared", bound=Callable[..., Any] | click.Command)
Declare = Callable[[Declared], Declared]


class Arguments(SimpleNamespace):
    """The values of a command's options and arguments, by name."""


class Option(click.Option):
    """An option and its constraints."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        section: str = OPTIONS,
        needs: Sequence[str] = (),
        without: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        """
        Declare the option.

        Args:
            names: as Click takes them.
            section: of the help.
            needs: names of other parameters that must be given with it.
            without: names of parameters that exclude it.
            settings: of `click.Option`.
        """
        super().__init__(names, **settings)
        self.section, self.needs, self.without = section, needs, without


def option(declared: str, text: str, *names: str, **settings: Any) -> Declare[Any]:
    """
    Return the decorator that adds an `Option`.

    Args:
        declared: ``--name VALUE``, or ``--name`` for one without a value.
        text: its help.
        names: the name of its value, if it differs from the option's.
        settings: of `Option`.
    """
    name, _, metavar = declared.partition(" ")
    kind: dict[str, Any] = {"is_flag": True}
    if metavar:
        kind = _kind(metavar, settings)
        if not {"type", "multiple", "required"} & {*kind, *settings}:
            kind["default"] = ""
    return click.option(name, *names, cls=Option, help=text, **{**kind, **settings})


def argument(declared: str, text: str, **settings: Any) -> Declare[Any]:
    """Return the decorator that adds an argument, *declared* as ``name SHOWN``, ``[SHOWN]`` or ``SHOWN...``."""
    name, _, shown = declared.partition(" ")
    kind = _kind(shown.strip("[]").removesuffix("..."), settings) | {"metavar": shown}
    kind |= {"required": not shown.startswith("["), "nargs": -1 if "..." in shown else 1}
    return click.argument(name, help=text, **{**kind, **settings})


def _kind(metavar: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the type settings of *metavar*: a path, one of fixed values, or text."""
    if metavar in PATHS:
        return {"metavar": metavar, "type": PATH}
    words = metavar.split("|")
    is_choice = "type" not in settings and len(words) > 1 and metavar.islower()
    return {"metavar": metavar} | ({"type": click.Choice(words)} if is_choice else {})


def together(*declared: Declare[Any]) -> Declare[Any]:
    """Return one decorator for several, which help shows in this order."""
    return lambda function: functools.reduce(lambda decorated, add: add(decorated), reversed(declared), function)


def as_json(more: str = "") -> Declare[Any]:
    """Return the decorator that adds ``--json``."""
    return option("--json", f"print JSON instead of text{more}")


def _change_directory(ctx: click.Context, _parameter: click.Parameter, value: Path | None) -> None:
    """Make the directory *value* the current one until the command ends."""
    if value is not None and not ctx.resilient_parsing:
        ctx.with_resource(contextlib.chdir(value))


def _configure(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Set the output's setting of the option."""
    if value and not ctx.resilient_parsing:
        setattr(output.SETTINGS, parameter.name, value)
        if parameter.name == "verbose":
            ctx.with_resource(output.logged())


def shared() -> tuple[Option, ...]:
    """Return the options of the program and of every command: ``help options`` describes them, once."""
    own: dict[str, Any] = {"expose_value": False, "is_eager": True, "section": SHARED}
    common: dict[str, Any] = own | {"callback": _configure}
    colors = click.Choice(["auto", "always", "never"])
    return (
        Option(["-C"], metavar="DIR", type=PATH, help="run in this directory", callback=_change_directory, **own),
        Option(["-q", "--quiet"], is_flag=True, help="print results, warnings and errors only", **common),
        Option(["-v", "--verbose"], is_flag=True, help="print each request with its time, on standard error", **common),
        Option(["--color"], metavar="WHEN", type=colors, help="auto, always or never (default: auto)", **common),
    )


class _Shown(click.Command):
    """The help format of commands and of groups."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage."""
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix="usage: ")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands below, and the options by sections; those of the connection have a help of their own."""
        if below := getattr(self, "commands", {}):  # in full: click cuts them at the width of a line
            with formatter.section("commands"):
                formatter.write_dl([(name, each.get_short_help_str(limit=1000)) for name, each in below.items()])
        sections: dict[str, list[tuple[str, str]]] = {OPTIONS: []}
        for each in self.get_params(ctx):
            if isinstance(each, click.Option) and (row := each.get_help_record(ctx)):
                sections.setdefault(getattr(each, "section", OPTIONS), []).append(row)
        sections.pop(SHARED, None)
        connects = sections.pop(CONNECTION, None)
        for name, rows in sections.items():
            with formatter.section(name):
                formatter.write_dl(rows)
        if connects:
            formatter.write("\nconnection to Nomad: `nomad-csi help connection`\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the epilog with its own line breaks."""
        del ctx
        if self.epilog:
            formatter.write(f"\n{self.epilog.rstrip()}\n")


class Command(_Shown):
    """A command: its function receives `Arguments`, and returns the exit code."""

    def __init__(self, name: str | None = None, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.params.extend(shared())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line. Raises `click.UsageError`, also for options that conflict."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise
        if not ctx.resilient_parsing:
            _refuse_conflicts(ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function. Raises `errors.NomadCsiError` for a file error of the system."""
        try:
            return ctx.invoke(self.callback, Arguments(**values(ctx))) if self.callback else 0
        except OSError as error:
            raise errors.NomadCsiError(describe_file_error(error)) from error


def _refuse_conflicts(ctx: click.Context) -> None:
    """Raise `click.UsageError` for an option that lacks another one, or that excludes another one."""
    shown = {each.name: shown_name(each) for each in ctx.command.params}
    for each in ctx.command.params:
        if not isinstance(each, Option) or ctx.get_parameter_source(each.name) != ParameterSource.COMMANDLINE:
            continue
        for name in each.needs:
            if not ctx.params.get(name):
                raise usage(shown[each.name], allowed=f"it only with {shown[name]}")
        for name in each.without:
            if ctx.params.get(name):
                raise usage("", got=f"{shown[each.name]} and {shown[name]} exclude each other", fix="give one")


class Family(Command):
    """A command with others below its name, such as ``verify job`` beside ``verify SPEC``."""

    def __init__(self, name: str | None = None, **settings: Any) -> None:
        super().__init__(name, **settings)
        self.commands: dict[str, Command] = {}

    def command(self, name: str, **settings: Any) -> Callable[[Callable[[Arguments], int]], Command]:
        """Return the decorator that adds the command *name* below this one."""

        def added(function: Callable[[Arguments], int]) -> Command:
            self.commands[name] = command(name=name, **settings)(function)
            return self.commands[name]

        return added

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the command below that *args* begin with, else of this one."""
        if args and (below := self.commands.get(args[0])):
            return below.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


class Group(_Shown, click.Group):
    """Commands of one name; without a subcommand, help is shown."""

    command_class = Command

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.params.extend(shared())


def command(**settings: Any) -> Callable[[Callable[[Arguments], int]], Command]:
    """Return the decorator that turns a function into a `Command`."""
    return click.command(cls=Command, **settings)


def family(**settings: Any) -> Callable[[Callable[[Arguments], int]], Family]:
    """Return the decorator that turns a function into a `Family`."""
    return click.command(cls=Family, **settings)


def choose(*names: str) -> None:
    """Raise `click.UsageError` unless exactly one of the parameters *names* of the current command is given."""
    ctx = click.get_current_context()
    shown = [shown_name(each) for each in ctx.command.params if each.name in names]
    if sum(bool(ctx.params[name]) for name in names) != 1:
        raise usage("", allowed=f"one of {', '.join(shown)}")


def values(ctx: click.Context) -> dict[str, Any]:
    """Return the values of *ctx*, and those of its parent groups."""
    return {**(values(ctx.parent) if ctx.parent else {}), **ctx.params}


# Errors: of the system about a file, and of arguments and options.


def describe_file_error(error: OSError) -> str:
    """Return *error* as a sentence that names its file."""
    name = error.filename2 or error.filename  # of a rename, the destination: the first is a draft next to it
    return f"{name}: {error.strerror}" if name is not None else error.strerror or str(error)


def usage(path: str, *, got: str = "", allowed: str = "", fix: str = "") -> click.UsageError:
    """Return the error for options that conflict, or for one that is missing."""
    problem = errors.Problem(path=path, got=got, allowed=allowed, fix=fix)
    return click.UsageError(str(problem), click.get_current_context(silent=True))


def wrong(allowed: str, got: str, fix: str = "") -> click.BadParameter:
    """Return the error for an invalid value; Click adds its parameter."""
    return click.BadParameter(str(errors.Problem(path="", got=repr(got), allowed=allowed, fix=fix)))


def shown_name(parameter: click.Parameter) -> str:
    """Return the name of *parameter* on the command line."""
    if isinstance(parameter, click.Option):
        return parameter.opts[0]
    return "".join(each for each in parameter.human_readable_name if each not in "[].")


def sentence(error: click.UsageError) -> str:
    """Return the message of *error*; of an invalid value, after the name of its parameter."""
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter) and error.param:
        return f"{shown_name(error.param)}: {error.message}"
    return error.format_message()


# SIGTERM ends a command as Ctrl-C does: it removes its temporary objects from the cluster before the process ends.


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM: from a service manager, a CI runner, or ``kill``."""


@contextlib.contextmanager
def terminated() -> Iterator[None]:
    """
    Raise `Terminated` in the block on SIGTERM.

    An existing handler, or an ignored signal, is kept; so it is outside of the main thread, the only one that gets
    signals.
    """
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(_number: int, _frame: Any) -> None:
    """Interrupt once: a CI runner sends SIGINT first and SIGTERM a little later, which must not end the removal."""
    error = sys.exc_info()[1]
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return
        error = error.__context__
    raise Terminated
