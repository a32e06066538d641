"""
The stack config that the engines of a sandbox read: the project's own, fitted to the sandbox.

It is a file of the sandbox's, ``.sandbox/Pulumi.sandbox.yaml``: Pulumi writes the salt of its passphrase into the file
that it reads, a real agent has one client, where two controllers cannot be placed, and each sandbox has a clients' data
directory of its own.
"""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from nomad_csi.drivers import catalogue
from nomad_csi.plan import plugins
from nomad_csi.spec import draft
from nomad_csi.spec import model as spec
from nomad_csi_sandbox.session import folder

KEY = "nomad-csi:storage"

HEAD = f"# Written by the sandbox from Pulumi.{folder.STACK}.yaml: edit that one.\n"


@dataclass(frozen=True, kw_only=True)
class Lowered:
    """A controller count that is more than the sandbox has clients."""

    plugin_id: str
    count: int
    clients: int

    def __str__(self) -> str:
        """Return it as a sentence."""
        client = "one client" if self.clients == 1 else f"{self.clients} clients"
        return f"controllers of {self.plugin_id}: {self.clients} instead of {self.count}, as the agent has {client}"


def fit(document: Any, clients: int | None, data_dir: str) -> tuple[Any, tuple[Lowered, ...]]:
    """
    Return the stack config *document* with no more controllers than *clients*, and what was lowered.

    ``None`` clients: as many as it takes. Where a task driver needs *data_dir* and names none, it gets this one.
    What is not understood stays as it is: reading the spec reports it.
    """
    fitting = copy.deepcopy(document)
    storage = _storage(fitting)
    if storage is None:
        return fitting, ()
    for driver in _task_drivers(storage):
        if driver.get("name") == "raw_exec":
            driver.setdefault("client_data_dir", data_dir)
    if clients is None:
        return fitting, ()
    read = draft.read(storage).plugins
    lowered = []
    for index, plugin in enumerate(storage["plugins"] if read else ()):
        found = read.get(f"plugins[{index}]")
        count = _controllers(found) if found else 0
        if found and count > clients:
            lowered.append(Lowered(plugin_id=found.id, count=count, clients=clients))
            plugin["controller"] = dict(plugin.get("controller") or {}) | {"count": clients}
    return fitting, tuple(lowered)


def _task_drivers(storage: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    plugins = storage.get("plugins")
    for plugin in plugins if isinstance(plugins, list) else ():
        if isinstance(plugin, dict):
            for part in (plugin, *(plugin.get(role) for role in ("controller", "node", "monolith"))):
                if isinstance(part, dict) and isinstance(driver := part.get("task_driver"), dict):
                    yield driver


def _controllers(plugin: spec.PluginSpec) -> int:
    driver = catalogue.find(plugin.driver)
    role = driver.roles.get("controller") if driver else None
    return (plugins.count(plugin, "controller", role) or 0) if role else 0


def write(paths: folder.Folder, clients: int | None, data_dir: str) -> tuple[Lowered, ...]:
    """Write the config for the engines, and return what was lowered in it."""
    text = paths.config.read_text()
    document = draft.read_yaml(text, paths.config.name)
    fitting, lowered = fit(document, clients, data_dir)
    if fitting != document:
        text = yaml.safe_dump(fitting, sort_keys=False, allow_unicode=True)
    kept = _kept(paths, document)
    text = "".join([HEAD, text.rstrip("\n"), "\n", yaml.safe_dump(kept) if kept else ""])
    # The project's own file may hold secrets in clear, as the emulator engine cannot decrypt: its copy is for no other.
    if not paths.engine_config.exists() or paths.engine_config.read_text() != text:
        folder.write_private(paths.engine_config, text)
    return lowered


def _storage(document: Any) -> dict[str, Any] | None:
    config = document.get("config") if isinstance(document, Mapping) else None
    storage = config.get(KEY) if isinstance(config, Mapping) else None
    return storage if isinstance(storage, dict) else None


def _kept(paths: folder.Folder, document: Any) -> dict[str, Any]:
    """Return what Pulumi has written about its secrets into the last file: with another salt it could not read them."""
    if not paths.engine_config.exists() or not isinstance(document, Mapping):
        return {}
    before = draft.read_yaml(paths.engine_config.read_text(), paths.engine_config.name)
    names = ("secretsprovider", "encryptedkey", "encryptionsalt")
    return {name: before[name] for name in names if name in before and name not in document}
