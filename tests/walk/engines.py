"""The engine that walks go on: the emulator in this process. `tests/real/walk` has the pulumi CLI in its place."""

import contextlib
import contextvars
import io
import json
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from nomad_csi_sandbox.engine import phase, project

PROGRAM = Path(__file__).with_name("program.py")
KINDS = {"up": "update", "preview": "update", "refresh": "refresh", "destroy": "destroy"}


@dataclass(frozen=True, kw_only=True)
class Told:
    """What an operation came to."""

    is_done: bool
    text: str
    operations: tuple
    """Pairs of operation and URN."""


@dataclass
class Place:
    """A stack as the engine knows it: its folder, which has the program, its project and its name."""

    folder: Path
    project: str
    name: str

    @property
    def label(self):
        return f"{self.project}/{self.name}"


def prepare(folder, wanted, program=PROGRAM):
    """Write the program and what it is to declare."""
    shutil.copy(program, folder / "__main__.py")
    (folder / "wanted.json").write_text(json.dumps(wanted), encoding="utf-8")


def renamed(document, place, name, project_name):
    """
    Return the state *document* as ``pulumi stack rename`` leaves it: every URN, and the name of the stack's resource.

    Source: pulumi/pulumi, ``RenameStack`` in ``pkg/resource/edit/operations.go``.
    """
    text = json.dumps(document)
    root, new_root = (
        f"pulumi:pulumi:Stack::{head}" for head in (f"{place.project}-{place.name}", f"{project_name}-{name}")
    )
    text = text.replace(f'{root}"', f'{new_root}"').replace(f"{root}::", f"{new_root}::")
    return json.loads(
        text.replace(f"urn:pulumi:{place.name}::{place.project}::", f"urn:pulumi:{name}::{project_name}::")
    )


def without(document, urn):
    """
    Return the state *document* without the resource *urn* and all that depends on it.

    As ``pulumi state delete --force --target-dependents`` leaves it; ``DeleteResource`` in the same file.
    """
    gone, resources = {urn}, document["deployment"]["resources"]
    for each in resources:  # nothing stands before what it depends on
        needed = {each.get("parent", ""), each.get("provider", "").rpartition("::")[0], *each.get("dependencies", ())}
        if needed & gone:
            gone.add(each["urn"])
    kept = [each for each in resources if each["urn"] not in gone]
    return document | {"deployment": document["deployment"] | {"resources": kept}}


def errors_in(text):
    """Return the lines of *text* that have an error, without repetitions."""
    return " | ".join(dict.fromkeys(line.strip() for line in text.splitlines() if "error:" in line))[:600]


class Emulated:
    """The emulator, run in the main thread of this process: a program sees nothing of those that ran before."""

    def __init__(self, environment, providers):
        self._environment = environment | {"PULUMI_DEBUG_PROVIDERS": providers.attached}
        self._gate = providers.gate

    def init(self, place):
        """Make a stack."""
        place.folder.mkdir(parents=True)

    def run(self, place, operation, fault=None):
        """Run *operation*; with a *fault* that kills, the state stays as it was at that moment."""
        killed_at = []
        self._gate.reset(fault)
        self._gate.kill_engine = lambda: killed_at.append(self._text(place))
        out = io.StringIO()
        dry = operation == "preview"
        with (
            self._as_it_was(),
            contextlib.redirect_stdout(out),
            mock.patch.dict(os.environ, self._environment),
        ):
            report = contextvars.Context().run(phase.run, self._options(place, operation), dry=dry)
        if killed_at:
            self._state(place).write_text(killed_at[0], encoding="utf-8")
        operations = tuple((each.op, each.urn) for each in report.operations)
        return Told(is_done=report.result == "succeeded", text=out.getvalue(), operations=operations)

    @contextlib.contextmanager
    def _as_it_was(self):
        before, folder = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], Path.cwd()
        try:
            yield
        finally:
            os.chdir(folder)
            for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
                signal.signal(number, handler)

    def _options(self, place, operation):
        stack = project.Project(
            name=place.project,
            stack=place.name,
            root=place.folder,
            program=place.folder,
            config={"aws:region": self._environment["AWS_REGION"]},
            secret_keys=frozenset(),
            plugins={},
        )
        return phase.Options(kind=KINDS[operation], project=stack, state=self._state(place), parallel=1)

    def _state(self, place):
        return place.folder / f"{place.project}-{place.name}.state.json"

    def _text(self, place):
        return self._state(place).read_text(encoding="utf-8")

    def export(self, place):
        """Return the state."""
        return json.loads(self._text(place)) if self._state(place).exists() else {}

    def put(self, place, document):
        """Import a state."""
        self._state(place).write_text(json.dumps(document), encoding="utf-8")

    def drop(self, place, urn):
        """Have the state forget a resource and all that depends on it."""
        self.put(place, without(self.export(place), urn))
