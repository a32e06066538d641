"""
A stack's config file: which of its keys `storage_stack` reads, and which values are encrypted.

Source: pulumi/pulumi, ``ProjectStackPath`` in ``sdk/go/common/workspace/paths.go`` and
``declareFlagsAsEnvironmentVariables`` in ``pkg/cmd/pulumi/pulumi.go``, 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nomad_csi import errors
from nomad_csi.spec import draft, encrypted

OPTION = "PULUMI_OPTION_CONFIG_FILE"
"""Replaces ``--config-file`` of Pulumi's commands, which do not pass that option to a program."""

_PROJECT = "Pulumi"
_OURS, _STORAGE = "nomad-csi:", "storage"
_SUFFIXES = (".yaml", ".yml", ".json")


def path_of(root: Path, stack: str, environment: Mapping[str, str]) -> Path:
    """Return the config file of *stack*; *root* is the folder of the project file."""
    if given := environment.get(OPTION):
        in_current_folder = Path(environment.get("PWD", ""), given)  # where the command was started, if known
        return in_current_folder if in_current_folder.is_file() else root / given
    project = _project_file(root)
    if project is None:
        return root / f"{_PROJECT}.{stack}.yaml"
    document = _read(project)
    folder = document.get("stackConfigDir") or document.get("config")  # the second was the name of the first
    return root / (folder if isinstance(folder, str) else "") / f"{_PROJECT}.{stack}{project.suffix}"


def _project_file(folder: Path) -> Path | None:
    return next((file for suffix in _SUFFIXES if (file := folder / f"{_PROJECT}{suffix}").is_file()), None)


@dataclass(frozen=True, kw_only=True)
class StackConfig:
    """The config in a file, as `components.stack.own_config` reads it."""

    values: Mapping[str, Any]
    prefixes: tuple[str, ...]
    """The prefixes of setting names: the project, or nothing, if that has a spec; else ours."""

    def key(self, name: str) -> str:
        """Return the key of the setting *name*, as written in the file, or as it would be written."""
        keys = [f"{prefix}{name}" for prefix in self.prefixes]
        return next((key for key in keys if key in self.values), keys[0])


def find_config(document: Any, path: Path) -> StackConfig | None:
    """Return the config in *document*, the content of the file *path*; ``None`` if it is none, such as a spec."""
    config = _config_of(document)
    if config is None:
        return None
    own = (f"{_project_of(path)}:", "")
    is_own = any(config.get(f"{prefix}{_STORAGE}") is not None for prefix in own)
    return StackConfig(values=config, prefixes=own if is_own else (_OURS,))


def _project_of(path: Path) -> str:
    """Return the project of the file *path*, from the nearest project file above it; empty without one."""
    file = next(filter(None, map(_project_file, path.resolve().parents)), None)
    return str(_read(file).get("name", "")) if file else ""


def marked(known: Any, path: Path, key: str) -> Any:
    """
    Return *known*, the value of the config *key* as Pulumi decrypted it, with its encrypted strings marked as such.

    *path* is the stack's config file; *key* is written as ``project:name``. Raises `errors.SpecError` if the file does
    not show what is encrypted.
    """
    config = _config(path)
    written = config.get(_written(config, key))
    if isinstance(written, Mapping) and not encrypted.is_secure(written):
        return encrypted.mark_encrypted(known, written)
    got = "an encrypted value" if written else f"a value with encrypted texts, and no {key} in {path} that says which"
    allowed = "the spec in the file of the stack's config, with only its secrets encrypted"
    fix = "encrypt them one by one: `pulumi config set --secret --path`"
    if not written:
        fix = f"where --config-file names another file, name it by the variable {OPTION} instead"
    raise errors.SpecError((errors.Problem(path="", got=got, allowed=allowed, fix=fix),), key)


def _written(config: Mapping[str, Any], key: str) -> str:
    """Return *key* as written in *config*: with or without the project's name."""
    return key if key in config else key.partition(":")[2]


def _config(path: Path) -> Mapping[str, Any]:
    """Return the config in the file *path*; empty if it holds none, or does not exist."""
    return (_config_of(_read(path)) if path.is_file() else None) or {}


def _config_of(document: Any) -> Mapping[str, Any] | None:
    config = document.get("config") if isinstance(document, Mapping) else None
    return config if isinstance(config, Mapping) else None


def _read(path: Path) -> Mapping[str, Any]:
    document = draft.read_yaml(path.read_text(encoding="utf-8"), str(path))
    return document if isinstance(document, Mapping) else {}
