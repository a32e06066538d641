"""Where walks begin: each on an emptied world in a folder of its own, from a description that can be printed."""

import collections
import itertools
import random
import time

from tests.walk import kinds, walk
from tests.walk import steps as what

SLOTS = (("disk",), ("scratch",), ("shared",), ("legacy",), ("disk", "scratch"), ("legacy", "scratch"))

NO_FAULT = 0
FAULTS_UP_TO = 16
"""A fault is one number, of the call and of the kind; see `walk.Walk.take`."""

SHOWN = 5
"""Walks that went wrong that a failure shows."""


BEGINNINGS = (
    *((name, 0, 0, NO_FAULT) for name in sorted(what.STEPS)),
    *(("change id", 0, 0, 1 + at) for at in range(len(walk.FAULTS))),
)
"""First steps of the first walks: each kind of step happens, and each kind of fault, whatever the seed."""


def drawn(number, index, longest):
    """Return the walk *index* of the seed *number*: slots and steps."""
    draw = random.Random(f"{number}/{index}")  # noqa: S311  # no secret
    names = sorted(what.STEPS)
    steps = [_step(draw, draw.choice(names)) for _ in range(draw.randint(1, longest))]
    if index < len(BEGINNINGS):
        return ("legacy",), [BEGINNINGS[index], *steps[1:]]
    return draw.choice(SLOTS), steps


def _step(draw, name):
    fault = NO_FAULT if draw.random() < 0.5 else draw.randint(1, FAULTS_UP_TO)
    return name, draw.randrange(what.LIMIT), draw.randrange(2), fault


def shortened(slots, steps, is_wrong):
    """Return slots and steps of which none can be left out without the walk being right."""
    tried = itertools.chain(
        (((slot,), steps) for slot in slots if len(slots) > 1),
        ((slots, [*steps[:at], *steps[at + 1 :]]) for at in range(len(steps))),
        (
            (slots, [*steps[:at], (*steps[at][:3], NO_FAULT), *steps[at + 1 :]])
            for at in range(len(steps))
            if steps[at][3]
        ),
    )
    shorter = next((each for each in tried if is_wrong(*each)), None)
    return (slots, steps) if shorter is None else shortened(*shorter, is_wrong)


class Track:
    """A world and an engine."""

    def __init__(self, world, engine, folder):
        self._world = world
        self._folder = folder
        self._engine = engine(folder, world.environment, world.providers)
        self._numbers = itertools.count()

    def walk(self, slots, steps):
        """Walk *steps* with a program of *slots*, and return the `walk.Walk`; it ends where something is wrong."""
        made = walk.Walk(self._world, self._engine, self._folder / str(next(self._numbers)), slots)
        for step in steps:
            if made.wrong:
                return made
            made.take(step)
        if not made.wrong:
            made.finish()
        return made

    def resource(self, kind):
        """Return a stack of one resource on an emptied world."""
        self._world.empty()
        return kinds.Resource(self._world, self._engine, self._folder / str(next(self._numbers)), kind)

    def assert_safe(self, slots, steps):
        """Insist that nothing is wrong on a walk."""
        made = self.walk(slots, steps)
        assert made.wrong == [], described(made, slots, steps)

    def explore(self, count, number, *, longest):
        """
        Take *count* walks of at most *longest* steps, by the seed *number*; the first that goes wrong is made shorter.

        Return what happened: how often, by kind of step and outcome.
        """
        happened, wrong, began_s = collections.Counter(), [], time.process_time()
        for index in range(count):
            slots, steps = drawn(number, index, longest)
            made = self.walk(slots, steps)
            happened.update(made.happened)
            if made.wrong:
                wrong.append((index, made, slots, steps))
        show(number, count, happened, time.process_time() - began_s)
        if wrong:
            slots, steps = shortened(*wrong[0][2:], lambda *shorter: bool(self.walk(*shorter).wrong))
            texts = [f"walk {index}: {described(*rest)}" for index, *rest in wrong[:SHOWN]]
            shortest = described(self.walk(slots, steps), slots, steps)
            raise AssertionError("\n\n".join([f"{len(wrong)} of {count} walks went wrong", *texts, shortest]))
        return happened


def missing(happened):
    """Return the kinds of steps and faults that did not happen in all that *happened*."""
    done = {name for name, outcome in happened if outcome == "done"}
    refused = {name for name, outcome in happened if outcome in {"refused", "failed"}}
    return ({*what.STEPS, *walk.FAULTS} - what.REFUSED - done) | (what.REFUSED - refused)


def described(made, slots, steps):
    """Return a walk as `Track.assert_safe` takes it, what was done, and what is wrong."""
    return "\n".join([f"assert_safe({slots!r}, {steps!r})", *made.log, *made.wrong])


def show(number, count, happened, cpu_s):
    """Print what happened; shown with a failure, and by ``make soak``."""
    lines = [f"WALK_SEED={number}: {count} walks, {cpu_s:.0f} s of CPU in this process"]
    for name in sorted({name for name, _ in happened}):
        outcomes = {outcome: many for (each, outcome), many in sorted(happened.items()) if each == name}
        lines.append(f"  {name}: {', '.join(f'{many} {outcome}' for outcome, many in outcomes.items())}")
    print(*lines, sep="\n")  # noqa: T201
