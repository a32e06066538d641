"""No sequence of operations breaks a promise; a wrong decision is found, with the operations that show it."""

import os

import pytest

from nomad_csi.volumes import decide
from tests.model import explore, operations
from tests.model.operations import after

DEPTH = int(os.environ.get("SOAK_OPERATIONS", "3"))
"""Operations in a sequence; ``make test-all`` explores those of four, ``make soak`` those of five."""


@pytest.mark.timeout(600 if DEPTH <= 4 else 7200)
@pytest.mark.parametrize("programs", [operations.OWNERS, operations.STORAGE], ids=["owners", "storage"])
def test_no_sequence_of_operations_breaks_a_promise(programs):
    """Every program, misfortune, kill and interleaving, from an empty world."""
    found = explore.Explored(programs).explore(DEPTH)

    assert (found.broken, found.sequence) == ("", ())
    assert len(found.reached) > 30 ** (DEPTH - 1)


PRESENCE, REMOVAL = decide.decide_presence, decide.decide_removal
OWNERS, STORAGE = operations.OWNERS, operations.STORAGE


def changed(decision, facts):
    """Return *decision* made with other *facts*: ``name=(before, after)``; every value where *before* is ``None``."""

    def decided(known):
        others = {
            name: value for name, (before, value) in facts.items() if before is None or getattr(known, name) == before
        }
        return decision(known._replace(**others))

    return decided


def fresh_where_absent(known):
    """Create new storage wherever the plugin's volume is not registered."""
    if known.source == "created" and known.registration == "absent" and not PRESENCE(known).refusal:
        return decide.Decision(steps=("write record", "create"))
    return PRESENCE(known)


def forgetful(known):
    """Take a volume that is not registered for a new one."""
    is_absent = known.registration == "absent"
    return PRESENCE(known._replace(recorded="nothing", kept="nothing") if is_absent else known)


NOT_READ = {
    "another cluster": (OWNERS, PRESENCE, {"cluster": (None, "same")}),
    "a cluster that lost its identity": (OWNERS, PRESENCE, {"cluster": ("lost", "same")}),
    "other users of the storage": (OWNERS, PRESENCE, {"sharing": (None, "none")}),
    "the owner": (OWNERS, PRESENCE, {"record": (None, "own")}),
    "other storage in the owner record": (OWNERS, PRESENCE, {"kept": ("other", "same")}),
    "storage in the owner record": (OWNERS, PRESENCE, {"kept": (None, "nothing")}),
    "that no record can keep the storage": (OWNERS, PRESENCE, {"record": ("not known", "none")}),
    "protection": (STORAGE, PRESENCE, {"protect": (None, False)}),
    "storage that is left behind": (STORAGE, PRESENCE, {"dependents": (None, "none")}),
    "that volumes in what is left are not known": (STORAGE, PRESENCE, {"dependents": ("not known", "none")}),
    "the owner, at a removal": (OWNERS, REMOVAL, {"record": (None, "own")}),
    "a copied state, at a removal": (OWNERS, REMOVAL, {"is_renamed": (None, False)}),
    "dependent volumes, at a removal": (OWNERS, REMOVAL, {"dependents": (None, "none")}),
    "dependent volumes of the program's storage": (STORAGE, REMOVAL, {"dependents": (None, "none")}),
    "a claim, at a removal": (OWNERS, REMOVAL, {"claims": (None, "none")}),
    "protection, at a removal": (OWNERS, REMOVAL, {"protect": (None, False)}),
    "another cluster, at a removal": (OWNERS, REMOVAL, {"cluster": (None, "same")}),
    "other storage, at a removal": (OWNERS, REMOVAL, {"registration": ("other-storage", "same")}),
    "that another resource took it over": (STORAGE, REMOVAL, {"record": ("sibling", "own")}),
    "that this is not known": (STORAGE, REMOVAL, {"record": ("not known", "own")}),
}
"""A fact that a decision does not read -> the programs, the decision, and what it takes for true."""

WRONG = {
    "new storage where the registration is missing": (OWNERS, PRESENCE, fresh_where_absent),
    "a missing registration is a new volume": (OWNERS, PRESENCE, forgetful),
    **{what: (programs, made, changed(made, facts)) for what, (programs, made, facts) in NOT_READ.items()},
}


@pytest.mark.parametrize(("programs", "made", "wrong"), WRONG.values(), ids=WRONG)
def test_a_wrong_decision_is_found(monkeypatch, programs, made, wrong):
    """By a sequence of at most three operations."""
    monkeypatch.setattr(decide, made.__name__, wrong)

    found = explore.Explored(programs).explore(3)

    assert found.broken
    assert 0 < len(found.sequence) <= 3


def test_a_deletion_without_proof_is_found(monkeypatch):
    """The volume was taken over without an owner record."""
    monkeypatch.setattr(decide, "decide_removal", changed(REMOVAL, {"is_proven": (None, True)}))
    lost = ("stack 0: state delete v", "cluster 0: owner records purged")
    start = after("stack 0: v = created by its plugin, up", *lost)

    found = explore.Explored().explore(2, start)

    assert found.broken.endswith(" before, and that is deleted")


def test_a_deletion_by_an_older_state_is_found(monkeypatch):
    """The volume was to be deleted once; that was withdrawn, and then the older state was imported."""
    monkeypatch.setattr(decide, "decide_removal", changed(REMOVAL, {"record": ("sibling", "own")}))
    start = after(
        "stack 0: v = created by its plugin, on_destroy: delete, up", "stack 0: v = created by its plugin, up"
    )

    found = explore.Explored().explore(2, start)

    assert "stack 0: older state imported" in found.sequence
    assert "by a state that is not the last one" in found.broken
