"""
The site (Python-Markdown, as mkdocs.yml sets it) shows the lists that GitHub (CommonMark) shows.

`mkdocs build --strict` does not see the difference: Python-Markdown wants four spaces before what is nested in an item,
and a blank line before a list.
"""

import html.parser
import re
from pathlib import Path

import markdown
import markdown_it
import pytest
import yaml

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
EXTENSIONS = [name for each in SITE["markdown_extensions"] for name in ([each] if isinstance(each, str) else each)]


class Lists(html.parser.HTMLParser):
    """Collects ``(("ol 1", "ul 2"), "first words")`` for each item: the numbered lists around it, and its text."""

    def __init__(self):
        super().__init__()
        self.nesting, self.items, self.count = [], [], 0

    def handle_starttag(self, tag, attrs):  # noqa: ARG002  # the base class's
        if tag in ("ol", "ul"):
            self.count += 1
            self.nesting.append(f"{tag} {self.count}")
        if tag == "li":
            self.items.append((tuple(self.nesting), ""))

    def handle_endtag(self, tag):
        if tag in ("ol", "ul"):
            self.nesting.pop()

    def handle_data(self, data):
        if self.nesting and self.items:
            nesting, text = self.items[-1]
            self.items[-1] = (nesting, (text + re.sub(r"\W", "", data))[:40])


def items(text):
    parser = Lists()
    parser.feed(text)
    return parser.items


def on_site(text):
    return items(markdown.markdown(re.sub(r"^(\s*```\w+) .*$", r"\1", text, flags=re.MULTILINE), extensions=EXTENSIONS))


def on_github(text):
    return items(markdown_it.MarkdownIt("commonmark").enable("table").render(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_lists_are_the_same_in_both_renderers(page):
    """Each item has the same text, and stands in the same list, at the same depth."""
    text = page.read_text(encoding="utf-8")

    assert on_site(text) == on_github(text)
