"""How often a page of owner records is written, when answers are lost or others write it, too."""

import pytest

from nomad_csi import errors
from nomad_csi.ownership import owner_records, registration_ownership
from tests import owner_labels

PATH = owner_records.page_of("mysql")
URL = f"/v1/var/{PATH}"
KEY = ("default", "mysql")
SHOP = registration_ownership.Requester(owner="shop/prod")


def acquire(context):
    """Acquire the volume."""
    return registration_ownership.owner_records_of(context.client).acquire({KEY: registration_ownership.Hold()}, SHOP)


def test_write_whose_answer_is_lost_is_sent_three_times_at_most(context, scripted):
    """Each time after a read that does not show it; then it is an error, and nothing relies on the record."""
    scripted.reply("PUT", URL, 0)

    with pytest.raises(errors.NomadApiError) as caught:
        acquire(context)

    assert caught.value.kind == "ambiguous"
    assert len(scripted.sent("PUT")) == 3


def test_write_that_the_token_may_not_make_is_no_record(context, scripted):
    """The volume has no owner record then, and its outputs say so."""
    scripted.reply("PUT", URL, 403, "Permission denied")

    taken = acquire(context)

    assert (taken.refused, dict(taken.fresh)) == ({}, {})
    assert owner_labels.read(context.client, [KEY]) == {}
    assert len(scripted.sent("PUT")) == 1


def test_write_whose_answer_is_lost_and_that_arrived_is_sent_once(context, scripted):
    """The read shows it."""
    items = owner_records.written({"mysql": owner_records.OwnerRecord(label="shop/prod")})
    scripted.replies["GET", URL] = [
        (404, "variable not found"),
        (200, {"Path": PATH, "Items": items, "ModifyIndex": 9}),
    ]
    scripted.reply("PUT", URL, 0)

    taken = acquire(context)

    assert (taken.refused, len(scripted.sent("PUT"))) == ({}, 1)
