"""Codes that are explained: an unknown one is answered by the nearest, not by all of them on one line."""

import argparse
import difflib
from collections.abc import Callable, Collection


def one_of(known: Collection[str], listing: str) -> Callable[[str], str]:
    """Return a type for `argparse` that takes the codes *known*; *listing* is the command that prints them all."""

    def check(given: str) -> str:
        if given in known:
            return given
        near = difflib.get_close_matches(given, known, n=1, cutoff=0.0)
        hint = f"the nearest is {near[0]!r}; " if near else ""
        raise argparse.ArgumentTypeError(f"there is no code {given!r}; {hint}`{listing}` lists all")

    return check
