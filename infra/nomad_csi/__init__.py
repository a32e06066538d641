"""
CSI storage for HashiCorp Nomad on AWS from one Pulumi program: created, run, registered and verified.

In a Pulumi program::

    from nomad_csi import CsiPlugin, EbsVolume

The names below are the public API. Each is imported on first use, so that ``nomad-csi --help`` and programs that use
only a part do not wait for Pulumi.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nomad_csi.components import *
    from nomad_csi.components.stack import storage_stack

__all__ = [
    "COMPONENTS",
    "CreatedVolume",
    "CsiPlugin",
    "CsiPluginArgs",
    "CsiVolume",
    "CsiVolumeArgs",
    "EbsSnapshots",
    "EbsSnapshotsArgs",
    "EbsVolume",
    "EbsVolumeArgs",
    "EfsBackups",
    "EfsBackupsArgs",
    "EfsFileSystem",
    "EfsFileSystemArgs",
    "EfsVolume",
    "EfsVolumeArgs",
    "ExistingVolume",
    "ExistingVolumeArgs",
    "PluginJob",
    "Provider",
    "VolumeRegistration",
    "storage_stack",
]


def __getattr__(name: str) -> Any:
    """Import *name* from its module on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "nomad_csi.components.stack" if name == "storage_stack" else "nomad_csi.components"
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    """Return the names of the public API, for `help` and for completion."""
    return [*__all__, *globals()]
