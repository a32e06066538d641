"""What shows that storage is a volume of this cluster and of whoever asks; every other combination is refused."""

import dataclasses

import pytest

from nomad_csi.deletion import deletion_proof
from nomad_csi.deletion.deletion_proof import DeletionConfirmation, DeletionEvidence

ID = "vol-0123456789abcdef0"
OWNER = "shop/prod"
TAGS = {"nomad-csi:volume": "prod/mysql", "nomad-csi:owner": OWNER, "nomad-csi:cluster": "one"}
OURS = DeletionEvidence(key="prod/mysql", external_id=ID, tags=TAGS, cluster="one", is_registered=True, mark=OWNER)
BY_STATE = dataclasses.replace(OURS, tags={}, made={"prod/mysql": ID}, recorded_cluster="one")
FOR_OWNER = DeletionConfirmation(owner=OWNER)


def without(tag):
    return {"tags": {name: value for name, value in TAGS.items() if name != tag}}


@pytest.mark.parametrize("seen", [OURS, BY_STATE], ids=["by tags", "by a state"])
@pytest.mark.parametrize("changes", [{}, {"mark": ""}, {"is_registered": False}], ids=["all", "no mark", "not there"])
def test_tags_or_a_state_verify_it(seen, changes):
    """With a registration, a mark, or both in the cluster that is named."""
    assert deletion_proof.objection(dataclasses.replace(seen, **changes), FOR_OWNER) == ""


@pytest.mark.parametrize(
    ("changes", "said", "reason"),
    [
        ({"tags": {}}, FOR_OWNER, f"no evidence that {ID} was made as prod/mysql by this package; looked for the tags nomad-csi:volume=prod/mysql and nomad-csi:owner=any owner (found neither), and for it among the volumes that a stack had made (no state was given)"),
        ({"tags": {}, "made": {"prod/other": ID}}, FOR_OWNER, "a stack had made (prod/mysql is not there)"),
        ({"tags": {}, "made": {"prod/mysql": "vol-1"}}, FOR_OWNER, "a stack had made (there prod/mysql is vol-1)"),
        (without("nomad-csi:owner"), FOR_OWNER, "(found nomad-csi:volume=prod/mysql)"),
        (without("nomad-csi:volume"), FOR_OWNER, "(found nomad-csi:owner=shop/prod)"),
        ({"tags": TAGS | {"nomad-csi:volume": "prod/other"}}, FOR_OWNER, "(found nomad-csi:volume=prod/other, nomad-csi:owner=shop/prod)"),
        ({}, DeletionConfirmation(), f"prod/mysql belongs to stack {OWNER} by its mark: delete it there, or act for that stack with --owner {OWNER}"),
        ({"mark": ""}, DeletionConfirmation(owner="bank/prod"), f"prod/mysql belongs to stack {OWNER} by the tag nomad-csi:owner of {ID}: delete it there"),
        ({"mark": "bank/prod"}, DeletionConfirmation(owner="bank/prod"), f"prod/mysql belongs to stack bank/prod by its mark, and {ID} to stack {OWNER} by its tag nomad-csi:owner: find out whose it is, and set the other right"),
        ({"cluster": "two"}, FOR_OWNER, f"{ID} is storage of cluster one, and the one that answers is two: delete it there"),
        ({"cluster": ""}, FOR_OWNER, f"{ID} is storage of cluster one, and the id of the one that answers is unknown: delete it there"),
        ({"cluster": "two", "recorded_cluster": "three"}, FOR_OWNER, f"{ID} is storage of cluster one, three, and the one that answers is two"),
        ({"recorded_cluster": "two"}, FOR_OWNER, f"{ID} is storage of cluster two, and the one that answers is one"),
        (without("nomad-csi:cluster"), FOR_OWNER, f"{ID} may be another cluster's: no tag nomad-csi:cluster says of which cluster it is; see that no other has it registered, and say so: --external-id {ID}"),
        ({"is_registered": False, "mark": ""}, FOR_OWNER, f"{ID} may be another cluster's: this cluster holds neither a registration of prod/mysql nor its mark; see that no other has it registered, and say so: --external-id {ID}"),
        (without("nomad-csi:cluster") | {"is_registered": False, "mark": ""}, FOR_OWNER, f": no tag nomad-csi:cluster says of which cluster it is, and this cluster holds neither a registration of prod/mysql nor its mark; see that no other has it registered, and say so: --external-id {ID} --accept-unregistered"),
        (without("nomad-csi:cluster") | {"is_registered": False, "mark": ""}, DeletionConfirmation(owner=OWNER, external_id=ID), "say so: --accept-unregistered"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(changes, said, reason):
    """Each with what was checked, and what the user can do."""
    assert reason in deletion_proof.objection(dataclasses.replace(OURS, **changes), said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (without("nomad-csi:cluster"), DeletionConfirmation(owner=OWNER, external_id=ID)),
        ({"is_registered": False, "mark": ""}, DeletionConfirmation(owner=OWNER, external_id=ID)),
        (
            without("nomad-csi:cluster") | {"is_registered": False, "mark": ""},
            DeletionConfirmation(owner=OWNER, external_id=ID, accepts_unregistered=True),
        ),
    ],
)
def test_words_of_the_user_emulator_for_what_the_cluster_does_not_show(changes, said):
    """Never for the owner, nor for the cluster that is named."""
    assert deletion_proof.objection(dataclasses.replace(OURS, **changes), said) == ""


def test_storage_that_a_state_of_this_cluster_records_needs_no_name():
    """Its id is known from there."""
    seen = dataclasses.replace(BY_STATE, recorded_cluster="", is_registered=True)

    assert deletion_proof.objection(seen, FOR_OWNER) == ""
