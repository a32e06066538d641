"""What follows from a type without asking AWS."""

import pytest

from nomad_csi_sandbox.aws.provider import forms, inputs, table

DEFAULTS = inputs.Defaults(region="us-east-1", tags={"team": "storage"})


@pytest.mark.parametrize("row", table.ROWS.values(), ids=table.ROWS.keys())
def test_every_type_is_consistent(row):
    """What a type says of its inputs concerns its inputs, and no property is both an input and AWS's own."""
    said = row.required | row.fixed | row.filled_in | row.defaults.keys() | row.forms.keys() | {*row.unsent.split()}
    called = {name for names in (*row.settings, *row.changes) for name in names.split()}

    assert said | called | {row.autonamed} - {""} <= row.input_names
    assert row.input_names & row.output_names == set()
    assert {*row.names, *row.derived, *row.empty.split()} <= row.input_names | row.output_names


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"path": "/", "creationInfo": None}, {"path": "/"}),
        ({"uid": 0, "secondaryGids": []}, {"uid": 0}),
        ([{"a": ""}, False], [None, False]),
        ("", None),
        ({}, None),
    ],
)
def test_compact_drops_what_says_nothing(value, expected):
    """0 and false say something, an empty text, list or map does not."""
    assert forms.compact(value) == expected


@pytest.mark.parametrize(
    ("live", "declared", "own"),
    [
        ({"team": "storage", "a": "b"}, {"a": "b"}, {"a": "b"}),
        ({"team": "storage"}, {"team": "storage"}, {"team": "storage"}),
        ({"team": "other"}, None, {"team": "other"}),
        (None, None, {}),
    ],
)
def test_own_tags_leave_out_what_only_the_provider_asks_for(live, declared, own):
    """A default tag counts as the resource's when the program says it too, or when somebody changed it."""
    assert inputs.own_tags(live, declared, DEFAULTS.tags) == own


def test_checked_keeps_what_the_program_says():
    """Defaults fill gaps; null is a gap."""
    row = table.ROWS["aws:iam/role:Role"]

    checked = inputs.checked(row, {"maxSessionDuration": 7200, "description": None}, DEFAULTS, generated_name="data-1")

    assert checked == {
        "forceDetachPolicies": False,
        "maxSessionDuration": 7200,
        "name": "data-1",
        "path": "/",
        "tagsAll": {"team": "storage"},
    }


def test_generated_name_follows_from_the_seed():
    """The same seed gives the same name."""
    assert inputs.generated_name("data", bytes.fromhex("0123456789abcdef")) == "data-0123456"


def test_refreshed_keeps_the_words_of_the_program():
    """A document in another layout is the program's; another document is AWS's; what AWS does not tell stays."""
    row = table.ROWS["aws:iam/policy:Policy"]
    old = {"policy": '{"a": 1}', "path": "/", "note": "kept"}

    same = inputs.refreshed(row, old, {"policy": '{"a":1}', "path": "/"}, DEFAULTS)
    other = inputs.refreshed(row, old, {"policy": '{"a":2}', "path": "/"}, DEFAULTS)

    assert same == old
    assert other == {**old, "policy": '{"a":2}'}
