"""
All custom resources by their Pulumi type token. A new one is added here, and nowhere else.

Modules are imported when they are first used: the engine starts the provider up to twice in a run, and waits for it; a
program seldom has all kinds.
"""

import functools
import importlib
from typing import TYPE_CHECKING, Any

from nomad_csi.spec import names

if TYPE_CHECKING:
    from nomad_csi.frame import properties, resource

_MODULES = {
    "StackIdentity": ("frame.stack_identity", "DECLARED", "frame.stack_identity"),
    "PluginJob": ("jobs.plugin_job_properties", "DECLARED", "jobs.plugin_job"),
    "PluginHealth": ("health.plugin_health_properties", "DECLARED", "health.plugin_health"),
    "VolumeRegistration": ("volumes.volume_properties", "REGISTRATION", "volumes.volume_resource"),
    "CreatedVolume": ("volumes.volume_properties", "CREATED", "volumes.volume_resource"),
    "StorageHold": ("volumes.hold", "DECLARED", "volumes.hold"),
    "RenderedFile": ("provider.rendered_file", "DECLARED", "provider.rendered_file"),
}
"""By name: the module of the declaration, its name there, and the module of the class."""


@functools.cache
def declaration(name: str) -> "properties.Declaration":
    """Return the declaration of the resource called *name*; that imports no module that sends requests."""
    module, attribute, _ = _MODULES[name]
    declared: properties.Declaration = getattr(_imported(module), attribute)
    return declared


TOKENS = tuple(f"{names.TYPES}{name}" for name in _MODULES)


@functools.cache
def find(token: str) -> "resource.Resource":
    """Return the resource of the type *token*."""
    name = token.removeprefix(names.TYPES)
    kind: resource.Resource = getattr(_imported(_MODULES[name][2]), f"{name}Resource")()
    return kind


def _imported(module: str) -> Any:
    return importlib.import_module(f"nomad_csi.{module}")
