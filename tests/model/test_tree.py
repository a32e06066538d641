"""The whole table of both decisions is the one in `decisions.txt`, and holds what the product promises."""

import math

import pytest

from nomad_csi.volumes import decide
from tests.model import tree

LEAVES = [(kind, known, decision) for kind in tree.KINDS for known, decision in tree.leaves(kind)]
WANTED = [(known, decision) for kind, known, decision in LEAVES if kind == "wanted"]
REMOVED = [(known, decision) for kind, known, decision in LEAVES if kind == "removed"]


def test_the_table_is_the_one_that_was_read():
    """Every decision for every combination of facts; ``python -m tests.model.tree`` writes it when a change is meant."""
    assert tree.text() == tree.FILE.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", tree.KINDS)
def test_every_combination_of_facts_has_one_decision(kind):
    """The branches of the tree are all combinations, each once."""
    of, _ = tree.KINDS[kind]
    sizes = {name: len(values) for name, values in tree.values(of).items()}
    count = sum(math.prod(size for name, size in sizes.items() if name not in known) for known, _ in tree.leaves(kind))

    assert count == math.prod(sizes.values())


def test_a_refusal_has_no_step_and_no_remark():
    """Nothing is done, and nothing said of what would be done."""
    assert [known for _, known, found in LEAVES if found.refusal and (found.steps or found.remarks)] == []


def test_the_owner_record_is_written_before_anything_else_is_changed():
    """Another stack sees whose the id is before it finds the registration."""
    assert {found.steps[0] for _, found in WANTED if found.steps} == {"write record"}


def test_the_owner_record_is_removed_last():
    """A removal that was stopped half way is still this stack's."""
    assert {found.steps[-1] for _, found in REMOVED if found.steps} == {"release record"}


def test_a_claimed_volume_is_never_deregistered():
    """Neither to register it again, nor to remove it."""
    assert [known for _, known, found in LEAVES if "deregister" in found.steps and known["claims"] == "held"] == []


def test_storage_is_deleted_only_with_proof_that_it_was_created_here():
    """The state proves it, the owner record was read, and no other volume is in the storage."""
    deleting = [known for known, found in REMOVED if "delete storage" in found.steps]

    assert deleting
    assert {(known["is_proven"], known["dependents"]) for known in deleting} == {(True, "none")}
    assert {known["record"] for known in deleting} == {"own", "none"}


def test_new_storage_is_created_for_an_id_without_storage_alone():
    """Neither the state nor an owner record knows any."""
    creating = [known for known, found in WANTED if "create" in found.steps]

    assert creating
    assert {(known["recorded"], known["kept"]) for known in creating} == {("nothing", "nothing")}


def test_a_protected_id_keeps_its_storage():
    """Neither other storage is registered under it, nor a new one created, nor the old one deleted."""
    other = [known for known, found in WANTED if known["protect"] and "re-pointed" in found.remarks]
    gone = [
        known
        for known, found in REMOVED
        if known.get("protect")
        and not known["is_replaced"]
        and "storage deleted" in found.remarks
        and known["ends"] == "deleted after"
    ]
    assert (other, gone) == ([], [])


def test_other_storage_and_new_storage_are_always_said():
    """A step that gives an id other data than recorded has its remark, in the preview too."""
    silent = [
        known
        for known, found in WANTED
        if known.get("recorded") in {"other", "doubtful"}
        and known.get("source") == "existing"
        and known.get("registration") in {"absent", "other-storage"}
        and {"register", "create"} & set(found.steps)
        and "re-pointed" not in found.remarks
    ]
    assert silent == []


@pytest.mark.parametrize("cluster", ["other", "lost"])
def test_nothing_is_changed_in_another_cluster(cluster):
    """Except that an owner record is removed where nothing else is left of the volume and its storage is kept."""
    changed = {found.steps for _, known, found in LEAVES if known.get("cluster") == cluster and found.steps}

    assert changed <= ({("release record",)} if cluster == "lost" else set())


def test_another_owners_volume_is_left_alone():
    """Unless it is to be adopted; a removal then only forgets it."""
    steps = {found.steps for known, found in WANTED if known.get("record") == "foreign" and not known["adopt"]}
    removing = {found.steps for known, found in REMOVED if known.get("record") == "foreign"}

    assert steps == {()}
    assert removing <= {(), ("release record",)}


def test_every_step_refusal_and_remark_occurs():
    """No word of the vocabulary is left over."""
    steps = {step for _, _, found in LEAVES for step in found.steps}
    refusals = {found.refusal for _, _, found in LEAVES if found.refusal}
    remarks = {remark for _, _, found in LEAVES for remark in found.remarks}

    assert steps == set(decide.Step.__args__)
    assert refusals == set(decide.Refusal.__args__)
    assert remarks == set(decide.Remark.__args__)
