"""What the project says of itself, for the package schema: its version, description, license and addresses."""

import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "nomad-csi"


class About(NamedTuple):
    """What ``pyproject.toml`` has below ``project``."""

    version: str
    description: str
    license: str
    keywords: list[str]
    publisher: str
    addresses: dict[str, str]
    """By name, as ``Documentation``."""


def about() -> About:
    """
    Return what the installed distribution says, or the file that it is built from, where it is not installed.

    `pulumi package add URL` copies the repository, and installs only what it requires.
    """
    try:
        return _installed(metadata.metadata(PACKAGE))
    except metadata.PackageNotFoundError:
        text = Path(__file__).parents[3].joinpath("pyproject.toml").read_text(encoding="utf-8")
        return _written(tomllib.loads(text)["project"])


def _installed(found: metadata.PackageMetadata) -> About:
    """Source: Core metadata specifications, https://packaging.python.org/specifications/core-metadata (2026-11)."""
    return About(
        version=found["Version"],
        description=found["Summary"],
        license=found["License-Expression"],
        keywords=sorted(found["Keywords"].split(",")),
        publisher=found["Author"],
        addresses=dict(each.split(", ", 1) for each in found.get_all("Project-URL") or ()),
    )


def _written(project: dict[str, Any]) -> About:
    return About(
        version=project["version"],
        description=project["description"],
        license=project["license"],
        keywords=sorted(project["keywords"]),
        publisher=project["authors"][0]["name"],
        addresses=project["urls"],
    )
