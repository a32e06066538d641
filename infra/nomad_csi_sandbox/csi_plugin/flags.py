"""
Flags as Go programs read them: pflag for the EBS driver, the standard ``flag`` package for the EFS driver.

Part of the CSI driver emulator. The two differ where it hurts: ``flag`` stops at the first word without a
dash, and what follows is ignored in silence.
Sources: golang.org ``flag`` (``FlagSet.parseOne``) and spf13/pflag (``FlagSet.parseArgs``), 2026-08.
"""

import re
from collections.abc import Mapping, Sequence

from nomad_csi_sandbox.csi_plugin import drivers

BOOLS = frozenset({"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})
"""What Go reads as a boolean. Source: golang.org ``strconv.ParseBool``."""

_FORMS = {
    "text": re.compile(r".*", re.DOTALL),
    "bool": re.compile("|".join(sorted(BOOLS))),
    "count": re.compile(r"\d+"),
    "int": re.compile(r"[+-]?\d+"),
    "float": re.compile(r"[+-]?\d+(\.\d*)?"),
    "duration": re.compile(r"0|([+-]?(\d+(\.\d*)?)(ns|us|µs|ms|s|m|h))+"),
}


class FlagError(Exception):
    """A flag that the program does not have, or a value that it cannot read. Such a program exits with 2."""


class HelpWanted(Exception):  # noqa: N818  # no error: someone asked for help
    """``--help`` was given."""


def pflag(words: Sequence[str], kinds: Mapping[str, drivers.FlagKind]) -> dict[str, str]:
    """Read *words* with two dashes, anywhere; ``-v`` is the one short flag. Raises `FlagError`, `HelpWanted`."""
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
        elif word.startswith("-") and word != "-":
            name, equals, value = word[1], word[2:], word[2:].removeprefix("=")
            if name not in {"v", "h"}:
                raise FlagError(f"unknown shorthand flag: {name!r} in {word}")
        else:
            continue
        if name not in kinds and name not in {"help", "h"}:
            raise FlagError(f"unknown flag: --{name}")
        _take(found, kinds, name, value if equals else None, rest)
    return found


def standard(words: Sequence[str], kinds: Mapping[str, drivers.FlagKind]) -> dict[str, str]:
    """Read *words* with one or two dashes up to the first word without. Raises `FlagError`, `HelpWanted`."""
    found: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in {"-", "--"}:
        word = rest.pop(0)
        name, equals, value = word.removeprefix("-").removeprefix("-").partition("=")
        if name not in kinds and name not in {"help", "h"}:
            raise FlagError(f"flag provided but not defined: -{name}")
        _take(found, kinds, name, value if equals else None, rest)
    return found


def _take(
    found: dict[str, str], kinds: Mapping[str, drivers.FlagKind], name: str, value: str | None, rest: list[str]
) -> None:
    """Put the value of *name* into *found*; without ``=`` it is the next word, but a bool's is true."""
    if name not in kinds:
        raise HelpWanted
    if value is None and kinds[name] == "bool":
        value = "true"
    if value is None:
        if not rest:
            raise FlagError(f"flag needs an argument: --{name}")
        value = rest.pop(0)
    if not _FORMS[kinds[name]].fullmatch(value):
        raise FlagError(f'invalid argument "{value}" for "--{name}" flag')
    found[name] = value


def is_true(text: str) -> bool:
    """Return what Go's ``strconv.ParseBool`` says of a flag that `pflag` or `standard` let pass."""
    return text in {"1", "t", "T", "TRUE", "true", "True"}
