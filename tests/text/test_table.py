"""Columns line up whatever is in them."""

from nomad_csi.text import table


def test_last_column_wraps_under_itself():
    """A long detail stays in its column."""
    text = table.columns([("a", "detail"), ("long name", "one two three four five six")], 35)

    assert text.splitlines() == [
        "a          detail",
        "long name  one two three four five",
        "           six",
    ]


def test_narrow_width_leaves_room_for_the_last_column():
    """A width below the table's own is overrun rather than broken into letters."""
    text = table.columns([("a" * 30, f"one two three four five {'x' * 25}")], 10)

    assert text.splitlines() == ["a" * 30 + "  one two three four five", " " * 32 + "x" * 25]


def test_wide_characters_take_two_columns():
    """East Asian names do not shift their row."""
    text = table.columns([("日本", "x"), ("abcd", "y")], 80)

    assert text.splitlines() == ["日本  x", "abcd  y"]
    assert [table.columns_of(text) for text in ("e\u0301", "\uff21\uff22", "\uff71", "\u0378")] == [1, 4, 1, 1]


def test_a_column_without_a_text_is_left_out():
    """With its heading; a column with one text stays."""
    assert table.without_empty([("a", "b", "c"), ("1", "", "x"), ("2", "", "")]) == [("a", "c"), ("1", "x"), ("2", "")]
