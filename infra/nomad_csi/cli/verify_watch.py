"""``nomad-csi verify --watch``: verification at intervals until interrupted."""

import collections
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from nomad_csi import exit_codes
from nomad_csi.cli.common import command, output
from nomad_csi.cli.common import options as shared_options
from nomad_csi.diagnosis import prometheus, rounds, verification
from nomad_csi.nomad import events
from nomad_csi.text import foreign, table

# The rounds of ``nomad-csi verify --watch`` in a terminal: each screen overwrites the last.
#
# Each screen is one write, over the old one and without erasing it first, so that nothing flickers; the terminal itself
# cuts what is too wide. The previous screen is restored at the end. Source:
# https://invisible-island.net/xterm/ctlseqs/ctlseqs.html (DECSET 7, 25, 1049; CUP, EL, ED), 2026-11-21.


CHANGES_MAX = 8
"""Number of recent changes that are shown."""

_OPEN = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_CLOSE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_HOME = "\x1b[H"
_REST_OF_LINE = "\x1b[K"
_REST_OF_SCREEN = "\x1b[J"


class _Stream:
    """Continuous text, for files, pipes and logs."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def begin(self, every_s: float) -> None:
        """Print nothing."""

    def wait(self, seconds: float, events: events.Events) -> None:
        """Wait."""
        events.wait(seconds)

    def close(self) -> None:
        """Print nothing."""


class Screen(_Stream):
    """Draws rounds on a terminal. Close it: until then the terminal has no cursor."""

    def __init__(self, out: TextIO, *, title: str, colour: bool) -> None:
        super().__init__(out)
        self._title = title
        self._colour = colour
        self._status = ""
        self._last: rounds.VerificationRound | None = None
        self._changes: collections.deque[str] = collections.deque(maxlen=CHANGES_MAX)
        self._write(_OPEN)

    def begin(self, every_s: float) -> None:
        """Show that a round begins, and how long it has waited for responses."""
        self._status = f"asking since {rounds.when(time.time())}, every {every_s:g} s; Ctrl-C ends"
        self._draw()

    def show(self, done: rounds.VerificationRound) -> None:
        """Show a round."""
        self._last = done
        at = rounds.when(done.at_s)
        self._changes.extend(f"{at}  {change}" for change in done.changed)
        self._status = f"round {done.number} ended {at} after {done.seconds:.1f} s; Ctrl-C ends"
        self._draw()

    def close(self) -> None:
        """Restore the terminal, and leave the last round on it."""
        self._write(_CLOSE)
        if self._last is not None:
            found = self._last.found.as_table(only_wrong=True) if self._last.found else ""
            self._write(_fit(f"{found}\n{rounds.when(self._last.at_s)}  {self._last.summary}\n".lstrip("\n")))

    def _draw(self) -> None:
        size = os.get_terminal_size(self._out.fileno())
        lines = [line for text in self._texts(size.columns) for line in _fit(text).rstrip("\n").split("\n")]
        rows = size.lines
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
        yield f"{table.painted(self._last.result, colour=self._colour)}  {self._last.summary}, at {at}"
        if self._changes:
            yield "\nwhat changed, the last at the bottom"
            yield from self._changes
        if self._last.found is not None:
            yield "\n" + self._last.found.as_table(width, colour=self._colour, only_wrong=True)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _fit(text: str) -> str:
    """Return *text* without secrets, and with our colours as its only control characters: the rest is drawn here."""
    return foreign.visible(output.without_secrets(text), keep_colours=True)


# The command.


STDOUT = Path("-")
"""Replaces a metrics file."""

EVERY_S = 10.0
"""Interval between rounds. Nomad probes a plugin every 30 s, and reports an ended task at once."""

PAUSE_MIN_S = 1.0
"""
Minimum interval between two rounds, whatever events Nomad sends; the duration of the last round, if that was longer.
"""


options = command.together(
    command.option(
        "--watch",
        "verify at intervals and when Nomad reports a change, until Ctrl-C",
    ),
    shared_options.duration("every", default_text=f"{EVERY_S:g}s", needs=("watch",)),
)


def run(arguments: command.Arguments, verifier: verification.Verifier) -> int:
    """Run rounds until interrupted; return the exit code of the last complete one."""
    every_s = arguments.every_s or EVERY_S
    file: Path | None = arguments.prometheus
    going = rounds.Rounds(verifier, last_answer_s=last_answer_s(file) if file else 0.0)
    shown = _shown(arguments)
    code = exit_codes.ERROR
    try:
        with verifier.events(output.print_progress) as events:
            while True:
                began = verifier.clock.now()
                events.clear()
                shown.begin(every_s)
                done = going.run()
                if done.error is not None and done.error.kind == "refused" and not done.last_answer_s:
                    raise done.error  # waiting does not fix a wrong token; after one success, it may
                code = shared_options.exit_code(arguments, done.exit_code, done.found.findings if done.found else ())
                if file:
                    prometheus.write_file(file, output.without_secrets(done.metrics))
                shown.show(done)
                took_s = verifier.clock.now() - began
                # A round on all clients is too much for one event of many.
                pause_s = every_s if arguments.on_nodes else max(PAUSE_MIN_S, took_s)
                verifier.clock.sleep(min(pause_s, max(every_s - took_s, PAUSE_MIN_S)))
                shown.wait(max(every_s - took_s - pause_s, 0.0), events)
    except KeyboardInterrupt:
        return code
    finally:
        shown.close()


def last_answer_s(file: Path) -> float:
    """Return the time of Nomad's last response from the metrics in *file*; 0 if it has none."""
    return prometheus.last_answer_s(prometheus.read_file(file))


def _shown(arguments: command.Arguments) -> "Screen | _JsonLines | _Lines":
    if arguments.json:
        return _JsonLines(sys.stdout)
    if output.is_drawable(sys.stdout):
        return Screen(output.terminal(sys.stdout), title=str(arguments.spec), colour=output.has_colours())
    return _Lines(sys.stdout)


class _JsonLines(_Stream):
    """One JSON document for each round."""

    def show(self, done: rounds.VerificationRound) -> None:
        """Print it on one line."""
        print(json.dumps(output.document(done.as_json())), file=self._out, flush=True)


class _Lines(_Stream):
    """The whole report once, then a line for each thing that changed."""

    def __init__(self, out: TextIO) -> None:
        super().__init__(out)
        self._is_first = True
        self._summary = ""

    def show(self, done: rounds.VerificationRound) -> None:
        """Print what changed, with its time, and the exit status if it changed."""
        if done.found is not None and self._is_first:
            self._is_first = False
            print(done.found.as_table(), file=self._out)
        at = rounds.when(done.at_s)
        for change in done.changed:
            print(f"{at}  {change}", file=self._out)
        if done.summary != self._summary:
            self._summary = done.summary
            print(f"{at}  {done.summary}", file=self._out)
        self._out.flush()
