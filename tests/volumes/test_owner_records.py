"""Owner records as they are in variables: the format, who may acquire an object, and what that writes."""

import dataclasses
import types

import pytest

from nomad_csi.nomad import token_rights
from nomad_csi.spec import names
from nomad_csi.volumes import ownership
from nomad_csi.volumes.ownership import OwnerRecord, OwnerToken, Requester

ID, OTHER_ID = "9f86d081884c7d65", "60303ae22b998861"
SHOP, BANK = Requester(owner="shop/prod"), Requester(owner="bank/prod")
STACK = Requester(owner="shop/prod", stack_id=ID)
ADOPTS = Requester(owner="bank/prod", stack_id=OTHER_ID, adopts=True)
OF_SHOP, OF_BANK = OwnerRecord(owner="shop/prod"), OwnerRecord(owner="bank/prod")
KNOWN = OwnerRecord(owner="shop/prod", stack_id=ID, nonce="5e884898da28")
CREATED = dataclasses.replace(KNOWN, created_name="scratch-a3c024f01cac")
DEREGISTERED = dataclasses.replace(CREATED, external_id="vol-1", plugin_id="aws-ebs0")
OF_DISK = dataclasses.replace(OF_SHOP, external_id="vol-1", plugin_id="aws-ebs0")
OF_TAKEN = dataclasses.replace(OF_DISK, registered_name="scratch")
NO_TOKEN = ownership.NO_TOKEN


def test_format_of_release_0_1_0():
    """Every later release reads and writes these items; the empty ones are left out."""
    assert DEREGISTERED.to_items() == {
        "owner": "shop/prod",
        "stack_id": "9f86d081884c7d65",
        "nonce": "5e884898da28",
        "created_name": "scratch-a3c024f01cac",
        "external_id": "vol-1",
        "plugin_id": "aws-ebs0",
    }
    assert OF_SHOP.to_items() == {"owner": "shop/prod"}
    assert ownership.ID == "id"


@pytest.mark.parametrize("record", [OF_SHOP, KNOWN, CREATED, DEREGISTERED])
def test_items_are_read_as_they_were_written(record):
    """With items that a later release may add."""
    assert OwnerRecord.from_items({"id": "mysql", "later": "x", **record.to_items()}) == record


@pytest.mark.parametrize(
    ("object_id", "path"),
    [
        ("mysql", "nomad-csi/volumes/mysql"),
        ("A_b-c", "nomad-csi/volumes/A_b-c"),
        ("data[12]", "nomad-csi/volumes/data~5b12~5d"),
        ("a.b", "nomad-csi/volumes/a~2eb"),
        ("a~2eb", "nomad-csi/volumes/a~7e2eb"),
        ("backup/periodic-1", "nomad-csi/volumes/backup~2fperiodic-1"),
        ("é", "nomad-csi/volumes/~c3~a9"),
        ("v" * 110, f"nomad-csi/volumes/{'v' * 110}"),
        ("v" * 111, "nomad-csi/volumes/~~3aeb862a5a7147b39b00143b3ecebce3c3f5b4dc5763aeb1c374d54ad497cd33"),
    ],
)
def test_path_of_an_id_is_the_same_in_every_release(object_id, path):
    """Every id has one that Nomad accepts, and no two have the same."""
    assert ownership.path_of(object_id) == path
    assert names.VARIABLE_PATH.fullmatch(path)


REQUESTERS = {
    "same stack": (STACK, NO_TOKEN, True),
    "same stack under another name": (Requester(owner="shop/live", stack_id=ID), NO_TOKEN, True),
    "copy of the state under another name": (Requester(owner="shop/live", stack_id=OTHER_ID, former="shop/prod"), NO_TOKEN, False),
    "renamed stack with the object's nonce": (Requester(owner="shop/live", stack_id=OTHER_ID), OwnerToken(recorded="5e884898da28"), True),
    "another stack of the same name": (Requester(owner="shop/prod", stack_id=OTHER_ID), NO_TOKEN, False),
    "another stack with another nonce": (Requester(owner="shop/prod", stack_id=OTHER_ID), OwnerToken(recorded="2bb80d537b1d"), False),
    "adopts": (Requester(owner="shop/prod", stack_id=OTHER_ID, adopts=True), NO_TOKEN, True),
    "named on the command line": (SHOP, NO_TOKEN, True),
    "another name on the command line": (BANK, NO_TOKEN, False),
    "no name": (Requester(), NO_TOKEN, False),
}  # fmt: skip


@pytest.mark.parametrize(("requester", "token", "allowed"), REQUESTERS.values(), ids=REQUESTERS)
def test_who_may_have_an_identified_volume(requester, token, allowed):
    """The nonce verifies it, then the stack's id; a label counts where there is no id."""
    assert requester.may_have(KNOWN, token) is allowed


@pytest.mark.parametrize(("unread", "may"), [((), False), (("theirs",), True)])
def test_policy_that_is_not_shown_may_grant_the_record(unread, may):
    """Nothing is refused for it."""
    token = token_rights.AclToken(name="few", is_unlimited=False, unread=unread)

    assert ownership.may_write(token, ("default", "mysql")) is may


def test_record_without_an_owner_is_nobodys():
    """As of a variable that something else wrote, or of storage whose volume was adopted by nobody."""
    record = OwnerRecord.from_items({"x": "1"})

    assert SHOP.may_have(record)
    assert not Requester().is_same_stack(record)


ACQUIRED = {
    "free": (None, NO_TOKEN, SHOP, OF_SHOP),
    "free, for a stack": (None, OwnerToken(nonce="5e884898da28"), STACK, KNOWN),
    "the command line keeps the ids of its stack": (KNOWN, NO_TOKEN, SHOP, KNOWN),
    "adopted": (KNOWN, NO_TOKEN, Requester(owner="bank/prod", adopts=True), OF_BANK),
    "of another stack of the name": (KNOWN, NO_TOKEN, dataclasses.replace(STACK, stack_id=OTHER_ID, adopts=True), dataclasses.replace(KNOWN, stack_id=OTHER_ID)),
    "created storage, whatever its new name": (DEREGISTERED, OwnerToken(created_name="other"), SHOP, DEREGISTERED),
    "created storage, and other that is named": (DEREGISTERED, OwnerToken(external_id="vol-2", plugin_id="other"), STACK, DEREGISTERED),
    "created storage of a stack that adopts": (DEREGISTERED, OwnerToken(registered_name="other"), ADOPTS, dataclasses.replace(DEREGISTERED, owner="bank/prod", stack_id=OTHER_ID, nonce="")),
    "created storage without an owner": (DEREGISTERED, NO_TOKEN, Requester(adopts=True), dataclasses.replace(DEREGISTERED, owner="", stack_id="", nonce="")),
    "storage that was taken over": (OF_TAKEN, OwnerToken(created_name="other"), SHOP, OF_TAKEN),
    "existing storage, and other that is named": (OF_DISK, OwnerToken(external_id="vol-2", plugin_id="ebs"), SHOP, dataclasses.replace(OF_DISK, external_id="vol-2", plugin_id="ebs")),
    "existing storage that is taken over": (OF_DISK, OwnerToken(registered_name="scratch", external_id="vol-2"), SHOP, OF_TAKEN),
    "adopted by nobody": (OF_SHOP, NO_TOKEN, Requester(adopts=True), None),
    "existing storage that is not named again": (OF_DISK, NO_TOKEN, SHOP, OF_DISK),
    "free, for nobody": (None, NO_TOKEN, ownership.NO_OWNER, None),
    "renamed": (OF_SHOP, NO_TOKEN, Requester(owner="shop/live", former="shop/prod"), OwnerRecord(owner="shop/live")),
    "renamed, with a new nonce: a copy of the state owns nothing any more": ( KNOWN, OwnerToken(recorded="5e884898da28", nonce="2bb80d537b1d"), Requester(owner="shop/live", stack_id=OTHER_ID, former="shop/prod"), OwnerRecord(owner="shop/live", stack_id=OTHER_ID, nonce="2bb80d537b1d") ),
}  # fmt: skip


@pytest.mark.parametrize(("before", "token", "requester", "after"), ACQUIRED.values(), ids=ACQUIRED)
def test_acquired_object_has_its_new_owner(before, token, requester, after):
    """In its record."""
    assert requester.may_have(before, token)
    assert ownership.acquired(before, token, requester) == after


def test_record_shows_what_was_created_for_the_stack():
    """By its name, and by its id where that is recorded."""
    volume = types.SimpleNamespace(name=CREATED.created_name, external_id="vol-1")
    others = (
        None,
        KNOWN,
        *(dataclasses.replace(DEREGISTERED, **{name: "x"}) for name in ("external_id", "created_name")),
    )

    found = [ownership.has_created(each, STACK, volume) for each in (CREATED, DEREGISTERED, *others)]

    assert found == [True, True, False, False, False, False]
    assert not ownership.has_created(CREATED, BANK, volume)


RELEASED = {
    "verified by the nonce": (KNOWN, OwnerToken(recorded="5e884898da28"), Requester(owner="shop/live", stack_id=OTHER_ID), True),
    "a record without one": (OF_SHOP, OwnerToken(recorded="5e884898da28"), SHOP, True),
    "a command without one": (KNOWN, NO_TOKEN, SHOP, True),
    "another resource of the stack took it over": (KNOWN, OwnerToken(recorded="2bb80d537b1d"), STACK, False),
    "another owner": (OF_BANK, NO_TOKEN, SHOP, False),
    "nobody": (OF_SHOP, NO_TOKEN, ownership.NO_OWNER, False),
}  # fmt: skip


@pytest.mark.parametrize(("record", "token", "requester", "is_released"), RELEASED.values(), ids=RELEASED)
def test_record_is_released_by_its_owner(record, token, requester, is_released):
    """A nonce verifies it; where one side has none the label does."""
    assert ownership.is_released_by(record, token, requester) is is_released
