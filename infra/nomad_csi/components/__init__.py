"""Pulumi components, and the resource classes that a program imports.

They translate, name, parent and register. An ``if`` about storage belongs in ``spec``, ``drivers`` or ``plan``.
"""

from nomad_csi.components.created import CsiVolume
from nomad_csi.components.ebs import EbsVolume
from nomad_csi.components.efs import EfsVolume
from nomad_csi.components.existing import ExistingVolume
from nomad_csi.components.plugin import CsiPlugin
from nomad_csi.components.resources import CreatedVolume, PluginJob, Provider, VolumeRegistration
from nomad_csi.components.snapshots import EbsSnapshots, EfsBackups

COMPONENTS = (CsiPlugin, CsiVolume, EbsSnapshots, EbsVolume, EfsBackups, EfsVolume, ExistingVolume)
"""What the provider plugin serves to programs in other languages."""

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
]
