"""Options and confirmations that several commands share."""

import sys
from collections.abc import Collection
from typing import Any

from nomad_csi import errors
from nomad_csi.cli.common import command, usage


@command.Typed
def pair(given: str) -> tuple[str, str]:
    """Return key and value of ``KEY=VALUE``."""
    key, equals, value = given.partition("=")
    if not key or not equals:
        raise usage.wrong("KEY=VALUE", given)
    return key, value


# The exit code for findings, by one rule in all commands that report some.
#
# 1: a finding has severity error; with ``--strict`` also severity warning. 2: no such finding, and something could not
# be determined. Else 0.


strict = command.option("--strict", "exit 1 for warnings, too (default: for errors alone)", job="passed")


def exit_code(arguments: command.Arguments, code: int, findings: Collection[object]) -> int:
    """Return *code*, which ignores warnings; with ``--strict`` 1 if there are *findings* of any severity."""
    return errors.EXIT_CHANGES if arguments.strict and findings else code


# Options for timeouts and intervals: in seconds, and one name for each meaning in all commands.


MEANINGS = {
    "timeout": "the whole command may wait",
    "step-timeout": "each step may take",
    "probe-timeout": "one plugin may take for its answers over its socket",
    "snapshot-timeout": "the last snapshot of a volume may take",
    "stable": "an instance must stay unchanged to count as stable",
    "every": "lie between two verification runs",
}
"""Names of options, without ``-s``, and the meaning of their seconds."""


def seconds(
    name: str, more: str = "", *, default: float | None = None, default_text: str = "", **settings: Any
) -> command.Declare[Any]:
    """
    Return the decorator that adds the option ``--NAME-s`` with one of `MEANINGS`.

    Args:
        name: which of them.
        more: continues the sentence, such as `` for all clients``.
        default: seconds if it is not given; ``None``: its absence is visible.
        default_text: the default in words, if its number is not clear enough.
        settings: of a `command.Option`.
    """
    usual = default_text or (f"{default:g}" if default else "0, it does not wait")
    text = f"seconds that {MEANINGS[name]}{more} (default: {usual})"
    return command.option(f"--{name}-s S", text, type=positive, default=default, **settings)


@command.Typed
def positive(given: str) -> float:
    """Return *given* as a positive number of seconds. Raises `click.BadParameter`."""
    try:
        value = float(given)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise usage.wrong("a number of seconds above 0", given)
    return value


# Ask for confirmation before a step that can do harm.


yes = command.option("--yes", "do not ask")


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
