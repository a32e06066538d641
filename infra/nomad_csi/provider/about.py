"""The version of the package."""

import tomllib
from importlib import metadata
from pathlib import Path


def version() -> str:
    """
    Return the version of the installed distribution, or of the file that it is built from, where it is not installed.

    `pulumi package add URL` copies the repository, and installs only what it requires.
    """
    try:
        return metadata.version("nomad-csi")
    except metadata.PackageNotFoundError:
        text = Path(__file__).parents[3].joinpath("pyproject.toml").read_text(encoding="utf-8")
        return str(tomllib.loads(text)["project"]["version"])
