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
