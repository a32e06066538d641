"""What this distribution has from the checkout around it: the version, and files that it shares with nomad-csi."""

import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

SHARED = {"LICENSE": "LICENSE", "Pulumi.sandbox.yaml": "session/Pulumi.sandbox.yaml"}
"""Files of the checkout, and their places in the package. An sdist has them there already."""


def _is_sdist(root: str) -> bool:
    return Path(root, "PKG-INFO").exists()


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


class CustomMetadataHook(MetadataHookInterface):
    """Hatchling calls it for the dynamic fields; in an sdist it has them from PKG-INFO."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add what nomad-csi says of itself, and require just that version of it."""
        if _is_sdist(self.root):
            return
        product = _read(Path(self.root, "../../pyproject.toml"))["project"]
        own = _read(Path(self.root, "pyproject.toml"))["dependency-groups"]["run"]
        for field in ("authors", "classifiers", "requires-python", "urls", "version"):
            metadata[field] = product[field]
        metadata["dependencies"] = [*own, f"nomad-csi=={product['version']}"]


class CustomBuildHook(BuildHookInterface[Any]):
    """Hatchling calls it for each archive."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the shared files; an editable installation has them in the checkout."""
        if version == "editable":
            return
        if not _is_sdist(self.root):
            around = Path(self.root, "../..").resolve()
            build_data["force_include"] |= {str(around / name): place for name, place in SHARED.items()}
        elif self.target_name == "wheel":
            build_data["force_include"][str(Path(self.root, "LICENSE"))] = "LICENSE"
