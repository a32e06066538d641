"""Property paths of ``ignoreChanges`` and ``replaceOnChanges``."""

import pytest

from nomad_csi_sandbox.engine import paths


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("size", ("size",)),
        ("tags.Name", ("tags", "Name")),
        ("rules[0].port", ("rules", 0, "port")),
        ('tags["a.b"]', ("tags", "a.b")),
        ("rules[*].port", ("rules", "*", "port")),
        ("*", ("*",)),
    ],
)
def test_parse_reads_the_forms_that_pulumi_documents(text, path):
    """Names, indexes, quoted names, wildcards."""
    assert paths.parse(text) == path


@pytest.mark.parametrize(
    ("outer", "inner", "held"),
    [("*", "a.b", True), ("a", "a.b", True), ("a.b", "a", False), ("a[*].c", "a[3].c", True), ("a", "b", False)],
)
def test_contains_knows_what_lies_inside(outer, inner, held):
    """A path lies in itself, in what is above it, and in a wildcard."""
    assert paths.contains(paths.parse(outer), paths.parse(inner)) is held


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("a", {"a": 1}, {"a": 2, "b": 2}, {"a": 1, "b": 2}),
        ("a", {"a": 1}, {}, {"a": 1}),
        ("a", {}, {"a": 2}, {}),
        ("t.x", {"t": {"x": 1, "y": 1}}, {"t": {"x": 2, "y": 2}}, {"t": {"x": 1, "y": 2}}),
        ("l[1]", {"l": [1, 2]}, {"l": [3, 4]}, {"l": [3, 2]}),
        ("l[5]", {"l": [1, 2]}, {"l": [3, 4]}, {"l": [3, 4]}),
        ("l[*].p", {"l": [{"p": 1}]}, {"l": [{"p": 2, "q": 2}]}, {"l": [{"p": 1, "q": 2}]}),
        ("t.x", {"u": 1}, {"t": {"x": 2}}, {"t": {"x": 2}}),
    ],
)
def test_reset_puts_the_old_value_back(text, old, new, expected):
    """And only there; what cannot be reached is left."""
    paths.reset(paths.parse(text), old, new)

    assert new == expected
