"""YAML by two loaders: the quick one, and the one that says what is wrong."""

import json

import pytest
import yaml

from nomad_csi.spec import yaml_text

DOCUMENTS = {
    "block": "a: 1\nb:\n  - x: yes\n    y: [1, 2.5, ~]\n  - '5'\n",
    "flow": '{"a": {"b": [1, "x\\u00e9", null, true]}}',
    "anchors": "base: &base {a: 1}\nown: *base\n",
    "text": 'a: |\n  one\n  two\nb: >\n  one\n  two\nc: "\\x41\\n"\n',
    "unicode": "ключ: 'é 🎉'\n",
    "nothing": "",
    "comment": "# only\n",
    "date": "a: 2026-01-02\n",
}
WRONG = [
    "a: 1\na: 2\n",
    "a: {b: 1, b: 2}\n",
    "a: [1,\n",
    "a: *x\n",
    "a: !foo 1\n",
    "a: 2020-13-45\n",
    "1: 2\n",
    "a: b: c\n",
    "\ta: 1",
    "a: 'x\n",
    "a: \x01",
    "? [a]\n: 1\n",
    "a: 1\n---\nb: 2\n",
]


def slowly(text):
    return yaml.load(text, Loader=yaml_text._Loader)  # noqa: S506  # a SafeLoader


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_both_loaders_read_the_same(text):
    """The quick one takes nothing for something else."""
    quickly = yaml.load(text, Loader=yaml_text._QuickLoader)  # noqa: S506  # a SafeLoader

    assert quickly == slowly(text) == yaml_text.load(text)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_said_by_the_one_that_says_it_better(text):
    """A refusal is the same whether PyYAML was built with libyaml or not."""
    with pytest.raises((ValueError, yaml.YAMLError)) as slow:
        slowly(text)
    with pytest.raises(type(slow.value)) as caught:
        yaml_text.load(text)

    assert str(caught.value) == str(slow.value)


def test_rejects_more_levels_than_can_be_read():
    """Not a crash, but a sentence."""
    with pytest.raises(yaml.YAMLError, match="too many levels of lists and mappings"):
        yaml_text.load("[" * 20_000)


def test_reads_without_libyaml(monkeypatch):
    """A PyYAML that was built without it reads as well, only slower."""
    monkeypatch.setattr(yaml_text, "_QuickLoader", yaml_text._Loader)

    assert yaml_text.load(DOCUMENTS["block"]) == {"a": 1, "b": [{"x": True, "y": [1, 2.5, None]}, "5"]}


def test_json_is_read_as_json():
    """A character beyond the first 65,536 has two escapes there, in keys, too; half of one stays, to be refused."""
    text = json.dumps({"key \U0001f389": ["a\U0001f389b\u00e9", "\ud83c"]})

    assert yaml_text.load(text) == {"key \U0001f389": ["a\U0001f389b\u00e9", "\ud83c"]}


def test_an_alias_is_what_it_stands_for():
    """Few of them are a convenience."""
    assert yaml_text.load("a: &a {x: [1, 2]}\nb: *a\nc: [*a, *a]") == {
        "a": {"x": [1, 2]},
        "b": {"x": [1, 2]},
        "c": [{"x": [1, 2]}, {"x": [1, 2]}],
    }
