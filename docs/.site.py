"""
What the site has besides the pages of docs/: README.md as its first page, and paths in place of links out of docs/.

Source of the names: MkDocs 1.6, "Events" (``on_files``, ``on_page_markdown``), `mkdocs.structure.files.File`.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

_OUTWARD = re.compile(r"\[([^\]]*)\]\(\.\./([^)#]+)(#[^)]*)?\)")
"""A link to a file of the repository that is no page: ``[text](../examples/yaml/Pulumi.yaml)``."""

_MARKED = re.compile(r"^(```\w+) .*$", re.MULTILINE)
"""The first line of a block that tests know by a word: ``sh no-run``."""

_IN_README = re.compile(r"\]\((?:docs/)")


def on_files(files: Any, config: Any) -> Any:
    """Add the README as the page ``index.md``, with links that fit there."""
    text = Path(config["config_file_path"]).with_name("README.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\((?!docs/|https?:|#)([^)]+)\)", r"](../\1)", text)
    files.append(File.generated(config, "index.md", content=_IN_README.sub("](", text)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return *markdown* with the path beside the text of each link out of docs/, and blocks without marks of tests."""
    markdown = _MARKED.sub(r"\1", markdown)
    markdown = re.sub(r"\]\(\.\./README\.md", "](index.md", markdown)
    return _OUTWARD.sub(lambda link: f"{link[1]} (`{link[2]}`)", markdown)
