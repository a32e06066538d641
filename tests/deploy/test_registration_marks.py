"""Marks as they stand in variables: whose a volume is, who may take it, and that every id fits."""

import re

import pytest

from nomad_csi.deploy import registration_marks
from nomad_csi.deploy.registration_marks import Claimant
from nomad_csi.spec import names

HELD = {"mysql": "shop/prod", "cache": "shop/prod", "data[0]": "bank/prod"}
SHOP, BANK = Claimant(owner="shop/prod"), Claimant(owner="bank/prod")


def test_page_names_owners_and_their_volumes():
    """As an operator reads it with `nomad var get`, and back."""
    items = registration_marks.written(HELD)

    assert items == {"bank/prod": "data[0]", "shop/prod": "cache mysql"}
    assert registration_marks.read(items) == HELD


def test_page_that_could_not_be_deleted_names_nobody():
    """A variable cannot be empty."""
    assert registration_marks.read({registration_marks.NOBODY: "no volume"}) == {}


@pytest.mark.parametrize("volume_id", ["mysql", "a.b", "data[12]", "A_b-c." * 20])
def test_every_volume_id_has_a_page_that_nomad_takes(volume_id):
    """Ids have dots and brackets, and up to 127 characters; paths of variables have neither, and up to 128."""
    assert names.VOLUME_ID.fullmatch(volume_id)
    assert names.VARIABLE_PATH.fullmatch(registration_marks.page_of(volume_id))


def test_pages_are_few_and_all_in_use():
    """However many volumes there are."""
    pages = {registration_marks.page_of(f"v{number}") for number in range(1000)}

    assert pages == {f"nomad-csi/volumes/{name}" for name in registration_marks.PAGES}
    assert len(pages) == 16


def test_free_volume_is_taken_and_its_own_stays():
    """Only the first is fresh."""
    taken = registration_marks.taken(HELD, ["new", "mysql"], SHOP)

    assert taken.owners == HELD | {"new": "shop/prod"}
    assert (taken.refused, taken.fresh) == ({}, {"new"})


def test_rejects_volumes_of_others_and_takes_the_rest():
    """With the owner of each."""
    taken = registration_marks.taken(HELD, ["mysql", "new"], BANK)

    assert taken.refused == {"mysql": "shop/prod"}
    assert taken.owners == HELD | {"new": "bank/prod"}


def test_rejects_volumes_of_others_also_for_one_without_a_name():
    """Who leaves no mark takes nothing either."""
    taken = registration_marks.taken(HELD, ["mysql", "new"], registration_marks.ANYBODY)

    assert (taken.refused, taken.owners) == ({"mysql": "shop/prod"}, HELD)


def test_adopted_volume_changes_its_owner():
    """And loses it to one without a name."""
    named = registration_marks.taken(HELD, ["mysql"], Claimant(owner="bank/prod", adopts=True))
    nameless = registration_marks.taken(HELD, ["mysql"], Claimant(adopts=True))

    assert named.owners == HELD | {"mysql": "bank/prod"}
    assert nameless.owners == {"cache": "shop/prod", "data[0]": "bank/prod"}


def test_stack_that_was_renamed_keeps_its_volumes():
    """Under its new name."""
    taken = registration_marks.taken(HELD, ["mysql"], Claimant(owner="shop/live", former="shop/prod"))

    assert (taken.refused, taken.owners["mysql"], taken.fresh) == ({}, "shop/live", frozenset())


def test_marks_of_others_are_not_released():
    """Ours go, theirs stay, and what has none is no matter."""
    assert registration_marks.released(HELD, ["mysql", "data[0]", "none"], SHOP) == {
        "cache": "shop/prod",
        "data[0]": "bank/prod",
    }
    assert registration_marks.released(HELD, ["mysql"], registration_marks.ANYBODY) == HELD


@pytest.mark.parametrize("owner", ["shop/prod", "My.Shop_1/a-b"])
def test_owner_is_a_project_and_a_stack(owner):
    """By Pulumi's own characters; spaces would part ids, and there is one slash."""
    assert names.OWNER.fullmatch(owner)


@pytest.mark.parametrize("owner", ["shop", "a b/c", "/", "a/b/c", "a/", "/b", "a" * 101 + "/b"])
def test_rejects_what_no_stack_is_called(owner):
    """So that no owner is taken for another, or for nobody."""
    assert not re.fullmatch(names.OWNER, owner)
