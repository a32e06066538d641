"""A catalogue row: the description of a CSI driver, with date, sources, known issues, and how far it is verified."""

from typing import Any, Literal

import pydantic

from nomad_csi.spec import base, driver

RoleName = base.PluginRole
EvidenceTier = Literal["run", "parsed", "none"]
"""``run``: the driver itself ran; ``parsed``: only its files went through the real parser; ``none``: neither."""


class RoleEvidence(base.Model):
    """How far one role of a driver was verified, on a machine without an AWS account."""

    tier: EvidenceTier
    as_of: str = ""
    """Date of the last verification; empty for ``none``."""

    versions: tuple[str, ...] = ()
    """Programs used, each with its version."""

    verified: tuple[str, ...] = ()
    not_verified: tuple[str, ...]
    """What an operator must still verify."""


class FlagVersions(base.Model):
    """The versions of a driver that have a flag."""

    since: base.Text = ""
    """The first version that has it; empty: the oldest known version."""

    until: base.Text = ""
    """The last version that has it; empty: that of the row."""


class DriverRole(driver.RoleSpec):
    """One kind of process of a driver in the catalogue."""

    flag_versions: dict[base.Word, FlagVersions] = pydantic.Field(default_factory=dict)
    """Flags that some known versions lack; flags with ``until`` are not among ``flags``."""

    evidence: RoleEvidence


class KnownIssue(base.Model):
    """A surprising behaviour of this driver on Nomad."""

    text: str
    source: str

    signs: tuple[base.Expression, ...] = ()
    """Regular expressions that match its tasks' events and logs in that case, anywhere in a line."""


class DriverDeletion(base.Model):
    """What the driver's controller can report about deleted storage and its final snapshot."""

    refuses_in_use: bool = False
    """Whether the storage itself refuses deletion while it is in use."""

    absence: Literal["validate", "get", "none"]
    """
    The request that distinguishes a deleted volume from an existing one: ``ValidateVolumeCapabilities``,
    ``ControllerGetVolume``, or none, where the controller confirms ids of volumes that do not exist.
    """

    absence_text: str
    """The same as text, with its source."""

    gone: tuple[base.Expression, ...] = ()
    """Regular expressions for errors that mean a deleted volume, with another code than ``NOT_FOUND``."""

    takes_snapshots: bool = True
    """Whether the driver takes snapshots at all."""

    snapshot_name: str
    """Allowed names of a snapshot, with the source."""

    snapshot_parameters: dict[str, str] = pydantic.Field(default_factory=dict)
    """Parameters of ``CreateSnapshot`` with which the snapshot outlives its volume."""

    snapshot_id: base.Expression = r"(?s).+"
    """Regular expression for the ids of snapshots that the driver can read again."""

    snapshot_part_of_volume: base.Expression = r"(?!)"
    """Regular expression for the ids of snapshots that are deleted together with their volume."""

    snapshot_rewritten: bool = False
    """Whether ``CreateSnapshot`` with an existing name overwrites the snapshot instead of returning it."""

    snapshot_text: str
    """How to verify a final snapshot where the controller lists snapshots, or does not, with the source."""


class DriverExample(base.Model):
    """A plugin and a volume of the driver in a complete spec, with sample values that an operator replaces."""

    plugin: dict[base.Word, Any] = pydantic.Field(default_factory=dict)
    """The plugin, beyond its id and its driver."""

    volume: dict[base.Word, Any]
    """The volume, without its plugin's id."""

    replace: base.Text
    """The values to replace and with what, as a phrase that follows "replace"."""


class Driver(driver.DriverSpec):
    """A CSI driver of the catalogue; ``name`` is its key there."""

    as_of: str
    """Date of the last comparison of this row with its sources."""

    sources: tuple[str, ...]
    arguments_since: base.Text = ""
    """The oldest version with known arguments; empty: only ``version``."""

    arguments_source: str
    """Source of the flags of each version, or a note that none was found."""

    credentials: tuple[str, ...] = ()
    """Where its credentials come from, and how they stay out of arguments, as text."""

    roles: dict[RoleName, DriverRole] = pydantic.Field(min_length=1)  # type: ignore[assignment]  # each role is verified here
    both_in_one_process: bool = False
    """Whether one process can serve controller and node, so that a plugin of type monolith runs as written."""

    known_issues: tuple[KnownIssue, ...] = ()
    deletion: DriverDeletion | None = None
    """``None``: the driver deletes no storage on Nomad."""

    example: DriverExample
    """Shown on the driver's page; `nomad-csi init` writes it where Pulumi creates no storage for the driver."""


class Unusable(base.Model):
    """A common driver that cannot run on Nomad."""

    name: str
    title: str
    images: tuple[base.Text, ...] = pydantic.Field(min_length=1)
    """Repositories of its image, by whose last part a job that runs it is recognised."""

    reason: str
    instead: str
    """What to use instead."""

    as_of: str
    source: str
