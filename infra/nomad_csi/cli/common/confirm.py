"""Ask a person before something that can hurt."""

import sys

from nomad_csi import errors
from nomad_csi.cli.common import command

yes = command.option("--yes", "do not ask")


def agreed(question: str, *, is_agreed: bool) -> bool:
    """
    Return whether somebody at the terminal says yes to *question*; *is_agreed*: said so already, with ``--yes``.

    Raises `errors.RefusedError` where nobody is there to be asked.
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
    Return what somebody at the terminal types after *question*, for words that must be given letter by letter.

    Empty where nobody is there to be asked.
    """
    if not sys.stdin.isatty():
        return ""
    print(question, file=sys.stderr)
    print(f"{prompt}: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()
