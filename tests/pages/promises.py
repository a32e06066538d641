"""
The page of what the documentation promises, from ``tests/mutants/promises.yaml``.

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


def promises():
    """Return the promises, in their order."""
    return by_hand.entries(by_hand.SUBJECTS["promises"])


def text_of(name):
    """Return the text of *name*, such as ``docs/howto/claims.md#repair``, with one space between words."""
    return " ".join((ROOT / name.partition("#")[0]).read_text(encoding="utf-8").split())


def anchors_of(page):
    """Return the anchors of the headings of *page*."""
    headings = re.findall(r"^#+ (.*)$", (ROOT / page.partition("#")[0]).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _link(page):
    file, _, anchor = page.partition("#")
    path = os.path.relpath(ROOT / file, PAGE.parent)
    return f"[{Path(file).stem}]({path}{f'#{anchor}' if anchor else ''})"


def page():
    """Return the page."""
    parts = [HEAD]
    for group, title in GROUPS.items():
        lines = [f"- {item['says']} ({_link(item['page'])})." for item in promises() if item["group"] == group]
        parts += [f"## {title}\n", "\n".join(lines), ""]
    return "\n".join(parts)
