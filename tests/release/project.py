"""What the checkout says of the release that it would be."""

import os
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
OWNER = re.compile(r"\bOWNER[/.]|[/@]OWNER\b")
"""Where the account of the repository belongs: in an address, or as a name."""

NAMES_OWNER = (
    "pyproject.toml",
    "mkdocs.yml",
    "README.md",
    "CONTRIBUTING.md",
    "docs/howto/languages.md",
    "docs/start/first-ten-minutes.md",
    "Dockerfile",
    "SECURITY.md",
    ".github/CODEOWNERS",
    ".github/ISSUE_TEMPLATE/config.yml",
)

UNPUBLISHED = "is not on PyPI"
"""What the README says before the first release."""


def metadata(root=ROOT):
    """Return the table ``project`` of pyproject.toml."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def entry(text, version):
    """Return the date and the notes of *version* in the text of CHANGELOG.md; None without an entry."""
    found = re.search(rf"^## {re.escape(version)} - (.+)\n((?:(?!## ).*\n?)*)", text, re.MULTILINE)
    return found and (found[1], found[2].strip() + "\n")


def problems(tag, root=ROOT, repository=None):
    """
    Return what keeps the checkout from being released as *tag*, one sentence each.

    *repository*: ``OWNER/NAME`` on GitHub where the tag was pushed; None: anywhere.
    """
    project = metadata(root)
    version, source = project["version"], project["urls"]["Source"]
    found = []
    if tag != f"v{version}":
        found.append(f"tag: expected v{version}, the version in pyproject.toml, got {tag}")
    noted = entry((root / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    if noted is None or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", noted[0]):
        has = f"date {noted[0]}" if noted else "none"
        found.append(f"CHANGELOG.md: expected an entry `## {version} - YYYY-MM-DD`, got {has}")
    if notes := sorted(path.name for path in (root / "changes").glob("+*.md")):
        found.append(f"changes: expected none, as a release has them in CHANGELOG.md, got {', '.join(notes)}")
    unnamed = [name for name in NAMES_OWNER if OWNER.search((root / name).read_text(encoding="utf-8"))]
    found += [f"{name}: expected the account of the repository, got OWNER" for name in unnamed]
    if UNPUBLISHED in (root / "README.md").read_text(encoding="utf-8"):
        found.append(
            f"README.md: expected how to install the release, got {UNPUBLISHED!r}; write `pip install nomad-csi`"
        )
    if repository and source != f"https://github.com/{repository}":
        found.append(f"pyproject.toml: urls.Source: expected https://github.com/{repository}, got {source}")
    return found


def repository():
    """Return the repository whose workflow this is; None elsewhere."""
    return os.environ.get("GITHUB_REPOSITORY")
