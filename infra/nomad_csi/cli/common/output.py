"""
Standard output and standard error, in UTF-8.

If the reader of a pipe has exited, as ``head`` does, the command ends quietly.
"""

import contextlib
import io
import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TextIO, cast

from nomad_csi.text import foreign, redaction

# Safe output on a terminal: no text from a plugin, a server or a file controls it.


@dataclass
class Settings:
    """What the options of every command set, for one run of the program."""

    quiet: bool = False
    verbose: bool = False
    color: str = "auto"


SETTINGS = Settings()


@contextlib.contextmanager
def logged() -> Iterator[None]:
    """Print what the package logs, each request with its time, on standard error."""
    log, handler = logging.getLogger("nomad_csi"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s.%(msecs)03d %(message)s", "%H:%M:%S"))
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        log.removeHandler(handler)


class Guard:
    """
    A text stream that hides known secrets and escapes control characters.

    The colours of our own tables are kept on a terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.secrets: tuple[str, ...] = ()
        self._is_terminal = stream.isatty()
        self.has_written = False
        """Whether anything was written."""

    def write(self, text: str) -> int:
        """Write *text*, made safe to show."""
        keeps_colours = SETTINGS.color == "always" or (self._is_terminal and SETTINGS.color == "auto")
        shown = foreign.visible(redaction.mask(text, self.secrets), keep_colours=keeps_colours)
        self.has_written = self.has_written or bool(shown)
        if shown:  # Click tries the empty text first, and hides any error of that
            with self._failing():
                self.stream.write(shown)
        return len(text)

    def flush(self) -> None:
        """Flush the stream, with the same errors as `write`."""
        with self._failing():
            self.stream.flush()

    @contextlib.contextmanager
    def _failing(self) -> Iterator[None]:
        """Discard the rest of a stream that fails, and raise for what is lost: the reader, or room on a disk."""
        try:
            yield
        except OSError as error:
            with contextlib.suppress(OSError), open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
                os.dup2(nowhere.fileno(), self.stream.fileno())  # Python writes what is pending when the process ends
            if isinstance(error, BrokenPipeError):
                raise ClosedError from None
            raise OSError(error.errno, error.strerror, self.stream.name) from error

    def writelines(self, lines: Iterable[str]) -> None:
        """Write *lines*, made safe to show."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class ClosedError(Exception):
    """The output is closed."""


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """
    Make all output of the block pass a `Guard`, with the default `SETTINGS`, and flush it.

    Raises `ClosedError` if a pipe's reader has exited.
    """
    vars(SETTINGS).update(vars(Settings()))
    before = sys.stdout, sys.stderr
    for stream in before:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.stdout = cast("TextIO", Guard(before[0]))
    sys.stderr = cast("TextIO", Guard(before[1]))
    try:
        yield
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        sys.stdout, sys.stderr = before


def hide(secrets: Iterable[str]) -> None:
    """Hide *secrets*, which the command was given, in all further output of `guarded`: what a peer repeats, too."""
    given = tuple(secrets)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Guard):
            stream.secrets += given


def without_secrets(text: str) -> str:
    """Return *text* without what `hide` was given, for what does not pass a `Guard`: a file."""
    return redaction.mask(text, sys.stdout.secrets) if isinstance(sys.stdout, Guard) else text


def as_json(value: Any) -> str:
    """Return *value* as JSON in the format of all commands."""
    return json.dumps(value, indent=2, ensure_ascii=False)


SCHEMA_VERSION = 1
"""Version of the JSON documents: a key is removed or changed only with another one."""


def document(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON document of *values*."""
    return {"schema_version": SCHEMA_VERSION, **values}


def print_json(values: Mapping[str, Any]) -> None:
    """Print the document of *values* on standard output."""
    print(as_json(document(values)))


def print_json_error(kind: str, message: str, problems: Iterable[Mapping[str, str]] = ()) -> None:
    """Print an error as a document, unless the command has printed one: its output is never empty."""
    if not getattr(sys.stdout, "has_written", False):
        print_json({"error": {"kind": kind, "message": message, "problems": list(problems)}})


def show(arguments: SimpleNamespace, data: Mapping[str, Any], text: str) -> None:
    """Print *data* as JSON with ``--json`` in *arguments*, else *text*."""
    if getattr(arguments, "json", False):
        print_json(data)
    else:
        print(text.rstrip("\n"))


def print_progress(line: str) -> None:
    """Print *line* on standard error, unless it is to be quiet: progress, and what the command waits for."""
    if not SETTINGS.quiet:
        print(line, file=sys.stderr)


def print_warning(line: str) -> None:
    """Print *line* on standard error, also where it is to be quiet."""
    print(line, file=sys.stderr)


def has_colours() -> bool:
    """Return whether standard output gets colours: a terminal's does, unless they are disabled (no-color.org)."""
    if SETTINGS.color != "auto":
        return SETTINGS.color == "always"
    has_control = sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in {"", "dumb"}
    return has_control and not os.environ.get("NO_COLOR")
