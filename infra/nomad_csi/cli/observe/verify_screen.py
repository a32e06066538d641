"""
The rounds of ``nomad-csi verify --watch`` in a terminal: one picture, drawn over the last.

Each picture goes out in one write, over the old one and without erasing it first, so that nothing flickers; the
terminal itself cuts what is too wide. The screen from before comes back at the end.
Source: https://invisible-island.net/xterm/ctlseqs/ctlseqs.html (DECSET 7, 25, 1049; CUP, EL, ED), 2026-11-21.
"""

import collections
import os
import time
from collections.abc import Iterator
from typing import TextIO

from nomad_csi.nomad import changes
from nomad_csi.text import table, visible
from nomad_csi.verification import rounds

CHANGES_MAX = 8
"""So many of the last changes are shown."""

RESIZE_POLL_S = 0.1
"""How late a change of the terminal's size may be noticed."""

_OPEN = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_CLOSE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_HOME = "\x1b[H"
_REST_OF_LINE = "\x1b[K"
_REST_OF_SCREEN = "\x1b[J"


class Screen:
    """Draws rounds on a terminal. Close it: until then the terminal has no cursor."""

    def __init__(self, out: TextIO, *, title: str, colour: bool) -> None:
        self._out = out
        self._title = title
        self._colour = colour
        self._status = ""
        self._last: rounds.VerificationRound | None = None
        self._changes: collections.deque[str] = collections.deque(maxlen=CHANGES_MAX)
        self._size = os.terminal_size((0, 0))
        self._write(_OPEN)

    def begin(self, every_s: float) -> None:
        """Show that a round begins, and since when it waits for answers."""
        self._status = f"asking since {rounds.when(time.time())}, every {every_s:g} s; Ctrl-C ends"
        self._draw()

    def show(self, done: rounds.VerificationRound) -> None:
        """Show a round."""
        self._last = done
        at = rounds.when(done.at_s)
        self._changes.extend(f"{at}  {change}" for change in done.changed)
        self._status = f"round {done.number} ended {at} after {done.seconds:.1f} s; Ctrl-C ends"
        self._draw()

    def wait(self, seconds: float, events: changes.Events) -> None:
        """Wait for the next round, or for *events*; draw again where the terminal changes its size."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not events.wait(min(left, RESIZE_POLL_S)):
            if self._terminal_size() != self._size:
                self._draw()

    def close(self) -> None:
        """Give the terminal back, and leave the last round on it."""
        self._write(_CLOSE)
        if self._last is not None:
            found = self._last.found.as_table(only_wrong=True) if self._last.found else ""
            self._write(_fit(f"{found}\n{rounds.when(self._last.at_s)}  {self._last.in_words}\n".lstrip("\n")))

    def _terminal_size(self) -> os.terminal_size:
        return os.get_terminal_size(self._out.fileno())

    def _draw(self) -> None:
        self._size = self._terminal_size()
        lines = [line for text in self._texts(self._size.columns) for line in _fit(text).rstrip("\n").split("\n")]
        rows = self._size.lines
        if len(lines) > rows:
            hidden = len(lines) - rows + 1
            lines = [*lines[: rows - 1], f"... {hidden} more lines: make the terminal higher, or run without --watch"]
        shown = "\r\n".join(f"{line}{_REST_OF_LINE}" for line in lines)
        self._write(f"{_HOME}{shown}{_REST_OF_SCREEN}")

    def _texts(self, width: int) -> Iterator[str]:
        yield f"nomad-csi verify {self._title}    {self._status}"
        if self._last is None:
            return
        at = rounds.when(self._last.at_s)
        yield f"{table.painted(self._last.mood, colour=self._colour)}  {self._last.in_words}, at {at}"
        if self._changes:
            yield "\nwhat changed, the last at the bottom"
            yield from self._changes
        if self._last.found is not None:
            yield "\n" + self._last.found.as_table(width, colour=self._colour, only_wrong=True)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _fit(text: str) -> str:
    """Return *text* with no control character but those of our colours: the rest of the picture is drawn here."""
    return visible.visible(text, keep_colours=True)
