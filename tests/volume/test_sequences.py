"""Sequences of operations that lost data, or led to a dead end, in earlier releases: what happens now, and the way out."""

import pytest

from tests.volume.operations import after
from tests.volume.run import Run
from tests.volume.world import FOLDER, SYSTEM

CREATED = "created by its plugin"
V_CREATED = f"stack 0: v = {CREATED}, up"
V_PROTECTED = f"stack 0: v = {SYSTEM}, protect, up"
V_REMOVED = "stack 0: v taken out, up"


def refusals(number, *names):
    """Return why the last of the operations *names*, an `up` of a stack, is refused, and the world after it."""
    *before, last = names
    what, _, ends = last.partition(", up")
    assert not ends
    run = Run(after(*before, what) if what != "again" else after(*before), number)
    for _ in run.steps():
        pass
    return run.refusals, run.world


def test_a_volume_of_its_plugin_that_was_deregistered_gets_its_storage_again():
    """By another hand; the id is registered for the same storage, and its data is there."""
    made = after(V_CREATED)
    [(_, storage)] = made.clusters[0].volumes

    found = after(V_CREATED, "cluster 0: nomad volume deregister v", V_CREATED)

    assert found.clusters[0].volumes == (("v", storage),)
    assert storage in found.data


def test_a_volume_of_its_plugin_keeps_its_storage_where_the_state_lost_it():
    """The owner record has the nonce in its name."""
    [(_, storage)] = after(V_CREATED).clusters[0].volumes

    found = after(V_CREATED, "stack 0: state delete v", "cluster 0: nomad volume deregister v", V_CREATED)

    assert found.clusters[0].volumes == (("v", storage),)


LOST = ["cluster 0: rebuilt empty", "cluster 0: its variables are purged"]


@pytest.mark.parametrize("loss", LOST)
def test_a_cluster_that_lost_its_identity_is_refused_until_it_has_it_again(loss):
    """No second identity is written, which would lock out every other stack."""
    found, world = refusals(0, V_CREATED, loss, "again, up")
    assert found == ["lost cluster"]
    assert world.clusters[0].identity == 0

    identity = dict(world.stacks[0].state)["v"].cluster
    again = after(f"cluster 0: identity {identity} written again", V_CREATED, start=world)
    assert [key for key, _ in again.clusters[0].volumes] == ["v"]
    assert len(again.storage) == len(world.storage)


def test_the_address_of_another_cluster_is_refused():
    """Whatever is or is not registered there."""
    made = ("stack 1: address of the other cluster", f"stack 1: w = {FOLDER}, up", V_CREATED)
    found, world = refusals(0, *made, "stack 0: address of the other cluster", "again, up")

    assert found == ["other cluster"]
    assert world.clusters == after(*made).clusters


def test_removing_what_is_protected_is_refused_before_its_registration_goes():
    """Without a preview, too: its jobs still start, and the id is still this stack's."""
    found, world = refusals(0, V_PROTECTED, "stack 0: v taken out, up")

    assert found == ["protected"]
    assert world.clusters[0].volumes == (("v", SYSTEM),)
    assert dict(world.clusters[0].records)["v"].stack == 0


def test_a_protected_id_that_is_not_registered_is_not_given_other_storage():
    """Its registration was removed by hand, and the program has other storage by now."""
    found, world = refusals(
        0, V_PROTECTED, "cluster 0: nomad volume deregister v", f"stack 0: v = {CREATED}, protect, up"
    )

    assert world.clusters[0].volumes in {(), (("v", SYSTEM),)}
    assert found


def test_an_older_state_does_not_delete_what_a_newer_one_keeps():
    """The deletion was confirmed once, and withdrawn; the way out is to have the volume in the program first."""
    deleting = f"stack 0: v = {CREATED}, on_destroy: delete, up"
    sequence = (deleting, V_CREATED, "stack 0: older state imported")
    found, world = refusals(0, *sequence, "stack 0: v taken out, up")
    assert found == ["stale state"]
    assert len(world.clusters[0].volumes) == 1

    done = after(*sequence, V_CREATED, V_REMOVED)
    assert done.clusters[0].volumes == ()
    assert len(done.data) == len(world.data) == 1


def test_a_forgotten_and_imported_state_leaves_no_registration_for_deleted_storage():
    """The documented mend, then an older checkpoint, then the volume is removed."""
    owned = f"stack 0: v = {SYSTEM}, up"
    found, world = refusals(
        0, owned, "stack 0: state delete v", owned, "stack 0: older state imported", "stack 0: v taken out, up"
    )

    assert found == ["stale state"]
    assert world.clusters[0].volumes == (("v", SYSTEM),)
    assert SYSTEM in world.storage


@pytest.mark.parametrize("count", [1, 2])
def test_two_stacks_that_register_one_storage_at_once_do_not_both_succeed(count):
    """By two ids; the later one is taken back."""
    found = after(f"stack 1: w = {SYSTEM}", f"stack 0: v = {SYSTEM}, up, with one of the other after {count} steps")

    assert len(found.clusters[0].volumes) == 1


def test_a_file_system_with_the_volumes_of_another_stack_is_not_deleted():
    """They are named; with them gone, it is."""
    made = (
        f"stack 0: v = {SYSTEM}, up",
        "stack 0: v taken out, up, killed after 1 steps",
        f"stack 1: w = {FOLDER}, up",
    )
    found, world = refusals(0, *made, "again, up")

    assert found == ["dependents"]
    assert SYSTEM in world.storage
    assert SYSTEM not in after(*made, "stack 1: w taken out, up", V_REMOVED).storage


def test_a_copied_state_removes_nothing():
    """Its stack did not register the volume."""
    found, world = refusals(
        1,
        f"stack 0: v = {SYSTEM}, up",
        "stack 0: state copied to the other",
        "cluster 0: owner records purged",
        "again, up",
    )

    assert found == ["renamed stack"]
    assert world.clusters[0].volumes == (("v", SYSTEM),)
