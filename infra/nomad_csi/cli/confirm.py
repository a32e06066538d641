"""Ask a person before something that can hurt."""

import sys

from nomad_csi import errors


def agreed(question: str, *, is_agreed: bool) -> bool:
    """
    Return whether somebody at the terminal says yes to *question*; *is_agreed*: said so already, with ``--yes``.

    Raises `errors.RefusedError` where nobody is there to be asked.
    """
    print(question, file=sys.stderr)
    if is_agreed:
        return True
    if not sys.stdin.isatty():
        raise errors.RefusedError("nobody is at a terminal to be asked; answer beforehand with --yes")
    print("go on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
