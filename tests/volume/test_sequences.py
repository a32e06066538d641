"""Sequences of operations that lost data, or led to a dead end, in earlier releases: what happens now, and the way out."""

import pytest

from tests.volume.operations import OWNERS, STORAGE, after
from tests.volume.run import Run
from tests.volume.world import FOLDER, SYSTEM

CREATED = "created by its plugin"
V_CREATED = f"stack 0: v = {CREATED}, up"
V_PROTECTED = f"stack 0: v = {SYSTEM}, protect, up"
V_REMOVED = "stack 0: v taken out, up"


def refusals(number, *names, programs=OWNERS, **how):
    """
    Return why the last of the operations *names*, an `up` of a stack, is refused, and the world after it.

    *how* are arguments of `Run`.
    """
    *before, last = names
    what, _, ends = last.partition(", up")
    assert not ends
    run = Run(after(*before, *([what] if what != "again" else []), programs=programs), number, **how)
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

    [(_, recorded)] = world.stacks[0].state
    identity = recorded.cluster
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


def test_protected_storage_that_is_not_registered_is_not_deleted():
    """Its registration was removed by hand, and the program has another component for the id by now."""
    found, world = refusals(
        0, V_PROTECTED, "cluster 0: nomad volume deregister v", f"stack 0: v = {CREATED}, protect, up"
    )

    assert found == ["protected"]
    assert SYSTEM in world.storage


def test_an_older_state_does_not_delete_what_a_newer_one_keeps():
    """The deletion was confirmed once, and withdrawn; the way out is to have the volume in the program first."""
    deleting = f"stack 0: v = {CREATED}, on_destroy: delete, up"
    sequence = (deleting, V_CREATED, "stack 0: older state imported")
    found, world = refusals(0, *sequence, "stack 0: v taken out, up")
    assert found == []
    assert len(world.clusters[0].volumes) == len(world.data) == 1

    done = after(*sequence, V_CREATED, V_REMOVED)
    assert done.clusters[0].volumes == ()
    assert len(done.data) == len(world.data) == 1


def test_a_forgotten_and_imported_state_leaves_no_registration_for_deleted_storage():
    """The documented mend, then an older checkpoint, then the volume is removed."""
    owned = f"stack 0: v = {SYSTEM}, up"
    found, world = refusals(
        0, owned, "stack 0: state delete v", owned, "stack 0: older state imported", "stack 0: v taken out, up"
    )

    assert found == ["dependents"]
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


OWN = f"stack 0: v = {SYSTEM}, up"
RETAINED = f"stack 0: v = {SYSTEM}, retained, up"
OTHERS_FOLDER = f"stack 1: w = {FOLDER}, up"
OWN_FOLDER = f"stack 0: w = {FOLDER}, protect, up"
SHARED = f"stack 0: s = {SYSTEM}, a file system, up"

HANDED_OVER = {
    "by another component": f"stack 0: v = {SYSTEM}, existing, up",
    "by another component with an alias": f"stack 0: v = {SYSTEM}, existing, with an alias, up",
    "from the whole to a part": f"stack 0: v = {FOLDER}, up",
}


@pytest.mark.parametrize("change", HANDED_OVER)
def test_storage_that_its_id_still_uses_is_not_deleted(change):
    """It stays registered; after `retainOnDelete` it is handed over."""
    found, world = refusals(0, OWN, HANDED_OVER[change], programs=STORAGE)
    assert found == ["dependents"]
    assert SYSTEM in world.storage

    done = after(OWN, RETAINED, HANDED_OVER[change], programs=STORAGE)
    assert done.stacks[0].recorded("v") is None or not done.stacks[0].recorded("v").wanted.retained
    assert [name for name, _ in done.clusters[0].volumes] == ["v"]
    assert SYSTEM in done.storage


WAYS = {
    "destroy": {"removes_all": True},
    "destroy --continue-on-error": {"removes_all": True, "continues": True},
    "destroy --exclude w": {"removes_all": True, "only": frozenset("vs")},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("made", [OWN, SHARED])
def test_storage_of_a_claimed_volume_of_the_same_stack_is_not_deleted(made, way):
    """Whether the volume is removed in the same run or left out of it."""
    found, world = refusals(
        0, made, OWN_FOLDER, "cluster 0: a job claims w", "again, up", programs=STORAGE, **WAYS[way]
    )

    assert found
    assert SYSTEM in world.storage


@pytest.mark.parametrize("made", [OWN, SHARED])
def test_storage_goes_with_the_volumes_that_go_in_the_same_run(made):
    """Those that nothing claims."""
    assert SYSTEM not in after(made, OWN_FOLDER, "stack 0: destroy", programs=STORAGE).storage


def test_a_file_system_with_the_volume_of_another_stack_stays():
    """The file system itself is not registered."""
    found, world = refusals(0, SHARED, OTHERS_FOLDER, "stack 0: s taken out, up", programs=STORAGE)

    assert found == ["dependents"]
    assert SYSTEM in world.storage


def test_without_the_right_to_list_volumes_no_storage_is_deleted():
    """What is not known does not count as absent."""
    tokens = "tokens with other rights to list volumes"
    found, world = refusals(0, OWN, tokens, "stack 0: v taken out, up", programs=STORAGE)

    assert found == ["dependents"]
    assert SYSTEM in world.storage


def test_without_rights_to_variables_a_volume_that_moved_stays_registered():
    """It is not known whether another resource has taken it over, nor which ids keep storage of the program."""
    tokens = "stack 0: token without rights to variables"
    moved = (f"stack 0: v = {SYSTEM}, existing, up", f"stack 0: v = {SYSTEM}, existing, with an alias, up")
    done = after(tokens, *moved, programs=STORAGE)
    assert done.clusters[0].volumes == (("v", SYSTEM),)

    for gone in ((), ("cluster 0: nomad volume deregister v",)):
        found, world = refusals(0, tokens, OWN, *gone, "stack 0: v taken out, up", programs=STORAGE)
        assert found == ["dependents"]
        assert SYSTEM in world.storage
    with_rights = ("stack 0: token with rights to variables", "stack 0: v taken out, up")
    assert SYSTEM not in after(tokens, OWN, *with_rights, programs=STORAGE).storage


IN_SYSTEM = f"stack 0: v = created in {SYSTEM}, up"


def test_storage_that_a_record_keeps_is_not_deleted_with_its_file_system():
    """Its id is not registered at the moment; the user gives it up by name, or removes both in one run."""
    kept = (SHARED, IN_SYSTEM, "stack 0: v taken out, up")
    found, world = refusals(0, *kept, "stack 0: s taken out, up", programs=STORAGE)
    assert found == ["dependents"]
    assert SYSTEM in world.storage

    given_up = after(*kept, "cluster 0: nomad-csi remove v --forget", "stack 0: s taken out, up", programs=STORAGE)
    assert SYSTEM not in given_up.storage
    assert SYSTEM not in after(SHARED, IN_SYSTEM, "stack 0: destroy", programs=STORAGE).storage
