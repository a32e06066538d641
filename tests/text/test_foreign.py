"""Texts of others are shown as one clean line without secrets."""

import pytest

from nomad_csi.text import foreign


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\n two\t three", "one two three"),
        ("red \x1b[31mtext", "red [31mtext"),
        ("token=abc rest", "token=[secret] rest"),
        ("AWS_SECRET_ACCESS_KEY: abc/def+g, next", "AWS_SECRET_ACCESS_KEY: [secret], next"),
        ('"password": "a b"', '"password": [secret]'),
        ("Authorization: Bearer abc.def rest", "Authorization: [secret] rest"),
        ("X-Amz-Signature=0123&x=1", "X-Amz-Signature=[secret]&x=1"),
        (
            "verify network connection and IAM credentials): dry-run",
            "verify network connection and IAM credentials): dry-run",
        ),
        ("api error AccessDenied: User: arn:aws:iam::1:role/x", "api error AccessDenied: User: arn:aws:iam::1:role/x"),
    ],
)
def test_foreign_text_is_shown_clean(text, shown):
    """Line ends, control characters and values of secrets never reach the terminal; the cause does."""
    assert foreign.clean(text) == shown


def test_shortened_keeps_both_ends():
    """The place comes first and the cause last, so the middle of a long text goes."""
    text = "place " + "x" * 100 + " cause"

    shown = foreign.shortened(text, 30)

    assert shown == "place xxxx ... xxxxxxxxx cause"
    assert len(shown) == 30
    assert foreign.shortened(text, len(text)) == text
    assert foreign.shortened(f"{'a' * 9} {'x' * 30} {'y' * 14}", 30) == f"{'a' * 9} ... {'y' * 14}"
