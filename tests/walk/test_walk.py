"""Sequences that are drawn from the abstract world end the same way on the real code, operation by operation."""

import os

import pytest

from tests.model.world import FOLDER, SYSTEM
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


CREATED, DELETING, REMOVED = (
    f"stack 0: v {what}, up"
    for what in ("= created by its plugin", "= created by its plugin, on_destroy: delete", "taken out")
)
ADOPTED = "stack 1: v = created by its plugin, adopt, up"
OWN, OWN_REMOVED = f"stack 1: v = {SYSTEM}, existing, up", "stack 1: v taken out, up"
WHOLE, PART = f"stack 1: w = {SYSTEM}, up", f"stack 1: w = {FOLDER}, up"
FORGOTTEN, COPIED = "stack {}: state delete v", "stack {}: state copied to the other"
OLDER, ADDRESS = "stack {}: older state imported", "stack {}: address of the other cluster"
DEREGISTERED, CLAIMED, ENDED = (
    f"cluster 0: {what}" for what in ("nomad volume deregister v", "a job claims v", "the job of v ends")
)
PURGED, LOST, REBUILT = (
    f"cluster 0: {what}" for what in ("owner records purged", "its variables are purged", "rebuilt empty")
)
SAVED, RESTORED = "cluster 0: snapshot saved", "cluster 0: snapshot restored"

SEQUENCES_BY_NAME = {
    "declared again, it gets its storage": [CREATED, REMOVED, CREATED],
    "deregistered by hand, it gets its storage": [CREATED, DEREGISTERED, CREATED],
    "and where the state lost it": [CREATED, FORGOTTEN.format(0), DEREGISTERED, CREATED],
    "adopted after its removal, it keeps its storage": [CREATED, REMOVED, ADOPTED],
    "adopted, and deregistered by hand": [CREATED, ADOPTED, DEREGISTERED, ADOPTED],
    "its storage goes where that is confirmed": [DELETING, REMOVED],
    "and where a lost state is made again": [DELETING, FORGOTTEN.format(0), DELETING, REMOVED],
    "not what was there before": [CREATED, FORGOTTEN.format(0), PURGED, DELETING, REMOVED],
    "not by an older state": [DELETING, CREATED, OLDER.format(0), REMOVED],
    "not under a claim": [DELETING, CLAIMED, REMOVED],
    "not what another stack has": [DELETING, ADOPTED, REMOVED],
    "nor what that would register again": [DELETING, ADOPTED, DEREGISTERED, REMOVED],
    "a claimed volume stays until its job ends": [OWN, CLAIMED, OWN_REMOVED, ENDED, OWN_REMOVED],
    "other storage for an id": [WHOLE, PART],
    "but not under a claim": [WHOLE, "cluster 0: a job claims w", PART],
    "one storage for two ids": [WHOLE, OWN],
    "an older state of what was declared again": [OWN, FORGOTTEN.format(1), OWN, OLDER.format(1), OWN_REMOVED],
    "a removal by a copy of the state": [OWN, COPIED.format(1), PURGED, "stack 0: v taken out, up"],
    "another cluster": [OWN, ADDRESS.format(1), OWN],
    "a removal in another cluster": [ADDRESS.format(1), PART, CREATED, ADDRESS.format(0), REMOVED],
    "a cluster that lost its identity": [OWN, LOST, OWN],
    "and its identity written again": [OWN, LOST, "cluster 0: identity 2 written again", OWN],
    "a cluster that was rebuilt": [OWN, REBUILT, OWN],
    "a cluster of before": [OWN, SAVED, DEREGISTERED, RESTORED, OWN],
    "a killed registration": [f"{OWN}, killed after 2 steps", OWN],
    "a killed creation": [f"{CREATED}, killed after 2 steps", CREATED],
    "a killed removal": [OWN, f"{OWN_REMOVED}, killed after 2 steps", OWN],
    "one name in two clusters": [ADDRESS.format(1), "stack 1: v = created by its plugin, up", CREATED],
    "a killed change of storage": [WHOLE, f"{PART}, killed after 3 steps", PART],
}


@pytest.mark.parametrize("names", SEQUENCES_BY_NAME.values(), ids=SEQUENCES_BY_NAME)
def test_sequence_by_name(walked, names):
    """What lost data once, and what each change is to lead to: as in the abstract world."""
    made = walked(names)

    assert made.wrong == [], "\n".join([*made.log, *made.wrong])
    assert len(made.log) == len(names), made.log
