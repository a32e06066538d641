"""The models of properties decide what is accepted, and give every meaning one form."""

import re
from typing import Annotated, Literal

import pytest

from nomad_csi.frame import properties, resource
from nomad_csi.spec import base


class Place(properties.Properties):
    zone: base.Word
    rack_id: str = ""


class Part(properties.Properties):
    label: str = ""


class Labelled(properties.Properties):
    name: str
    parts: list[Part] = []


class Inputs(properties.Properties):
    own_id: Annotated[str, base.Matching(re.compile("[a-z]+"), "small letters")]
    mode: Literal["reader", "writer"] = "reader"
    count: int | None = None
    adopt: bool = False
    labels: dict[str, str] = {}
    secrets: Annotated[dict[str, str], properties.Mark.SECRET] = {}
    places: list[Place] = []
    best_place: Place | None = None


def test_check_fills_defaults_and_leaves_out_what_is_empty():
    """An empty optional property and an absent one mean the same, so they look the same."""
    given = {"mode": "", "adopt": False, "labels": {}, "places": [], "count": 0, "bestPlace": None, "other": None}

    assert Inputs.check({"ownId": "a"} | given) == ({"ownId": "a", "mode": "reader", "count": 0}, ())


def test_check_reports_all_problems_with_their_paths():
    """Every problem is told at once, by Pulumi's names: missing, unknown, of the wrong kind, at any depth."""
    given = {
        "mode": "owner",
        "count": True,
        "adopt": "yes",
        "labels": {"a": 3},
        "places": [{"zone": ""}, 4, {}],
        "bestPlac": "x",
        "whatever": "x",
    }

    values, problems = Inputs.check(given)

    assert values == {}
    assert sorted(map(str, problems)) == [
        "adopt: expected a valid boolean, got 'yes'",
        "bestPlac: unknown key; did you mean bestPlace?",
        "count: expected a valid integer, got true",
        "labels.a: expected a valid string, got 3",
        "mode: expected 'reader' or 'writer', got 'owner'",
        "ownId: expected a value, got nothing; add ownId",
        "places[0].zone: expected text, got ''",
        "places[1]: expected a mapping, got 4",
        "places[2].zone: expected a value, got nothing; add zone",
        "whatever: expected one of adopt, bestPlace, count, labels, mode, ownId, places, secrets, got an unknown key; "
        "remove it",
    ]


def test_required_property_may_be_empty():
    """It is given then, and an empty object in a list is one."""
    assert Labelled.check({"name": "", "parts": [{}, {"label": ""}]}) == ({"name": "", "parts": [{}, {}]}, ())
    _, problems = Inputs.check({"ownId": "a", "bestPlace": {}})
    assert list(map(str, problems)) == ["bestPlace.zone: expected a value, got nothing; add zone"]


def test_check_never_shows_a_secret():
    """A secret of the wrong kind is refused without being shown."""
    _, problems = Inputs.check({"ownId": "a", "secrets": {"password": 31337}})

    assert [str(problem) for problem in problems] == ["secrets.password: expected a valid string, got [secret]"]


@pytest.mark.parametrize("name", sorted(base.fields_of(Inputs)))
def test_check_accepts_what_is_not_known_yet(name):
    """A value that another resource will give passes everywhere, whatever its type."""
    values, problems = Inputs.check({"ownId": "a", name: resource.UNKNOWN})

    assert problems == ()
    assert values[name] == resource.UNKNOWN


def test_check_accepts_what_is_not_known_yet_inside_of_objects():
    """Checking what was checked changes nothing, too: reads are compared with it."""
    later = resource.UNKNOWN
    given = {"ownId": "a", "mode": "writer", "labels": {"x": later}, "places": [{"zone": later}, later]}

    values, _ = Inputs.check(given)

    assert values == given
    assert Inputs.check(values) == (values, ())


def test_check_refuses_a_pattern_that_does_not_match():
    """A pattern is told in words."""
    _, problems = Inputs.check({"ownId": "A/b"})

    assert [str(problem) for problem in problems] == ["ownId: expected small letters, got 'A/b'"]


def test_program_may_write_the_names_of_python():
    """In objects, in a list too; the keys of a map are the operator's, and stay."""
    declared = properties.Declaration(token="", input_model=Inputs, output_model=properties.Properties)

    assert declared.python_names["own_id"] == "ownId"
    assert declared.spelled("places", ({"rack_id": "a"},)) == [{"rackId": "a"}]
    assert declared.spelled("bestPlace", {"rack_id": "a"}) == {"rackId": "a"}
    assert declared.spelled("labels", {"a_b": "c"}) == {"a_b": "c"}
