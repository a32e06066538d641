"""
Whose registrations are: the marks as they stand in Nomad variables, and what may be done to them. Pure.

A registration has no place for a mark of its own. Nomad variables have, and they can be written on the condition that
nobody else has written them meanwhile. There are `PAGES` of them in each namespace; a volume's id says which is its
page. So the marks of ten thousand volumes are read by sixteen requests, and two who want one volume meet on one page.
An item of a page is an owner and the ids of its volumes: ``shop/prod = cache data[0] mysql``.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

FOLDER = "nomad-csi/volumes"
"""Path of the pages, in the volume's namespace."""

PAGES = tuple("0123456789abcdef")
"""Names of the pages. A page holds 64 KiB: some three thousand volumes with ids of 20 characters."""

NOBODY = "/"
"""The item of a page that is empty and could not be deleted: a variable has at least one. Nobody is called so."""

Owners = Mapping[str, str]
"""Volume id -> owner, of one page."""


@dataclass(frozen=True, kw_only=True)
class Claimant:
    """Who wants volumes."""

    owner: str = ""
    """``project/stack``; empty: nobody that leaves a mark."""

    former: str = ""
    """What the same one was called before."""

    adopts: bool = False
    """Whether others' volumes are taken over."""

    is_recorded: bool = False
    """Whether the volume was registered by the same one before."""

    def may_have(self, owner: str) -> bool:
        """Return whether a volume with the mark of *owner* is free to take; an empty *owner* is no mark."""
        return not owner or self.adopts or owner in {self.owner, self.former}


ANYBODY = Claimant()
"""One without a name, that takes nothing from others."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What came of taking volumes of one page."""

    owners: Owners
    """The page as it is to be."""

    refused: Owners
    """Those that belong to others, with their owners."""

    fresh: frozenset[str]
    """Those that had no mark before."""

    adopted: Owners
    """Those that had the mark of another before, with that."""


def page_of(volume_id: str) -> str:
    """Return the path of the variable with the mark of *volume_id*."""
    return f"{FOLDER}/{hashlib.sha256(volume_id.encode()).hexdigest()[0]}"


def read(items: Mapping[str, str]) -> dict[str, str]:
    """Return the owners that stand in the *items* of a page."""
    return {
        volume_id: owner for owner, volume_ids in items.items() if owner != NOBODY for volume_id in volume_ids.split()
    }


def written(owners: Owners) -> dict[str, str]:
    """Return the items of a page with *owners*."""
    found: dict[str, list[str]] = {}
    for volume_id, owner in sorted(owners.items()):
        found.setdefault(owner, []).append(volume_id)
    return {owner: " ".join(volume_ids) for owner, volume_ids in sorted(found.items())}


def taken(owners: Owners, volume_ids: Iterable[str], claimant: Claimant) -> Taken:
    """Return what becomes of a page when *claimant* takes those of *volume_ids* that it may have."""
    after = dict(owners)
    refused: dict[str, str] = {}
    fresh = set()
    adopted: dict[str, str] = {}
    for volume_id in volume_ids:
        owner = owners.get(volume_id, "")
        if not claimant.may_have(owner):
            refused[volume_id] = owner
        elif claimant.owner:
            after[volume_id] = claimant.owner
            fresh |= set() if owner else {volume_id}
        else:
            after.pop(volume_id, None)
        if owner and after.get(volume_id) != owner:
            adopted[volume_id] = owner
    return Taken(owners=after, refused=refused, fresh=frozenset(fresh), adopted=adopted)


def released(owners: Owners, volume_ids: Iterable[str], claimant: Claimant) -> dict[str, str]:
    """Return what becomes of a page when *claimant* gives up *volume_ids*; marks of others stay."""
    gone = {volume_id for volume_id in volume_ids if claimant.may_have(owners.get(volume_id, ""))}
    return {volume_id: owner for volume_id, owner in owners.items() if volume_id not in gone}
