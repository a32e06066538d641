"""Which characters of a text are invisible, and are escaped in a file."""

import pytest

from nomad_csi.text import foreign


@pytest.mark.parametrize("character", "aé🎉中\u0301\u3000 ")
def test_letters_marks_signs_and_spaces_are_seen(character):
    """A reviewer sees them, or what they do."""
    assert not foreign.is_unseen(character)


@pytest.mark.parametrize("character", "\0\x7f\x85\u200b\u202e\u2028\ufeff\ue000\ud800\U000e0001\uffff")
def test_what_hides_is_unseen(character):
    """Controls, directions, separators, marks of order, private and unassigned characters."""
    assert foreign.is_unseen(character)
