"""Pages of docs/: their text, the blocks and commands in it, and the options of commands that they name."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def read(*names):
    """Return the text of pages below docs/, one behind the other."""
    return "\n".join((DOCS / name).read_text(encoding="utf-8") for name in names)


def blocks(text, kind):
    """Return the content of the code blocks of a kind: ``blocks(text, "sh no-run")``."""
    return re.findall(rf"^ *```{kind}\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)


def commands(text, kind="sh"):
    """Return the lines of the code blocks of a kind."""
    return [line.strip() for block in blocks(text, kind) for line in block.splitlines()]


def options(text):
    """Return the options of ours in *text*: in its commands, and between backquotes."""
    ours = [line.partition(" -- ")[0] for line in re.findall(r"^ *(nomad-csi .*)$", text, re.MULTILINE)]
    return sorted(set(OPTION.findall(" ".join([*ours, *re.findall(r"`(nomad-csi [^`]*|--[^`]*)`", text)]))))
