"""
Volumes that are registered for a part of storage that another volume of the spec makes: guests of its disk or system.

``existing: {external_id: "fs-1:/uploads"}`` is a guest of the ``efs`` volume that made ``fs-1``: with that one removed,
its data would go, too. Which id was made, only a state, a stack's output or Nomad tells. Pure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from nomad_csi.errors import Problem
from nomad_csi.plan import model
from nomad_csi.spec import model as spec

_CONTAINER = re.compile(r"(?:efs:)?((?:fs|vol)-[0-9a-f]{8,40})(?::.*)?")


@dataclass(frozen=True, kw_only=True)
class Guest:
    """A volume in the storage of another one; both by ``namespace/volume_id``."""

    key: str
    owner: str
    container: str
    """The disk or file system."""


def container(external_id: str) -> str:
    """Return the EBS volume or file system of *external_id*: ``fs-1`` of ``fs-1:/a::fsap-2``; empty for other ids."""
    found = _CONTAINER.fullmatch(external_id)
    return found[1] if found else ""


def find(volumes: Iterable[model.VolumePlan], made: Mapping[str, str]) -> Iterator[Guest]:
    """Yield the guests among *volumes*; *made* are the external ids of storage that is made, by key."""
    owners = {container(external_id): key for key, external_id in made.items()} | {"": ""}
    for volume in volumes:
        where = container(volume.registration.external_id)
        owner = owners.get(where, "")
        if volume.source is None and owner and owner != volume.key:
            yield Guest(key=volume.key, owner=owner, container=where)


def check_removed(
    volumes: Mapping[str, spec.VolumeSpec],
    recorded: Mapping[str, str],
    systems: Mapping[str, spec.FileSystemSpec],
) -> Iterator[Problem]:
    """
    Yield each guest of *volumes*, by path, whose owner the spec has no more; *systems* are the spec's file systems.

    *recorded* are what the stack made storage for, by disk or file system: the engine would delete that. It is a volume
    by ``NAMESPACE/ID``, or a file system by its name.
    """
    making = [item for item in volumes.values() if item.ebs or (item.efs and item.efs.makes_file_system)]
    kept = {f"{volume.namespace}/{volume.id}" for volume in making}
    kept |= {"/".join(key) for volume in making if (key := volume.former_key)}
    kept |= {*systems, *(system.moved_from for system in systems.values() if system.moved_from)}
    for path, volume in volumes.items():
        named, external_id = _placed(volume)
        where = container(external_id)
        owner = recorded.get(where, "") if where else ""
        if owner and owner not in kept:
            kind = "volume" if "/" in owner else "file system"
            allowed = f"{kind} {owner} in the spec: {where} was made for it, and goes with it"
            fix = f"keep {owner} while {volume.namespace}/{volume.id} is in its storage, or move the data first"
            yield Problem(path=f"{path}.{named}", got=repr(external_id), allowed=allowed, fix=fix)


def is_placed(volume: spec.VolumeSpec) -> bool:
    """Return whether *volume* names a disk or file system, which may be another one's."""
    return container(_placed(volume)[1]) != ""


def _placed(volume: spec.VolumeSpec) -> tuple[str, str]:
    """Return the key of *volume* that names storage which is there already, and its value; empty: none does."""
    if volume.existing:
        return "existing.external_id", volume.existing.external_id
    return "efs.file_system_id", (volume.efs.file_system_id if volume.efs else None) or ""
