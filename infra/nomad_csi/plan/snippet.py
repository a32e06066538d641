"""The blocks of a job that uses a volume: ``volume``, and ``volume_mount`` in its tasks. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nomad_csi import errors
from nomad_csi.plan import registration

READERS = frozenset({"single-node-reader-only", "multi-node-reader-only"})
"""Access modes for which Nomad accepts only a volume block with ``read_only = true``.
Source: hashicorp/nomad, ``nomad/structs/volumes.go`` (``VolumeRequest.Validate``), 2026-11."""

ALONE = frozenset({"single-node-reader-only", "single-node-writer"})
"""Access modes that allow only one allocation. Source: as above."""


@dataclass(frozen=True, kw_only=True)
class Snippet:
    """The blocks for one volume, or for a set of volumes with one for each allocation."""

    namespace: str
    """Namespace of the volume; the job must be in the same."""

    source: str
    label: str
    """Name of the volume in the tasks."""

    access_mode: str
    attachment_mode: str
    others: tuple[str, ...]
    """Other pairs of modes that the volume may be claimed with."""

    read_only: bool
    count: int | None
    """Number of volumes in the set; ``None``: not a set."""

    destination: str

    @property
    def per_alloc(self) -> bool:
        """Whether each allocation uses the volume of its index."""
        return self.count is not None

    @property
    def is_alone(self) -> bool:
        """Whether only one allocation can use the volume."""
        return self.count is None and self.access_mode in ALONE

    def blocks(self) -> dict[str, Any]:
        """Return the blocks of one volume as data, by their names: ``volume`` and ``volume_mount``."""
        return {
            "namespace": self.namespace,
            "name": self.label,
            "volume": {
                "type": "csi",
                "source": self.source,
                "access_mode": self.access_mode,
                "attachment_mode": self.attachment_mode,
                "read_only": self.read_only,
            },
            "volume_mount": {
                "volume": self.label,
                "destination": self.destination,
                "read_only": self.read_only,
            },
        }


def make_snippet(
    volumes: Sequence[registration.VolumeRegistration], source: str, *, reads: bool = False, destination: str = ""
) -> Snippet:
    """
    Return the snippet for *volumes*: the volume with the id *source*, or all of the set *source*.

    Args:
        volumes: in the order of their indexes.
        source: the id that the job names.
        reads: whether the job only reads.
        destination: mount point in the tasks; empty: its name below ``/`` or ``/dev``.

    Raises:
        errors.SpecError: the volumes of the set have no pair of modes in common.

    """
    first = volumes[0]
    is_set = first.volume_id != source
    modes = [item for item in first.capabilities if all(item in other.capabilities for other in volumes)]
    if not modes:
        allowed = "capabilities that all its volumes have"
        raise errors.SpecError((errors.Problem(path=source, got="none", allowed=allowed),))
    fitting = [item for item in modes if (item.access_mode in READERS) == reads]
    chosen = (fitting or modes)[0]
    label = source.partition("[")[0]
    usual = f"/dev/{label}" if chosen.attachment_mode == "block-device" else f"/{label}"
    return Snippet(
        namespace=first.namespace,
        source=source,
        label=label,
        access_mode=chosen.access_mode,
        attachment_mode=chosen.attachment_mode,
        others=tuple(f"{item.access_mode} {item.attachment_mode}" for item in modes if item != chosen),
        read_only=reads or chosen.access_mode in READERS,
        count=len(volumes) if is_set else None,
        destination=destination or usual,
    )
