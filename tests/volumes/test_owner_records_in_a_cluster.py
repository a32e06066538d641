"""How owner records are read and written: lost answers, concurrent writes, missing rights, and many at once."""

import dataclasses

import pytest

from nomad_csi import errors
from nomad_csi.volumes import ownership
from tests import owner_labels

PATH = ownership.path_of("mysql")
URL = f"/v1/var/{PATH}"
KEY = ("default", "mysql")
SHOP = ownership.Requester(owner="shop/prod")
BANK = ownership.Requester(owner="bank/prod")
OF_SHOP, OF_BANK = (ownership.OwnerRecord(owner=who.owner) for who in (SHOP, BANK))


@pytest.fixture
def records(context):
    """Return the owner records of the scripted Nomad."""
    return ownership.OwnerRecords(context.client)


def variable(record, index=9, object_id="mysql"):
    """Return the reply of Nomad with *record*."""
    items = {"id": object_id, **record.to_items()}
    return 200, {"Path": ownership.path_of(object_id), "Items": items, "ModifyIndex": index}


def acquire(records, who=SHOP):
    """Acquire the volume without a nonce."""
    return records.acquire(KEY, ownership.NO_TOKEN, who)


def test_write_whose_answer_is_lost_and_that_did_not_arrive_is_an_error(records, scripted):
    """It is read once more, and nothing relies on the record."""
    scripted.reply("PUT", URL, 0)

    with pytest.raises(errors.NomadApiError) as caught:
        acquire(records)

    assert caught.value.kind == "ambiguous"
    assert (len(scripted.sent("PUT")), len(scripted.sent("GET"))) == (1, 2)


def test_write_whose_answer_is_lost_and_that_arrived_is_sent_once(records, scripted):
    """The read shows it, and the record is new all the same."""
    scripted.replies["GET", URL] = [(404, "variable not found"), variable(OF_SHOP)]
    scripted.reply("PUT", URL, 0)

    taken = acquire(records)

    assert (taken.refused, taken.is_new, len(scripted.sent("PUT"))) == (None, True, 1)


def test_write_that_the_token_may_not_make_is_no_record(context, records, scripted):
    """The volume has no owner record then, and its outputs say so."""
    scripted.reply("PUT", URL, 403, "Permission denied")

    taken = acquire(records)

    assert (taken.refused, taken.is_new, taken.is_denied) == (None, False, True)
    assert owner_labels.read(context.client, [KEY]) == {}
    assert len(scripted.sent("PUT")) == 1


def test_record_of_a_concurrent_run_is_read_after_the_conflict(records, scripted):
    """And refuses the volume."""
    scripted.replies["GET", URL] = [(404, "variable not found"), variable(OF_BANK)]
    scripted.reply("PUT", URL, 409, {"Path": PATH, "ModifyIndex": 9})

    taken = acquire(records)

    assert (taken.refused, taken.is_new) == (OF_BANK, False)


def test_write_begins_with_what_was_read_before(records, scripted):
    """Its index shows whether that is still so; nothing is concluded from it without a write."""
    scripted.replies["GET", URL] = [(404, "variable not found"), variable(OF_SHOP), variable(OF_BANK)]
    records.read([KEY])

    acquire(records)
    assert [path for path, _ in scripted.sent("PUT")] == [f"{URL}?namespace=default&cas=0"]
    assert len(scripted.sent("GET")) == 1

    assert acquire(records).refused is None
    assert acquire(records).refused == OF_BANK


def test_restored_record_is_as_it_was_and_replaces_none(records, scripted):
    """One that another run wrote meanwhile stays."""
    whole = dataclasses.replace(OF_SHOP, stack_id="9f86d081884c7d65", created_name="a-1", external_id="vol-1")
    scripted.replies["GET", URL] = [(404, "variable not found"), variable(OF_BANK)]

    records.restore(KEY, whole)
    records.restore(KEY, whole)

    [(_, body)] = scripted.sent("PUT")
    assert body["Items"] == {"id": "mysql", **whole.to_items()}


def test_all_records_are_listed_only_for_a_token_that_may_read_them(records, scripted):
    """Nomad leaves out of a list what the token may not read."""
    scripted.reply("GET", f"/v1/var/{ownership.FOLDER}/~", 403, "Permission denied")

    with pytest.raises(errors.NomadApiError, match="403"):
        records.list_all("default")

    assert [path.partition("?")[0] for path, _ in scripted.sent("GET")] == [f"/v1/var/{ownership.FOLDER}/~"]


def test_listed_record_is_read_again_where_it_has_changed(records, scripted):
    """By its index in the list: a destroy of many volumes lists them again and again."""
    scripted.replies["GET", URL] = [variable(OF_SHOP), variable(OF_BANK, 10)]
    row = {"Path": PATH, "Namespace": "default"}
    scripted.replies["GET", "/v1/vars"] = [(200, [row | {"ModifyIndex": index}]) for index in (9, 9, 10)]

    assert [records.list_all("default") for _ in range(3)] == [{KEY: OF_SHOP}, {KEY: OF_SHOP}, {KEY: OF_BANK}]
    assert len([path for path, _ in scripted.sent("GET") if path.startswith(URL)]) == 2
