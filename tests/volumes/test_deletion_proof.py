"""What shows that storage is a volume of this cluster and of whoever asks; every other combination is refused."""

import itertools

import pytest

from nomad_csi.volumes import deletion_proof, owner_records

ID = "vol-0123456789abcdef0"
OWNER = "shop/prod"
TAGS = {"nomad-csi:volume": "prod/mysql", "nomad-csi:owner": OWNER, "nomad-csi:cluster": "one"}
BY_STATE = {"tags": {}, "made": {"prod/mysql": ID}, "recorded_cluster": "one"}
FOR_OWNER = {"owner": OWNER}


def objection(changes, said):
    """Judge storage of this cluster and of the owner, with *changes*, for a user who *said* so much."""
    seen = {"external_id": ID, "tags": TAGS, "cluster": "one", "is_registered": True, "owner": OWNER} | changes
    cluster = seen.pop("recorded_cluster", "")
    made = seen.pop("made", {"prod/mysql": ID} if cluster else {})
    recorded = {
        "made": {key: deletion_proof.MadeStorage(external_id=each, cluster=cluster) for key, each in made.items()}
    }
    words = {"external_id": ""} | said
    request = deletion_proof.DeletionRequest(
        namespace="prod", volume_id="mysql", confirmation="prod/mysql", external_id=words.pop("external_id")
    )
    return deletion_proof.objection(
        request, deletion_proof.DeletionOptions(**recorded, **words), deletion_proof.Storage(**seen)
    )


def without(tag):
    return {"tags": {name: value for name, value in TAGS.items() if name != tag}}


@pytest.mark.parametrize("seen", [{}, BY_STATE], ids=["by tags", "by a state"])
@pytest.mark.parametrize(
    "changes", [{}, {"owner": ""}, {"is_registered": False}], ids=["all", "no record", "not there"]
)
def test_tags_or_a_state_verify_it(seen, changes):
    """With a registration, an owner record, or both in the cluster that is named."""
    assert objection(seen | changes, FOR_OWNER) == ""


@pytest.mark.parametrize(
    ("changes", "said", "reason"),
    [
        ({"tags": {}}, FOR_OWNER, f"no evidence that {ID} was made as prod/mysql by this package; looked for the tags nomad-csi:volume=prod/mysql and nomad-csi:owner=any owner (found neither), for it among the volumes that a stack had made (no state was given), and for its creation in the owner record"),
        ({"tags": {}, "made": {"prod/other": ID}}, FOR_OWNER, "a stack had made (prod/mysql is not there)"),
        ({"tags": {}, "made": {"prod/mysql": "vol-1"}}, FOR_OWNER, "a stack had made (there prod/mysql is vol-1)"),
        (without("nomad-csi:owner"), FOR_OWNER, "(found nomad-csi:volume=prod/mysql)"),
        (without("nomad-csi:volume"), FOR_OWNER, "(found nomad-csi:owner=shop/prod)"),
        ({"tags": TAGS | {"nomad-csi:volume": "prod/other"}}, FOR_OWNER, "(found nomad-csi:volume=prod/other, nomad-csi:owner=shop/prod)"),
        ({}, {}, f"prod/mysql belongs to stack {OWNER} by its owner record: delete it there, or act for that stack with --owner {OWNER}"),
        ({"owner": ""}, {"owner": "bank/prod"}, f"prod/mysql belongs to stack {OWNER} by the tag nomad-csi:owner of {ID}: delete it there"),
        ({"owner": "bank/prod"}, {"owner": "bank/prod"}, f"prod/mysql belongs to stack bank/prod by its owner record, and {ID} to stack {OWNER} by its tag nomad-csi:owner: find the owner, and correct the other"),
        ({"cluster": "two"}, FOR_OWNER, f"{ID} is storage of cluster one, and the one that answers is two: delete it there"),
        ({"cluster": ""}, FOR_OWNER, f"{ID} is storage of cluster one, and the id of the one that answers is unknown: delete it there"),
        ({"cluster": "two", "recorded_cluster": "three"}, FOR_OWNER, f"{ID} is storage of cluster one, three, and the one that answers is two"),
        ({"recorded_cluster": "two"}, FOR_OWNER, f"{ID} is storage of cluster two, and the one that answers is one"),
        (without("nomad-csi:cluster"), FOR_OWNER, f"{ID} may be another cluster's: no tag nomad-csi:cluster says of which cluster it is; see that no other has it registered, and say so: --external-id {ID}"),
        ({"is_registered": False, "owner": ""}, FOR_OWNER, f"{ID} may be another cluster's: this cluster holds neither a registration of prod/mysql nor its owner record; see that no other has it registered, and say so: --external-id {ID}"),
        (without("nomad-csi:cluster") | {"is_registered": False, "owner": ""}, FOR_OWNER, f": no tag nomad-csi:cluster says of which cluster it is, and this cluster holds neither a registration of prod/mysql nor its owner record; see that no other has it registered, and say so: --external-id {ID} --accept unregistered"),
        (without("nomad-csi:cluster") | {"is_registered": False, "owner": ""}, {"owner": OWNER, "external_id": ID}, "say so: --accept unregistered"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(changes, said, reason):
    """Each with what was checked, and what the user can do."""
    assert reason in objection(changes, said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (without("nomad-csi:cluster"), {"owner": OWNER, "external_id": ID}),
        ({"is_registered": False, "owner": ""}, {"owner": OWNER, "external_id": ID}),
        (
            without("nomad-csi:cluster") | {"is_registered": False, "owner": ""},
            {"owner": OWNER, "external_id": ID, "accepts_unregistered": True},
        ),
    ],
)
def test_words_of_the_user_emulator_for_what_the_cluster_does_not_show(changes, said):
    """Never for the owner, nor for the cluster that is named."""
    assert objection(changes, said) == ""


def test_storage_that_a_state_of_this_cluster_records_needs_no_name():
    """Its id is known from there."""
    assert objection(BY_STATE | {"recorded_cluster": ""}, FOR_OWNER) == ""


CREATED, ANOTHER = "mysql-a3c024f01cac", "mysql-5e884898da28"
RECORDS = {
    "none": None,
    "of no created storage": owner_records.OwnerRecord(owner=OWNER),
    "created": owner_records.OwnerRecord(owner=OWNER, created_name=CREATED),
    "created, and kept": owner_records.OwnerRecord(owner=OWNER, created_name=CREATED, external_id=ID),
    "created, and another kept": owner_records.OwnerRecord(owner=OWNER, created_name=CREATED, external_id="vol-1"),
}
REGISTERED = {"created": CREATED, "another": ANOTHER, "no": ""}


@pytest.mark.parametrize(
    ("record", "registered", "tagged"), list(itertools.product(RECORDS, REGISTERED, (None, CREATED, ANOTHER)))
)
def test_owner_record_shows_what_a_plugin_created(record, registered, tagged):
    """By the name of the registration, else by the external id of the deregistered volume; never against a tag."""
    storage = deletion_proof.Storage(
        external_id=ID,
        is_registered=registered != "no",
        name=REGISTERED[registered],
        tags={} if tagged is None else {"CSIVolumeName": tagged},
    )
    is_named = record in {"created", "created, and kept"} and registered == "created"
    is_kept = record == "created, and kept" and registered == "no"

    assert deletion_proof.is_created(RECORDS[record], storage) is ((is_named or is_kept) and tagged != ANOTHER)


@pytest.mark.parametrize("is_registered", [True, False])
def test_what_the_owner_record_shows_needs_no_other_evidence(is_registered):
    """The record is this cluster's; another owner is refused still, and so is storage of another cluster."""
    created = {"tags": {}, "is_created": True, "is_registered": is_registered}

    assert objection(created, FOR_OWNER) == ""
    assert "belongs to stack shop/prod by its owner record" in objection(created, {"owner": "bank/prod"})
    assert "is storage of cluster two" in objection(created | {"tags": {"nomad-csi:cluster": "two"}}, FOR_OWNER)
