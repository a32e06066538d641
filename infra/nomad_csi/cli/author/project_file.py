"""The plugins in a ``Pulumi.yaml``: read them, and add one without changing the rest of the file."""

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

    Raises `errors.RefusedError`, and changes nothing, if the file names another path or cannot be extended line by
    line.
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
    after = _extended(before, name, folder)
    if after is None or _load(after) != _expected(document, name, folder):
        hand = "\n".join(f"  {line}" for line in manual_lines(name, folder).splitlines())
        raise errors.RefusedError(
            f"{path.name} is written in a way that this command does not change; add by hand:\n{hand}"
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


def _expected(document: Mapping[str, Any], name: str, folder: str) -> dict[str, Any]:
    section = document.get(_SECTION) or {}
    listed = [{"name": name, "path": folder}, *(section.get(_LIST) or ())]
    return {**document, _SECTION: {**section, _LIST: listed}}


def _extended(text: str, name: str, folder: str) -> str | None:
    """Return *text* with the entry: first in the list, else first in the section, else a new section at the end."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not _is_block(root, yaml.MappingNode):
        return None
    section = _value(root, _SECTION)
    if section is None:
        return _inserted(text, len(text.splitlines()), manual_lines(name, folder).splitlines())
    if not _is_block(section, yaml.MappingNode):
        return None
    providers = _value(section, _LIST)
    item = [f"- name: {name}", f"  path: {folder}"]
    if providers is None:
        mark = section.start_mark
        lines = [f"{_LIST}:", *(f"  {line}" for line in item)]
    elif _is_block(providers, yaml.SequenceNode):
        mark, lines = providers.start_mark, item
    else:
        return None
    return _inserted(text, mark.line, [" " * mark.column + line for line in lines])


def _is_block(node: Any, kind: type[Any]) -> bool:
    return isinstance(node, kind) and not node.flow_style and bool(node.value)


def _value(node: Any, key: str) -> Any:
    return next((value for name, value in node.value if name.value == key), None)


def _inserted(text: str, line: int, lines: list[str]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    kept = text.splitlines(keepends=True)
    if kept and not kept[-1].endswith("\n"):
        kept[-1] += newline
    return "".join([*kept[:line], *(item + newline for item in lines), *kept[line:]])
