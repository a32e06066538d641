"""
CSI storage for HashiCorp Nomad on AWS, from one Pulumi program: made, run, registered and proven.

In a Pulumi program::

    from nomad_csi import CsiPlugin, EbsVolume

The names below are the public ones. They are imported when they are first used, so that ``nomad-csi --help`` and
programs that use only a part do not wait for Pulumi.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nomad_csi.components import (
        COMPONENTS,
        CreatedVolume,
        CsiPlugin,
        CsiVolume,
        EbsSnapshots,
        EbsVolume,
        EfsBackups,
        EfsVolume,
        ExistingVolume,
        PluginJob,
        Provider,
        VolumeRegistration,
    )
    from nomad_csi.components.preflight import refuse_unrecorded

_HOMES = {
    "COMPONENTS": "nomad_csi.components",
    "CreatedVolume": "nomad_csi.components",
    "CsiPlugin": "nomad_csi.components",
    "CsiVolume": "nomad_csi.components",
    "EbsSnapshots": "nomad_csi.components",
    "EbsVolume": "nomad_csi.components",
    "EfsBackups": "nomad_csi.components",
    "EfsVolume": "nomad_csi.components",
    "ExistingVolume": "nomad_csi.components",
    "PluginJob": "nomad_csi.components",
    "Provider": "nomad_csi.components",
    "VolumeRegistration": "nomad_csi.components",
    "refuse_unrecorded": "nomad_csi.components.preflight",
}

__all__ = [
    "COMPONENTS",
    "CreatedVolume",
    "CsiPlugin",
    "CsiVolume",
    "EbsSnapshots",
    "EbsVolume",
    "EfsBackups",
    "EfsVolume",
    "ExistingVolume",
    "PluginJob",
    "Provider",
    "VolumeRegistration",
    "refuse_unrecorded",
]


def __getattr__(name: str) -> Any:
    """Import *name* from its home on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
