"""Secrets that somebody gives as arguments: refused, and not repeated. Everybody on a machine can read arguments."""

import argparse
from collections.abc import Iterable
from pathlib import Path

VARIABLES = {"token": "NOMAD_TOKEN", "http-auth": "NOMAD_HTTP_AUTH"}
"""Options that other tools have for a secret, and the variable to set instead."""


FILE = "expected a FILE: secrets are not given as arguments, which everybody on the machine can read"


def objection(words: Iterable[str]) -> str:
    """Return why a command line of *words* is not run: an option for a secret; empty where there is none."""
    for word in words:
        option = word.partition("=")[0]
        name = option.lstrip("-")
        if option.startswith("-") and name in VARIABLES:
            return f"--{name} is not an argument, which everybody on the machine can read: set {VARIABLES[name]}"
    return ""


def shown(words: Iterable[str]) -> str:
    """Return *words* that nobody knows for a message: values of options are left out, they may be secrets."""
    told: list[str] = []
    for word in words:
        if word.startswith("-"):
            told.append(word.partition("=")[0])
        elif not any(each.startswith("-") for each in told):
            told.append(word)
    return " ".join(told)


def file(given: str) -> Path:
    """Return the path *given* for secrets. Raises `argparse.ArgumentTypeError` for secrets themselves."""
    path = Path(given)
    if "=" in given and not path.exists():
        raise argparse.ArgumentTypeError(FILE)
    return path


def refuse(_given: str) -> Path:
    """Raise `argparse.ArgumentTypeError`: for options that would take a secret itself."""
    raise argparse.ArgumentTypeError(FILE)
