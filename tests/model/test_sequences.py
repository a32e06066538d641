"""Sequences of operations that lost data, or led to a dead end, in earlier releases: what happens now, and the way out."""

import pytest

from tests.model.operations import OWNERS, STORAGE, after
from tests.model.run import Run
from tests.model.world import FOLDER, SYSTEM

ADDRESS = "address of the other cluster"
CREATED = "v = created by its plugin"
DEREGISTERED = "cluster 0: nomad volume deregister v"
FORGOTTEN = "cluster 0: nomad-csi remove v --forget"
PURGED = "cluster 0: owner records purged"
REMOVED = "stack 0: v taken out, up"
V_CREATED = f"stack 0: {CREATED}, up"
V_DELETING = f"stack 0: {CREATED}, on_destroy: delete, up"
V_PROTECTED = f"stack 0: v = {SYSTEM}, protect, up"

OWN = f"stack 0: v = {SYSTEM}, up"
RETAINED = f"stack 0: v = {SYSTEM}, retained, up"
MOVED, MOVED_AGAIN, TO_A_PART = (
    f"stack 0: v = {what}, up" for what in (f"{SYSTEM}, existing", f"{SYSTEM}, existing, with an alias", FOLDER)
)
OWN_FOLDER = f"stack 0: w = {FOLDER}, protect, up"
THEIR_FOLDER = f"stack 1: w = {FOLDER}, up"
SHARED, S_REMOVED = f"stack 0: s = {SYSTEM}, a file system, up", "stack 0: s taken out, up"
IN_SYSTEM = f"stack 0: v = created in {SYSTEM}, up"
CLAIMED = (OWN_FOLDER, "cluster 0: a job claims w")
UNLISTED = "tokens with other rights to list volumes"
BLIND, SEEING = (f"stack 0: token {which} rights to variables" for which in ("without", "with"))

AGAIN = "again, up"
KILLED = (OWN, f"{REMOVED}, killed after 1 steps", THEIR_FOLDER)
DESTROYED = {"removes_all": True}
GOES_ON = {"removes_all": True, "continues": True}
WITHOUT_W = {"removes_all": True, "only": frozenset("vs")}

REFUSED = {
    "a cluster that was rebuilt": (OWNERS, (V_CREATED, "cluster 0: rebuilt empty", AGAIN), "other cluster"),
    "a cluster without its variables": (OWNERS, (V_CREATED, "cluster 0: its variables are purged", AGAIN), "other cluster"),
    "another cluster": (
        OWNERS, (f"stack 1: {ADDRESS}", THEIR_FOLDER, V_CREATED, f"stack 0: {ADDRESS}", AGAIN), "other cluster"
    ),
    "a removal of what is protected": (OWNERS, (V_PROTECTED, REMOVED), "protected"),
    "empty storage for an id that has storage": (
        OWNERS, (V_PROTECTED, DEREGISTERED, f"stack 0: {CREATED}, protect, up"), "other storage"
    ),
    "empty storage for it, before the old one may go": (
        OWNERS, (V_PROTECTED, DEREGISTERED, FORGOTTEN, f"stack 0: {CREATED}, protect, up"), "protected"
    ),
    "a deletion by an older state": (
        OWNERS, (OWN, "stack 0: state delete v", OWN, "stack 0: older state imported", REMOVED), "dependents"
    ),
    "a file system with the volume of another stack": (OWNERS, (*KILLED, AGAIN), "dependents"),
    "a shared one with the volume of another stack": (STORAGE, (SHARED, THEIR_FOLDER, S_REMOVED), "dependents"),
    "another component for the storage": (STORAGE, (OWN, MOVED), "dependents"),
    "another component with an alias": (STORAGE, (OWN, MOVED_AGAIN), "dependents"),
    "a part of the storage for the whole": (STORAGE, (OWN, TO_A_PART), "dependents"),
    "a deletion where no volume may be listed": (STORAGE, (OWN, UNLISTED, REMOVED), "dependents"),
    "a deletion without rights to variables": (STORAGE, (BLIND, OWN, REMOVED), "dependents"),
    "a deletion without them, not registered": (STORAGE, (BLIND, OWN, DEREGISTERED, REMOVED), "dependents"),
    "a file system with storage that a record keeps": (STORAGE, (SHARED, IN_SYSTEM, REMOVED, S_REMOVED), "dependents"),
}  # fmt: skip


def run(names, programs, number=0, **how):
    """Return the last of the operations *names*, an `up` of a stack, and the world before it; *how*: of `Run`."""
    *before, last = names
    what = [last.removesuffix(", up")] if last != AGAIN else []
    made = Run(after(*before, *what, programs=programs), number, **how)
    edited = made.world
    for _ in made.steps():
        pass
    return made, edited


@pytest.mark.parametrize(("programs", "names", "reason"), REFUSED.values(), ids=REFUSED)
def test_is_refused_and_takes_nothing_away(programs, names, reason):
    """Neither a registration, nor an identity, nor storage."""
    made, before = run(names, programs)

    assert made.refusals == [reason]
    assert before.storage <= made.world.storage
    for cluster, was in zip(made.world.clusters, before.clusters, strict=True):
        assert set(was.volumes) <= set(cluster.volumes)
        assert was.identity == cluster.identity


def test_a_copied_state_removes_nothing():
    """Its stack did not register the volume."""
    made, _ = run((OWN, "stack 0: state copied to the other", PURGED, AGAIN), OWNERS, 1)

    assert made.refusals == ["renamed stack"]
    assert made.world.clusters[0].volumes == (("v", SYSTEM),)


@pytest.mark.parametrize("how", [DESTROYED, GOES_ON, WITHOUT_W], ids=["destroy", "continue-on-error", "exclude w"])
@pytest.mark.parametrize("made", [OWN, SHARED])
def test_storage_of_a_claimed_volume_of_the_same_stack_is_not_deleted(made, how):
    """Whether the volume is removed in the same run or left out of it."""
    done, _ = run((made, *CLAIMED, AGAIN), STORAGE, **how)

    assert done.refusals
    assert SYSTEM in done.world.storage


DONE = {
    "its storage again, after a deregistration by hand": (OWNERS, (V_CREATED, DEREGISTERED, V_CREATED), "v", 1),
    "its storage again, where the state lost it, too": (
        OWNERS, (V_CREATED, "stack 0: state delete v", DEREGISTERED, V_CREATED), "v", 1
    ),
    "an older state deletes nothing": (OWNERS, (V_DELETING, V_CREATED, "stack 0: older state imported", REMOVED), "v", 1),
    "it removes the volume once it has that in the program": (
        OWNERS, (V_DELETING, V_CREATED, "stack 0: older state imported", V_CREATED, REMOVED), "", 1
    ),
    "storage handed over to another component": (STORAGE, (OWN, RETAINED, MOVED), "v", 1),
    "handed over, with an alias": (STORAGE, (OWN, RETAINED, MOVED_AGAIN), "v", 1),
    "handed over to a part": (STORAGE, (OWN, RETAINED, TO_A_PART), "v", 2),
    "without rights to variables, moved": (STORAGE, (BLIND, MOVED, MOVED_AGAIN), "v", 1),
    "deleted with rights to variables": (STORAGE, (BLIND, OWN, SEEING, REMOVED), "", 0),
    "deleted once the others are gone": (OWNERS, (*KILLED, "stack 1: w taken out, up", REMOVED), "", 0),
    "deleted with the volumes of the same run": (STORAGE, (OWN, OWN_FOLDER, "stack 0: destroy"), "", 0),
    "a shared one, too": (STORAGE, (SHARED, OWN_FOLDER, "stack 0: destroy"), "", 0),
    "kept storage goes when it is given up by name": (STORAGE, (SHARED, IN_SYSTEM, REMOVED, FORGOTTEN, S_REMOVED), "", 0),
    "and in one run": (STORAGE, (SHARED, IN_SYSTEM, "stack 0: destroy"), "", 0),
}  # fmt: skip
"""Programs and operations -> the ids that are registered then, and how much of the storage that had data is there."""


@pytest.mark.parametrize(("programs", "names", "registered", "count"), DONE.values(), ids=DONE)
def test_is_done(programs, names, registered, count):
    """And each way out that a refusal prints."""
    world = after(*names, programs=programs)

    assert "".join(name for name, _ in world.clusters[0].volumes) == registered
    assert len(world.data & world.storage) == count
    assert len({item for item in world.storage if "~" in item}) <= 1


@pytest.mark.parametrize("loss", ["cluster 0: rebuilt empty", "cluster 0: its variables are purged"])
def test_a_cluster_whose_identity_is_written_again_is_the_same(loss):
    """No second identity is written, which would lock out every other stack."""
    lost = after(V_CREATED, loss)
    [(_, recorded)] = lost.stacks[0].state

    again = after(f"cluster 0: identity {recorded.cluster} written again", V_CREATED, start=lost)

    assert [key for key, _ in again.clusters[0].volumes] == ["v"]
    assert len(again.storage) == len(lost.storage)


@pytest.mark.parametrize("count", [1, 2])
def test_two_stacks_that_register_one_storage_at_once_do_not_both_succeed(count):
    """By two ids; the later one is taken back."""
    found = after(f"stack 1: w = {SYSTEM}", f"{OWN}, with one of the other after {count} steps")

    assert len(found.clusters[0].volumes) == 1
