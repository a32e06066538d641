"""The generated page of the components is what `python -m tests.pages` writes."""

from tests.docs.test_generated import COMPONENTS, GENERATED
from tests.pages import pages


def test_page_of_components_is_the_one_that_is_written():
    """Whoever changes a component writes the pages again."""
    assert (pages.DOCS / COMPONENTS).read_text(encoding="utf-8") == pages.text_of(GENERATED[COMPONENTS])
