"""
How e27e896 reads and writes owner records: a copy of its rule, for a fleet in which some stacks still run it.

Source: ``infra/nomad_csi/ownership/owner_records.py`` at e27e896: ``page_of``, ``read``, ``written``, ``taken``,
``released``, ``Requester.may_have``; of ``registration_pages.py`` there, that an empty page is deleted. Kept as it was,
to be compared with: it takes no part in the product, and changes no more.
"""

import hashlib
from dataclasses import dataclass

FOLDER = "nomad-csi/volumes"
NOBODY = "/"


@dataclass(frozen=True, kw_only=True)
class Requester:
    """A stack, by its label, as that release knows it."""

    owner: str
    former: str = ""
    adopts: bool = False

    def may_have(self, owner):
        """Return whether a volume of *owner* is free to take; an empty one is free."""
        return not owner or self.adopts or owner in {self.owner, self.former}


def page_of(volume_id):
    """Return the path of the variable with the owner of *volume_id*."""
    return f"{FOLDER}/{hashlib.sha256(volume_id.encode()).hexdigest()[0]}"


def read(items):
    """Return owner by volume id."""
    return {
        volume_id: owner for owner, volume_ids in items.items() if owner != NOBODY for volume_id in volume_ids.split()
    }


def written(owners):
    """Return the items of a page."""
    found = {}
    for volume_id, owner in sorted(owners.items()):
        found.setdefault(owner, []).append(volume_id)
    return {owner: " ".join(volume_ids) for owner, volume_ids in sorted(found.items())}


def take(items, volume_ids, requester):
    """Return the items of a page after *requester* took what it may have of *volume_ids*, and what it was refused."""
    owners = read(items)
    refused = {item: owners[item] for item in volume_ids if not requester.may_have(owners.get(item, ""))}
    return written(owners | {item: requester.owner for item in volume_ids if item not in refused}), refused


def release(items, volume_ids, requester):
    """Return the items of a page after *requester* gave up *volume_ids*; those of others stay."""
    owners = read(items)
    gone = {item for item in volume_ids if requester.may_have(owners.get(item, ""))}
    return written({item: owner for item, owner in owners.items() if item not in gone})
