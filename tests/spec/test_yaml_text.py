"""YAML as plain values."""

from nomad_csi.spec import yaml_text


def test_an_alias_is_what_it_stands_for():
    """Few of them are a convenience."""
    assert yaml_text.load("a: &a {x: [1, 2]}\nb: *a\nc: [*a, *a]") == {
        "a": {"x": [1, 2]},
        "b": {"x": [1, 2]},
        "c": [{"x": [1, 2]}, {"x": [1, 2]}],
    }


def test_value_has_its_line_or_that_of_what_it_is_missing_in():
    """A key that another one begins with is another one; an empty document has one line."""
    text = "plugins: []\nvolumes:\n  - id: a\n    ebs:\n      size: 1\n      size_gib: 2\n    flags:\n      - x\n  - id: b\n"
    lines = {"plugins": 1, "volumes": 2, "volumes[0]": 3, "volumes[0].ebs.size_gib": 6, "volumes[0].ebs.iops": 4}
    lines |= {"volumes[0].flags[0]": 8, "volumes[1].id": 9, "volumes[2].id": 2, "x": 1, "": 1}

    assert yaml_text.lines_of(text, lines) == lines
    assert yaml_text.lines_of("", ["x"]) == {"x": 1}
