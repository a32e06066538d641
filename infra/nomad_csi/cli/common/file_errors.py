"""What the system says of a file that was named on the command line, as a sentence that names the argument."""

import argparse
from collections.abc import Sequence
from pathlib import Path

SENTENCES: dict[type[OSError], str] = {
    FileNotFoundError: "there is no file {name!r}",
    IsADirectoryError: "{name!r} is a folder, and a file is wanted",
    NotADirectoryError: "a part of {name!r} is a file, and a folder is wanted",
    PermissionError: "{name!r} may not be read or written by this user",
}
"""What people meet every day; anything else is told in the system's words."""


def describe(error: OSError, given: argparse.Namespace | None = None, words: Sequence[str] = ()) -> str:
    """Return *error* in a sentence, behind the argument of *given* (typed as *words*) that names its file."""
    sentence = SENTENCES.get(type(error))
    name = error.filename2 or error.filename  # of a renaming, the place: the first is a draft beside it
    if sentence is None or not isinstance(name, str):
        return str(error)
    argument = _argument(name, vars(given) if given else {}, words)
    return f"{argument}{': ' if argument else ''}{sentence.format(name=name)}"


def _argument(name: str, given: dict[str, object], words: Sequence[str]) -> str:
    for key, value in given.items():
        paths = value if isinstance(value, list) else [value]
        if any(isinstance(path, Path) and str(path) == name for path in paths):
            option = f"--{key.replace('_', '-')}"
            return option if any(word.partition("=")[0] == option for word in words) else key.upper()
    return ""
