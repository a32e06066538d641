"""An `up` of a stack of the abstract world, step by step: `volumes.decide` decides, and `steps` carries out and judges."""

import dataclasses

from nomad_csi.volumes import decide
from tests.model import observed
from tests.model.steps import BrokenError, Carried
from tests.model.world import Recorded, World, id_of, key_of


class Run:
    """One `up`, so that it can be killed after each step, or another one can run in between."""

    def __init__(
        self,
        world: World,
        number: int,
        *,
        only: frozenset[str] | None = None,
        removes_all: bool = False,
        continues: bool = False,
        fails: bool = False,
        is_command: bool = False,
    ) -> None:
        """
        Begin an `up`.

        *only*: the ids that ``--target`` names, or ``--exclude`` leaves. *removes_all*: a ``destroy``. *continues*:
        ``--continue-on-error``. *fails*: the plugin answers with an error after it has created storage. *is_command*:
        it is `nomad-csi apply`, which has no state, and removes nothing.
        """
        self.world = world
        self.number = number
        self.refusals: list[str] = []
        self.removed: set[str] = set()
        """The ids that were removed so far."""

        self.is_foreseen = False
        """Whether a volume of the program is refused before its first step, which a preview says, too."""

        self.is_disturbed = False
        """Whether another `up` ran in between."""

        self._only = only
        self._removes_all = removes_all
        self._continues = continues
        self.fails = fails
        self.is_command = is_command

    @property
    def stack(self):
        """The stack, as it is now."""
        return self.world.stacks[self.number]

    def steps(self):
        """
        Carry out a step before each item; those that the program declares come first, as in the engine.

        What the state got last is removed first: a program takes the id of storage from the resource that makes it.
        """
        program = () if self._removes_all else self.stack.program
        declared = {key_of(name, wanted): (name, wanted) for name, wanted in program}
        removed = () if self.is_command else [key for key, _ in self.stack.state if key not in declared]
        for key, (name, wanted) in declared.items():
            if self._is_meant(key):
                yield from self._declared(key, name, wanted)
                if self.refusals and not self._continues:
                    return  # the engine starts no other step
        for key in filter(self._is_meant, reversed(removed)):
            yield from self._removed(key)
            if self.refusals and not self._continues:
                return
        if not (self.refusals or self._only or self.is_disturbed):
            self._judge_end(declared)

    def _is_meant(self, key):
        return self._only is None or id_of(key) in self._only

    def _judge_end(self, declared):
        """After an `up` that was not refused, everything that the program declares is registered."""
        cluster = self.world.clusters[self.stack.address]
        for name, wanted in declared.values():
            if not wanted.is_hold and not cluster.storage_of(name):
                message = f"stack {self.number}: {name} is declared, and not registered after an `up`"
                raise BrokenError(message)

    def _declared(self, key, name, wanted):
        recorded = None if self.is_command else self.stack.recorded(key)
        if wanted.is_hold:
            if recorded is None or recorded.wanted != wanted:
                found = Recorded(wanted, wanted.storage, 0, 0, self.number)
                self.world = self.world.with_stack(self.number, self.stack.with_state(key, found))
                yield "state"
            return
        if recorded is not None and recorded.wanted.plugin != wanted.plugin:
            self.refusals.append("replaced")  # by another resource of the engine: not in the abstract world
            return
        facts = observed.presence(self.world, self.number, name, wanted, recorded)
        if recorded is not None and recorded.wanted == wanted and _is_unchanged(facts):
            return  # the engine has no difference
        yield from self._carried(key, name, wanted, recorded, decide.decide_presence(facts))

    def _removed(self, key):
        recorded = self.stack.recorded(key)
        if recorded.wanted.retained:
            self.world = self.world.with_stack(self.number, self.stack.with_state(key, None))
            yield "state"
            return
        yield from self._carried(key, id_of(key), None, recorded, self._decision_of_removal(key))

    def _decision_of_removal(self, key):
        recorded = self.stack.recorded(key)
        if recorded.wanted.is_hold:
            decision = decide.decide_removal(observed.held(self.world, self.number, key, self.removed))
            return dataclasses.replace(decision, steps=())  # it has neither registration nor record
        return decide.decide_removal(observed.removal(self.world, self.number, key, self.removed))

    def _carried(self, key, name, wanted, recorded, decision):
        if decision.refusal:
            self.refusals.append(decision.refusal)
            # A preview says this, and goes on: a volume may be imported, or its job stopped, before the `up`.
            self.is_foreseen |= wanted is not None and decision.refusal not in {"taken", "claimed"}
            return
        carried = Carried(self, key, name, wanted, recorded, decision)
        for step in decision.steps:
            carried.carry_out(step)
            if carried.refused:
                self.refusals.append(carried.refused)
                return
            yield step
        carried.finish()
        yield "state"


def _is_unchanged(facts):
    return (facts.registration, facts.cluster) == ("equal", "same") and facts.record in {"own", "foreign"}
