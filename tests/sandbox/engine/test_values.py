"""Markers, and secrets as digests."""

import pytest

from nomad_csi.provider import wire
from nomad_csi_sandbox.engine import values

SALT = "00ff" * 8
NESTED = {"plain": 1, "deep": [values.secret({"user": "u", "word": "hush"}), wire.UNKNOWN]}


@pytest.fixture
def seal():
    return values.Seal(SALT)


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
