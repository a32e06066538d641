"""
The steps of a decision on the abstract world; each is judged by what it does.

A step that must not be raises `BrokenError`, whatever the decision looked at: other or empty storage for an id that has
storage, or data elsewhere, storage deleted that something needs, a registration taken from another owner, and a refusal
that comes after the first step, though nothing changed since the decision.
"""

from tests.model.world import Record, Recorded, contains, name_of, put


class BrokenError(Exception):
    """A promise is broken."""


class Carried:
    """The steps of one decision about one volume."""

    def __init__(self, run, key, name, wanted, recorded, decision) -> None:
        self.run, self.key, self.name, self.wanted, self.decision = run, key, name, wanted, decision
        self.recorded = recorded
        self.refused = ""
        self.storage = ""
        self.held = self.cluster.storage_of(name)
        self.created = recorded.name if recorded else ""
        # Another fate of the storage, or another stack, gets another nonce: an older state, or the one that was copied,
        # does not pass for this one.
        is_same_fate = recorded and wanted and (recorded.wanted.deletes, recorded.stack) == (wanted.deletes, run.number)
        self.nonce = recorded.nonce if is_same_fate else 0
        record = self.cluster.record_of(name)
        is_ours = record is not None and record.stack == run.number
        if run.is_command and is_ours:
            self.nonce = record.nonce
        self.is_stale = bool(is_ours and recorded and record.nonce != recorded.nonce)

    @property
    def cluster(self):
        """The cluster that the stack connects to, as it is now."""
        return self.run.world.clusters[self.run.stack.address]

    def _put(self, cluster):
        self.run.world = self.run.world.with_cluster(self.run.stack.address, cluster)

    def _draw(self):
        self.run.world = self.run.world._replace(drawn=self.run.world.drawn + 1)
        return self.run.world.drawn

    def carry_out(self, step):
        """Carry out one step, or set `refused`."""
        self._judge_cluster()
        steps = {
            "write record": self._write_record,
            "register": self._register,
            "create": self._create,
            "create again": self._create_again,
            "change": lambda: None,
            "deregister": self._deregister,
            "delete storage": self._delete_storage,
            "release record": self._release,
        }
        steps[step]()

    def _judge_cluster(self):
        """No step is for a volume that is recorded in another cluster, or in one that lost its identity."""
        if self.run.stack.is_blind:
            return  # the identity is a variable
        recorded = self.recorded.cluster if self.recorded else 0
        has_something = self.cluster.storage_of(self.name) or self.wanted is not None
        if recorded and recorded != self.cluster.identity and has_something and not self.run.is_disturbed:
            self._broken(f"is changed in cluster {self.cluster.identity}, and recorded in {recorded}")

    def _broken(self, what):
        message = f"stack {self.run.number}: {self.name} {what}"
        raise BrokenError(message)

    def _refuse(self, why):
        """Refuse a step: the decision could know, where nothing changed since."""
        if not self.run.is_disturbed:
            self._broken(f"is refused as {why} after the decision")
        self.refused = why

    def _write_record(self):
        if self.run.stack.is_blind:
            return
        if not self.cluster.identity:
            self._put(self.cluster._replace(identity=self._draw()))
        before = self.cluster.record_of(self.name)
        is_ours = before is None or before.stack == self.run.number or self.wanted.adopt
        if not is_ours and not (self.recorded and self.recorded.nonce == before.nonce):
            self._refuse("foreign")
            return
        self.nonce = self.nonce or self._draw()
        before = before or Record(0, 0)
        name, plugin, storage, is_taken = before.name, before.plugin, before.storage, before.is_taken
        if "create" in self.decision.steps:
            name, plugin = name or f"{self.name}~{self._draw()}", self.wanted.plugin
        elif not self.wanted.storage:
            held = self.cluster.storage_of(self.name)
            is_taken = is_taken or not (name or (self.recorded and self.recorded.made))
            name = name or self.created or name_of(held)
            plugin, storage = self.wanted.plugin, storage or (self.recorded.storage if self.recorded else held)
        elif not name:
            storage = self.wanted.storage
        self._put(
            self.cluster.with_record(self.name, Record(self.run.number, self.nonce, name, plugin, storage, is_taken))
        )

    def _others(self, storage):
        return [key for key, other in self.cluster.volumes if key != self.name and other == storage]

    def _register(self):
        storage, before = self.wanted.storage, self.recorded.storage if self.recorded else ""
        if before and before != storage and self.recorded.wanted.protect and self.wanted.protect:
            self._broken(f"is protected, and re-pointed from {before} to {storage}")
        if storage not in self.run.world.storage:
            self.refused = "storage gone"  # by Nomad or by the plugin
        elif self.cluster.storage_of(self.name) not in {"", storage}:
            self._refuse("taken")  # Nomad does not change the storage of a registration
        elif self._others(storage):
            # Listed once more after it was sent: the later one is taken back.
            self._refuse("shared")
        else:
            self._registered(storage)
            record = self.cluster.record_of(self.name)
            if record is not None and record.storage == storage:
                self._put(self.cluster._replace(given=put(self.cluster.given, self.name, storage)))

    def _registered(self, storage):
        given = dict(self.cluster.given).get(self.name, storage)
        # Who names the storage gives up other storage that exists; without rights to variables also what a plugin
        # created, as that is not known.
        is_named = self.wanted.storage and (self.run.stack.is_blind or "~" not in given)
        if given != storage and given in self.run.world.storage and not is_named:
            self._broken(f"gets {storage}, and has {given}")
        self._put(self.cluster.with_volume(self.name, storage))
        self.storage = storage

    def _create(self):
        record = self.cluster.record_of(self.name)
        if record is None:
            self._broken("gets storage that nothing keeps for it")
        storage = self.run.world.answer(self.wanted.plugin, record.name)
        if self.recorded:
            self._broken(f"gets new, empty storage, and had {self.recorded.storage}")
        self.created = record.name
        self._made(storage)

    def _create_again(self):
        record = None if self.run.stack.is_blind else self.cluster.record_of(self.name)
        self.created = self.created or (record.name if record else f"{self.name}~0")
        known = self.recorded.storage if self.recorded else record.storage
        storage = self.run.world.answer(self.wanted.plugin, self.created)
        if known and (storage != known or storage not in self.run.world.storage):
            # The plugin created another one, which is not registered; it could not know before.
            self.run.world = self.run.world._replace(storage=self.run.world.storage | {storage})
            self.refused = "other storage"
            return
        self._made(storage)

    def _made(self, storage):
        self.run.world = self.run.world._replace(storage=self.run.world.storage | {storage})
        if self.run.fails:
            self.refused = "failed"
            return
        if self._others(storage):
            self._refuse("shared")
            return
        if self.cluster.storage_of(self.name) not in {"", storage}:
            self._refuse("taken")
            return
        self._registered(storage)
        self._put(self.cluster._replace(given=put(self.cluster.given, self.name, storage)))
        record = self.cluster.record_of(self.name)
        if record is not None and not self.run.stack.is_blind:
            self._put(self.cluster.with_record(self.name, record._replace(storage=storage)))

    def _deregister(self):
        held, record = self.cluster.storage_of(self.name), self.cluster.record_of(self.name)
        if self.name in self.cluster.claimed:
            self._broken("is deregistered under a claim")
        # A copy of the state that takes the volume over since the decision is not seen: only another stack is refused.
        other = self.run.world.stacks[1 - self.run.number].recorded(self.key)
        is_of_copy = self.run.is_disturbed and other is not None
        # Without rights to variables the volumes of others are not recognized.
        if record is not None and record.stack != self.run.number and not is_of_copy and not self.run.stack.is_blind:
            self._broken(f"of stack {record.stack} is deregistered")
        if self.run.is_disturbed and self.recorded and held != self.recorded.storage:
            self.refused = "changed meanwhile"
            return
        if held and self.recorded and held != self.recorded.storage:
            self._broken(f"is deregistered for {held}, and recorded for {self.recorded.storage}")
        is_theirs = other is not None and (other.stack, other.cluster, other.storage) == (
            1 - self.run.number,
            self.cluster.identity,
            held,
        )
        # Where both states have it as their own, and the records were purged, nothing tells whose it is.
        if is_theirs and record is None and self.recorded.stack != self.run.number:
            self._broken(f"is deregistered, and in the state of stack {1 - self.run.number}")
        self._put(self.cluster.with_volume(self.name, ""))

    def _delete_storage(self):
        """Delete it, unless another stack has acquired the record since: it is acquired once more before."""
        record = self.cluster.record_of(self.name)
        if self.run.is_disturbed and record is not None and record.stack != self.run.number:
            self.refused = "foreign"
            return
        if self.run.is_disturbed and self._others(self.recorded.storage):
            self.refused = "dependents"  # registrations are listed once more, right before the deletion
            return
        self._delete(self.recorded.storage)

    def _delete(self, storage):
        if self.recorded.wanted.deletes and self.recorded.made != storage:
            self._broken(f"had its storage {storage} before, and that is deleted")
        if self.is_stale and self.recorded.wanted.deletes:
            self._broken(f"loses {storage}, by a state that is not the last one")
        if self.recorded.wanted.protect:
            self._broken(f"is protected, and was deregistered before the deletion of {storage} is refused")
        # What the program deletes goes when its registration is gone: what is registered in between is not seen.
        is_unseen = self.run.is_disturbed and not self.recorded.wanted.deletes
        for key, other in self.cluster.volumes if not is_unseen else ():
            if contains(storage, other):
                self._broken(f"loses {storage}, and {key} is registered for {other}")
        for key, kept in self._kept_in(storage) if not is_unseen else ():
            self._broken(f"loses {storage}, and the record of {key} keeps {kept}")
        self.run.world = self.run.world.without_storage(storage)

    def _kept_in(self, storage):
        """Yield the ids that are not registered, and whose records keep a part of *storage* of the program."""
        for key, record in self.cluster.records if not self.recorded.wanted.deletes else ():
            is_kept = record.storage and key not in self.run.removed and not self.cluster.storage_of(key)
            if is_kept and contains(storage, record.storage):
                yield key, record.storage

    def _release(self):
        record = self.cluster.record_of(self.name)
        if self.run.stack.is_blind or self.cluster.storage_of(self.name):
            return
        is_ours = record is not None and record.stack == self.run.number
        if self.recorded.wanted.deletes:
            given = put(self.cluster.given, self.name, "")
            self._put(self.cluster.with_record(self.name, None if is_ours else record)._replace(given=given))
        elif is_ours and not record.name:
            given = put(self.cluster.given, self.name, "")
            self._put(self.cluster.with_record(self.name, None)._replace(given=given))

    def finish(self):
        """Write the state, and do what the engine does afterwards: it deletes what the program does not create now."""
        stack = self.run.stack
        before = self.recorded.wanted if self.recorded else None
        if before and before.is_owned and not before.deletes and not self._is_kept(before):
            self._delete(self.recorded.storage)
        if self.wanted is None:
            self.run.removed.add(self.name)
            self.run.world = self.run.world.with_stack(self.run.number, stack.with_state(self.key, None))
            return
        storage = self.storage or self.cluster.storage_of(self.name) or self.held
        if self.run.is_command:
            return
        nonce = self.nonce or self._draw()
        record = self.cluster.record_of(self.name)
        proof = self.recorded.made if self.recorded else ""
        if not self.wanted.storage:
            self.created = self.created or name_of(storage)
            is_proof = record is not None and not record.is_taken and not self.run.stack.is_blind
            proof = storage if is_proof and record.storage == storage else proof
        identity = 0 if self.run.stack.is_blind else self.cluster.identity
        recorded = Recorded(self.wanted, storage, nonce, identity, self.run.number, self.created, proof)
        self.run.world = self.run.world.with_stack(self.run.number, stack.with_state(self.key, recorded))

    def _is_kept(self, before):
        if self.wanted is None:
            return False
        return before.retained or self.wanted.retained or self.wanted.makes(before.storage)
