"""Recorded stacks carried on by this release: on the engine's emulator, and on the real engine where it is on PATH."""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.e2e import sandboxes
from tests.real.engines.conftest import ABSENT
from tests.upgrade import engines, worlds

KINDS = [
    pytest.param("emulator", id="emulator"),
    pytest.param(
        "real",
        id="pulumi",
        marks=[pytest.mark.real_pulumi, pytest.mark.skipif(bool(ABSENT), reason=f"not on PATH: {', '.join(ABSENT)}")],
    ),
]


def pytest_collection_modifyitems(items):
    """Give tests of whole stacks the time of several runs of an engine."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(1200))


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is there at one moment."""

    storage: dict
    tags: dict
    registrations: dict
    tasks: dict
    variables: dict
    resources: dict
    """Of the state: ``(id, inputs, outputs)`` by ``type name``."""


@dataclass
class Life:
    """A recorded stack and what this release did with it, step by step."""

    world: worlds.World
    engine: engines.Engine
    runs: dict = field(default_factory=dict)
    """What each step did, by its name."""

    facts: dict = field(default_factory=dict)
    """What was there after each step, by its name."""

    def note(self, name):
        """Keep what is there now as *name*."""
        found = [item for item in self.engine.resources() if not item["type"].startswith("pulumi:")]
        self.facts[name] = Facts(
            storage=self.world.storage(),
            tags=self.world.tags(),
            registrations=self.world.registrations(),
            tasks=self.world.tasks(),
            variables=self.world.variables(),
            resources={
                f"{item['type']} {item['urn'].rpartition('::')[2]}": (item.get("id"), item.get("outputs", {}))
                for item in found
            },
        )

    def do(self, name, operation):
        """Run *operation*, and keep what it did and left as *name*."""
        self.runs[name] = self.engine.run(operation)
        self.note(name)

    def changes(self, name):
        """Return what the step *name* did, or would do, which must have succeeded."""
        assert self.runs[name].code == 0, self.runs[name].text
        return engines.changes(self.runs[name])


@pytest.fixture(scope="module")
def begin(tmp_path_factory):
    """Build a recorded world, and put its state into an engine: ``begin("stack", "real")``. Ended with the module."""
    with contextlib.ExitStack() as after:

        def make(name, kind, change=lambda state: state, lost=()):
            sandbox = sandboxes.make(tmp_path_factory.mktemp(name))
            after.callback(sandboxes.end, sandbox)
            world = worlds.build(name, sandbox, engine=kind, lost=lost)
            engine = engines.Engine(kind, sandbox)
            engine.put(change(world.state))
            life = Life(world=world, engine=engine)
            life.note("before")
            return life

        yield make
