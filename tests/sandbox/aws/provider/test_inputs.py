"""What follows from a type without asking AWS."""

import pytest

from nomad_csi_sandbox.aws.provider import inputs, table

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
