"""``nomad-csi verify --watch``: round after round until somebody ends it."""

import json
import signal
import sys
import time
from pathlib import Path
from typing import Protocol, TextIO

from nomad_csi import errors
from nomad_csi.cli.common import command, guard, output, strict, waits
from nomad_csi.cli.observe import verify_screen
from nomad_csi.nomad import changes
from nomad_csi.verification import metrics_file, prometheus, rounds, verification

STDOUT = Path("-")
"""In place of a file of metrics."""

EVERY_S = 10.0
"""From round to round. Nomad asks a plugin every 30 s, and tells of an ended task at once."""

PAUSE_MIN_S = 1.0
"""Between two rounds, whatever Nomad tells; as long as the last one took, where that was more."""


class _Display(Protocol):
    """What rounds are shown by."""

    def begin(self, every_s: float) -> None:
        """Show that a round begins."""

    def show(self, done: rounds.VerificationRound) -> None:
        """Show a round."""

    def wait(self, seconds: float, events: changes.Events) -> None:
        """Wait for the next one, which comes early where *events* tell of a change."""

    def close(self) -> None:
        """End it."""


options = command.together(
    command.option(
        "--watch",
        "verify again and again, and at once when Nomad reports a change, until Ctrl-C or SIGTERM; the exit code is "
        "the last round's. It goes on while Nomad does not answer",
        section="round after round",
        without={"print_job": ", whose job runs one round at a time"},
    ),
    waits.seconds("every", told=f"{EVERY_S:g}", section="round after round", needs=("watch",)),
)


def run(arguments: command.Arguments, verifier: verification.Verifier) -> int:
    """Run rounds until the process is interrupted; return the exit code of the last whole one."""
    every_s = arguments.every_s or EVERY_S
    file: Path | None = arguments.prometheus
    going = rounds.Rounds(verifier, last_answer_s=last_answer_s(file) if file else 0.0)
    shown = _shown(arguments)
    code = errors.EXIT_ERROR
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with verifier.events(lambda line: print(line, file=sys.stderr)) as events:
            while True:
                began = time.monotonic()
                events.clear()
                shown.begin(every_s)
                done = going.run()
                if done.error is not None and done.error.kind == "refused" and not done.last_answer_s:
                    raise done.error  # no waiting heals a wrong token; once it answered, it may again
                code = strict.exit_code(arguments, done.exit_code, done.found.findings if done.found else ())
                if file:
                    metrics_file.write(file, done.metrics)
                shown.show(done)
                took_s = time.monotonic() - began
                # A round on all clients is no answer to one event of many.
                pause_s = every_s if arguments.on_nodes else max(PAUSE_MIN_S, took_s)
                time.sleep(min(pause_s, max(every_s - took_s, PAUSE_MIN_S)))
                shown.wait(max(every_s - took_s - pause_s, 0.0), events)
    except KeyboardInterrupt:
        return code
    finally:
        signal.signal(signal.SIGTERM, before)
        shown.close()


def last_answer_s(file: Path) -> float:
    """Return when Nomad last answered, by the metrics in *file*; 0 where it does not say."""
    return prometheus.last_answer_s(metrics_file.read(file))


def _shown(arguments: command.Arguments) -> _Display:
    if arguments.json:
        return _JsonLines(sys.stdout)
    if guard.is_drawable(sys.stdout):
        return verify_screen.Screen(guard.terminal(sys.stdout), title=str(arguments.spec), colour=output.has_colours())
    return _Lines(sys.stdout)


class _Stream:
    """Text that goes on, for files, pipes and logs."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def begin(self, every_s: float) -> None:
        """Say nothing."""

    def wait(self, seconds: float, events: changes.Events) -> None:
        """Wait."""
        events.wait(seconds)

    def close(self) -> None:
        """Say nothing."""


class _JsonLines(_Stream):
    """One JSON document for each round."""

    def show(self, done: rounds.VerificationRound) -> None:
        """Print it on one line."""
        print(json.dumps(done.as_json()), file=self._out, flush=True)


class _Lines(_Stream):
    """The whole report once, then a line for each thing that changed."""

    def __init__(self, out: TextIO) -> None:
        super().__init__(out)
        self._is_first = True
        self._said = ""

    def show(self, done: rounds.VerificationRound) -> None:
        """Print what changed, with its time, and the answer where it is another than before."""
        if done.found is not None and self._is_first:
            self._is_first = False
            print(done.found.as_table(), file=self._out)
        at = rounds.when(done.at_s)
        for change in done.changed:
            print(f"{at}  {change}", file=self._out)
        if done.in_words != self._said:
            self._said = done.in_words
            print(f"{at}  {done.in_words}", file=self._out)
        self._out.flush()
