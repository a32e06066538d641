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
from nomad_csi.plan.rules import moved_rules
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


def check_removed(volumes: Mapping[str, spec.VolumeSpec], recorded: Mapping[str, str]) -> Iterator[Problem]:
    """
    Yield each guest of *volumes*, by path, whose owner the spec has no more.

    *recorded* are the volumes that the stack made storage for, by disk or file system: the engine would delete that.
    """
    kept = {f"{volume.namespace}/{volume.id}" for volume in volumes.values() if volume.ebs or volume.efs}
    kept |= {"/".join(key) for volume in volumes.values() if (key := moved_rules.former_key(volume))}
    for path, volume in volumes.items():
        external_id = volume.existing.external_id if volume.existing else ""
        where = container(external_id)
        owner = recorded.get(where, "") if where else ""
        if owner and owner not in kept:
            allowed = f"volume {owner} in the spec: {where} was made for it, and goes with it"
            fix = f"keep {owner} while {volume.namespace}/{volume.id} is in its storage, or move the data first"
            yield Problem(path=f"{path}.existing.external_id", got=repr(external_id), allowed=allowed, fix=fix)
