"""YAML by two loaders: the quick one, and the one that says what is wrong."""

import json
import time

import pytest
import yaml

from nomad_csi import errors
from nomad_csi.plan import storage
from nomad_csi.spec import draft, yaml_text

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


@pytest.mark.parametrize(
    "text",
    ["[" * 200_000, "[" * 101 + "]" * 101, "- " * 200_000 + "a", "? " * 200_000 + "a", '{"a":' * 200_000],
    ids=["open lists", "lists", "block lists", "keys", "mappings"],
)
def test_rejects_more_levels_than_a_spec_can_have(text):
    """Neither a crash of libyaml nor Python's recursion limit, but a sentence."""
    with pytest.raises(yaml.YAMLError, match="more than 100 levels of lists and mappings"):
        yaml_text.load(text)


def test_reads_as_many_levels_as_are_allowed():
    """A hundred are."""
    found = yaml_text.load("[" * 100 + "]" * 100)

    for _ in range(99):
        [found] = found
    assert found == []


def test_reads_without_libyaml(monkeypatch):
    """A PyYAML that was built without it reads as well, only slower."""
    monkeypatch.setattr(yaml_text, "_QuickLoader", yaml_text._Loader)

    assert yaml_text.load(DOCUMENTS["block"]) == {"a": 1, "b": [{"x": True, "y": [1, 2.5, None]}, "5"]}


def test_json_is_read_as_json():
    """A character beyond the first 65,536 has two escapes there, in keys, too; half of one stays, to be refused."""
    text = json.dumps({"key \U0001f389": ["a\U0001f389b\u00e9", "\ud83c"]})

    assert yaml_text.load(text) == {"key \U0001f389": ["a\U0001f389b\u00e9", "\ud83c"]}


def test_a_page_of_aliases_is_refused_before_it_is_a_flood():
    """Ten lines of nine times the line before would be a billion values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 10)]

    with pytest.raises(yaml.YAMLError, match="more than 100_000 keys and values, aliases counted"):
        yaml_text.load("\n".join(lines))


@pytest.mark.parametrize("levels", range(3, 9))
def test_a_few_hundred_characters_of_aliases_cost_little(levels):
    """Below the limit or above it: read and checked as a spec, or refused, in less than ten seconds of a slow processor."""
    lines = ["volumes: &a0 [{}, {}, {}, {}, {}, {}, {}, {}, {}]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, levels)]
    began = time.process_time()

    with pytest.raises(errors.SpecError):
        storage.plan_document(draft.read_yaml("\n".join(lines), "storage.yaml"))

    assert time.process_time() - began < 10.0


def test_many_volumes_that_share_their_settings_by_alias_are_read():
    """One for each character is more than people need."""
    text = "common: &c {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10}\nvolumes:\n"
    text += "".join(f"- {{id: v{number}, ebs: *c}}\n" for number in range(20_000))

    assert len(yaml_text.load(text)["volumes"]) == 20_000


def test_an_alias_is_what_it_stands_for():
    """Few of them are a convenience."""
    assert yaml_text.load("a: &a {x: [1, 2]}\nb: *a\nc: [*a, *a]") == {
        "a": {"x": [1, 2]},
        "b": {"x": [1, 2]},
        "c": [{"x": [1, 2]}, {"x": [1, 2]}],
    }
