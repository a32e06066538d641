"""Markers, and secrets as digests."""

import json

import pytest

from nomad_csi.provider import wire
from nomad_csi_sandbox.engine import values

SALT = "00ff" * 8
NESTED = {"plain": 1, "deep": [values.secret({"user": "u", "word": "hush"}), wire.UNKNOWN]}


@pytest.fixture
def seal():
    return values.Seal(SALT)


def test_values_survive_the_wire_with_their_markers():
    """Numbers that are whole become ints, secrets and unknowns stay marked."""
    given = {**NESTED, "none": None, "yes": True, "half": 0.5}

    assert values.load(values.dump(given)) == given


def test_reveal_takes_the_marks_off():
    """A provider that takes no secrets gets plain values."""
    assert values.reveal(NESTED) == {"plain": 1, "deep": [{"user": "u", "word": "hush"}, wire.UNKNOWN]}


def test_redact_shows_neither_secrets_nor_unknowns():
    """For outputs and results."""
    assert values.redact(NESTED) == {"plain": 1, "deep": ["[secret]", "[unknown]"]}


def test_closed_secrets_hold_no_value(seal):
    """Each leaf is a digest; nothing else changes."""
    closed = seal.close(NESTED)

    assert "hush" not in json.dumps(closed)
    assert closed["plain"] == 1
    assert set(closed["deep"][0]["digest"]) == {"user", "word"}


def test_same_secret_is_opened_from_what_is_known(seal):
    """The digests agree, so the value is the one at hand."""
    closed = seal.close(NESTED)

    assert seal.open(closed, NESTED) == NESTED


def test_changed_secret_opens_as_placeholders_of_its_shape(seal):
    """Whoever compares sees a difference; whoever walks through it finds its keys."""
    closed = seal.close({"s": values.secret({"user": "u", "word": "old"})})

    opened = seal.open(closed, {"s": values.secret({"user": "u", "word": "new"})})

    assert set(opened["s"]["value"]) == {"user", "word"}
    assert all(leaf.startswith(values.PLACEHOLDER) for leaf in opened["s"]["value"].values())


def test_placeholder_closes_to_the_digest_it_came_from(seal):
    """A secret that is only passed on does not look changed."""
    closed = seal.close(values.secret("hush"))

    assert seal.close(seal.open(closed)) == closed


def test_placeholders_that_a_refresh_read_back_open_as_what_is_known(seal):
    """A provider returns what it was handed; once the program says the value, nothing looks changed."""
    read_back = seal.open(seal.close(NESTED))

    assert seal.open(read_back, NESTED) == NESTED
    assert seal.open(read_back, {}) == read_back


def test_another_salt_gives_another_digest(seal):
    """Digests of two states tell nothing about each other."""
    assert seal.close(values.secret("x")) != values.Seal("ee" * 16).close(values.secret("x"))
