"""
The base classes of commands, over Click.

Each option is declared once, with its section of help and the options that it requires or excludes. A command's
function receives all values in one `Arguments`.
"""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from nomad_csi import errors
from nomad_csi.cli.common import output, usage

OPTIONS, CONNECTION = "options", "connection to Nomad"
"""Sections of help: the default one, and the one that is always last."""

PATH = click.Path(path_type=Path, readable=False)
"""A file or folder; whether it exists is checked when it is read."""

PATHS = frozenset({"DIR", "FILE", "OUT.json", "SPEC", "SPEC|FILE"})
"""Names of values of type `PATH`."""

Declared = TypeVar("Declared", bound=Callable[..., Any] | click.Command)
Declare = Callable[[Declared], Declared]


class Arguments(SimpleNamespace):
    """The values of a command's options and arguments, by name."""


class Option(click.Option):
    """An option and its constraints."""

    def __init__(self, names: Sequence[str], **settings: Any) -> None:
        self.section: str = settings.pop("section", OPTIONS)
        self.needs: Sequence[str] = settings.pop("needs", ())
        """Names of other parameters, of which one must be given with it."""
        self.without: Mapping[str, str] = settings.pop("without", {})
        """Names of parameters that exclude it, and the reason, as text that follows them."""
        self.fix: str = settings.pop("fix", "")
        """The likely fix if it does not fit."""
        self.job: str = settings.pop("job", "")
        """Its use in the job of ``verify job``: see `cli.observe.verify_job`."""
        super().__init__(names, **settings)


def described(parameter: click.Parameter, ctx: click.Context) -> tuple[str, str]:
    """Return the row of *parameter* in a help, also if it is hidden."""
    if isinstance(parameter, click.Option):
        parameter.hidden = False
    return parameter.get_help_record(ctx) or ("", "")


class Argument(click.Argument):
    """An argument, shown in brackets if it is optional."""

    def make_metavar(self, ctx: click.Context) -> str:
        """Return it as the usage shows it."""
        del ctx
        if " " in self.human_readable_name:
            return self.human_readable_name
        shown = f"{self.human_readable_name}{'' if self.nargs == 1 else '...'}"
        return shown if self.required else f"[{shown}]"


class Typed(click.ParamType[Any]):
    """Type of a value that a function parses from text; the function raises `usage.wrong`. A decorator."""

    def __init__(
        self,
        read: Callable[[str], Any],
        suggest: Callable[[click.Context, str], Iterable[str]] = lambda _ctx, _incomplete: (),
    ) -> None:
        self.read = read
        self.suggest = suggest
        """Returns completions of a text."""
        self.name = read.__name__

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the completions of *incomplete*."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  # only shells pay for it

        del param
        words = dict.fromkeys(self.suggest(ctx, incomplete))
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]

    def __call__(self, value: Any, param: click.Parameter | None = None, ctx: click.Context | None = None) -> Any:
        """Return the parsed *value*; a default stays unchanged."""
        del param, ctx
        return self.read(value) if isinstance(value, str) else value

    convert = __call__


class OneOf(click.Choice[str]):
    """One of several fixed values."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return the allowed values, and the given one."""
        del ctx
        return str(usage.wrong(f"one of {', '.join(self.choices)}", value, usage.nearest(value, self.choices)))


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
    """Return the decorator that adds an `Argument`, *declared* as ``name SHOWN``, ``[SHOWN]`` or ``SHOWN...``."""
    name, _, shown = declared.partition(" ")
    metavar = shown if " " in shown else shown.strip("[]").removesuffix("...")
    kind = {"required": not shown.startswith("["), "nargs": -1 if "..." in shown else 1} | _kind(metavar, settings)
    return click.argument(name, cls=Argument, help=text, **{**kind, **settings})


def _kind(metavar: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the type settings of *metavar*: a path, one of fixed values, or text."""
    if metavar in PATHS:
        return {"metavar": metavar, "type": PATH}
    words = metavar.split("|")
    is_choice = "type" not in settings and len(words) > 1 and metavar.islower()
    return {"metavar": metavar} | ({"type": OneOf(words)} if is_choice else {})


def together(*declared: Declare[Any]) -> Declare[Any]:
    """Return one decorator for several, which help shows in this order."""
    return lambda function: functools.reduce(lambda made, add: add(made), reversed(declared), function)


def as_json(more: str = "") -> Declare[Any]:
    """Return the decorator that adds ``--json``."""
    return option("--json", f"print JSON instead of text{more}", job="passed")


class _Shown(click.Command):
    """The help format of commands and of groups."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line. Raises `click.UsageError` with this command."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage."""
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix="usage: ")

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments without dashes."""
        found = [each.get_help_record(ctx) for each in self.params if isinstance(each, click.Argument)]
        if found:
            with formatter.section("arguments"):
                formatter.write_dl(found)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options by sections; those of the connection are described once, by ``help connection``."""
        sections: dict[str, list[tuple[str, str]]] = {OPTIONS: []}
        for each in self.get_params(ctx):
            if isinstance(each, click.Option) and (shown := each.get_help_record(ctx)):
                sections.setdefault(getattr(each, "section", OPTIONS), []).append(shown)
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


def _change_directory(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    """Make the directory *value* the current one until the program ends."""
    if value is None or ctx.resilient_parsing:
        return
    try:
        _program(ctx).enter_context(contextlib.chdir(value))
    except OSError as error:
        problem = errors.Problem(path="", got=f"{str(value)!r} ({error.strerror})", allowed="a directory")
        raise click.BadParameter(str(problem), ctx, parameter) from None


def _program(ctx: click.Context) -> contextlib.ExitStack:
    """Return what ends with the program."""
    found: contextlib.ExitStack | None = ctx.find_object(contextlib.ExitStack)
    return contextlib.ExitStack() if found is None else found


def _configure(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Set the output's setting of the option."""
    if value and not ctx.resilient_parsing and parameter.name:
        setattr(output.SETTINGS, parameter.name, value)
        if parameter.name == "verbose":
            _program(ctx).enter_context(output.logged())


def shared() -> tuple[Option, ...]:
    """Return the options of the program and of every command: ``help options`` describes them, once."""
    own: dict[str, Any] = {"expose_value": False, "is_eager": True, "hidden": True}
    common: dict[str, Any] = own | {"callback": _configure}
    colors = OneOf(["auto", "always", "never"])
    return (
        Option(["-C"], metavar="DIR", type=PATH, help="run in this directory", callback=_change_directory, **own),
        Option(["-q", "--quiet"], is_flag=True, help="print results, warnings and errors only", **common),
        Option(["-v", "--verbose"], is_flag=True, help="print each request with its time, on standard error", **common),
        Option(["--color"], metavar="WHEN", type=colors, help="auto, always or never (default: auto)", **common),
    )


class Command(_Shown):
    """A command: its function receives `Arguments`, and returns the exit code."""

    allow_extra_args = True
    """Refused here, in our own message."""

    def __init__(self, name: str | None = None, *, either: Sequence[str] = (), **settings: Any) -> None:
        super().__init__(name, **settings)
        self.params.extend(shared())
        self.either = either
        """Names of parameters of which exactly one must be given; empty: no such constraint."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line. Raises `click.UsageError`, and `usage.UsageError` for values that conflict."""
        rest = super().parse_args(ctx, args)
        if ctx.resilient_parsing:
            return rest
        if rest:
            raise click.UsageError(str(errors.Problem(path="", got=repr(rest[0]), allowed="no more arguments")), ctx)
        self._choose(ctx)
        usage.refuse(self._misplaced(ctx))
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Call the function. Raises `errors.NomadCsiError` for a file error of the system, with the file's option."""
        try:
            return ctx.invoke(self.callback, Arguments(**values(ctx))) if self.callback else 0
        except BrokenPipeError:
            raise
        except OSError as error:
            named = {usage.shown(each): ctx.params.get(each.name) for each in self.params if each.name}
            raise errors.NomadCsiError(usage.describe_file_error(error, named)) from error

    def _choose(self, ctx: click.Context) -> None:
        found = [usage.shown(each) for each in given(ctx) if each.name in self.either]
        if self.either and len(found) != 1:
            shown = ", ".join(usage.shown(each) for each in self.params if each.name in self.either)
            raise click.UsageError(f"expected one of {shown}, got {' and '.join(found) or 'none'}", ctx)

    def _lacking(self, ctx: click.Context, each: Option) -> Sequence[str]:
        """Return the names of which one is required with *each*: what it needs, or what that needs."""
        met = [other for other in self.params if other.name in each.needs and ctx.params.get(other.name)]
        if not met:
            return each.needs
        return self._lacking(ctx, met[0]) if isinstance(met[0], Option) else ()

    def _misplaced(self, ctx: click.Context) -> Iterator[errors.Problem]:
        shown = {each.name: usage.shown(each) for each in self.params}
        for each in given(ctx):
            if not isinstance(each, Option):
                continue
            if lacking := self._lacking(ctx, each):
                with_what = " or ".join(shown[name] for name in lacking)
                yield errors.Problem(path=shown[each.name], got="", allowed=f"it only with {with_what}", fix=each.fix)
            for name, why in each.without.items():
                if ctx.params.get(name) and why:
                    allowed = f"it without {shown[name]}{why}"
                    yield errors.Problem(path=shown[each.name], got="", allowed=allowed, fix=each.fix)
                elif ctx.params.get(name):
                    both = f"{shown[each.name]} and {shown[name]} exclude each other"
                    yield errors.Problem(path="", got=both, allowed="", fix=each.fix or "give one")


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

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands below, and the options."""
        with formatter.section("commands"):
            formatter.write_dl([(name, each.get_short_help_str(limit=1000)) for name, each in self.commands.items()])
        super().format_options(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Return the completions of *incomplete*."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  # only shells pay for it

        names = [CompletionItem(name) for name in self.commands if name.startswith(incomplete)]
        return names + super().shell_complete(ctx, incomplete)


class Group(_Shown, click.Group):
    """Commands of one name; without a subcommand, help is shown."""

    command_class = Command

    def __init__(self, *given: Any, **settings: Any) -> None:
        super().__init__(*given, **settings)
        self.params.extend(shared())

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the subcommands in the order of the code."""
        del ctx
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands; click would cut their descriptions at the width of a line."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(limit=1000)) for name, each in self.commands.items()])


def command(**settings: Any) -> Callable[[Callable[[Arguments], int]], Command]:
    """Return the decorator that turns a function into a `Command`."""
    return click.command(cls=Command, **settings)


def family(**settings: Any) -> Callable[[Callable[[Arguments], int]], Family]:
    """Return the decorator that turns a function into a `Family`."""
    return click.command(cls=Family, **settings)


def given(context: click.Context | None = None) -> list[click.Parameter]:
    """Return the parameters given on the command line of *context*, or of the current command."""
    ctx = context or click.get_current_context()
    sources = {ParameterSource.DEFAULT, ParameterSource.ENVIRONMENT, None}
    return [each for each in ctx.command.params if ctx.get_parameter_source(each.name or "") not in sources]


def values(ctx: click.Context) -> dict[str, Any]:
    """Return the values of *ctx*, and those of its parent groups that it does not set."""
    found = values(ctx.parent) if ctx.parent else {}
    own = {each.name for each in given(ctx)}
    for each in ctx.command.params:
        name = each.name
        if name in ctx.params and (name in own or name not in found):
            value = ctx.params[name]
            found[name] = list(value) if getattr(each, "multiple", False) or each.nargs == -1 else value
    return found
