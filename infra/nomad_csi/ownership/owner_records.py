"""
Owner records in Nomad variables: their format, and the rules for changing them. Pure.

A registration has no field for its owner. Nomad variables can hold one, and support check-and-set. Each namespace has
`PAGES` of them; an object's id selects its page. So sixteen requests read the records of ten thousand volumes, and two
stacks that want one volume write to one page.

A page has two kinds of items. The first is an owner's label and the ids of its objects, ``shop/prod = data[0] mysql``:
releases before stack ids wrote only these, and still read them. The second identifies the owner and each object by the
stack id and the object's nonce: ``~shop/prod#9f86d081884c7d65 = mysql:5e884898da28``. Older releases keep items of the
second kind unread. An item whose label is no longer the object's is stale, and is ignored.

The record of a volume that its plugin created has the nonce of its storage's name after that. Where ``remove``
deregistered it, the external id and the plugin follow, percent-encoded: ``scratch::a3c024f01cac:vol-0123:aws-ebs0``.
"""

import hashlib
import secrets
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, replace

FOLDER = "nomad-csi/volumes"
"""Path of the pages of registrations, in the volume's namespace."""

JOB_FOLDER = "nomad-csi/jobs"
"""Path of the pages of plugin jobs, in the job's namespace."""

PAGES = tuple("0123456789abcdef")
"""Names of the pages. A page holds 64 KiB: some 1,100 volumes with ids of 20 characters."""

NOBODY = "/"
"""Item of an empty page that could not be deleted, as a variable needs at least one item. No owner has this label."""

IDENTIFIED = "~"
"""The first character of an item with stack id and nonces; no label begins with it (`spec.names.OWNER`)."""

NONCE_BYTES = 6


def new_nonce() -> str:
    """Return a new nonce of an object: 12 hexadecimal digits."""
    return secrets.token_hex(NONCE_BYTES)


@dataclass(frozen=True, kw_only=True)
class KeptStorage:
    """Storage that a plugin created, and that stays when its volume is deregistered."""

    external_id: str
    plugin_id: str


@dataclass(frozen=True, kw_only=True)
class OwnerRecord:
    """Which stack owns an object. As text it is the label."""

    label: str
    """``project/stack``; can change at any time."""

    stack_id: str = ""
    """The owner's random id, kept in its state; empty: written by an older release, or by a label alone."""

    nonce: str = ""
    """The object's random id; empty as above."""

    origin: str = ""
    """
    What the object was created by: for a volume that a plugin created, the nonce in its storage's name
    (`plan.registration.made_name`); for a job, a digest of the label in its ``meta`` (`job_ownership`). Empty for all
    others.
    """

    kept: KeptStorage | None = None
    """The storage of a volume that was deregistered; ``None``: not known. Without meaning while it is registered."""

    def __str__(self) -> str:
        return self.label

    def is_origin_of(self, name: str) -> bool:
        """Return whether storage of this *name* was created for the object: the nonce of the record is in it."""
        return bool(self.origin) and name.endswith(f"-{self.origin}")


Owners = Mapping[str, OwnerRecord]
"""Object id -> owner, of one page."""


@dataclass(frozen=True, kw_only=True)
class Hold:
    """What one resource knows about the object that it holds, and writes to its record."""

    recorded: str = ""
    """The nonce in its state; empty: none."""

    nonce: str = ""
    """The nonce to write to the record; empty: keep the record's."""

    origin: str = ""
    """What the object is created by, as `OwnerRecord.origin`; empty: keep the record's."""

    def is_proof_of(self, record: OwnerRecord) -> bool:
        """Return whether *record* has one of these nonces."""
        return bool(record.nonce) and record.nonce in {self.recorded, self.nonce}


NO_HOLD = Hold()


@dataclass(frozen=True, kw_only=True)
class Requester:
    """The stack that requests objects, or a requester without an owner."""

    owner: str = ""
    """``project/stack``; empty: no owner, writes no record."""

    stack_id: str = ""
    """The stack's random id; empty: identified by its label alone, as on the command line."""

    former: str = ""
    """The label in its state."""

    adopts: bool = False
    """Whether to take over objects of other owners."""

    is_recorded: bool = False
    """Whether the same requester created the object before."""

    def may_have(self, record: OwnerRecord | None, hold: Hold = NO_HOLD) -> bool:
        """
        Return whether this requester may acquire an object with the owner *record*; without a record it may.

        The object's nonce decides, then the stack's id. The label decides only where one of the two has no id.
        """
        return record is None or self.adopts or hold.is_proof_of(record) or self.is_same_stack(record)

    def is_same_stack(self, record: OwnerRecord) -> bool:
        """Return whether *record* names this stack, whichever of its resources has the nonce."""
        if self.stack_id and record.stack_id:
            return self.stack_id == record.stack_id
        return record.label in {self.owner, self.former} - {""}


NO_OWNER = Requester()
"""A requester without an owner, that takes over nothing."""


@dataclass(frozen=True, kw_only=True)
class AcquiredKeys:
    """The result of acquiring objects of one page."""

    owners: Owners
    """The desired owners of the page."""

    refused: Owners
    """Objects of other owners, with these."""

    fresh: frozenset[str]
    """Objects that had no record before."""

    adopted: Owners
    """Objects that another stack owned before, with that owner."""


def page_of(object_id: str, folder: str = FOLDER) -> str:
    """Return the path of the variable with the owner record of *object_id*."""
    return f"{folder}/{hashlib.sha256(object_id.encode()).hexdigest()[0]}"


def read(items: Mapping[str, str]) -> dict[str, OwnerRecord]:
    """Return the owners in the *items* of a page, by object id."""
    labels = {
        object_id: label
        for label, object_ids in items.items()
        if label != NOBODY and not label.startswith(IDENTIFIED)
        for object_id in object_ids.split()
    }
    found = {object_id: OwnerRecord(label=label) for object_id, label in labels.items()}
    for name, tokens in items.items():
        label, _, stack_id = name.removeprefix(IDENTIFIED).rpartition("#")
        for token in tokens.split() if name.startswith(IDENTIFIED) else ():
            object_id, nonce, origin, *kept = f"{token}::".split(":")
            if labels.get(object_id) == label:
                found[object_id] = OwnerRecord(
                    label=label, stack_id=stack_id, nonce=nonce, origin=origin, kept=_kept_storage(*kept)
                )
    return found


def _kept_storage(external_id: str = "", plugin_id: str = "", *_: str) -> KeptStorage | None:
    """Return the storage with these percent-encoded ids; ``None`` where they are empty."""
    read_id = urllib.parse.unquote(external_id)
    return KeptStorage(external_id=read_id, plugin_id=urllib.parse.unquote(plugin_id)) if read_id else None


def written(owners: Owners) -> dict[str, str]:
    """Return the items of a page with *owners*."""
    found: dict[str, list[str]] = {}
    for object_id, owner in sorted(owners.items()):
        found.setdefault(owner.label, []).append(object_id)
        if owner.stack_id or owner.nonce or owner.origin:
            found.setdefault(f"{IDENTIFIED}{owner.label}#{owner.stack_id}", []).append(_token(object_id, owner))
    return {name: " ".join(texts) for name, texts in sorted(found.items())}


def _token(object_id: str, owner: OwnerRecord) -> str:
    kept = [] if owner.kept is None else [owner.kept.external_id, owner.kept.plugin_id]
    encoded = [urllib.parse.quote(item, safe="") for item in kept]
    return ":".join([object_id, owner.nonce, *([owner.origin, *encoded] if owner.origin else [])])


def acquire(owners: Owners, wanted: Mapping[str, Hold], requester: Requester) -> AcquiredKeys:
    """Return the result of a page when *requester* acquires those of the *wanted* objects that it may have."""
    after = dict(owners)
    refused: dict[str, OwnerRecord] = {}
    fresh = set()
    adopted: dict[str, OwnerRecord] = {}
    for object_id, hold in wanted.items():
        before = owners.get(object_id)
        if not requester.may_have(before, hold):
            refused[object_id] = before or OwnerRecord(label="")
            continue
        if requester.owner:
            after[object_id] = _owned(before, requester, hold)
            fresh |= set() if before else {object_id}
        else:
            after.pop(object_id, None)
        if before and str(after.get(object_id, "")) != before.label:
            adopted[object_id] = before
    return AcquiredKeys(owners=after, refused=refused, fresh=frozenset(fresh), adopted=adopted)


def _owned(before: OwnerRecord | None, requester: Requester, hold: Hold) -> OwnerRecord:
    """Return the record of an object that *requester* acquires; one without a stack id changes the label alone."""
    before = before or OwnerRecord(label="")
    same = before if before.label == requester.owner else OwnerRecord(label="")
    origin = same.origin or hold.origin or before.origin
    return OwnerRecord(
        label=requester.owner,
        stack_id=requester.stack_id or same.stack_id,
        nonce=hold.nonce or same.nonce,
        origin=origin,
        kept=before.kept if origin == before.origin else None,
    )


def with_kept_storage(owners: Owners, kept: Mapping[str, KeptStorage]) -> dict[str, OwnerRecord]:
    """Return the *owners* of a page with the storage *kept*, by object id, of those that a plugin created."""
    return {
        object_id: replace(owner, kept=kept.get(object_id, owner.kept)) if owner.origin else owner
        for object_id, owner in owners.items()
    }


def released(owners: Owners, held: Mapping[str, Hold], requester: Requester) -> dict[str, OwnerRecord]:
    """Return the owners of a page after *requester* releases the objects *held*; records of other owners stay."""
    gone = {object_id for object_id, hold in held.items() if _is_own(owners.get(object_id), requester, hold)}
    return {object_id: owner for object_id, owner in owners.items() if object_id not in gone}


def _is_own(record: OwnerRecord | None, requester: Requester, hold: Hold) -> bool:
    """Return whether *record* belongs to *requester*, and not to another resource of its stack."""
    if record is None or not requester.may_have(record, hold):
        return False
    return not (hold.recorded and record.nonce) or hold.recorded == record.nonce
