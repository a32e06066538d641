"""The request to delete a volume with its data, its options and its outcome."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi.plan import registration
from nomad_csi.volumes import outcome

SNAPSHOT_WAIT_S = 3600.0
"""Default timeout for a last snapshot."""


@dataclass(frozen=True, kw_only=True)
class DeletionRequest(registration.NamedVolume):
    """One volume whose data is to be deleted."""

    confirmation: str
    """The confirmation that the user typed, or gave with ``--confirm``; must be the ``key``."""

    external_id: str = ""
    """
    Its storage, named by the user; empty: the registered one, else found in ``made``, in its owner record, or by its
    tag. Required if its tags do not name its cluster and that cluster does not have it registered (`objection`).
    """

    plugin_id: str = ""
    """Its plugin, if neither a registration nor the owner record has it, and its controller is to delete it."""


@dataclass(frozen=True, kw_only=True)
class MadeStorage:
    """Storage that a stack had a plugin create, according to its state."""

    external_id: str
    cluster: str
    """The cluster for which it was created; empty if that is not recorded."""


@dataclass(frozen=True, kw_only=True)
class DeletionOptions:
    """How volumes are deleted."""

    wait_s: float = 0.0
    """Timeout for the release of claims and attachments, for all volumes together."""

    aws_region: str = ""
    """The region in which EC2 and EFS are asked for tags and attachments, and delete; empty: AWS is not asked."""

    endpoint: str = ""
    """Endpoint of the plugin's controller that deletes (`controller_endpoint`); empty: the cloud deletes."""

    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """CSI secrets for that controller, by ``namespace/volume_id``."""

    with_snapshot: bool = True
    """Whether a last snapshot is taken between deregistration and deletion, and waited for."""

    snapshot_wait_s: float = SNAPSHOT_WAIT_S

    owner: str = ""
    """The requesting stack, ``project/stack``; must match the owner tag and the owner record, if they name one."""

    made: Mapping[str, MadeStorage] = field(default_factory=dict)
    """Storage that stacks had plugins create, by ``namespace/volume_id``."""

    accepts_unguarded: bool = False
    """Whether a plugin may delete storage that does not refuse while in use."""

    accepts_unregistered: bool = False
    """Whether storage may be deleted without evidence that it belongs to this cluster."""

    is_dry_run: bool = False
    """Whether to change nothing, and only return what would be deleted."""

    tell: Callable[[str], None] = lambda _line: None
    """Receives what is waited for."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """If set, no further request is sent."""


Status = Literal["deleted", "gone", "free", "claimed", "attached", "refused", "failed", "kept", "unknown"]
"""
``deleted``: registration and storage are gone; if the driver cannot show absence, the plugin accepted the deletion and
the reason says so. ``gone``: neither existed. ``free``: only in a dry run; it would be deleted. ``claimed``,
``attached``: it is in use. ``refused``: it must not be deleted. ``failed``: not done, a later run may succeed; after
these five nothing has changed. ``kept``: it is deregistered, and its storage still exists with its data: run again.
``unknown``: it is deregistered, and its deletion was requested without a response, or it could not be determined
whether the storage exists: run again.
"""


@dataclass(frozen=True, kw_only=True)
class DeletionOutcome(outcome.VolumeOutcome):
    """The outcome of one volume."""

    DONE = frozenset({"deleted", "gone", "free"})
    BROKEN = frozenset({"failed", "kept", "unknown"})
    COLUMNS = ("storage", "last snapshot", "remarks")

    status: Status

    external_id: str = ""
    """Its storage; empty if unknown."""

    snapshot_id: str = ""
    """Its last snapshot; empty if none was taken."""

    snapshot_evidence: str = ""
    """Evidence that a volume can be created from that snapshot, or that its driver could not show it."""

    @property
    def cells(self) -> tuple[str, ...]:
        """Its storage, its last snapshot, and the reason with the evidence for that snapshot."""
        evidence = f"last snapshot: {self.snapshot_evidence}" if self.snapshot_evidence else ""
        remarks = "; ".join(part for part in (self.reason, evidence) if part)
        return (self.external_id, self.snapshot_id, remarks)


@dataclass(frozen=True, kw_only=True)
class Storage:
    """The storage that a request refers to, and what is known of it."""

    external_id: str = ""
    plugin_id: str = ""
    """Empty if the volume is not registered, and no plugin was named."""

    is_registered: bool = False
    """Whether Nomad has it registered as the volume."""

    tags: Mapping[str, str] = field(default_factory=dict)
    """Its tags in the cloud; empty if no cloud was asked."""

    cluster: str = ""
    """The id of the queried cluster; empty if it has none, or the token may not read it."""

    owner: str = ""
    """The owner record of the volume in that cluster; empty without one."""

    name: str = ""
    """The name of its registration; empty if it is not registered."""

    is_recorded: bool = False
    """Whether it was found by the owner record: that of a volume which a plugin created, and which was deregistered."""

    is_created: bool = False
    """Whether that owner record shows that a plugin created it for the volume (`deletion_proof.is_created`)."""
