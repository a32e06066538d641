"""Marks as they stand in variables: whose a volume is, who may take it, and that every id fits."""

import dataclasses
import re

import pytest

from nomad_csi.ownership import owner_records
from nomad_csi.ownership.owner_records import Hold, OwnerRecord, Requester
from nomad_csi.spec import names

SHOP, BANK = Requester(owner="shop/prod"), Requester(owner="bank/prod")
OF_SHOP, OF_BANK = OwnerRecord(label="shop/prod"), OwnerRecord(label="bank/prod")
HELD = {"mysql": OF_SHOP, "cache": OF_SHOP, "data[0]": OF_BANK}
ID, OTHER_ID = "9f86d081884c7d65", "60303ae22b998861"
KNOWN = OwnerRecord(label="shop/prod", stack_id=ID, nonce="5e884898da28")
STACK = Requester(owner="shop/prod", stack_id=ID)


def read_by_releases_without_ids(items):
    """The rule of releases before stack ids: an item is an owner and its volumes (commit e27e896)."""
    return {item: owner for owner, items_ in items.items() if owner != "/" for item in items_.split()}


def written_by_releases_without_ids(owners):
    found = {}
    for item, owner in sorted(owners.items()):
        found.setdefault(owner, []).append(item)
    return {owner: " ".join(found[owner]) for owner in sorted(found)}


def test_page_names_owners_and_their_volumes():
    """As an operator reads it with `nomad var get`, and back."""
    items = owner_records.written(HELD)

    assert items == {"bank/prod": "data[0]", "shop/prod": "cache mysql"}
    assert owner_records.read(items) == HELD


def test_page_identifies_stacks_and_objects_beside_the_labels():
    """In items of their own, with what an object was made by where that counts."""
    made = OwnerRecord(label="shop/prod", stack_id=ID, nonce="2bb80d537b1d", origin="a3c024f01cac")
    owners = HELD | {"mysql": KNOWN, "scratch": made}

    items = owner_records.written(owners)

    assert items == {
        "bank/prod": "data[0]",
        "shop/prod": "cache mysql scratch",
        f"~shop/prod#{ID}": "mysql:5e884898da28 scratch:2bb80d537b1d:a3c024f01cac",
    }
    assert owner_records.read(items) == owners


def test_page_keeps_what_an_object_was_made_by_where_that_is_all_that_is_known():
    """A volume that the command line had made: its stack is known by its label, and no state has a nonce of it."""
    owners = {"scratch": OwnerRecord(label="shop/prod", origin="a3c024f01cac")}

    items = owner_records.written(owners)

    assert items == {"shop/prod": "scratch", "~shop/prod#": "scratch::a3c024f01cac"}
    assert owner_records.read(items) == owners


def test_releases_without_ids_read_the_labels_and_carry_the_rest_along():
    """A page that such a release changed has its change, and the identities of all other objects."""
    items = owner_records.written(HELD | {"mysql": KNOWN})
    seen = read_by_releases_without_ids(items)
    assert {item: seen[item] for item in HELD} == {item: str(owner) for item, owner in HELD.items()}

    after = written_by_releases_without_ids(seen | {"new": "bank/prod"})

    assert owner_records.read(after) == HELD | {"mysql": KNOWN, "new": OF_BANK}


def test_identity_of_a_volume_that_such_a_release_gave_to_another_stack_is_stale():
    """The label says whose it is, and there is no id any more."""
    seen = read_by_releases_without_ids(owner_records.written({"mysql": KNOWN}))

    after = written_by_releases_without_ids(seen | {"mysql": "bank/prod"})

    assert owner_records.read(after) == {"mysql": OF_BANK}


@pytest.mark.parametrize(
    ("requester", "hold", "allowed"),
    [
        (STACK, Hold(), True),
        (Requester(owner="shop/live", stack_id=ID), Hold(), True),
        (Requester(owner="shop/live", stack_id=OTHER_ID, former="shop/prod"), Hold(), False),
        (Requester(owner="shop/live", stack_id=OTHER_ID), Hold(recorded="5e884898da28"), True),
        (Requester(owner="shop/prod", stack_id=OTHER_ID), Hold(), False),
        (Requester(owner="shop/prod", stack_id=OTHER_ID), Hold(recorded="2bb80d537b1d"), False),
        (Requester(owner="shop/prod", stack_id=OTHER_ID, adopts=True), Hold(), True),
        (SHOP, Hold(), True),
        (BANK, Hold(), False),
        (Requester(), Hold(), False),
    ],
    ids=[
        "same stack",
        "same stack under another name",
        "copy of the state under another name",
        "renamed stack with the object's nonce",
        "another stack of the same name",
        "another stack with another nonce",
        "adopts",
        "named on the command line",
        "another name on the command line",
        "no name",
    ],
)
def test_who_may_have_an_identified_volume(requester, hold, allowed):
    """The nonce verifies it, then the stack's id; a label counts where there is no id."""
    assert requester.may_have(KNOWN, hold) is allowed


def test_renamed_stack_writes_a_new_nonce_so_that_a_copy_holds_nothing_any_more():
    """The state that stays behind under the old name has the old one."""
    renamed = Requester(owner="shop/live", stack_id=OTHER_ID, former="shop/prod")
    holds = {"mysql": Hold(recorded="5e884898da28", nonce="2bb80d537b1d")}

    after = owner_records.acquire({"mysql": KNOWN}, holds, renamed).owners

    assert after == {"mysql": OwnerRecord(label="shop/live", stack_id=OTHER_ID, nonce="2bb80d537b1d")}
    assert not STACK.may_have(after["mysql"], Hold(recorded="5e884898da28"))


def test_command_line_leaves_the_identity_of_its_stack_as_it_is():
    """It knows the label alone."""
    assert owner_records.acquire({"mysql": KNOWN}, {"mysql": Hold()}, SHOP).owners == {"mysql": KNOWN}


def test_record_that_another_resource_of_the_stack_wrote_is_not_released():
    """It took the volume over."""
    page = {"mysql": KNOWN}

    assert owner_records.released(page, {"mysql": Hold(recorded="2bb80d537b1d")}, STACK) == page
    assert owner_records.released(page, {"mysql": Hold(recorded="5e884898da28")}, STACK) == {}


def test_page_that_could_not_be_deleted_names_nobody():
    """A variable cannot be empty."""
    assert owner_records.read({owner_records.NOBODY: "no volume"}) == {}


@pytest.mark.parametrize("volume_id", ["mysql", "a.b", "data[12]", "A_b-c." * 20])
def test_every_volume_id_has_a_page_that_nomad_takes(volume_id):
    """Ids have dots and brackets, and up to 127 characters; paths of variables have neither, and up to 128."""
    assert names.VOLUME_ID.fullmatch(volume_id)
    assert names.VARIABLE_PATH.fullmatch(owner_records.page_of(volume_id))


def test_pages_are_few_and_all_in_use():
    """However many volumes there are."""
    pages = {owner_records.page_of(f"v{number}") for number in range(1000)}

    assert pages == {f"nomad-csi/volumes/{name}" for name in owner_records.PAGES}
    assert len(pages) == 16


def test_free_volume_is_taken_and_its_own_stays():
    """Only the first is fresh."""
    taken = owner_records.acquire(HELD, {"new": Hold(), "mysql": Hold()}, SHOP)

    assert taken.owners == HELD | {"new": OF_SHOP}
    assert (taken.refused, taken.fresh) == ({}, {"new"})


def test_rejects_volumes_of_others_and_takes_the_rest():
    """With the owner of each."""
    taken = owner_records.acquire(HELD, {"mysql": Hold(), "new": Hold()}, BANK)

    assert taken.refused == {"mysql": OF_SHOP}
    assert taken.owners == HELD | {"new": OF_BANK}


def test_rejects_volumes_of_others_also_for_one_without_a_name():
    """Who leaves no mark takes nothing either."""
    taken = owner_records.acquire(HELD, {"mysql": Hold(), "new": Hold()}, owner_records.NO_OWNER)

    assert (taken.refused, taken.owners) == ({"mysql": OF_SHOP}, HELD)


def test_adopted_volume_changes_its_owner():
    """And loses it to one without a name."""
    named = owner_records.acquire(HELD, {"mysql": Hold()}, Requester(owner="bank/prod", adopts=True))
    nameless = owner_records.acquire(HELD, {"mysql": Hold()}, Requester(adopts=True))

    assert named.owners == HELD | {"mysql": OF_BANK}
    assert nameless.owners == {"cache": OF_SHOP, "data[0]": OF_BANK}


def test_stack_that_was_renamed_keeps_its_volumes():
    """Under its new name."""
    taken = owner_records.acquire(HELD, {"mysql": Hold()}, Requester(owner="shop/live", former="shop/prod"))

    assert (taken.refused, str(taken.owners["mysql"]), taken.fresh) == ({}, "shop/live", frozenset())


def test_marks_of_others_are_not_released():
    """Ours go, theirs stay, and what has none is no matter."""
    assert owner_records.released(HELD, {"mysql": Hold(), "data[0]": Hold(), "none": Hold()}, SHOP) == {
        "cache": OF_SHOP,
        "data[0]": OF_BANK,
    }
    assert owner_records.released(HELD, {"mysql": Hold()}, owner_records.NO_OWNER) == HELD


@pytest.mark.parametrize("owner", ["shop/prod", "My.Shop_1/a-b"])
def test_owner_is_a_project_and_a_stack(owner):
    """By Pulumi's own characters; spaces would part ids, and there is one slash."""
    assert names.OWNER.fullmatch(owner)


@pytest.mark.parametrize("owner", ["shop", "a b/c", "/", "a/b/c", "a/", "/b", "a" * 101 + "/b"])
def test_rejects_what_no_stack_is_called(owner):
    """So that no owner is taken for another, or for nobody."""
    assert not re.fullmatch(names.OWNER, owner)


@pytest.mark.parametrize(("volume_id", "page"), [("mysql", "4"), ("cache", "5"), ("data[0]", "7")])
def test_page_of_an_id_is_the_same_in_every_release(volume_id, page):
    """Else a release would not see whose volumes those are that others registered."""
    assert owner_records.page_of(volume_id) == f"nomad-csi/volumes/{page}"


def test_nonces_are_short_and_differ():
    """They stand in names of storage, whose length drivers limit."""
    nonces = {owner_records.new_nonce() for _ in range(20)}

    assert len(nonces) == 20
    assert all(re.fullmatch("[0-9a-f]{12}", nonce) for nonce in nonces)


@pytest.mark.parametrize("known", [{"stack_id": ID}, {"nonce": "5e884898da28"}])
def test_page_keeps_what_is_known_of_an_owner(known):
    """Also where that is the stack's id alone, or the object's nonce alone."""
    owners = {"mysql": OwnerRecord(label="shop/prod", **known)}

    assert owner_records.read(owner_records.written(owners)) == owners


def test_record_without_a_label_is_not_that_of_a_stack_without_a_former_name():
    """Nobody's is no name that two have in common."""
    assert not SHOP.may_have(OwnerRecord(label=""))


@pytest.mark.parametrize(
    ("requester", "adopted"),
    [
        (Requester(owner="bank/prod", adopts=True), {"mysql": KNOWN}),
        (Requester(adopts=True), {"mysql": KNOWN}),
        (STACK, {}),
    ],
)
def test_what_another_stack_had_is_named_with_its_record(requester, adopted):
    """It is put back where what follows fails."""
    assert owner_records.acquire({"mysql": KNOWN}, {"mysql": Hold()}, requester).adopted == adopted


@pytest.mark.parametrize("plugin_id", ["", "aws-ebs0", "a:b c", "é%3A"])
@pytest.mark.parametrize("external_id", ["vol-1", "fs-1::fsap-2", "nfs#10.0.0.1#a b/c", "%3A:%25", "é\n"])
def test_page_keeps_the_storage_of_a_deregistered_volume(external_id, plugin_id):
    """Whatever characters a driver uses in its ids."""
    kept = owner_records.KeptStorage(external_id=external_id, plugin_id=plugin_id)
    owners = {"scratch": OwnerRecord(label="shop/prod", origin="a3c024f01cac", kept=kept), "mysql": KNOWN}

    assert owner_records.read(owner_records.written(owners)) == owners


def test_only_records_of_created_volumes_keep_storage():
    """The others are removed when their volume is deregistered."""
    kept = owner_records.KeptStorage(external_id="vol-1", plugin_id="aws-ebs0")
    made = OwnerRecord(label="shop/prod", origin="a3c024f01cac")
    owners = {"scratch": made, "cache": made, "mysql": KNOWN}

    found = owner_records.with_kept_storage(owners, {"scratch": kept, "mysql": kept, "absent": kept})

    assert found == owners | {"scratch": dataclasses.replace(made, kept=kept)}


@pytest.mark.parametrize(
    ("requester", "origin", "is_kept"),
    [
        (SHOP, "", True),
        (SHOP, "5e884898da28", True),
        (STACK, "", True),
        (Requester(owner="bank/prod", adopts=True), "", True),
        (Requester(owner="bank/prod", adopts=True), "5e884898da28", False),
    ],
)
def test_kept_storage_stays_with_its_origin(requester, origin, is_kept):
    """Another origin is that of other storage; a stack's own never changes."""
    kept = owner_records.KeptStorage(external_id="vol-1", plugin_id="aws-ebs0")
    page = {"scratch": OwnerRecord(label="shop/prod", origin="a3c024f01cac", kept=kept)}

    found = owner_records.acquire(page, {"scratch": Hold(origin=origin)}, requester).owners["scratch"]

    assert (found.origin, found.kept) == (("a3c024f01cac", kept) if is_kept else (origin, None))


@pytest.mark.parametrize(
    ("origin", "name", "expected"),
    [
        ("a3c024f01cac", "web-a3c024f01cac", True),
        ("a3c024f01cac", "web-5e884898da28", False),
        ("a3c024f01cac", "weba3c024f01cac", False),
        ("a3c024f01cac", "", False),
        ("", "web-", False),
        ("", "", False),
    ],
)
def test_origin_is_the_end_of_the_storages_name(origin, name, expected):
    """A record without an origin is that of no created storage."""
    assert OwnerRecord(label="shop/prod", origin=origin).is_origin_of(name) is expected


def test_origin_stays_until_another_is_written():
    """It says which storage was made for the volume, whoever has that now."""
    page = {"mysql": OwnerRecord(label="shop/prod", stack_id=ID, nonce="2bb80d537b1d", origin="a3c024f01cac")}
    bank = Requester(owner="bank/prod", stack_id=OTHER_ID, adopts=True)

    for origin, expected in (("", "a3c024f01cac"), ("5e884898da28", "5e884898da28")):
        hold = {"mysql": Hold(nonce="5e884898da28", origin=origin)}
        assert owner_records.acquire(page, hold, bank).owners["mysql"].origin == expected


@pytest.mark.parametrize(
    ("record", "requester", "hold"),
    [
        (KNOWN, Requester(owner="shop/live", stack_id=OTHER_ID), Hold(recorded="5e884898da28")),
        (OF_SHOP, SHOP, Hold(recorded="5e884898da28")),
        (KNOWN, SHOP, Hold()),
    ],
    ids=["verified by the nonce", "a record without one", "a hand without one"],
)
def test_record_is_released_by_who_holds_the_object(record, requester, hold):
    """A nonce verifies it; where one side has none the label does."""
    assert owner_records.released({"mysql": record}, {"mysql": hold}, requester) == {}
