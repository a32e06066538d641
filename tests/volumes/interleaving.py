"""
Actors that go on one step at a time, in an order that a number decides: the same number, the same order.

Each runs in a thread of its own, and waits in `Schedule.gate` before each step until it is its turn.
"""

import random
import threading


class Actor:
    """A thread of steps."""

    def __init__(self, schedule, name, work):
        self.name = name
        self.is_over = False
        self.error = None
        self.step = ""
        """What it is about to do."""
        self._turn = threading.Semaphore(0)
        self._schedule = schedule
        self._work = work
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self):
        """Begin, as far as the first gate."""
        self._thread.start()

    def go(self):
        """Let it take one step."""
        self._turn.release()

    def wait(self, step):
        """Say that it waits before *step*, until it may go on."""
        self.step = step
        self._schedule.back.release()
        self._turn.acquire()

    def _run(self):
        self._schedule.here.actor = self
        try:
            self.wait("begin")
            self._work()
        except Exception as error:  # noqa: BLE001  # the test checks it
            self.error = error
        self.is_over = True
        self._schedule.back.release()


class Schedule:
    """Who goes next."""

    def __init__(self, seed, is_allowed=lambda _actor: True):
        self.back = threading.Semaphore(0)
        self.here = threading.local()
        self.taken = []
        """Name and step, in the order taken."""
        self._random = random.Random(seed)  # noqa: S311  # the same number must give the same order
        self._is_allowed = is_allowed
        self.actors = []

    def add(self, name, work):
        """Add an actor."""
        self.actors.append(Actor(self, name, work))

    def named(self, name):
        """Return the actor *name*."""
        return next(actor for actor in self.actors if actor.name == name)

    def gate(self, step):
        """Wait for one's turn; whoever is no actor goes on at once."""
        actor = getattr(self.here, "actor", None)
        if actor is not None:
            actor.wait(step)

    def run(self):
        """Run all to their ends. Raises what one of them raised."""
        for actor in self.actors:
            actor.start()
            self.back.acquire()
        while waiting := [actor for actor in self.actors if not actor.is_over]:
            chosen = self._random.choice([actor for actor in waiting if self._is_allowed(actor)])
            self.taken.append((chosen.name, chosen.step))
            chosen.go()
            assert self.back.acquire(timeout=60), f"{chosen.name} does not come back from {chosen.step}"
        for actor in self.actors:
            if actor.error is not None:
                raise actor.error
