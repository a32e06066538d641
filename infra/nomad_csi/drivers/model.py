"""A catalogue row: the description of a CSI driver, with date, sources, known issues, and how far it is verified."""

from typing import Any, Literal

import pydantic

from nomad_csi.spec import base, driver

RoleName = base.PluginRole
EvidenceTier = Literal["run", "parsed", "none"]
"""``run``: the driver itself ran; ``parsed``: only its files went through the real parser; ``none``: neither."""


class RoleEvidence(base.Model):
    """How far somebody went with one role of a driver, on a machine without an AWS account."""

    tier: EvidenceTier
    as_of: str = ""
    """Day of the last time; empty for ``none``."""

    versions: tuple[str, ...] = ()
    """With what: each program and its version."""

    verified: tuple[str, ...] = ()
    not_verified: tuple[str, ...]
    """What an operator must still see for themselves."""


class FlagVersions(base.Model):
    """Between which versions of a driver a flag exists."""

    since: base.Text = ""
    """The first version that has it; empty: the oldest that is known."""

    until: base.Text = ""
    """The last version that has it; empty: that of the row."""


class DriverRole(driver.RoleSpec):
    """One kind of process of a driver in the catalogue."""

    flag_versions: dict[base.Word, FlagVersions] = pydantic.Field(default_factory=dict)
    """Flags that not every known version has; those that have an end are not among ``flags``."""

    evidence: RoleEvidence


class KnownIssue(base.Model):
    """A known way in which this driver surprises people on Nomad."""

    text: str
    source: str
    rule: str = ""
    """The rule of `nomad-csi lint` that a job with this issue breaks; empty: there is none."""

    signs: tuple[base.Expression, ...] = ()
    """Regular expressions for what its tasks' events and logs say then, in any part of a line."""


class DriverDeletion(base.Model):
    """What the driver's controller can answer about storage that is deleted, and about its last snapshot."""

    refuses_in_use: bool = False
    """Whether the storage itself refuses to be deleted while something uses it."""

    absence: Literal["validate", "get", "none"]
    """
    The call that tells a volume that is gone from one that exists: ``ValidateVolumeCapabilities``,
    ``ControllerGetVolume``, or none: then the controller confirms ids of volumes that do not exist.
    """

    absence_text: str
    """The same in words, with its source."""

    gone: tuple[base.Expression, ...] = ()
    """Regular expressions for errors that say that the volume is gone, with another code than ``NOT_FOUND``."""

    snapshot_name: str
    """What the name of a snapshot may be, with its source."""

    snapshot_parameters: dict[str, str] = pydantic.Field(default_factory=dict)
    """What ``CreateSnapshot`` is sent, so that the snapshot outlives its volume."""

    snapshot_config: dict[base.Expression, str] = pydantic.Field(default_factory=dict)
    """
    Keys of the plugin's ``config`` without which no last snapshot can be taken, such as ``zfs.x``, by a regular
    expression for its key ``driver``; an empty key: none can be taken.
    """

    snapshot_id: base.Expression = r"(?s).+"
    """Regular expression for the ids of snapshots that the driver can read again."""

    snapshot_part_of_volume: base.Expression = r"(?!)"
    """Regular expression for the ids of snapshots that are deleted together with their volume."""

    snapshot_rewritten: bool = False
    """Whether ``CreateSnapshot`` with a name that exists writes the snapshot again instead of looking it up."""

    snapshot_text: str
    """How a last snapshot is verified usable where the controller lists snapshots, or lists none, with the source."""


class DriverExample(base.Model):
    """A plugin and a volume of the driver in a spec: whole, with values in place of what only an operator knows."""

    plugin: dict[base.Word, Any] = pydantic.Field(default_factory=dict)
    """The plugin, beyond its id and its driver."""

    volume: dict[base.Word, Any]
    """The volume, without its plugin's id."""

    replace: base.Text
    """Which values are to be replaced and by what, as a phrase that follows "replace"."""


class Driver(driver.DriverSpec):
    """A CSI driver of the catalogue; ``name`` is its key there."""

    as_of: str
    """Day on which this row was last compared with its sources."""

    sources: tuple[str, ...]
    arguments_since: base.Text = ""
    """The oldest version whose arguments are known; empty: only those of ``version`` are."""

    arguments_source: str
    """Where the flags of each version were read, or that no source was found."""

    credentials: tuple[str, ...] = ()
    """Where its credentials come from, and how they stay out of arguments, in words."""

    roles: dict[RoleName, DriverRole] = pydantic.Field(min_length=1)  # type: ignore[assignment]  # each role is verified here
    known_issues: tuple[KnownIssue, ...] = ()
    deletion: DriverDeletion | None = None
    """``None``: the driver deletes no storage on Nomad."""

    example: DriverExample
    """On the driver's page; also what `nomad-csi init` writes where Pulumi makes no storage for the driver."""


class Unusable(base.Model):
    """A driver that people look for and that cannot run on Nomad."""

    name: str
    title: str
    reason: str
    instead: str
    """What to use."""

    as_of: str
    source: str
