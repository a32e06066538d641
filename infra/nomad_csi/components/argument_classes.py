"""
The classes of the components' arguments: the fields of the spec's models, and what a component has beside them.

A model below has what a component has instead of fields of the spec, or in addition to them. Type checkers and editors
read ``argument_classes.pyi``, and programs in other languages the package schema: ``python -m tests.schema`` writes
both from these models. A class has the keys alone.
"""

import inspect
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import pydantic

from nomad_csi.spec import model as spec


class _WithFiles(spec.Model):
    render_to: str | None = None
    """Folder, below the provider's root, for the rendered files. Absent: no files are written."""

    templates: str | None = None
    """Folder with your own templates, which override the built-in ones."""


class _CsiPlugin(_WithFiles):
    """A CSI plugin; the fields are those of a plugin in the spec, and the id is the component's name."""

    driver: Any
    """Name in the driver catalogue, or the description of a driver that is not in it, as in the spec."""


class _Volume(_WithFiles):
    plugin_id: str
    """The plugin that serves the volume. Pass ``plugin_id`` of a `CsiPlugin`: known once the plugin is healthy."""

    volume_id: str | None = None
    """Nomad's id of the volume. Default: the component's name."""

    protect: bool = True
    """Whether the storage is neither deleted nor replaced, and the volume not pointed at other data."""


class _EbsVolume(_Volume):
    """An EBS volume to create and register; the fields are those of a volume in the spec."""

    snapshots: tuple[str, ...] = ()
    """Snapshot schedules of the volume. Pass ``schedule`` of each `EbsSnapshots` of this stack."""


class _EfsVolume(_Volume):
    """
    An EFS volume to create and register; the fields are those of a volume in the spec.

    With ``mount_targets`` and ``clients`` its file system is created; with ``file_system_id`` it exists already.
    """

    file_system_id: str | None = None
    """File system of the access point: ``file_system_id`` of an `EfsFileSystem`, or one created elsewhere."""


class _EfsFileSystem(spec.Model):
    """An EFS file system that several volumes share; the fields are those of a file system in the spec."""

    mount_targets: tuple[spec.MountTargetSpec, ...]
    """One for each zone whose clients mount the volumes."""

    clients: spec.EfsClientsSpec
    protect: bool = True
    """Whether Pulumi refuses to delete or replace it."""


class _ExistingVolume(_Volume):
    """A volume that is only registered; the fields are those of a volume in the spec."""

    driver: str
    """Name in the driver catalogue."""


class _CsiVolume(_Volume):
    """A volume that the plugin creates; the fields are those of a volume in the spec."""

    driver: Any
    """Name in the driver catalogue, or the description of a driver that is not in it."""


class _EbsSnapshots(spec.Model):
    """When snapshots of EBS volumes are taken, and how many are kept; fields as in a schedule of the spec."""

    kms_key_arns: tuple[str, ...] = ()
    """Customer keys of the volumes, which the role is allowed to use."""


class _EfsBackups(spec.Model):
    """When EFS file systems are backed up, and how long the backups are kept."""

    file_system_arns: tuple[str, ...]
    """File systems to back up, at most 500: ``file_system_arn`` of each `EfsVolume`."""

    keep_days: int
    """Days after which a backup is deleted, 1 to 36,500."""

    kms_key_arn: str | None = None
    """Customer key of the vault. Default: the account's key for AWS Backup."""

    protect: bool = True
    """Whether Pulumi refuses to delete the vault, which AWS also refuses while backups are in it."""


_COMPOSED: Mapping[str, tuple[type[spec.Model], ...]] = {
    "CsiPluginArgs": (spec.PluginSpec, _CsiPlugin),
    "CsiVolumeArgs": (spec.VolumeSpec, spec.CreateSpec, _CsiVolume),
    "EbsSnapshotsArgs": (spec.SnapshotScheduleSpec, _EbsSnapshots),
    "EbsVolumeArgs": (spec.VolumeSpec, spec.EbsSpec, _EbsVolume),
    "EfsBackupsArgs": (spec.SnapshotScheduleSpec, _EfsBackups),
    "EfsFileSystemArgs": (spec.FileSystemSpec, _EfsFileSystem),
    "EfsVolumeArgs": (spec.VolumeSpec, spec.EfsSpec, _EfsVolume),
    "ExistingVolumeArgs": (spec.VolumeSpec, spec.ExistingSpec, _ExistingVolume),
}
"""The models whose fields a class has, the component's own one last: of two fields of a name, its own counts."""

_OF_A_SPEC = frozenset({"id", *spec.SOURCES, "file_system", "snapshots", "moved_from"})
"""Fields that name something else in the same spec, or are its name there; in a program, resources are given."""

_WITHOUT = {"EfsBackupsArgs": {"keep"}}

Fields = Mapping[str, tuple[pydantic.fields.FieldInfo, type[spec.Model]]]
"""Fields of a class, each with the model that declares it."""


def fields(name: str) -> Fields:
    """Return the fields of the class *name*."""
    *of_spec, own = _COMPOSED[name]
    without = _OF_A_SPEC | _WITHOUT.get(name, set())
    shared = {key: (item, model) for model in of_spec for key, item in model.model_fields.items() if key not in without}
    return shared | {key: (item, own) for key, item in own.model_fields.items()}


def description(name: str) -> str:
    """Return what the class *name* describes."""
    return inspect.getdoc(_COMPOSED[name][-1]) or ""


def __getattr__(name: str) -> Any:
    """Return the class *name*, made on first use: its keys, and which of them are required."""
    if name not in _COMPOSED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    keys = {key: Any if item.is_required() else NotRequired[Any] for key, (item, _) in fields(name).items()}
    return globals().setdefault(name, TypedDict(name, keys))  # type: ignore[misc]  # the stub says what it has
