"""What the project says of itself, for the package schema: its version, description, license and addresses."""

import tomllib
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

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

    `pulumi package add URL` copies the repository, and installs only what it requires. Source: Core metadata
    specifications, https://packaging.python.org/specifications/core-metadata (2026-11).
    """
    try:
        found = metadata.metadata(PACKAGE)
    except metadata.PackageNotFoundError:
        text = Path(__file__).parents[3].joinpath("pyproject.toml").read_text(encoding="utf-8")
        own = tomllib.loads(text)["project"]
        return About(
            version=own["version"],
            description=own["description"],
            license=own["license"],
            keywords=sorted(own["keywords"]),
            publisher=own["authors"][0]["name"],
            addresses=own["urls"],
        )
    return About(
        version=found["Version"],
        description=found["Summary"],
        license=found["License-Expression"],
        keywords=sorted(found["Keywords"].split(",")),
        publisher=found["Author"],
        addresses=dict(each.split(", ", 1) for each in found.get_all("Project-URL") or ()),
    )
