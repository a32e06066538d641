"""Sequences that are drawn from the abstract world end the same way on the real code, operation by operation."""

import os

import pytest

from nomad_csi.plan import registration
from nomad_csi.volumes import created_changes, removal
from tests.model.world import SYSTEM
from tests.walk import walk

SEQUENCES = int(os.environ.get("SOAK_SEQUENCES", "5"))
"""How many; ``make test-all`` walks 20, ``make soak`` 200."""


@pytest.mark.timeout(120 + 30 * SEQUENCES)
def test_sequences_end_as_in_the_abstract_world(walked):
    """What is registered for which storage, what there is, what is refused, and what a preview says of it."""
    wrong = []
    for seed in range(SEQUENCES):
        made = walked(walk.drawn(seed, walk.LENGTH))
        wrong += [f"sequence {seed}:", *made.log, *made.wrong] if made.wrong else []

    assert wrong == [], "\n".join(wrong)


def forget_who_holds(monkeypatch):
    """Delete what another resource of the stack took over."""
    monkeypatch.setattr(removal.RemovedVolume, "record", "own")


def name_by_id(monkeypatch):
    """Make storage by the volume's id, as other storage of that name."""
    monkeypatch.setattr(registration, "made_name", lambda name, _nonce: name)
    monkeypatch.setattr(created_changes, "_registered_besides", lambda *_: None)


def let_copies_delete(monkeypatch):
    """Delete under another label than the recorded one."""
    monkeypatch.setattr(removal.RemovedVolume, "is_renamed", False)


OWN = f"stack 1: v = {SYSTEM}, existing, up"
CREATED = "v = created by its plugin, up"
DEFECTS = {
    "nonces are not compared": (
        forget_who_holds,
        [OWN, "stack 1: state delete v", OWN, "stack 1: older state imported", "stack 1: v taken out, up"],
    ),
    "names without nonces": (
        name_by_id,
        ["stack 1: address of the other cluster", f"stack 1: {CREATED}", f"stack 0: {CREATED}"],
    ),
    "copied states delete": (
        let_copies_delete,
        [OWN, "stack 1: state copied to the other", "cluster 0: owner records purged", "stack 0: v taken out, up"],
    ),
}


@pytest.mark.parametrize(("defect", "names"), DEFECTS.values(), ids=DEFECTS)
def test_defect_of_the_product_is_noticed(walked, monkeypatch, defect, names):
    """The same sequence is right without it."""
    made = walked(names)
    assert made.wrong == [], "\n".join([*made.log, *made.wrong])

    defect(monkeypatch)

    assert walked(names).wrong
