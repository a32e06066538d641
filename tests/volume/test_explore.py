"""No sequence of operations breaks a promise; a wrong decision is found, with the operations that show it."""

import os

import pytest

from nomad_csi.volumes import decide
from tests.volume import explore, operations
from tests.volume.operations import after

DEPTH = int(os.environ.get("SOAK_OPERATIONS", "3"))
"""Operations in a sequence; ``make test-all`` explores those of four, ``make soak`` those of five."""


@pytest.mark.timeout(600 if DEPTH <= 4 else 7200)
@pytest.mark.long("every sequence of three operations: what every change must hold")
@pytest.mark.parametrize("programs", [operations.OWNERS, operations.STORAGE], ids=["owners", "storage"])
def test_no_sequence_of_operations_breaks_a_promise(programs):
    """Every program, misfortune, kill and interleaving, from an empty world."""
    found = explore.Explored(programs).explore(DEPTH)

    assert (found.broken, found.sequence) == ("", ())
    assert len(found.reached) > 30 ** (DEPTH - 1)


def changed(decision, **values):
    """Return *decision* made with other facts: ``name=(before, after)``; every value where *before* is ``None``."""

    def decided(known):
        others = {
            name: value for name, (before, value) in values.items() if before is None or getattr(known, name) == before
        }
        return decision(known._replace(**others))

    return decided


PRESENCE, REMOVAL = decide.decide_presence, decide.decide_removal


def fresh_where_absent(known):
    """Create new storage wherever the plugin's volume is not registered."""
    if known.source == "created" and known.registration == "absent" and not PRESENCE(known).refusal:
        return decide.Decision(steps=("write record", "create"))
    return PRESENCE(known)


def forgetful(known):
    """Take a volume that is not registered for a new one."""
    is_absent = known.registration == "absent"
    return PRESENCE(known._replace(recorded="nothing", kept="nothing") if is_absent else known)


WRONG = {
    "new storage where the registration is missing": ("decide_presence", fresh_where_absent),
    "a missing registration is a new volume": ("decide_presence", forgetful),
    "another cluster is not noticed": ("decide_presence", changed(PRESENCE, cluster=(None, "same"))),
    "a lost cluster is a new one": ("decide_presence", changed(PRESENCE, cluster=("lost", "same"))),
    "other users of the storage are not compared": ("decide_presence", changed(PRESENCE, sharing=(None, "none"))),
    "owners are not compared": ("decide_presence", changed(PRESENCE, record=(None, "own"))),
    "the storage in the owner record is not compared": ("decide_presence", changed(PRESENCE, kept=("other", "same"))),
    "the storage in the owner record is not known": ("decide_presence", changed(PRESENCE, kept=(None, "nothing"))),
    "storage is created that no record keeps": ("decide_presence", changed(PRESENCE, record=("not known", "none"))),
    "a removal of another's volume": ("decide_removal", changed(REMOVAL, record=(None, "own"))),
    "a removal by a copied state": ("decide_removal", changed(REMOVAL, is_renamed=(None, False))),
    "a removal beside dependent volumes": ("decide_removal", changed(REMOVAL, dependents=(None, "none"))),
    "a removal under a claim": ("decide_removal", changed(REMOVAL, claims=(None, "none"))),
    "a removal of what is protected": ("decide_removal", changed(REMOVAL, protect=(None, False))),
    "a removal in another cluster": ("decide_removal", changed(REMOVAL, cluster=(None, "same"))),
    "a removal of other storage": ("decide_removal", changed(REMOVAL, registration=("other-storage", "same"))),
}


MOVED = {
    "a removal of what another resource has taken over": (
        "decide_removal",
        changed(REMOVAL, record=("sibling", "own")),
    ),
    "a removal where that is not known": ("decide_removal", changed(REMOVAL, record=("not known", "own"))),
    "a removal of storage with volumes in it": ("decide_removal", changed(REMOVAL, dependents=(None, "none"))),
    "a file system with volumes in it": ("decide_release", changed(decide.decide_release, dependents=(None, "none"))),
    "protect is not read": ("decide_presence", changed(PRESENCE, protect=(None, False))),
    "storage that is left behind": ("decide_presence", changed(PRESENCE, left_storage=(None, "kept"))),
    "storage that is left where the volumes are not known": (
        "decide_presence",
        changed(PRESENCE, left_storage=("not known", "kept")),
    ),
}


@pytest.mark.parametrize("wrong", MOVED)
def test_a_wrong_decision_about_storage_is_found(monkeypatch, wrong):
    """By a sequence of at most three operations on storage that a program creates."""
    monkeypatch.setattr(decide, *MOVED[wrong])

    found = explore.Explored(operations.STORAGE).explore(3)

    assert found.broken
    assert 0 < len(found.sequence) <= 3


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_decision_is_found(monkeypatch, wrong):
    """By a sequence of at most three operations."""
    monkeypatch.setattr(decide, *WRONG[wrong])

    found = explore.Explored().explore(3)

    assert found.broken
    assert 0 < len(found.sequence) <= 3


def test_a_deletion_without_proof_is_found(monkeypatch):
    """The volume was taken over without an owner record."""
    monkeypatch.setattr(decide, "decide_removal", changed(REMOVAL, is_proven=(None, True)))
    lost = ("stack 0: state delete v", "cluster 0: owner records purged")
    start = after("stack 0: v = created by its plugin, up", *lost)

    found = explore.Explored().explore(2, start)

    assert found.broken.endswith(" before, and that is deleted")


def test_a_deletion_by_an_older_state_is_found(monkeypatch):
    """The volume was to be deleted once; that was withdrawn, and then the older state was imported."""
    monkeypatch.setattr(decide, "decide_removal", changed(REMOVAL, record=("sibling", "own")))
    start = after(
        "stack 0: v = created by its plugin, on_destroy: delete, up", "stack 0: v = created by its plugin, up"
    )

    found = explore.Explored().explore(2, start)

    assert "stack 0: older state imported" in found.sequence
    assert "by a state that is not the last one" in found.broken
