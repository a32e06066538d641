"""Declared properties decide what is accepted, and give every meaning one shape."""

import re

import pytest

from nomad_csi.frame import properties

DECLARED = {
    "id": properties.Property(kind="text", required=True, pattern=re.compile(r"[a-z]+"), pattern_says="small letters"),
    "mode": properties.Property(kind="text", one_of=("reader", "writer"), default="reader"),
    "text": properties.Property(kind="text", may_be_empty=True),
    "count": properties.Property(kind="number"),
    "adopt": properties.Property(kind="flag"),
    "labels": properties.Property(kind="map"),
    "secrets": properties.Property(kind="map", secret=True),
    "places": properties.Property(
        kind="list",
        item=properties.Property(
            kind="record", fields={"zone": properties.Property(kind="text", required=True)}, type_name="Place"
        ),
    ),
}


def test_check_fills_defaults_and_leaves_out_what_is_empty():
    """An empty optional property and an absent one mean the same, so they look the same."""
    values, failures = properties.check(
        DECLARED, {"id": "a", "mode": "", "text": "", "adopt": False, "labels": {}, "places": [], "count": 0}
    )

    assert failures == ()
    assert values == {"id": "a", "mode": "reader", "text": "", "count": 0}


def test_check_reports_all_problems_with_their_paths():
    """Every problem is told at once: missing, unknown, of the wrong kind, at any depth."""
    given = {
        "mode": "owner",
        "count": True,
        "adopt": "yes",
        "labels": {"a.b": 3},
        "places": [{"zone": ""}, 4],
        "idd": "x",
    }

    _, failures = properties.check(DECLARED, given)

    assert {failure.path: failure.reason for failure in failures} == {
        "id": "expected a value, got nothing",
        "mode": "expected one of reader, writer, got 'owner'",
        "count": "expected a number, got true",
        "adopt": "expected true or false, got 'yes'",
        'labels["a.b"]': "expected text, got 3",
        "places[0].zone": "expected a value, got nothing",
        "places[1]": "expected a mapping, got 4",
        "idd": "expected one of adopt, count, id, labels, mode, places, secrets, text, got an unknown property; "
        "did you mean id",
    }


def test_check_never_shows_a_secret():
    """A secret of the wrong kind is refused without being shown."""
    _, failures = properties.check(DECLARED, {"id": "a", "secrets": {"password": 31337}})

    assert failures == (properties.Failure(path="secrets.password", reason="expected text, got [secret]"),)


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_check_accepts_what_is_not_known_yet(name):
    """A value that another resource will give passes everywhere."""
    values, failures = properties.check(DECLARED, {"id": "a", name: properties.UNKNOWN})

    assert failures == ()
    assert values[name] == properties.UNKNOWN


def test_check_accepts_what_is_not_known_yet_inside_records_and_maps():
    """Unknown values pass below the top level too."""
    given = {"id": "a", "mode": "writer", "labels": {"x": properties.UNKNOWN}, "places": [{"zone": properties.UNKNOWN}]}

    assert properties.check(DECLARED, given) == (given, ())


def test_check_is_stable():
    """Checking what was checked changes nothing: reads are compared with it."""
    values, _ = properties.check(DECLARED, {"id": "a", "places": [{"zone": "z"}]})

    assert properties.check(DECLARED, values) == (values, ())


def test_check_refuses_a_pattern_that_does_not_match():
    """A pattern is told in words."""
    _, failures = properties.check(DECLARED, {"id": "A/b"})

    assert failures == (properties.Failure(path="id", reason="expected small letters, got 'A/b'"),)


def test_shown_is_short():
    """A long value is cut, a document is only named."""
    assert len(properties.shown("x" * 200)) == properties.SHOWN_LIMIT
    assert properties.shown({"password": "hunter2"}) == "a mapping"


def test_secret_names_are_those_declared_secret():
    """The secret properties follow from the declaration."""
    assert properties.secret_names(DECLARED) == {"secrets"}
