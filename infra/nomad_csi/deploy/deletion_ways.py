"""
How storage is deleted: by the cloud's own API, or by the controller of its plugin. Nomad's *delete* is none of them.

The storage must be able to say no. EC2 refuses to delete what is attached, and so does the EBS driver, which only asks
EC2. Others delete what is mounted: csi-driver-nfs always, csi-driver-host-path without ``--check-volume-lifecycle``.
Through such a plugin nothing is deleted unless the caller accepts that (`Plugin.accepts_unguarded`), because Nomad
cannot be made to wait between the last look at it and the plugin's answer.
Sources: aws-ebs-csi-driver v1.64.0, ``pkg/cloud/cloud.go`` (``DeleteDisk``); csi-driver-nfs and csi-driver-host-path,
``controllerserver.go`` (``DeleteVolume``), 2026-08.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from nomad_csi import errors
from nomad_csi.aws import deletion, final_snapshot
from nomad_csi.csi import capability, channel, controller, endpoint, forward, identity, snapshots
from nomad_csi.plan import deletion_rules

GUARDED = deletion_rules.GUARDED

READY_INTERVAL_S = 1.0
"""Between two looks at a snapshot of a plugin."""

CALL_TIMEOUT_S = 120.0
"""As long as Nomad gives a controller. Source: hashicorp/nomad, ``client/csi_endpoint.go``, 2026-08-21."""

_ANY = (capability.VolumeCapability(access_mode="single-node-writer", attachment_mode="file-system"),)
_OUT_OF_REACH = frozenset({"", "UNAVAILABLE", "DEADLINE_EXCEEDED"})
_WITHOUT_SNAPSHOT = "without a last snapshot: --skip-final-snapshot, in a spec skip_final_snapshot: true"
_EC2_NOT_FOUND = "InvalidVolume.NotFound"
"""What the EBS driver repeats of EC2, with another code than ``NOT_FOUND``."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How a last snapshot is waited for."""

    wait_s: float
    cancelled: threading.Event
    tell: Callable[[str], None]


class Way(Protocol):
    """One way to delete storage."""

    def check(self, *, with_snapshot: bool) -> None:
        """Raise `errors.RefusedError` where this way cannot be gone; changes nothing."""

    def is_there(self, external_id: str) -> bool:
        """Return whether the storage is there, as far as this can be seen."""

    def snapshot(self, external_id: str, tags: Mapping[str, str], patience: Patience) -> str:
        """Take a last snapshot, wait until its data is safe, and return its id."""

    def delete(self, external_id: str, last_look: Callable[[], None]) -> None:
        """Delete the storage, which may be gone; *last_look* is called right before it is ordered, and may raise."""


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """EBS volumes and access points of EFS, by AWS's API."""

    aws_region: str

    def check(self, *, with_snapshot: bool) -> None:
        """Do nothing: AWS itself refuses what must not be."""

    def is_there(self, external_id: str) -> bool:
        """Ask AWS. Raises `errors.AwsError`."""
        return deletion.look(external_id, self.aws_region) is not None

    def snapshot(self, external_id: str, tags: Mapping[str, str], patience: Patience) -> str:
        """Take it of an EBS volume; of an access point no data is deleted, and none is taken."""
        if deletion.kind_of(external_id) != "ebs":
            return ""
        for other in final_snapshot.pending(external_id, self.aws_region):
            self._wait(other, patience)
        made = final_snapshot.take(external_id, self.aws_region, tags)
        self._wait(made, patience)
        return made

    def _wait(self, snapshot_id: str, patience: Patience) -> None:
        final_snapshot.wait(
            snapshot_id,
            self.aws_region,
            wait_s=patience.wait_s,
            cancelled=patience.cancelled,
            tell=patience.tell,
        )

    def delete(self, external_id: str, last_look: Callable[[], None]) -> None:
        """Delete it. Raises `errors.AwsError`."""
        deletion.delete(external_id, self.aws_region, last_look=last_look)


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """Whatever a CSI plugin made, by its controller."""

    endpoint: str
    """``unix:///run/csi.sock``, a path, ``HOST:PORT``, or ``ssh://HOST/run/csi.sock``."""

    provider: str
    """The name that the plugin must answer: that of the plugin in Nomad."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    accepts_unguarded: bool = False
    timeout_s: float = CALL_TIMEOUT_S

    def check(self, *, with_snapshot: bool) -> None:
        """See that it is the right plugin, that it can do what is wanted, and that its storage can say no."""
        with self._connected() as connection:
            name = identity.get_plugin_info(connection, timeout_s=self.timeout_s).name
            rpcs = controller.controller_get_capabilities(connection, timeout_s=self.timeout_s).rpcs
        if name != self.provider:
            raise errors.RefusedError(f"{self.endpoint} is plugin {name}, and the volume is one of {self.provider}")
        needed = ["CREATE_DELETE_VOLUME", *(["CREATE_DELETE_SNAPSHOT"] if with_snapshot else [])]
        if lacking := [rpc for rpc in needed if rpc not in rpcs]:
            fix = f"; {_WITHOUT_SNAPSHOT}" if lacking == ["CREATE_DELETE_SNAPSHOT"] else ""
            raise errors.RefusedError(f"plugin {name} lacks {', '.join(lacking)}{fix}")
        if name not in GUARDED and not self.accepts_unguarded:
            raise errors.RefusedError(
                f"the storage of plugin {name} does not refuse to be deleted while it is in use: whoever registers "
                "and claims it after the last look loses it; see that nobody will, and say so: --accept-unguarded, "
                "in a spec accept_unguarded: true"
            )

    def is_there(self, external_id: str) -> bool:
        """Have the plugin validate it; one that cannot tell says yes. Raises `errors.CsiError`: out of reach."""
        with self._connected() as connection:
            try:
                controller.validate_volume_capabilities(
                    connection, volume_id=external_id, capabilities=_ANY, secrets=self.secrets, timeout_s=self.timeout_s
                )
            except errors.CsiError as error:
                if error.code in _OUT_OF_REACH:
                    raise
                return error.code != "NOT_FOUND" and _EC2_NOT_FOUND not in error.message
        return True

    def snapshot(self, external_id: str, _tags: Mapping[str, str], patience: Patience) -> str:
        """Take it by CSI. The same name means the same snapshot, so it is asked for again until it is ready."""
        name = f"final-{external_id}-{time.time_ns()}"
        deadline = time.monotonic() + patience.wait_s
        with self._connected() as connection:
            while True:
                made = snapshots.create_snapshot(
                    connection,
                    source_volume_id=external_id,
                    name=name,
                    secrets=self.secrets,
                    timeout_s=self.timeout_s,
                )
                if made.ready:
                    return made.snapshot_id
                patience.tell(f"snapshot {made.snapshot_id} is not ready")
                if time.monotonic() >= deadline:
                    raise errors.CsiError(self.endpoint, f"snapshot {made.snapshot_id} is not ready")
                if patience.cancelled.wait(READY_INTERVAL_S):
                    raise errors.CancelledError(f"cancelled while snapshot {made.snapshot_id} was not ready")

    def delete(self, external_id: str, last_look: Callable[[], None]) -> None:
        """Have the plugin delete it. Raises `errors.CsiError`."""
        with self._connected() as connection:
            identity.get_plugin_info(connection, timeout_s=self.timeout_s)  # connected, so that nothing is waited for
            last_look()
            controller.delete_volume(connection, volume_id=external_id, secrets=self.secrets, timeout_s=self.timeout_s)

    @contextmanager
    def _connected(self) -> Iterator[channel.Connection]:
        with forward.reached(self.endpoint) as reached:
            where = endpoint.parse(reached.local)
            endpoint.check(where)
            with channel.connect(where, attempt_s=self.timeout_s) as connection:
                try:
                    yield connection
                except errors.CsiError as error:
                    raise reached.renamed(error) from error
