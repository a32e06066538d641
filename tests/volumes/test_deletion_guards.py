"""What must hold before data is deleted: the user's confirmation, no registration, no attachment."""

import contextlib
import types

import pytest

from nomad_csi import errors, nomad
from nomad_csi.aws import ebs_volumes
from nomad_csi.volumes import deletion_proof

ID = "vol-0123456789abcdef0"


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


@pytest.fixture
def attached(monkeypatch):
    """Say where EC2 has the volume: ``attached("i-1")``, ``attached()``."""

    def script(*instance_ids):
        places = tuple(
            ebs_volumes.Attachment(instance_id=item, state="attached", device="/dev/xvdba", instance_state="running")
            for item in instance_ids
        )
        seen = ebs_volumes.AttachedVolume(external_id=ID, state="in-use" if places else "available", attachments=places)

        def look(external_ids, aws_region):
            assert (tuple(external_ids), aws_region) == ((ID,), "us-east-1")
            return ebs_volumes.ObservedAttachments(volumes={ID: seen})

        monkeypatch.setattr(ebs_volumes, "read_attachments", look)

    return script


@pytest.mark.parametrize("confirmation", ["", "vol-0123456789abcdef", f"{ID} ", "yes"])
def test_rejects_without_the_word(confirmation):
    """Letter by letter."""
    with pytest.raises(
        errors.RefusedError, match=f"^deletion of the data of {ID} was not confirmed; nothing was deleted: "
    ):
        deletion_proof.refuse_unconfirmed(ID, confirmation)


def test_all_that_stand_for_the_storage_are_named(client, listed):
    """As they are written on the command line."""
    listed(ID, ID)

    with pytest.raises(errors.RefusedError, match=rf"^{ID} is registered as prod/v0, prod/v1; nothing was deleted: "):
        deletion_proof.refuse_registered(client, ID)


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


def test_last_answer_of_nomad_refuses_what_is_registered(client, listed):
    """However fresh it is."""
    listed(ID)

    with pytest.raises(errors.RefusedError, match="is registered as prod/v0"):
        deletion_proof.refuse_registered_now(client, ID)


def test_rejects_what_is_attached(attached):
    """With the instance."""
    attached()
    deletion_proof.refuse_attached(ID, "us-east-1")
    attached("i-1")

    with pytest.raises(errors.RefusedError, match=rf"^{ID} is in-use: attached to i-1 \(running\) as /dev/xvdba; noth"):
        deletion_proof.refuse_attached(ID, "us-east-1")


SYSTEM = "fs-0123456789abcdef0"


@pytest.mark.parametrize(
    ("deleted", "registered", "is_refused"),
    [
        (f"{SYSTEM}::fsap-00000002", f"{SYSTEM}:/data:fsap-00000002", True),
        (f"{SYSTEM}::fsap-00000002", f"{SYSTEM}::fsap-00000003", False),
        (f"{SYSTEM}::fsap-00000002", SYSTEM, False),
        (SYSTEM, f"efs:{SYSTEM}:/up", True),
        ("a", "a", True),
        ("a", "b", False),
    ],
)
def test_storage_is_not_deleted_under_a_registration_of_it_or_of_a_part(
    client, listed, deleted, registered, is_refused
):
    """However the external id is written."""
    listed(registered)

    with pytest.raises(errors.RefusedError, match="is registered as") if is_refused else contextlib.nullcontext():
        deletion_proof.refuse_registered(client, deleted)
