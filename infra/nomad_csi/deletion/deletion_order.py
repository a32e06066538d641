"""What is to be deleted, and how."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nomad_csi.plan import named_volume

SNAPSHOT_WAIT_S = 3600.0
"""How long a last snapshot may take, unless somebody says otherwise."""


def _silent(_line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, kw_only=True)
class DeletionRequest(named_volume.NamedVolume):
    """One volume whose data is to be deleted."""

    word: str
    """What the user typed, or gave with ``--yes-delete-data``; must be the ``key``."""

    external_id: str = ""
    """
    Its storage, named by the user; empty: what is registered, else looked for by its tag, and in ``made``. Wanted where
    its tags do not say of which cluster it is, and where that cluster does not hold it (`deletion_proof`).
    """

    plugin_id: str = ""
    """Its plugin, where Nomad does not hold it any more and its controller is to delete it."""


@dataclass(frozen=True, kw_only=True)
class DeletionOptions:
    """How volumes are deleted."""

    wait_s: float = 0.0
    """How long claims and attachments may take to go, those of all volumes together."""

    aws_region: str = ""
    """Where EC2 and EFS are asked, for tags and attachments, and told to delete; empty: not."""

    endpoint: str = ""
    """Where the controller of the plugin listens that is to delete (`controller_endpoint`); empty: the cloud does."""

    secrets: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    """CSI secrets for that controller, by ``namespace/volume_id``."""

    with_snapshot: bool = True
    """Whether a last snapshot is taken between deregistration and deletion, and waited for."""

    snapshot_wait_s: float = SNAPSHOT_WAIT_S

    owner: str = ""
    """For which stack, ``project/stack``; must be the one that tag and mark name, where they name one."""

    made: Mapping[str, str] = field(default_factory=dict)
    """What stacks had plugins make, ``{"namespace/volume_id": external_id}``."""

    clusters: Mapping[str, str] = field(default_factory=dict)
    """In which clusters they had it made, as their states say, ``{"namespace/volume_id": cluster}``."""

    accepts_unguarded: bool = False
    """Whether a plugin may delete whose storage does not refuse what is in use."""

    accepts_unregistered: bool = False
    """Whether storage may be deleted although nothing shows that it is of this cluster."""

    tell: Callable[[str], None] = _silent
    """Told what is waited for."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set it, and nothing more is sent."""
