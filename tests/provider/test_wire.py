"""Values survive the wire; secrets and unknown values keep what they are."""

import pytest
from hypothesis import given, strategies

from nomad_csi.frame import resource
from nomad_csi.provider import wire
from tests import deadlines

VALUES = strategies.recursive(
    strategies.none()
    | strategies.booleans()
    | strategies.integers(-(2**53), 2**53)
    | strategies.text(strategies.characters(exclude_categories=["Cs"])),
    lambda inner: (
        strategies.lists(inner, max_size=3)
        | strategies.dictionaries(strategies.text("abc.-", max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


def test_unknown_is_one_word_everywhere():
    """The rules, which do not import pulumi, use pulumi's marker."""
    assert resource.UNKNOWN == wire.UNKNOWN


@deadlines.BUSY
@given(strategies.dictionaries(strategies.text("abc", min_size=1), VALUES, max_size=4))
def test_values_survive(values):
    """What is dumped loads as it was, secret or not."""
    assert wire.load(wire.dump(values)) == (values, frozenset())
    assert wire.load(wire.dump(values, secrets=values)) == (values, frozenset(values))


@pytest.mark.parametrize("number", [0.5, 10])
def test_numbers_keep_their_kind(number):
    """A whole number is an int again, another a float."""
    loaded, _ = wire.load(wire.dump({"n": number}))

    assert repr(loaded["n"]) == repr(number)


def test_secrets_below_the_top_belong_to_their_top():
    """A secret inside a map makes the whole property secret."""
    struct = wire.dump({"secrets": {}})
    struct.fields["secrets"].struct_value.fields["password"].CopyFrom(
        wire.dump({"x": "hunter2"}, secrets={"x"}).fields["x"]
    )

    assert wire.load(struct) == ({"secrets": {"password": "hunter2"}}, {"secrets"})


def test_output_values_without_a_value_are_unknown():
    """An output that is not known yet is the marker; a secret one stays secret."""
    struct = wire.dump({"a": {wire.SIGNATURE: wire.OUTPUT, "secret": True}, "b": {wire.SIGNATURE: wire.OUTPUT}})

    assert wire.load(struct) == ({"a": wire.UNKNOWN, "b": wire.UNKNOWN}, {"a"})


def test_internal_keys_stay_with_the_engine():
    """Keys that begin with two underscores are not ours."""
    assert wire.load(wire.dump({"__internal": {}, "a": 1})) == ({"a": 1}, frozenset())
