"""What stands raw in a file is the same set of characters on every Python."""

import hashlib

import pytest

from nomad_csi.text import unseen


def test_seen_characters_are_the_same_on_every_python():
    """The same 144,532, though Python 3.11, 3.12 and 3.13 have the tables of Unicode 14.0, 15.0 and 15.1."""
    seen = "".join(chr(point) for point in range(0x110000) if not unseen.is_unseen.__wrapped__(chr(point)))

    assert len(seen) == 144_532
    digest = hashlib.sha256(seen.encode()).hexdigest()
    assert digest == "54fa30307d911836c80d50c9b75be83430682cfdcc0a36f6cb0a7a5872f40e0b"


@pytest.mark.parametrize("character", "aé🎉中\u0301\u3000 ")
def test_letters_marks_signs_and_spaces_are_seen(character):
    """A reviewer sees them, or what they do."""
    assert not unseen.is_unseen(character)


@pytest.mark.parametrize("character", "\0\x7f\x85\u200b\u202e\u2028\ufeff\ue000\ud800\U000e0001\uffff")
def test_what_hides_is_unseen(character):
    """Controls, directions, separators, marks of order, private and unassigned characters."""
    assert unseen.is_unseen(character)


@pytest.mark.parametrize("character", ["\u0cf3", "\u2ffc", "\u1c89", "\U0001fae8", "\U00031350"])
def test_what_came_after_unicode_14_is_unseen(character):
    """A Python that knows it and one that does not write the same file."""
    assert unseen.is_unseen(character)
