"""Nomad's form of a text: NFC, and what Go composes besides."""

import unicodedata

import pytest

from nomad_csi.text import normal_form


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("", ""),
        ("plain", "plain"),
        ("a\u0301", "\u00e1"),  # NFC
        ("\U0001f600\u0301", "\U0001f600\u0301"),  # U+F600 composes with nothing
        ("\U00010041\u0301", "\u00c1"),  # of U+10041 Go keeps U+0041, an A
        ("x\U0007014d\u0301y", "x\u1e53y"),
        ("\U00010041\u0327\u0301", "\u00c1\u0327"),  # a mark between them, of a lower class
        ("\U00010041\u0300\u0301", "\u00c0\u0301"),  # the first of one class composes
        ("\U00010041\u0364\u0301", "\U00010041\u0364\u0301"),  # the second of one class, where the first does not
        ("\U00010041x\u0301", "\U00010041x\u0301"),  # another letter between them
        ("\U000100e1\u0323", "\U000100e1\u0323"),  # no decomposition of the first
        ("\u0301\U00010041", "\u0301\U00010041"),
        ("\u1099\U000110ba", "\U0001109a"),  # the low bits of U+11099, which composes with that mark
        ("\U00010041\U000110ba", "\U00010041\U000110ba"),
    ],
)
def test_text_becomes_what_nomad_makes_of_it(text, made):
    """And what it has become stays."""
    assert normal_form.normalised(text) == made
    assert normal_form.normalised(made) == made
    assert normal_form.is_normalised(text) == (text == made)


@pytest.mark.parametrize("text", ["\u1e9b\u0323", "\u212b", "\uac00\u11a8", "\u0958"])
def test_it_is_nfc_for_characters_up_to_ffff(text):
    """Whatever they compose or decompose to."""
    assert normal_form.normalised(text) == unicodedata.normalize("NFC", text)
