"""YAML as plain values."""

from nomad_csi.spec import yaml_text


def test_an_alias_is_what_it_stands_for():
    """Few of them are a convenience."""
    assert yaml_text.load("a: &a {x: [1, 2]}\nb: *a\nc: [*a, *a]") == {
        "a": {"x": [1, 2]},
        "b": {"x": [1, 2]},
        "c": [{"x": [1, 2]}, {"x": [1, 2]}],
    }
