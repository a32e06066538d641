"""
What is to be run: ``Pulumi.yaml``, ``Pulumi.<stack>.yaml`` and what the command line adds.

Source: https://www.pulumi.com/docs/iac/concepts/projects/project-file/ (2026-11).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nomad_csi import errors


@dataclass(frozen=True, kw_only=True)
class Project:
    """One project and one of its stacks."""

    name: str
    stack: str

    root: Path
    """The folder of ``Pulumi.yaml``; ``pulumi.get_root_directory()`` of the program."""

    program: Path
    """The folder that holds ``__main__.py``: ``main`` of the project file, relative to *root*."""

    config: Mapping[str, str]
    """Text by full key, ``aws:region``. Objects are JSON text, as the real CLI hands them to a program."""

    secret_keys: frozenset[str]
    """The keys that the project file declares as secret."""

    plugins: Mapping[str, Path]
    """Folder by name of a provider, from ``plugins.providers``."""

    def urn(self, kind: str, name: str, parent: str = "") -> str:
        """Return the URN of a resource of type *kind*: the types of its parents but the stack's lead to it."""
        chain = parent.split("::")[2] if parent else ""
        qualified = kind if chain in ("", STACK_TYPE) else f"{chain}${kind}"
        return f"urn:pulumi:{self.stack}::{self.name}::{qualified}::{name}"

    @property
    def root_urn(self) -> str:
        """The URN of the stack resource."""
        return self.urn(STACK_TYPE, f"{self.name}-{self.stack}")


STACK_TYPE = "pulumi:pulumi:Stack"


def read(root: Path, stack: str, overrides: Mapping[str, str], stack_file: Path | None = None) -> Project:
    """
    Return the project in *root*; *overrides* are the ``--config`` pairs, by key with or without a namespace.

    *stack_file* is read instead of ``Pulumi.<stack>.yaml``.

    Raises `errors.SpecError` where a file is missing or is not understood, and for an encrypted value.
    """
    document = _document(root / "Pulumi.yaml", "a project file")
    name = str(document.get("name", ""))
    if not name:
        raise _wrong("Pulumi.yaml", "name", "", "the name of the project")
    declared = document.get("config") or {}
    config = _defaults(name, declared) | _stack_config(stack_file or root / f"Pulumi.{stack}.yaml", name)
    config |= {_full_key(name, key): value for key, value in overrides.items()}
    secret_keys = (key for key, entry in declared.items() if isinstance(entry, dict) and entry.get("secret"))
    return Project(
        name=name,
        stack=stack,
        root=root.resolve(),
        program=(root / str(document.get("main", "."))).resolve(),
        config=config,
        secret_keys=frozenset(_full_key(name, key) for key in secret_keys),
        plugins=_plugins(root, document),
    )


def _document(path: Path, what: str) -> dict[str, Any]:
    if not path.is_file():
        raise _wrong(str(path), "", "", what)
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise _wrong(str(path), "", type(document).__name__, "a mapping")
    return document


def _full_key(project: str, key: str) -> str:
    return key if ":" in key else f"{project}:{key}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)


def _defaults(project: str, declared: Mapping[str, Any]) -> dict[str, str]:
    """Return what the project file itself sets: plain values, ``value`` and ``default``."""
    found: dict[str, str] = {}
    for key, entry in declared.items():
        given = entry if not isinstance(entry, dict) else entry.get("value", entry.get("default"))
        if given is not None:
            found[_full_key(project, key)] = _text(given)
    return found


def _stack_config(path: Path, project: str) -> dict[str, str]:
    if not path.exists():
        return {}
    found: dict[str, str] = {}
    for key, value in (_document(path, "a stack file").get("config") or {}).items():
        if _encrypted(value):
            fix = f"pass it as --config {key}=VALUE"
            raise _wrong(str(path), f"config.{key}", "an encrypted value", "plain text in the sandbox", fix)
        found[_full_key(project, key)] = _text(value)
    return found


def _encrypted(value: Any) -> bool:
    if isinstance(value, dict):
        return "secure" in value or any(_encrypted(item) for item in value.values())
    return isinstance(value, list) and any(_encrypted(item) for item in value)


def _plugins(root: Path, document: Mapping[str, Any]) -> dict[str, Path]:
    providers = (document.get("plugins") or {}).get("providers") or []
    return {entry["name"]: (root / entry["path"]).resolve() for entry in providers}


def _wrong(source: str, path: str, got: str, allowed: str, fix: str = "") -> errors.SpecError:
    return errors.SpecError((errors.Problem(path=path, got=got, allowed=allowed, fix=fix),), source)
