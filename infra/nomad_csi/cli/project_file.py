"""The plugins in a ``Pulumi.yaml``: read them, and add one without changing the rest of the file."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nomad_csi import errors

NAMES = ("Pulumi.yaml", "Pulumi.yml")
"""
File names that Pulumi accepts (pulumi/pulumi, ``sdk/go/common/workspace/paths.go``); its JSON form is not changed.
"""

_SECTION, _LIST = "plugins", "providers"


@dataclass(frozen=True, kw_only=True)
class NamedProvider:
    """A provider plugin in the project file."""

    section: str
    """``plugins.providers`` or ``packages``."""

    path: str
    """As written: relative to the project's folder."""


def find(folder: Path) -> Path:
    """Return the project file in *folder*. Raises `errors.NomadCsiError` if there is none."""
    if found := existing(folder):
        return found
    raise errors.NomadCsiError(f"no Pulumi.yaml in {folder}; name the project's directory with --project")


def existing(folder: Path) -> Path | None:
    """Return the project file in *folder*, if there is one."""
    return next((path for name in NAMES if (path := folder / name).is_file()), None)


def read(path: Path) -> Mapping[str, Any]:
    """Return the document. Raises `errors.RefusedError` if it is not a YAML mapping."""
    return _document(_text(path), path)


def named(document: Mapping[str, Any], name: str) -> NamedProvider | None:
    """Return *document*'s entry of the provider plugin *name*; ``None`` without one."""
    section = document.get(_SECTION)
    listed = section.get(_LIST) if isinstance(section, Mapping) else None
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, Mapping) and item.get("name") == name:
            return NamedProvider(section=f"{_SECTION}.{_LIST}", path=str(item.get("path", "")))
    packages = document.get("packages")
    package = packages.get(name) if isinstance(packages, Mapping) else None
    source = package.get("source") if isinstance(package, Mapping) else package
    return NamedProvider(section="packages", path=str(source)) if source else None


def manual_lines(name: str, folder: str) -> str:
    """Return the lines to add by hand for the plugin *name* in *folder*."""
    return "\n".join([f"{_SECTION}:", f"  {_LIST}:", f"    - name: {name}", f"      path: {folder}"])


def add(path: Path, name: str, folder: str, *, is_dry_run: bool = False) -> bool:
    """
    Add the plugin *name* in *folder*; return whether the file changed. Its other bytes stay unchanged.

    *is_dry_run*: change nothing, and return whether the file would change.

    Raises `errors.RefusedError`, and changes nothing, if the file names another path or has plugins of its own.
    """
    before = _text(path)
    document = _document(before, path)
    found = named(document, name)
    if found is not None and Path(found.path) == Path(folder):
        return False
    if found is not None:
        raise errors.RefusedError(
            f"{path.name} names {name} already, in {found.section}, at {found.path}; remove that, and run this again"
        )
    lines = manual_lines(name, folder)
    end = "\r\n" if "\r\n" in before else "\n"
    gap = "" if before.endswith("\n") else end
    after = f"{before}{gap}{lines.replace(chr(10), end)}{end}"
    if _SECTION in document or _load(after) != {**document, **yaml.safe_load(lines)}:
        hand = textwrap.indent(lines, "  ")
        raise errors.RefusedError(
            f"{path.name} has plugins, or a form that this command cannot add to; add by hand:\n{hand}"
        )
    if not is_dry_run:
        path.write_bytes(after.encode())
    return True


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()  # newlines unchanged
    except UnicodeDecodeError:
        raise errors.RefusedError(f"{path} is not text in UTF-8") from None


def _document(text: str, path: Path) -> Mapping[str, Any]:
    document = _load(text)
    if not isinstance(document, Mapping):
        raise errors.RefusedError(f"{path} is not a YAML mapping, which a Pulumi project file is")
    return document


def _load(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None
