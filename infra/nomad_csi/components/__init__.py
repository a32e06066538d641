"""
Pulumi components, and the resource classes that a program imports.

They translate, name, parent and register. An ``if`` about storage belongs in ``spec``, ``drivers`` or ``plan``.
The storage, the registration and the file of a volume have the name of their component; the ready stack makes that
name in `program.component_name`. The order of `up` and `destroy` is in `stack`; `program` has the base class.

Each name is imported on first use: a program that has EBS volumes does not wait for the modules of EFS and EC2.
"""

import importlib
from typing import Any

_COMPONENTS = {
    "CsiPlugin": "plugin",
    "CsiVolume": "volume",
    "EbsSnapshots": "snapshot_schedules",
    "EbsVolume": "ebs",
    "EfsBackups": "snapshot_schedules",
    "EfsFileSystem": "efs",
    "EfsVolume": "efs",
    "ExistingVolume": "volume",
}
"""What the provider plugin serves to programs in other languages, and the module of each."""

_RESOURCES = ("CreatedVolume", "PluginJob", "Provider", "VolumeRegistration")
_ARGUMENTS = tuple(f"{name}Args" for name in _COMPONENTS)
_MODULES = {
    **_COMPONENTS,
    **dict.fromkeys(_RESOURCES, "resources"),
    **dict.fromkeys(_ARGUMENTS, "argument_classes"),
}

__all__ = ["COMPONENTS", *sorted(_MODULES)]  # noqa: PLE0604  # strings, all of them


def __getattr__(name: str) -> Any:
    """Import *name* from its module on first use."""
    if name == "COMPONENTS":
        return globals().setdefault(name, tuple(map(__getattr__, _COMPONENTS)))
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
