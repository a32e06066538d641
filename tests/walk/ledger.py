"""
What was written where, and what must not become of it.

Whoever has a volume writes data to its storage. Afterwards that storage may not be deleted, stand for two volumes, or
be exchanged for other storage under a volume, unless that was said of it before, and confirmed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Facts:
    """AWS and the clusters at one moment."""

    storage: frozenset
    """Ids of EBS volumes and EFS file systems."""

    volumes: Mapping
    """The data of each registered volume, by cluster, namespace and volume id."""


def data_of(external_id, folders):
    """
    Return what an external id stands for: ``vol-1``, or folder and file system, ``fs-1:/shared``.

    *folders* are the access points: folder by id. A folder is empty where the access point is gone.
    """
    file_system, colons, point = external_id.partition("::")
    if not colons:
        return file_system.removesuffix(":")
    return f"{file_system}:{folders.get(point, '')}"


def storage_of(data):
    """Return the id of the storage that *data* is on."""
    return data.partition(":")[0]


@dataclass
class Ledger:
    """Data by where it was written, with the volume through which that happened."""

    written: dict = field(default_factory=dict)
    given_up: set = field(default_factory=set)
    """Storage of which the loss was confirmed, and that is gone, or has lost its access point."""

    def judge(self, before, after, allowed=frozenset()):
        """
        Return a sentence for everything that has become of data between the two, and must not have.

        What becomes of data in *allowed* was confirmed. Then everybody writes to what there is.
        """
        standing = set(after.volumes.values())
        self.given_up |= {
            storage for storage in map(storage_of, allowed) if storage not in after.storage or f"{storage}:" in standing
        }
        wrong = [*self._deleted(after, allowed), *self._shared(after), *self._exchanged(before, after, allowed)]
        for volume, data in after.volumes.items():
            if storage_of(data) in after.storage:
                self.written.setdefault(data, volume)
        for data in allowed:
            if storage_of(data) not in after.storage:
                self.written.pop(data, None)
        return wrong

    def _deleted(self, after, allowed):
        for data, volume in self.written.items():
            if storage_of(data) not in after.storage and data not in allowed:
                yield f"{data} is deleted, with what {named(volume)} wrote"
        for volume, data in after.volumes.items():
            if storage_of(data) in self.given_up:
                continue  # left by a run that was killed before it recorded it, or by a state that had forgotten it
            if storage_of(data) not in after.storage or data.endswith(":"):
                yield f"{named(volume)} stands for {data}, which is not there"

    @staticmethod
    def _shared(after):
        users = {}
        for volume, data in after.volumes.items():
            users.setdefault(data, []).append(named(volume))
        for data, sharing in users.items():
            if len(sharing) > 1:
                yield f"{data} is shared by {' and '.join(sorted(sharing))}"

    @staticmethod
    def _exchanged(before, after, allowed):
        for volume, data in before.volumes.items():
            now = after.volumes.get(volume, data)
            if now != data and data not in allowed:
                yield f"{named(volume)} stood for {data}, and stands for {now}"


def named(volume):
    """Return a volume in words."""
    cluster, namespace, volume_id = volume
    return f"{namespace}/{volume_id} in {cluster}"
