"""What must hold before data is deleted: proof of whose storage it is, a confirmation, no registration, no attachment."""

import contextlib
import itertools
import types

import pytest

from nomad_csi import errors, nomad
from nomad_csi.aws import ebs_volumes
from nomad_csi.aws import records as aws_records
from nomad_csi.volumes import deletion_proof, ownership

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
        "created": {key: deletion_proof.MadeStorage(external_id=each, cluster=cluster) for key, each in made.items()}
    }
    words = {"external_id": ""} | said
    request = deletion_proof.DeletionRequest(
        namespace="prod", volume_id="mysql", confirmation="prod/mysql", external_id=words.pop("external_id")
    )
    return deletion_proof.objection(
        request, deletion_proof.DeletionOptions(**recorded, **words), deletion_proof.StorageToDelete(**seen)
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
        ({"tags": {}, "owner": "bank/prod"}, FOR_OWNER, f"no evidence that {ID} was made as prod/mysql by this package: neither its tags nomad-csi:volume and nomad-csi:owner, nor a stack's state, nor an owner record"),
        ({"tags": {}, "made": {"prod/other": ID}}, FOR_OWNER, "no evidence"),
        ({"tags": {}, "made": {"prod/mysql": "vol-1"}}, FOR_OWNER, "no evidence"),
        (without("nomad-csi:owner"), FOR_OWNER, "no evidence"),
        (without("nomad-csi:volume"), FOR_OWNER, "no evidence"),
        ({"tags": TAGS | {"nomad-csi:volume": "prod/other"}}, FOR_OWNER, "no evidence"),
        ({}, {}, f"prod/mysql belongs to stack {OWNER} by its owner record: delete it there, or act for that stack with --owner {OWNER}"),
        ({"owner": ""}, {"owner": "bank/prod"}, f"prod/mysql belongs to stack {OWNER} by the tag nomad-csi:owner of {ID}: delete it there"),
        ({"owner": "bank/prod"}, {"owner": "bank/prod"}, f"prod/mysql belongs to stack {OWNER} by the tag"),
        ({"owner": "bank/prod"}, FOR_OWNER, "prod/mysql belongs to stack bank/prod by its owner record"),
        ({"cluster": "two"}, FOR_OWNER, f"{ID} is storage of cluster one, and the one that answers is two: delete it there"),
        ({"cluster": ""}, FOR_OWNER, f"{ID} is storage of cluster one, and the one that answers is not known: delete it there"),
        ({"cluster": "two", "recorded_cluster": "three"}, FOR_OWNER, f"{ID} is storage of cluster one, three, and the one that answers is two"),
        ({"recorded_cluster": "two"}, FOR_OWNER, f"{ID} is storage of cluster two, and the one that answers is one"),
        (without("nomad-csi:cluster"), FOR_OWNER, f"{ID} may be another cluster's: no tag nomad-csi:cluster names its cluster; see that no other has it registered, and say so: --external-id {ID}"),
        ({"is_registered": False, "owner": ""}, FOR_OWNER, f"{ID} may be another cluster's: this cluster holds neither a registration of prod/mysql nor its owner record; see that no other has it registered, and say so: --external-id {ID}"),
        (without("nomad-csi:cluster") | {"is_registered": False, "owner": ""}, FOR_OWNER, f": no tag nomad-csi:cluster names its cluster, and this cluster holds neither a registration of prod/mysql nor its owner record; see that no other has it registered, and say so: --external-id {ID} --accept unregistered"),
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
    "of no created storage": ownership.OwnerRecord(owner=OWNER),
    "of existing storage, kept": ownership.OwnerRecord(owner=OWNER, external_id=ID),
    "created": ownership.OwnerRecord(owner=OWNER, created_name=CREATED),
    "created, and kept": ownership.OwnerRecord(owner=OWNER, created_name=CREATED, external_id=ID),
    "created, and another kept": ownership.OwnerRecord(owner=OWNER, created_name=CREATED, external_id="vol-1"),
}
REGISTERED = {"created": CREATED, "another": ANOTHER, "no": ""}


@pytest.mark.parametrize(
    ("record", "registered", "tagged"), list(itertools.product(RECORDS, REGISTERED, (None, CREATED, ANOTHER)))
)
def test_owner_record_shows_what_a_plugin_created(record, registered, tagged):
    """By the name of the registration, else by the external id of the deregistered volume; never against a tag."""
    storage = deletion_proof.StorageToDelete(
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


@pytest.fixture
def client(scripted):
    """A client of the scripted Nomad."""
    with nomad.Nomad(nomad.Connection(address=scripted.address), timeout_s=60.0) as made:
        yield made


@pytest.fixture
def listed(scripted):
    """Say which external ids Nomad lists: ``listed("vol-1", ...)``."""

    def script(*external_ids):
        items = [
            {"ID": f"v{number}", "Namespace": "prod", "ExternalID": external_id, "PluginID": "p"}
            for number, external_id in enumerate(external_ids)
        ]
        scripted.reply("GET", "/v1/volumes", 200, items)

    return script


@pytest.mark.parametrize("confirmation", ["", "vol-0123456789abcdef", f"{ID} ", "yes"])
def test_rejects_without_the_word(confirmation):
    """Letter by letter."""
    with pytest.raises(
        errors.RefusedError, match=f"^deletion of the data of {ID} was not confirmed; nothing was deleted: "
    ):
        deletion_proof.refuse_unconfirmed(ID, confirmation)


@pytest.mark.parametrize(("took_s", "questions"), [((1.0,), 1), ((1.1, 1.0), 2), ((1.1, 1.1, 1.1), 3)])
def test_last_answer_of_nomad_is_fresh(client, listed, monkeypatch, scripted, took_s, questions):
    """It is asked again where the answer took too long, and deletion is refused where it always does."""
    listed("vol-other")
    clock = [at for number, duration in enumerate(took_s) for at in (10.0 * number, 10.0 * number + duration)]
    monkeypatch.setattr(deletion_proof, "time", types.SimpleNamespace(monotonic=lambda: clock.pop(0)))
    is_slow = took_s[-1] > deletion_proof.FRESH_S
    refused = pytest.raises(errors.RefusedError, match=r"^Nomad takes more than 1 s to list what is registered$")

    with refused if is_slow else contextlib.nullcontext():
        deletion_proof.refuse_registered_now(client, ID)

    assert len(scripted.sent("GET")) == questions


def test_rejects_what_is_attached(monkeypatch):
    """With the instance."""
    found = aws_records.Attachment(instance_id="i-1", state="attached", device="/dev/xvdba", instance_state="running")
    answers = [
        aws_records.AttachedVolume(external_id=ID, state="available"),
        aws_records.AttachedVolume(external_id=ID, state="in-use", attachments=(found,)),
    ]
    asked = []

    def read(external_ids, aws_region):
        asked.append((tuple(external_ids), aws_region))
        return aws_records.ObservedAttachments(volumes={ID: answers.pop(0)})

    monkeypatch.setattr(ebs_volumes, "read_attachments", read)

    deletion_proof.refuse_attached(ID, "us-east-1")
    with pytest.raises(errors.RefusedError, match=rf"^{ID} is in-use: attached to i-1 \(running\) as /dev/xvdba; noth"):
        deletion_proof.refuse_attached(ID, "us-east-1")
    assert asked == [((ID,), "us-east-1")] * 2


SYSTEM = "fs-0123456789abcdef0"


POINT = f"{SYSTEM}::fsap-00000002"
BESIDE = {
    "the access point, with its folder": (POINT, f"{SYSTEM}:/data:fsap-00000002", True),
    "another access point": (POINT, f"{SYSTEM}::fsap-00000003", False),
    "the file system of an access point": (POINT, SYSTEM, False),
    "a folder of the file system": (SYSTEM, f"efs:{SYSTEM}:/up", True),
    "the same text": ("a", "a", True),
    "another text": ("a", "b", False),
    "an EBS volume": (ID, ID, True),
}


@pytest.mark.parametrize("ask", [deletion_proof.refuse_registered, deletion_proof.refuse_registered_now])
@pytest.mark.parametrize(("deleted", "registered", "is_refused"), BESIDE.values(), ids=BESIDE)
def test_storage_is_not_deleted_under_a_registration_of_it_or_of_a_part(
    client, listed, scripted, ask, deleted, registered, is_refused
):
    """However the external id is written, in every namespace; Nomad filters by the ids of AWS, which each form contains."""
    listed(registered, registered)

    with (
        pytest.raises(
            errors.RefusedError, match=rf"^{deleted} is registered as prod/v0, prod/v1; nothing was deleted: "
        )
        if is_refused
        else contextlib.nullcontext()
    ):
        ask(client, deleted)
    [(path, _)] = scripted.sent("GET")
    assert "namespace=%2A" in path
    assert ("filter=" in path) is (deleted != "a")
