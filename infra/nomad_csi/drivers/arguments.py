"""Parse the arguments of a driver, with facts about some flags beyond the catalogue. Pure."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

ENDPOINT_FLAGS = frozenset({"csi-endpoint", "endpoint", "server-socket"})
"""Flags for the path of the socket."""

NAME_FLAGS = frozenset({"csi-name", "driver-name", "drivername", "driver_name"})
"""Flags that set the name which the driver answers to ``GetPluginInfo``."""

WITHOUT_EFFECT = {"aws-ebs": frozenset({"logtostderr"})}
"""Flags that a driver declares and ignores. Source: aws-ebs-csi-driver v1.64.0, ``cmd/main.go``."""

MODE_WORDS = {"aws-ebs": {"all": "monolith"}}
"""Mode words beyond those that the catalogue renders, with the role that they select. Source: as above."""


def flag_name(argument: str) -> str:
    """Return the name of the flag in *argument*, without dashes and value; empty for a word."""
    return argument.lstrip("-").partition("=")[0] if argument.startswith("-") else ""


def flags(given: Iterable[str]) -> set[str]:
    """Return the names of the flags among *given*."""
    return {name for argument in given if (name := flag_name(argument))}


def is_word(argument: str) -> bool:
    """Return whether *argument* is neither a flag nor a placeholder."""
    return not argument.startswith(("-", "${", "{"))


def joined(given: Iterable[str]) -> list[tuple[int, str]]:
    """Return *given* with each flag joined with its value, and the index of each: ``--v 5`` is ``--v=5``."""
    found: list[tuple[int, str]] = []
    for index, argument in enumerate(given):
        before = found[-1][1] if found else ""
        if not argument.startswith("-") and before.startswith("-") and "=" not in before:
            found[-1] = (found[-1][0], f"{before}={argument}")
        else:
            found.append((index, argument))
    return found


def spans(given: Sequence[str]) -> Iterator[tuple[int, str, Sequence[str]]]:
    """Yield index and text of each item of `joined`, and the arguments of *given* that form it."""
    found = joined(given)
    for (index, argument), (end, _) in itertools.zip_longest(found, found[1:], fillvalue=(len(given), "")):
        yield index, argument, given[index:end]
