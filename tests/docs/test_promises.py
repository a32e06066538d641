"""docs/explain/promises.md: what the documentation promises, each with the page that says it and a test that holds it."""

import pytest

from tests.pages import promises

PROMISES = promises.promises()


def test_every_promise_is_in_a_group():
    """And none is made twice."""
    assert {item["group"] for item in PROMISES} == set(promises.GROUPS)
    assert len({item["says"] for item in PROMISES}) == len(PROMISES)


@pytest.mark.parametrize("item", PROMISES, ids=[item["says"][:60] for item in PROMISES])
def test_page_that_is_linked_says_it(item):
    """In these words; whoever takes them back takes the promise back."""
    _, _, anchor = item["page"].partition("#")

    assert item["words"] in promises.text_of(item["page"])
    assert not anchor or anchor in promises.anchors_of(item["page"])
