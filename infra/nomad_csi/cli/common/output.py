"""
Standard output and standard error as Unix programs have them: any encoding, and a reader that goes away.

A character that the encoding of the output does not have is written as a Unicode escape. Where the reader of a pipe is
gone, as ``head`` is, the command ends quietly.
"""

import contextlib
import io
import os
import select
import sys
from collections.abc import Iterable, Iterator

from nomad_csi.cli.common import guard

EXIT_CLOSED = 141
"""128 and the number of SIGPIPE, as shells have it for a command whose reader is gone."""

_BOTH = ("stdout", "stderr")


class ClosedError(Exception):
    """Nobody reads the output any more."""


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """
    Write what the encoding lacks as escapes, and all of it before the block ends.

    Raises `ClosedError` where the reader of a pipe is gone; what is written then goes nowhere.
    """
    for name in _BOTH:
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            _flush()
    except BrokenPipeError:
        gone = [name for name in _BOTH if _is_closed(name)]
        if not gone:
            raise
        _discard(gone)
        raise ClosedError from None


def has_colours() -> bool:
    """Return whether standard output is a terminal that shows colours, and nobody asked for none (no-color.org)."""
    return guard.is_drawable(sys.stdout) and not os.environ.get("NO_COLOR")


def _flush() -> None:
    for name in _BOTH:
        if (stream := getattr(sys, name)) is None or stream.closed:
            continue
        try:
            stream.flush()
        except BrokenPipeError:
            raise
        except OSError:  # such as a full disk
            _discard([name])
            raise


def _descriptor(name: str) -> int | None:
    try:
        return int(getattr(sys, name).fileno())
    except (AttributeError, OSError, ValueError):  # closed from the start, or none of the system's
        return None


def _is_closed(name: str) -> bool:
    """Return whether the stream is a pipe or socket that nobody reads."""
    descriptor = _descriptor(name)
    if descriptor is None:
        return False
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))


def _discard(names: Iterable[str]) -> None:
    """Let what is still to be written to the streams go nowhere: Python writes it when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for name in names:
        if (descriptor := _descriptor(name)) is not None:
            os.dup2(nowhere, descriptor)
    os.close(nowhere)
