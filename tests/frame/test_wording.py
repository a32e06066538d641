"""The words of a change name values, and how the object changes."""

import pytest

from nomad_csi.frame import properties, resource, wording

LATER = properties.UNKNOWN
FILE = "job {\n}\n"


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

    assert wording.describe([path], found, old, new, {"key"}) == f"{words} (in place)"


def test_replacements_stand_apart_and_first():
    """Each with its manner; at most three paths of each, and the number of the others."""
    found = resource.ResourceDiff(updates=("a", "b", "c", "d"), replaces=("id",), manner="verified again")

    words = wording.describe(["a", "b", "c", "d", "id"], found, {"id": 1}, {"id": 2}, ())

    assert words == "id 1 -> 2 (replacement); a, b, c and 1 more (verified again)"


def test_a_path_with_details_shows_them():
    """Instead of values."""
    found = resource.ResourceDiff(updates=("edited",), details={"edited": "in meta[a]"})

    assert wording.describe(["edited"], found, {}, {}, ()) == "edited in meta[a] (in place)"
