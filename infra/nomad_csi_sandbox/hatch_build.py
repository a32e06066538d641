"""What this distribution has from the checkout around it: what describes both, and the version."""

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


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
