"""
The providers of one operation: default ones made when first needed, explicit ones as the program registers them.

A plugin is looked for in ``plugins.providers`` of the project file, in ``PULUMI_HOME``, then on PATH;
``PULUMI_DEBUG_PROVIDERS`` names those that run already.
Source: pulumi/pulumi, ``default_providers.go`` and ``providers/registry.go`` in ``pkg/resource/deploy``.
"""

import os
import shutil
import threading
import uuid
from collections.abc import Mapping
from pathlib import Path

from nomad_csi import errors
from nomad_csi.provider import wire
from nomad_csi_sandbox.engine import display, launch, plugins, project, snapshot, state, values

TYPE = "pulumi:providers:"


class Providers:
    """Plugins by the URN of the provider resource that configured them."""

    def __init__(self, stack: project.Project, snap: snapshot.Snapshot, shown: display.Display, address: str) -> None:
        self._project = stack
        self._snapshot = snap
        self._display = shown
        self._address = address
        self._lock = threading.RLock()
        self._plugins: dict[str, plugins.Plugin] = {}
        self._attached = attached(os.environ)

    def of(self, reference: str) -> plugins.Plugin:
        """Return the plugin of a provider *reference*, ``<URN>::<id>``, started from its stored state if need be."""
        urn = reference.rpartition("::")[0]
        with self._lock:
            if urn not in self._plugins:
                self._restart(urn)
            return self._plugins[urn]

    def default(self, kind: str, version: str) -> str:
        """Return the reference of the default provider for resources and functions of type *kind*."""
        package = kind.split(":", 1)[0]
        name = "default" + (f"_{version}".replace(".", "_") if version else "")
        urn = self._project.urn(TYPE + package, name)
        with self._lock:
            resource = self._snapshot.new(urn)
            if resource is None:
                inputs = self._config(package) | ({"version": version} if version else {})
                resource, _ = self.register(urn, inputs, {})
            return f"{urn}::{resource['id']}"

    def note_builtin(self) -> None:
        """Record the default provider of the engine's own functions, which is no plugin."""
        urn = self._project.urn(f"{TYPE}pulumi", "default")
        with self._lock:
            if self._snapshot.new(urn) is None:
                old = self._snapshot.old(urn)
                identity = old["id"] if old else str(uuid.uuid4())
                head = {"urn": urn, "id": identity, "type": f"{TYPE}pulumi"}
                self._snapshot.put(_record(head, old, {}, {}, modified=False), instead_of=old, write=old is None)

    def register(self, urn: str, inputs: values.Properties, extra: state.Resource) -> tuple[state.Resource, bool]:
        """
        Configure a provider with *inputs* and record it; *extra* is what else its state holds.

        Return its state and whether the provider calls its configuration changed.

        Raises `errors.RefusedError` where the provider refuses its configuration or would have to be replaced.
        """
        kind = urn.split("::")[2].rpartition("$")[2]
        with self._lock:
            old = self._snapshot.old(urn)
            plugin = self._start(kind.removeprefix(TYPE))
            self._plugins[urn] = plugin
            plugin.check_config(urn, inputs)
            changed = self._changed(plugin, urn, old, inputs)
            identity = old["id"] if old else wire.UNKNOWN if self._snapshot.dry else str(uuid.uuid4())
            if not values.has_unknown(inputs):
                plugin.configure(urn, identity, inputs)
            resource = _record({"urn": urn, "id": identity, "type": kind}, old, inputs, extra, modified=changed)
            self._snapshot.put(resource, instead_of=old, write=old is None or changed)
            return resource, changed

    def _changed(self, plugin: plugins.Plugin, urn: str, old: state.Resource | None, inputs: values.Properties) -> bool:
        if old is None or values.has_unknown(inputs):
            return False
        old_inputs = self._snapshot.seal.open(old.get("inputs", {}), inputs)
        if old_inputs == inputs:
            return False
        difference = plugin.diff_config(urn, old_inputs, inputs)
        if difference.replaces:
            raise errors.RefusedError(
                f"{urn}: a change of {', '.join(sorted(difference.replaces))} replaces the provider and all its "
                "resources; the emulator of the Pulumi engine does not do that: destroy the stack first"
            )
        return difference.changed

    # --- plugins
    def _start(self, package: str) -> plugins.Plugin:
        if package in self._attached:
            plugin, folder = plugins.Plugin(self._attached[package], None), self._project.program
        else:
            executable = self._find(package)
            process = launch.Process(executable, self._address, self._project.program)
            plugin, folder = plugins.Plugin(process.port, process), executable.parent
        plugin.greet(self._address, folder, self._project.program)
        return plugin

    def _restart(self, urn: str) -> None:
        """Start the provider that the state knows under *urn*, for a resource that the program names no more."""
        resource = self._snapshot.new(urn) or self._snapshot.old(urn)
        if resource is None:
            raise errors.RefusedError(f"unknown provider '{urn}': the state holds resources of it but not itself")
        package = resource["type"].removeprefix(TYPE)
        plugin = self._start(package)
        self._plugins[urn] = plugin
        known = self._config(package)
        plugin.configure(urn, resource["id"], self._snapshot.seal.open(resource.get("inputs", {}), known))

    def _config(self, package: str) -> values.Properties:
        prefix = f"{package}:"
        config = self._project.config.items()
        return {key.removeprefix(prefix): value for key, value in config if key.startswith(prefix)}

    def _find(self, package: str) -> Path:
        executable = f"pulumi-resource-{package}"
        if package in self._project.plugins:
            return self._project.plugins[package] / executable
        home = Path(os.environ.get("PULUMI_HOME", os.devnull))
        if installed := sorted(home.glob(f"plugins/resource-{package}-v*/{executable}")):
            return installed[-1]
        found = shutil.which(executable)
        if found is None:
            raise errors.RefusedError(f"no resource plugin '{executable}' found in the workspace or on your $PATH")
        self._display.say("warning", "", f"using {executable} from $PATH at {found}")
        return Path(found)

    # --- the end
    def cancel(self) -> None:
        """Ask all providers to give up what they are at."""
        with self._lock:
            running = list(self._plugins.values())
        for plugin in running:
            plugin.cancel()

    def close(self) -> None:
        """End all providers."""
        with self._lock:
            for plugin in self._plugins.values():
                plugin.close()
            self._plugins.clear()

    def kill(self) -> None:
        """End all provider processes now; for the second Ctrl-C. Takes no lock."""
        for plugin in list(self._plugins.values()):
            if plugin.process is not None:
                plugin.process.kill()


def attached(environment: Mapping[str, str]) -> dict[str, int]:
    """Return port by package from ``PULUMI_DEBUG_PROVIDERS``, ``aws:15002,toy:15003``."""
    pairs = (each.rpartition(":") for each in environment.get("PULUMI_DEBUG_PROVIDERS", "").split(",") if each)
    return {package: int(port) for package, _, port in pairs}


def _record(
    head: state.Resource,
    old: state.Resource | None,
    inputs: values.Properties,
    extra: state.Resource,
    *,
    modified: bool,
) -> state.Resource:
    now = state.now()
    filled = {"inputs": inputs, "outputs": inputs} if inputs else {}
    created = old.get("created", now) if old else now
    stamp = {"created": created, "modified": now if modified or not old else old.get("modified", now)}
    return {**head, "custom": True, **filled, **extra, **stamp}
