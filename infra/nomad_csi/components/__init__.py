"""Pulumi components, and the resource classes that a program imports.

They translate, name, parent and register. An ``if`` about storage belongs in ``spec``, ``drivers`` or ``plan``.
"""

from nomad_csi.components.argument_classes import (
    CsiPluginArgs,
    CsiVolumeArgs,
    EbsSnapshotsArgs,
    EbsVolumeArgs,
    EfsBackupsArgs,
    EfsFileSystemArgs,
    EfsVolumeArgs,
    ExistingVolumeArgs,
)
from nomad_csi.components.created import CsiVolume
from nomad_csi.components.ebs import EbsVolume
from nomad_csi.components.efs import EfsFileSystem, EfsVolume
from nomad_csi.components.existing import ExistingVolume
from nomad_csi.components.plugin import CsiPlugin
from nomad_csi.components.resources import CreatedVolume, PluginJob, Provider, VolumeRegistration
from nomad_csi.components.snapshots import EbsSnapshots, EfsBackups

COMPONENTS = (CsiPlugin, CsiVolume, EbsSnapshots, EbsVolume, EfsBackups, EfsFileSystem, EfsVolume, ExistingVolume)
"""What the provider plugin serves to programs in other languages."""

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
]
