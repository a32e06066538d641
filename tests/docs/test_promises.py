"""docs/explain/promises.md: what the documentation promises, each with the page that says it and a test that holds it."""

import pytest

from tests import promises_page

PROMISES = promises_page.promises()


def test_page_is_made_from_the_data():
    """`python -m tests.promises_page` writes it again."""
    assert promises_page.PAGE.read_text(encoding="utf-8") == promises_page.written()


def test_every_promise_is_in_a_group():
    """And none is made twice."""
    assert {item["group"] for item in PROMISES} == set(promises_page.GROUPS)
    assert len({item["says"] for item in PROMISES}) == len(PROMISES)


@pytest.mark.parametrize("item", PROMISES, ids=[item["says"][:60] for item in PROMISES])
def test_page_that_is_linked_says_it(item):
    """In these words; whoever takes them back takes the promise back."""
    _, _, anchor = item["page"].partition("#")

    assert item["words"] in promises_page.text_of(item["page"])
    assert not anchor or anchor in promises_page.anchors_of(item["page"])
