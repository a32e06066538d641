"""What the system says of a file that was named on the command line, as a sentence that names the argument."""

import difflib
from collections.abc import Mapping
from pathlib import Path

SENTENCES: dict[type[OSError], str] = {
    FileNotFoundError: "there is no file {name!r}",
    IsADirectoryError: "{name!r} is a folder, and a file is wanted",
    NotADirectoryError: "a part of {name!r} is a file, and a folder is wanted",
    PermissionError: "{name!r} may not be read or written by this user",
}
"""What people meet every day; anything else is told in the system's words."""


def describe(error: OSError, given: Mapping[str, object]) -> str:
    """Return *error* in a sentence, behind the option or argument of *given* that names its file."""
    sentence = SENTENCES.get(type(error))
    name = error.filename2 or error.filename  # of a renaming, the place: the first is a draft beside it
    if sentence is None or not isinstance(name, str):
        return str(error)
    argument = _argument(name, given)
    if isinstance(error, FileNotFoundError) and (near := _nearest(Path(name))):
        sentence += f"; did you mean {near}?"
    return f"{argument}{': ' if argument else ''}{sentence.format(name=name)}"


def _nearest(path: Path) -> str:
    """Return the file beside *path* that was likely meant; empty where none of its kind is alone there, or near."""
    try:
        there = {each.stem: each for each in path.parent.iterdir() if each.suffix == path.suffix and each.is_file()}
    except OSError:
        return ""
    near = list(there) if len(there) == 1 else difflib.get_close_matches(path.stem, there, n=1)
    return str(there[near[0]]) if near else ""


def _argument(name: str, given: Mapping[str, object]) -> str:
    for key, value in given.items():
        paths = value if isinstance(value, list | tuple) else [value]
        if any(isinstance(path, Path) and str(path) == name for path in paths):
            return key
    return ""
