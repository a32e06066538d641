"""
What the site has besides the pages of docs/: README.md as its first page, and the repository behind links out of docs/.

Source of the names: MkDocs 1.6, "Events" (``on_files``, ``on_page_markdown``), `mkdocs.structure.files.File`.
"""

import posixpath
import re
import textwrap
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)")
"""The file that a link names: ``[text](../examples/yaml/Pulumi.yaml)``."""

_BLOCKS = re.compile(r"(?:^```(?:python|typescript|yaml|go)\n.*?^```\n\n?){2,}", re.DOTALL | re.MULTILINE)
"""The same program in several languages, one block after the other."""

_BLOCK = re.compile(r"^```(\w+)\n.*?^```\n", re.DOTALL | re.MULTILINE)
_TITLES = {"python": "Python", "typescript": "TypeScript", "yaml": "YAML", "go": "Go"}

_MARKED = re.compile(r"^(```\w+) .*$", re.MULTILINE)
"""The first line of a block that tests know by a word: ``sh no-run``."""


def _resolve(path: str, page: str, config: Any) -> str:
    """Return *path* as the site has it, of a link on *page*; both pages are named from the root of the repository."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    if not target.startswith(("docs/", "README.md")):
        return f"{config['repo_url']}/blob/main/{target}"
    if page == "README.md":
        return target.removeprefix("docs/")
    return posixpath.relpath("docs/index.md" if target == "README.md" else target, posixpath.dirname(page))


def on_files(files: Any, config: Any) -> Any:
    """Add the README as the page ``index.md``."""
    text = Path(config["config_file_path"]).with_name("README.md").read_text(encoding="utf-8")
    page = File.generated(config, "index.md", content=text)
    page.edit_uri = "../README.md"
    files.append(page)
    return files


def tabs(markdown: str) -> str:
    """Return *markdown* with tabs instead of blocks in several languages; what GitHub shows stays a list of blocks."""

    def tabbed(blocks: re.Match[str]) -> str:
        found = (
            f'=== "{_TITLES[block[1]]}"\n\n{textwrap.indent(block[0], "    ")}\n'
            for block in _BLOCK.finditer(blocks[0])
        )
        return "".join(found)

    return _BLOCKS.sub(tabbed, markdown)


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Return *markdown* with links that work on the site, and blocks without marks of tests."""
    source = "README.md" if page.file.src_uri == "index.md" else f"docs/{page.file.src_uri}"
    return _LINK.sub(lambda link: _resolve(link[1], source, config), _MARKED.sub(r"\1", tabs(markdown)))
