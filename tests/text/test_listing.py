"""Sizes in sentences."""

import pytest

from nomad_csi.text import listing


@pytest.mark.parametrize(
    ("count", "text"),
    [(10 * 2**30, "10GiB"), (2**40, "1024GiB"), (100 * 2**20, "100MiB"), (100 * 2**20 + 4096, "102404KiB"), (7, "7B")],
)
def test_size_is_in_the_largest_unit_that_has_it_whole(count, text):
    """As in a volume file; nothing is rounded."""
    assert listing.size(count) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 clients"), (1, "1 client"), (1200, "1200 clients")])
def test_noun_has_the_form_of_its_count(count, text):
    """Only one is singular; the page of a report has separators too."""
    assert listing.counted(count, "client") == text
    assert listing.grouped(count, "client") == text.replace("1200", "1,200")


@pytest.mark.parametrize(("names", "text"), [("abcde", "a, b, c, d, e"), ("abcdef", "a, b, c, d, e and 1 more")])
def test_long_list_ends_with_a_count(names, text):
    """One that is shown as a whole does not."""
    assert listing.shortened(names) == text
