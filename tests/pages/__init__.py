"""
The generated pages of docs/: each is written from what the product declares, and says first by which command.

``python -m tests.pages`` writes all of them; `tests/docs/test_generated.py` compares them.
"""

import re

COMMAND = "python -m tests.pages"
MARK = f"<!-- generated: {COMMAND} -->"
"""The first line of every generated page."""


def row(*cells):
    """Return a row of a table."""
    return f"| {' | '.join(cell(text) for text in cells)} |"


def cell(text):
    """Return *text* for a cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def table(heading, rows):
    """Return the lines of a table."""
    return [row(*heading), f"|{'---|' * len(heading)}", *(row(*each) for each in rows), ""]


def escaped(text):
    """Return *text* escaped for Markdown; text in backquotes stays unchanged, and a ``*name*`` of a docstring is one."""
    parts = re.sub(r"(?<![\w*`])\*(\w+)\*(?![\w*`])", r"`\1`", text.replace("``", "`")).split("`")
    for index in range(0, len(parts), 2):
        for character in "\\*<":
            parts[index] = parts[index].replace(character, f"\\{character}")
    return "`".join(parts)
