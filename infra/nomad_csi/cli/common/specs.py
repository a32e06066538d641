"""Finds the spec of a command that names none: by the environment, or as the only one in the current directory."""

import functools
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from nomad_csi.aws import regions
from nomad_csi.cli.common import command, inputs, output

VARIABLE = "NOMAD_CSI_SPEC"
"""Environment variable with the path of the spec."""

STACK_VARIABLE = "PULUMI_STACK"
"""Environment variable with the stack, as Pulumi reads it."""

NAMES = ("storage.yaml", "storage.yml")
SANDBOX = Path(".sandbox/Pulumi.sandbox.yaml")
"""The stack config that a sandbox derives from the one in its directory, fitted to its clients."""


def discover() -> Path | None:
    """
    Return the spec of this directory, and print which; ``None`` if there is none.

    Raises `click.UsageError` if there are several.
    """
    paths = candidates()
    if len(paths) > 1:
        names = ", ".join(map(str, paths))
        raise command.usage("SPEC", allowed=f"one, since {names} are here", fix=f"name it, or set {VARIABLE}")
    for path in paths:
        output.print_progress(f"spec: {path}{f' ({VARIABLE})' if os.environ.get(VARIABLE) else ''}")
    return paths[0] if paths else None


def discover_quietly() -> list[Path]:
    """Return the spec of this directory, for its settings alone; none if there are several."""
    paths = candidates()
    return paths if len(paths) == 1 else []


def candidates() -> list[Path]:
    """Return the spec that the environment names, else all in this directory."""
    given = os.environ.get(VARIABLE, "")
    if given:
        return [Path(given)]
    if SANDBOX.is_file() and inputs.holds_spec(SANDBOX):
        return [SANDBOX]
    stack = os.environ.get(STACK_VARIABLE, "")
    stacks = [path for path in sorted(Path().glob(f"Pulumi.{stack or '*'}.y*ml")) if path.name != SANDBOX.name]
    return [
        *(path for path in map(Path, NAMES) if path.is_file()),
        *(path for path in stacks if inputs.holds_spec(path)),
    ]


def required() -> Path:
    """Return the spec of this directory. Raises `click.UsageError` if there is none."""
    if taken := discover():
        return taken
    allowed = "a spec, or a Pulumi stack config that holds one"
    fix = f"neither {NAMES[0]} nor Pulumi.STACK.yaml is in {Path.cwd()}: name one, set {VARIABLE}, or pass -C DIR"
    raise command.usage("SPEC", got="nothing", allowed=allowed, fix=fix)


def _of_command(ctx: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    return value if value is not None or ctx.resilient_parsing else required()


def _if_any(ctx: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    return value if value is not None or ctx.resilient_parsing else discover()


_TEXT = f"a spec, or a stack config with one (default: {VARIABLE}, else that of this directory)"

spec = command.argument("spec [SPEC]", _TEXT, callback=_of_command)
"""The decorator that adds the spec."""


def optional(more: str) -> command.Declare[Any]:
    """Return the decorator that adds a spec to a command that works without one, too; *more* continues its help."""
    return command.argument("spec [SPEC]", f"{_TEXT}{more}", callback=_if_any)


def out(spec: Path) -> Path | None:
    """Return the directory of rendered files that *spec* names; ``None`` if it names none."""
    named = inputs.setting(spec, "out")
    return spec.parent / named if named else None


# The region in which AWS is queried.


def aws_options_of(**settings: Any) -> command.Declare[Any]:
    """Return the decorator that adds the options for AWS, each with *settings*."""
    text = "where AWS is queried (default: by the volumes' zones, or the spec)"
    return command.together(
        inputs.aws_region(text, **settings),
        command.option("--no-aws", "do not query AWS", without=("aws_region",), **settings),
    )


aws_options = aws_options_of()


def aws_choice(arguments: command.Arguments, spec: Path | None = None) -> regions.Choice:
    """Return the user's choice of the region; *spec*, or that of this directory, is read only if no zone names one."""
    default = functools.partial(_regions, spec)
    return regions.Choice(named=arguments.aws_region, is_left_out=arguments.no_aws, default=default)


def aws_region(
    arguments: command.Arguments, client: Any, keys: Iterable[tuple[str, str]], spec: Path | None = None
) -> regions.Region:
    """Return the region of the volumes *keys*. Raises `errors.NomadApiError` if their zones cannot be read."""
    from nomad_csi.nomad import volumes as registered  # noqa: PLC0415  # only commands that ask Nomad pay for it

    read = registered.by_key(client, keys)  # as they are asked for: not where the region is named or AWS left out
    topologies = (topology for _, volume in read if volume is not None for topology in volume.topologies)
    return aws_choice(arguments, spec).region(topologies)


def _regions(spec: Path | None) -> frozenset[str]:
    """Return the AWS regions of the plugins in *spec*, or else in that of this directory."""
    specs = [spec] if spec else discover_quietly()
    documents = [inputs.read_document(path) for path in specs if path.suffix in inputs.YAML]
    plugins = [plugin for item in documents if isinstance(item, Mapping) for plugin in item.get("plugins") or ()]
    named = {plugin.get("aws_region") for plugin in plugins if isinstance(plugin, Mapping)}
    return frozenset(name for name in named if isinstance(name, str) and name)


def or_discovered(ctx: click.Context, _parameter: click.Parameter, value: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the paths *value*; if there are none, the spec of this directory. A callback of an argument."""
    return value if value or ctx.resilient_parsing else (required(),)


# A spec and volumes, or files, in one list of words.


FILES = frozenset({*inputs.YAML, ".hcl", ".json"})
"""Extensions of files: other words that are no directory name volumes."""


def _word(given: str) -> Path | tuple[str, str]:
    """Return the path *given*, or namespace and id of a volume. Raises `click.BadParameter`."""
    path = Path(given)
    is_path = path.suffix in FILES or path.is_dir() or given.endswith(os.sep)
    return path if is_path else inputs.spec_volume_key(given)


def _with_spec(ctx: click.Context, _parameter: click.Parameter, value: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the words *value*, after the spec of this directory if none of them is a path."""
    if ctx.resilient_parsing or any(isinstance(word, Path) for word in value):
        return value
    return (required(), *value)


def words(shown: str, text: str) -> command.Declare[Any]:
    """Return the decorator that adds paths and volumes as one argument, *shown* so in the usage."""
    return command.argument(
        f"words {shown}",
        text,
        type=_word,
        shell_complete=command.PATH.shell_complete,
        nargs=-1,
        required=False,
        callback=_with_spec,
    )


def paths(arguments: command.Arguments) -> list[Path]:
    """Return the paths among the *arguments*."""
    return [word for word in arguments.words if isinstance(word, Path)]


def volumes(arguments: command.Arguments) -> list[tuple[str, str]]:
    """Return namespace and id of the volumes among the *arguments*."""
    return [word for word in arguments.words if not isinstance(word, Path)]
