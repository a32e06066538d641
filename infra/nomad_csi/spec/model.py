"""
The spec: what an operator writes, in a YAML file or under ``nomad-csi:storage`` of a Pulumi stack config.

Each model checks its own values; `nomad_csi.plan` checks rules across models. This module exports all models.
"""

from typing import Any

import pydantic

from nomad_csi.spec.base import *
from nomad_csi.spec.driver import *
from nomad_csi.spec.plugin import *
from nomad_csi.spec.volume import *


class StorageSpec(Model):
    """The plugins and the volumes of one Nomad cluster."""

    owner: Owner | None = None
    """Owner of jobs and volumes for ``plan``, ``apply`` and ``remove``. Under Pulumi it is the stack: omit it."""

    out: str | None = None
    """Directory of the rendered files for ``render`` and ``plan``, relative to the file of the spec."""

    protect: bool = True
    """Whether Pulumi refuses to delete or replace storage. A volume or file system may override it."""

    classes: dict[Word, dict[str, Any]] = pydantic.Field(default_factory=dict)
    """Named presets. A volume that names one in ``class`` takes over its keys, and may override each."""

    snapshots: dict[ScheduleName, SnapshotScheduleSpec] = pydantic.Field(default_factory=dict)
    """Named snapshot schedules. EBS volumes and EFS file systems refer to them in ``snapshots``."""

    file_systems: dict[FileSystemName, FileSystemSpec] = pydantic.Field(default_factory=dict)
    """Named EFS file systems that several volumes share. A volume refers to one in ``efs.file_system``."""

    plugins: tuple[PluginSpec, ...] = ()
    volumes: tuple[VolumeSpec, ...] = ()
    """``class`` names a preset; ``count`` or ``each`` creates a set: ``data[0]``, ``data[1]``."""
