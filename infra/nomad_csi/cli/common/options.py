"""Options and confirmations that several commands share."""

import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from nomad_csi import errors, exit_codes
from nomad_csi.cli.common import command, output


def pair(given: str) -> tuple[str, str]:
    """Return key and value of ``KEY=VALUE``."""
    key, equals, value = given.partition("=")
    if not key or not equals:
        raise command.wrong("KEY=VALUE", given)
    return key, value


# The exit code for findings, by one rule in all commands that report some.
#
# 1: a finding has severity error; with ``--strict`` also severity warning. 2: no such finding, and something could not
# be determined. Else 0.


strict = command.option("--strict", "exit 1 for warnings, too")


def exit_code(arguments: command.Arguments, code: int, findings: Collection[object]) -> int:
    """Return *code*, which ignores warnings; with ``--strict`` 1 if there are *findings* of any severity."""
    return exit_codes.CHANGES if arguments.strict and findings else code


# Options for timeouts and intervals: durations, and one name for each meaning in all commands.


MEANINGS = {
    "timeout": "the whole command may wait",
    "step-timeout": "each step may take",
    "probe-timeout": "one plugin may take for its answers over its socket",
    "snapshot-timeout": "the last snapshot of a volume may take",
    "stable": "an instance must stay unchanged to count as stable",
    "every": "lies between two verification runs",
}
"""Names of options, and the meaning of their durations."""

UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h))+", re.ASCII)
_PART = re.compile(r"([\d.]+)([a-z]+)")


def duration(
    name: str, more: str = "", *, default_s: float | None = None, default_text: str = "", **settings: Any
) -> command.Declare[Any]:
    """
    Return the decorator that adds the option ``--NAME`` with one of `MEANINGS`; its value is ``NAME_s``, in seconds.

    Args:
        name: which of them.
        more: continues the sentence, such as `` for all clients``.
        default_s: seconds if it is not given; ``None``: its absence is visible.
        default_text: the default in words, if its number is not clear enough.
        settings: of a `command.Option`.
    """
    usual = default_text or (written(default_s) if default_s else "0s, it does not wait")
    text = f"time that {MEANINGS[name]}{more} (default: {usual})"
    dest = f"{name.replace('-', '_')}_s"
    return command.option(f"--{name} DURATION", text, dest, type=seconds, default=default_s, **settings)


def written(value_s: float) -> str:
    """Return *value_s* as a duration: ``90s`` for 90, ``15m`` for 900."""
    unit = next((unit for unit in ("h", "m") if value_s >= UNITS_S[unit] and value_s % UNITS_S[unit] == 0), "s")
    return f"{value_s / UNITS_S[unit]:g}{unit}"


def seconds(given: str | float) -> float:
    """Return the seconds of the duration *given*, which is above 0. Raises `click.BadParameter`."""
    if isinstance(given, float):
        return given  # a default
    if _DURATION.fullmatch(given):
        value = sum(float(number) * UNITS_S[unit] for number, unit in _PART.findall(given))
        if 0 < value < float("inf"):
            return value
    is_number = re.fullmatch(r"\d+(\.\d+)?", given, re.ASCII) and float(given)
    fix = f"write {given}s" if is_number else ""
    raise command.wrong("a duration above 0, such as 45s, 3m or 1h", given, fix)


# Ask for confirmation before a step that can do harm.


yes = command.option("--yes", "do not ask")


def dry_run(more: str = "", **settings: Any) -> command.Declare[Any]:
    """Return the decorator that adds ``--dry-run``: only what reads is sent, and nothing is written. *more*: on it."""
    return command.option("--dry-run", f"show what would be done, and end{more}", **settings)


def show_preview(arguments: command.Arguments, steps: Sequence[str]) -> int:
    """Print *steps*, each continuing "would"; return the exit code."""
    data = {"would": list(steps)}
    text = "\n".join(f"would {step}" for step in steps) or "nothing would be done"
    output.show(arguments, data, text)
    return 0


def agreed(question: str, *, is_agreed: bool) -> bool:
    """
    Return whether the user confirms *question* on the terminal; *is_agreed*: confirmed already, with ``--yes``.

    Raises `errors.RefusedError` without a terminal.
    """
    print(question, file=sys.stderr)
    if is_agreed:
        return True
    if not sys.stdin.isatty():
        raise errors.RefusedError("no terminal to confirm on; pass --yes")
    print("go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def typed(question: str, prompt: str) -> str:
    """
    Return what the user types on the terminal after *question*, for confirmations that must match exactly.

    Empty without a terminal.
    """
    if not sys.stdin.isatty():
        return ""
    print(question, file=sys.stderr)
    print(f"{prompt}: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def pulumi_stack(**settings: Any) -> command.Declare[Any]:
    """Return the decorator that adds the options for a stack; *settings* are those of `command.option`."""
    text = "stack of the project (default: the selected one)"
    project = "directory of Pulumi.yaml (default: the current one)"
    return command.together(
        command.option("--stack NAME", text, **settings),
        command.option("--project DIR", project, default=Path(), **settings),
    )
