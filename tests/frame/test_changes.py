"""Differences have the deepest path, replace where that is declared, and are worded with their values."""

from typing import Annotated

import pytest

from nomad_csi.frame import changes, properties, resource

LATER = resource.UNKNOWN
FILE = "job {\n}\n"


class Inputs(properties.Properties):
    id: Annotated[str, properties.Mark.REPLACES]
    places: Annotated[list[dict[str, str]], properties.Mark.REPLACES] = []
    context: dict[str, str] = {}
    adopt: Annotated[bool, properties.Mark.NOT_COMPARED] = False
    capabilities: list[dict[str, str]] = []


DECLARED = properties.Declaration(token="", input_model=Inputs, output_model=properties.Properties)


@pytest.mark.parametrize(
    ("path", "step", "expected"),
    [
        ("", "context", "context"),
        ("capabilities", 0, "capabilities[0]"),
        ("capabilities[0]", "accessMode", "capabilities[0].accessMode"),
        ("segments", "topology.ebs/zone", 'segments["topology.ebs/zone"]'),
        ("context", 'a"b\\c', 'context["a\\"b\\\\c"]'),
    ],
)
def test_join_writes_every_kind_of_step(path, step, expected):
    """A name that is no identifier is quoted, an index stands in brackets; the top is what stands before both."""
    assert changes.join_path(path, step) == expected
    assert changes.top_of_path(expected) == expected.partition("[")[0].partition(".")[0]


def test_what_is_ignored_covers_itself_and_everything_below():
    """And nothing whose name begins alike."""
    paths = ("context", "context.tier", "context[0]", "contexts", "con")

    assert [path for path in paths if changes.is_covered(path, ["context"])] == [
        "context",
        "context.tier",
        "context[0]",
    ]


def test_difference_names_the_deepest_paths():
    """Nested changes are told where they are; what appeared and vanished is told apart."""
    old = {"id": "a", "context": {"tier": "fast", "gone": "x"}, "capabilities": [{"accessMode": "r"}]}
    new = {
        "id": "a",
        "context": {"tier": "slow", "new": "y"},
        "capabilities": [{"accessMode": "w"}, {"accessMode": "r"}],
    }

    found = changes.difference(DECLARED, old, new)

    assert found.updates == (
        "capabilities[0].accessMode",
        "capabilities[1]",
        "context.gone",
        "context.new",
        "context.tier",
    )
    assert found.added == {"capabilities[1]", "context.new"}
    assert found.removed == {"context.gone"}
    assert found.replaces == ()


def test_difference_replaces_and_notices():
    """A change of a fixed property replaces, wherever in it, and carries the notice; an update does not."""
    old, new = {"places": [{"zone": "a"}], "id": "x"}, {"places": [{"zone": "b"}], "id": resource.UNKNOWN}

    found = changes.difference(DECLARED, old, new, notice="deregisters first")

    assert found.replaces == ("id", "places[0].zone")
    assert found.notice == "deregisters first"
    assert changes.difference(DECLARED, {"context": {}}, {"context": {"a": "b"}}, notice="boo").notice == ""


def test_difference_ignores_how_a_step_is_made():
    """A property that only says how to make the object does not change it."""
    found = changes.difference(DECLARED, {"id": "a"}, {"id": "a", "adopt": True})

    assert found == resource.ResourceDiff()
    assert not found.any


def test_difference_in_the_outputs_is_added_by_the_caller():
    """What the inputs do not show."""
    found = changes.difference(DECLARED, {"context": {"a": "b"}}, {}, also_updates=("driftType",))

    assert (found.updates, found.replaces) == (("context", "driftType"), ())


@pytest.mark.parametrize(
    ("old", "new", "path", "words"),
    [
        ({"size": 1}, {"size": 2}, "size", "size 1 -> 2"),
        ({"minBytes": 2**30}, {"minBytes": 2**31}, "minBytes", "minBytes 1GiB -> 2GiB"),
        ({"a": {"b": "x"}}, {"a": {}}, "a.b", "a.b removed"),
        ({}, {"a": {"b": True}}, "a", 'a added: {"b": true}'),
        ({"id": "x"}, {"id": LATER}, "id", "id x -> what is known later"),
        ({"a": "x"}, {"a": [LATER]}, "a", 'a x -> ["?"]'),
        ({"a": ""}, {"a": "y" * 41}, "a", f"a  -> {'y' * 39}…"),
        ({"hcl": FILE}, {"hcl": f"# new\n{FILE}"}, "hcl", "hcl +1 -0 lines"),
        ({"key": "old"}, {"key": "new"}, "key", "key"),
        ({"a": 1}, {"a": 1}, "status", "status"),
    ],
)
def test_words_of_a_path(old, new, path, words):
    """Of a secret, and of what the inputs do not show, the name alone."""
    found = resource.ResourceDiff(updates=(path,))

    assert changes.describe([path], found, old, new, {"key"}) == f"{words} (in place)"


def test_replacements_stand_apart_and_first():
    """Each with its manner; at most three paths of each, and the number of the others."""
    found = resource.ResourceDiff(updates=("a", "b", "c", "d"), replaces=("id",), manner="verified again")

    words = changes.describe(["a", "b", "c", "d", "id"], found, {"id": 1}, {"id": 2}, ())

    assert words == "id 1 -> 2 (replacement); a, b, c and 1 more (verified again)"


def test_a_path_with_details_shows_them():
    """Instead of values."""
    found = resource.ResourceDiff(updates=("edited",), details={"edited": "in meta[a]"})

    assert changes.describe(["edited"], found, {}, {}, ()) == "edited in meta[a] (in place)"
