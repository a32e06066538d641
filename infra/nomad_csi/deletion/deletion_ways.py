"""
How storage is deleted: by the cloud's own API, or by the controller of its plugin (`deletion_plugin`).

Nomad's *delete* is none of them: on a volume in use it lets the driver delete the data first, and refuses afterwards.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from nomad_csi import errors
from nomad_csi.aws import deletion, final_snapshot
from nomad_csi.csi import presence
from nomad_csi.deletion import deletion_outcome, deletion_snapshot

LEAVING_S = 60.0
"""How long storage may be observed after its deletion was accepted: EC2 takes a while, and so do storage systems."""

LEAVING_INTERVAL_S = 1.0
"""Between two observations of it."""

UNOBSERVABLE = "absence cannot be observed with this driver"


class Way(Protocol):
    """One way to delete storage."""

    def check(self, *, with_snapshot: bool) -> None:
        """Raise `errors.RefusedError` where this way cannot be gone; changes nothing."""

    def observe(self, external_id: str) -> presence.Presence:
        """Return whether the storage exists, as far as this can be observed."""

    def snapshot(
        self, external_id: str, tags: Mapping[str, str], timeouts: deletion_snapshot.SnapshotTimeouts
    ) -> deletion_snapshot.LastSnapshot:
        """Take a last snapshot, wait until its data is safe, and read it back."""

    def delete(self, external_id: str, last_look: Callable[[], None]) -> None:
        """Delete the storage, which may be gone; *last_look* is called right before it is ordered, and may raise."""


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """EBS volumes and access points of EFS, by AWS's API."""

    aws_region: str

    def check(self, *, with_snapshot: bool) -> None:
        """Do nothing: AWS itself refuses what must not be."""

    def observe(self, external_id: str) -> presence.Presence:
        """Ask AWS. Raises `errors.AwsError`."""
        return "absent" if deletion.look(external_id, self.aws_region) is None else "present"

    def snapshot(
        self, external_id: str, tags: Mapping[str, str], timeouts: deletion_snapshot.SnapshotTimeouts
    ) -> deletion_snapshot.LastSnapshot:
        """Take it of an EBS volume; of an access point no data is deleted, and none is taken."""
        if deletion.kind_of(external_id) != "ebs":
            return deletion_snapshot.LastSnapshot()
        for other in final_snapshot.pending(external_id, self.aws_region):
            self._wait(other, timeouts)
        made = final_snapshot.take(external_id, self.aws_region, tags, timeouts.tell)
        self._wait(made, timeouts)
        return deletion_snapshot.LastSnapshot(snapshot_id=made, evidence="EC2 reports it as completed")

    def _wait(self, snapshot_id: str, timeouts: deletion_snapshot.SnapshotTimeouts) -> None:
        final_snapshot.wait(
            snapshot_id,
            self.aws_region,
            wait_s=timeouts.wait_s,
            cancelled=timeouts.cancelled,
            tell=timeouts.tell,
        )

    def delete(self, external_id: str, last_look: Callable[[], None]) -> None:
        """Delete it. Raises `errors.AwsError`."""
        deletion.delete(external_id, self.aws_region, last_look=last_look)


def confirm_absence(way: Way, external_id: str, said: str, *, is_accepted: bool, cancelled: threading.Event) -> str:
    """
    Observe what became of storage that was ordered to go; *said* is the answer, *is_accepted* whether it was a yes.

    Returns what to know where it is gone as far as that can be observed, empty where it is. Raises
    `deletion_outcome.StoppedError` where it is not, or where that could not be determined.
    """
    deadline = time.monotonic() + (LEAVING_S if is_accepted else 0.0)
    while True:
        try:
            found = way.observe(external_id)
        except (errors.AwsError, errors.CsiError) as error:
            raise deletion_outcome.StoppedError("unknown", f"{said}; not observed afterwards: {error}") from error
        if found == "absent":
            return ""
        if found == "unobservable" and is_accepted:
            return UNOBSERVABLE
        if found == "unobservable":
            raise deletion_outcome.StoppedError("unknown", f"{said}; {UNOBSERVABLE}")
        if time.monotonic() >= deadline or cancelled.wait(LEAVING_INTERVAL_S):
            raise deletion_outcome.StoppedError("kept", f"{said}; the storage is still there")
