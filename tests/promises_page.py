"""
docs/explain/promises.md, from tests/mutants/promises.yaml: ``python -m tests.promises_page`` writes it again.

Each promise stands on a page, in the words of that page, and has a test and a change of the code by which just that
test fails (`tests.mutants.by_hand`).
"""

import os
import re
from pathlib import Path

from tests.mutants import by_hand

ROOT = by_hand.ROOT
PAGE = ROOT / "docs/explain/promises.md"
GROUPS = {
    "data": "Data",
    "identity": "Stacks and clusters",
    "secrets": "Credentials and secrets",
    "health": "Health",
    "files": "Files",
    "commands": "Commands",
    "sandbox": "Sandbox",
}
HEAD = """# What nomad-csi promises

Each line says what holds in every release, and where it is described. A test checks it, and is itself
checked: the code is changed so that the promise is broken, and the test has to fail (`make mutants`).
"""
SOURCE = "<!-- Generated from tests/mutants/promises.yaml: edit that, then run `python -m tests.promises_page`. -->\n"


def promises():
    """Return the promises, in their order."""
    return by_hand.entries(by_hand.SUBJECTS["promises"])


def text_of(page):
    """Return the text of *page*, such as ``docs/howto/claims.md#repair``, with one space between words."""
    return " ".join((ROOT / page.partition("#")[0]).read_text(encoding="utf-8").split())


def anchors_of(page):
    """Return the anchors of the headings of *page*."""
    headings = re.findall(r"^#+ (.*)$", (ROOT / page.partition("#")[0]).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _link(page):
    file, _, anchor = page.partition("#")
    path = os.path.relpath(ROOT / file, PAGE.parent)
    return f"[{Path(file).stem}]({path}{f'#{anchor}' if anchor else ''})"


def written():
    """Return the page."""
    parts = [HEAD, SOURCE]
    for group, title in GROUPS.items():
        lines = [f"- {item['says']} ({_link(item['page'])})." for item in promises() if item["group"] == group]
        parts += [f"## {title}\n", "\n".join(lines), ""]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(written(), encoding="utf-8")
