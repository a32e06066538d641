"""Finds the spec of a command that names none: by the environment, or as the only one in the current directory."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from nomad_csi import errors
from nomad_csi.cli.common import command, inputs, output

VARIABLE = "NOMAD_CSI_SPEC"
"""Environment variable with the path of the spec."""

STACK_VARIABLE = "PULUMI_STACK"
"""Environment variable with the stack, as Pulumi reads it."""

NAMES = ("storage.yaml", "storage.yml")
SANDBOX = Path(".sandbox/Pulumi.sandbox.yaml")
"""The stack config that a sandbox derives from the one in its directory, fitted to its clients."""


def found() -> Path | None:
    """
    Return the spec of this directory, and say which; ``None`` if there is none.

    Raises `click.UsageError` if there are several.
    """
    given = os.environ.get(VARIABLE, "")
    candidates = [Path(given)] if given else list(_candidates())
    if len(candidates) > 1:
        names = ", ".join(map(str, candidates))
        raise click.UsageError(f"SPEC: expected one, since {names} are here; name it, or set {VARIABLE}")
    if candidates:
        output.print_progress(f"spec: {candidates[0]}{f' ({VARIABLE})' if given else ''}")
    return candidates[0] if candidates else None


def found_quietly() -> list[Path]:
    """Return the spec of this directory, for its settings alone; none if there are several. Says which has an owner."""
    given = os.environ.get(VARIABLE, "")
    candidates = [Path(given)] if given else list(_candidates())
    return candidates if len(candidates) == 1 else []


def _candidates() -> Iterator[Path]:
    if SANDBOX.is_file():
        yield SANDBOX
        return
    stack = os.environ.get(STACK_VARIABLE, "")
    for path in [*map(Path, NAMES), *sorted(Path().glob(f"Pulumi.{stack or '*'}.y*ml"))]:
        if path.name == SANDBOX.name:
            continue  # its sandbox, which would complete it, is not up
        if path.is_file() and (path.name in NAMES or inputs.holds_spec(path)):
            yield path


def missing() -> click.UsageError:
    """Return the error of a command that needs a spec where there is none."""
    allowed = "a spec, or a Pulumi stack config that holds one"
    fix = f"neither {NAMES[0]} nor Pulumi.STACK.yaml is in {Path.cwd()}: name one, set {VARIABLE}, or pass -C DIR"
    return click.UsageError(str(errors.Problem(path="SPEC", got="nothing", allowed=allowed, fix=fix)))


def _of_command(ctx: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    if value is not None or ctx.resilient_parsing:
        return value
    taken = found()
    if taken is None:
        error = missing()
        error.ctx = ctx
        raise error
    return taken


def _if_any(ctx: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    return value if value is not None or ctx.resilient_parsing else found()


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


def refuse_without(spec: Path | None) -> Path:
    """Return *spec*. Raises `click.UsageError` without one."""
    if spec is None:
        raise missing()
    return spec


def or_found(ctx: click.Context, parameter: click.Parameter, value: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the paths *value*; if there are none, the spec of this directory. A callback of an argument."""
    spec = None if value or ctx.resilient_parsing else _of_command(ctx, parameter, None)
    return (spec,) if spec else value


# A spec and volumes, or files, in one list of words.


FILES = frozenset({*inputs.YAML, ".hcl", ".json"})
"""Extensions of files: other words that are no directory name volumes."""


def _word(given: str) -> Path | tuple[str, str]:
    """Return the path *given*, or namespace and id of a volume. Raises `click.BadParameter`."""
    path = Path(given)
    is_path = path.suffix in FILES or path.is_dir() or given.endswith(os.sep)
    return path if is_path else inputs.spec_volume_key(given)


def _with_spec(ctx: click.Context, parameter: click.Parameter, value: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the words *value*, after the spec of this directory if none of them is a path."""
    if ctx.resilient_parsing or any(isinstance(word, Path) for word in value):
        return value
    spec = _of_command(ctx, parameter, None)
    return (spec, *value)


def words(shown: str, text: str) -> command.Declare[Any]:
    """Return the decorator that adds paths and volumes as one argument, *shown* so in the usage."""
    return command.argument(
        f"words {shown}", text, type=inputs.PathOrVolume(_word), nargs=-1, required=False, callback=_with_spec
    )


def paths(arguments: command.Arguments) -> list[Path]:
    """Return the paths among the *arguments*."""
    return [word for word in arguments.words if isinstance(word, Path)]


def volumes(arguments: command.Arguments) -> list[tuple[str, str]]:
    """Return namespace and id of the volumes among the *arguments*."""
    return [word for word in arguments.words if not isinstance(word, Path)]
