"""Every sequence of operations on the abstract world up to a depth, breadth first; equal worlds are merged."""

import gc
import sys
from collections import deque

from tests.model import world as worlds
from tests.model.operations import EMPTY, OWNERS, Programs, known_to, operations, read_by, up
from tests.model.steps import BrokenError
from tests.model.world import World, canonical

RUNS = 4
"""How often an `up` is repeated until nothing changes."""


def check(world: World) -> None:
    """Raise `BrokenError` where *world* breaks a promise about states."""
    for cluster in world.clusters:
        owned = [(key, storage) for key, storage in cluster.volumes if cluster.record_of(key) is not None]
        for place, (name, storage) in enumerate(owned):
            for other, same in owned[place + 1 :]:
                if storage == same and storage != worlds.OTHERS:
                    message = f"{name} and {other} are two single writers of {storage}"
                    raise BrokenError(message)


def settle(world: World, number: int, settled: set[World]) -> None:
    """Raise `BrokenError` where the same `up` again and again changes something each time; not of those *settled*."""
    seen: list[World] = []
    world = known_to(world, number)
    for _ in range(RUNS):
        if world in settled or world in seen[-1:]:
            settled.update(seen)
            return
        seen.append(world)
        world = canonical(up(world, number))
    message = f"`up` of stack {number} changes something each time"
    raise BrokenError(message)


class Explored:
    """What was seen: every world, and by which operation it was reached."""

    def __init__(self, programs: Programs = OWNERS) -> None:
        self._programs = programs
        self.reached: dict[World, tuple[World, str] | None] = {}
        self.broken = ""
        self.sequence: tuple[str, ...] = ()
        self._settled: tuple[set[World], set[World]] = (set(), set())
        self._numbered: set[World] = set()
        """The worlds that were reached, each as its numbers were drawn."""

    def explore(self, depth: int, start: World = EMPTY, most: int = sys.maxsize) -> "Explored":
        """Explore all sequences of *depth* operations, or so many as lead to *most* worlds."""
        self.reached[start] = None
        queue = deque([(start, 0)])
        gc.disable()  # no world has a cycle, and there are many
        try:
            while queue and len(self.reached) < most:
                world, length = queue.popleft()
                if length < depth and not self._expand(world, length, queue):
                    break
        finally:
            gc.enable()
        return self

    def _expand(self, world, length, queue) -> bool:
        for name, function, arguments in operations(world, self._programs):
            try:
                found = function(*arguments)
                if found in self._numbered:
                    continue
                self._numbered.add(found)
                after = canonical(read_by(found, self._programs))
                if after in self.reached:
                    continue
                check(after)
                for number in worlds.STACKS:
                    if after.stacks[number].program or after.stacks[number].state:
                        settle(after, number, self._settled[number])
            except BrokenError as error:
                self.broken, self.sequence = str(error), (*self._sequence(world), name)
                return False
            self.reached[after] = world, name
            queue.append((after, length + 1))
        return True

    def _sequence(self, world) -> tuple[str, ...]:
        found = []
        while (came := self.reached[world]) is not None:
            world, name = came
            found.append(name)
        return tuple(reversed(found))
