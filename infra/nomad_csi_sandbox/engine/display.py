"""
What an operator reads while an operation runs: the lines that the CLI prints when it is not interactive.

Source: pulumi/pulumi, ``pkg/backend/display/progress.go`` and captures of the CLI 3.260 with ``--non-interactive``.
"""

import math
import re
import shutil
import sys
import threading
from collections.abc import Mapping
from typing import TextIO

from nomad_csi import errors
from nomad_csi_sandbox.engine import report, values, wording

_CLEAR = "\r\x1b[K"


def _fitted(text: str) -> str:
    """Return *text* with the sandbox's commands where there is no `pulumi`."""
    if shutil.which("pulumi"):
        return text
    text = re.sub(r"\bpulumi refresh\b", "nomad-csi sandbox up --refresh", text)
    return re.sub(r"\bpulumi (up|preview)\b", r"nomad-csi sandbox \1", text)


class Display:
    """Prints steps as they happen and the summary at the end. May be used from any thread."""

    def __init__(self, result: report.Report, *, dry: bool, root_urn: str, out: TextIO | None = None) -> None:
        self.report = result
        self.dry = dry
        self._root_urn = root_urn
        self._out = out or sys.stdout
        self._lock = threading.RLock()
        self._transient = False
        self._rows: dict[str, dict[str, str]] = {}

    # --- while it runs
    def title(self, text: str) -> None:
        """Print what begins: ``Updating (dev):``."""
        self._print(f"{text}\n")

    def began(self, op: str, urn: str, marks: Mapping[str, str] | None = None) -> None:
        """Show that a step begins."""
        self._row(urn).update(op=op, status=wording.beginning(op, dry=self.dry), diff=_diff(marks))
        self._show(urn)

    def ended(
        self, op: str, urn: str, seconds: float, marks: Mapping[str, str] | None = None, *, count: bool = True
    ) -> None:
        """Show that a step is done, and note it for the summary unless it is not to *count*."""
        if count:
            self.report.add(report.Operation(op=op, urn=urn, changed=_keys(marks)))
        done = wording.done(op, dry=self.dry, seconds=seconds)
        row = self._row(urn)
        seen = self.dry and op != "same" and row["op"] == op and row["status"] == done
        row.update(op=op, status=done, diff=_diff(marks))
        if not seen and (op != "same" or row["diff"]):
            self._show(urn)

    def unchanged(self, urn: str) -> None:
        """Note that a resource stays as it is."""
        self.report.add(report.Operation(op="same", urn=urn))

    def failed(self, op: str, urn: str, message: str) -> None:
        """Show and note that a step failed with *message*."""
        self._row(urn).update(op=op, status=wording.failure(op, dry=self.dry))
        self.say("error", urn, message)

    def say(self, severity: report.Severity, urn: str, message: str) -> None:
        """Show *message* at its resource (the stack, where *urn* is empty) and keep it for the end."""
        urn = urn or self._root_urn
        self.report.add(report.Diagnostic(severity=severity, urn=urn, message=message))
        self._row(urn)["message"] = _labelled(severity, message.split("\n", 1)[0])
        self._show(urn)

    def whisper(self, urn: str, message: str) -> None:
        """Show *message* for now: in place on a terminal, else as a line each time it changes."""
        urn = urn or self._root_urn
        row = self._row(urn)
        if row["whisper"] == message:
            return
        row["whisper"] = message
        if self._out.isatty():
            self._print_transient(self._line(urn, message))
        else:
            self._print(self._line(urn, message))

    # --- at the end
    def finish(self, old_outputs: values.Properties) -> None:
        """
        Print diagnostics, the stack's outputs, the summary and how long it took.

        Outputs only where they changed, which the CLI prints every time: the report that follows names the storage.
        """
        self._diagnostics()
        if self.report.outputs and old_outputs != self.report.outputs:
            lines = wording.outputs(old_outputs, self.report.outputs)
            self._print("\n".join(["Outputs:", *lines, ""]))
        lines = report.summary(self.report.counts(), dry=self.dry)
        errored = len({each.urn for each in self.report.of("error") if not self._is_of_interrupt(each)})
        lines += [f"{errored} errored"] if errored else []
        self._print("\n".join(["Resources:", *(f"    {line}" for line in lines), ""]))
        if not self.dry:
            self._print(f"Duration: {math.ceil(self.report.duration_s)}s\n")

    def _diagnostics(self) -> None:
        kept = [each for each in self.report.diagnostics if not self._is_of_interrupt(each)]
        if not kept:
            return
        self._print("Diagnostics:")
        for urn in dict.fromkeys(each.urn for each in kept):
            _, name = report.kind_and_name(urn)
            self._print(f"  {report.shown_kind(urn)} ({name}):")
            for each in kept:
                if each.urn == urn:
                    text = _labelled(each.severity, _fitted(each.message)).replace("\n", "\n    ")
                    self._print(f"    {text}")
            self._print("")

    def _is_of_interrupt(self, entry: report.Diagnostic) -> bool:
        """Return whether *entry* says only that a question to a plugin was interrupted, as the operator did."""
        return self.report.cancelled and errors.INTERRUPTED in entry.message

    # --- lines
    def _row(self, urn: str) -> dict[str, str]:
        with self._lock:
            return self._rows.setdefault(urn, {"op": "same", "status": "", "diff": "", "message": "", "whisper": ""})

    def _show(self, urn: str) -> None:
        self._print(self._line(urn, self._row(urn)["message"]))

    def _line(self, urn: str, message: str) -> str:
        row = self._row(urn)
        _, name = report.kind_and_name(urn)
        info = "; ".join(part for part in (row["diff"], message) if part)
        text = f" {wording.MARKS.get(row['op'], '  ')} {report.shown_kind(urn)} {name} {row['status']} {info}"
        return text.rstrip()

    def _print(self, text: str) -> None:
        with self._lock:
            print(f"{_CLEAR if self._transient else ''}{text}", file=self._out, flush=True)
            self._transient = False

    def _print_transient(self, text: str) -> None:
        with self._lock:
            print(f"{_CLEAR}{text}", end="", file=self._out, flush=True)
            self._transient = True


def _labelled(severity: report.Severity, message: str) -> str:
    return message if severity == "info" else f"{severity}: {message}"


def _keys(marks: Mapping[str, str] | None) -> tuple[str, ...]:
    return tuple(sorted({_root(path) for path in marks or ()}))


def _diff(marks: Mapping[str, str] | None) -> str:
    """Return ``[diff: +a-b~c]`` with the top-level properties of *marks*."""
    by_mark: dict[str, set[str]] = {}
    for path, mark in (marks or {}).items():
        by_mark.setdefault(mark if path == _root(path) else "~", set()).add(_root(path))
    text = "".join(f"{mark}{','.join(sorted(by_mark[mark]))}" for mark in "+-~" if mark in by_mark)
    return f"[diff: {text}]" if text else ""


def _root(path: str) -> str:
    return path.partition(".")[0].partition("[")[0] or path
