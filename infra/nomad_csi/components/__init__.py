"""Pulumi components, and the resource classes that a program imports.

They translate, name, parent and register. An ``if`` about storage belongs in ``spec``, ``drivers`` or ``plan``.
"""

from nomad_csi.components.created import CsiVolume, CsiVolumeArgs
from nomad_csi.components.ebs import EbsVolume, EbsVolumeArgs
from nomad_csi.components.efs import EfsFileSystem, EfsFileSystemArgs, EfsVolume, EfsVolumeArgs
from nomad_csi.components.existing import ExistingVolume, ExistingVolumeArgs
from nomad_csi.components.plugin import CsiPlugin
from nomad_csi.components.plugin_args import CsiPluginArgs
from nomad_csi.components.resources import CreatedVolume, PluginJob, Provider, VolumeRegistration
from nomad_csi.components.snapshots import EbsSnapshots, EbsSnapshotsArgs, EfsBackups, EfsBackupsArgs

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
