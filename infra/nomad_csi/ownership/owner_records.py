"""
Owner records as they stand in Nomad variables, and what may be done to them. Pure.

A registration has no field for its owner. Nomad variables have, and they can be written on the condition that they are
as they were read. There are `PAGES` of them in each namespace; an object's id says which is its page. So the records of
ten thousand volumes are read by sixteen requests, and two who want one volume meet on one page.

A page has two kinds of items. The first is an owner's label and the ids of its objects, ``shop/prod = data[0] mysql``:
all that releases before stack ids wrote, and what they still read. The second is what identifies the owner and each
object, ``~shop/prod#9f86d081884c7d65 = mysql:5e884898da28``: the stack id, and the nonce of each object. Older releases
carry items of the second kind along without knowing them. One whose label is not the object's any more is stale, and is
not read.
"""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

FOLDER = "nomad-csi/volumes"
"""Path of the pages of registrations, in the volume's namespace."""

JOB_FOLDER = "nomad-csi/jobs"
"""Path of the pages of plugin jobs, in the job's namespace."""

PAGES = tuple("0123456789abcdef")
"""Names of the pages. A page holds 64 KiB: some 1,100 volumes with ids of 20 characters."""

NOBODY = "/"
"""The item of a page that is empty and could not be deleted: a variable has at least one. No owner has this label."""

IDENTIFIED = "~"
"""The first character of an item with stack id and nonces; no label begins with it (`spec.names.OWNER`)."""

NONCE_BYTES = 6


def new_nonce() -> str:
    """Return a new nonce of an object: 12 hexadecimal digits."""
    return secrets.token_hex(NONCE_BYTES)


@dataclass(frozen=True, kw_only=True)
class OwnerRecord:
    """Which stack owns an object. As text it is the label."""

    label: str
    """``project/stack``; may change at any time."""

    stack_id: str = ""
    """The owner's random id, kept in its state; empty: written by an older release, or for a label alone."""

    nonce: str = ""
    """The object's own; empty as above."""

    origin: str = ""
    """
    What it was made by. Of a volume that a plugin made, the nonce in its storage's name
    (`plan.registration.made_name`); of a job, a digest of the label in its ``meta`` (`job_ownership`). Empty for all
    others.
    """

    def __str__(self) -> str:
        return self.label


Owners = Mapping[str, OwnerRecord]
"""Id of an object -> its owner, of one page."""


@dataclass(frozen=True, kw_only=True)
class Hold:
    """What one resource knows, and writes, of the object that it holds."""

    recorded: str = ""
    """The nonce that its state has; empty: none."""

    nonce: str = ""
    """The nonce that the record gets; empty: what it has stays."""

    origin: str = ""
    """What the object is made by, as `OwnerRecord.origin`; empty: what the record has stays."""

    def is_proof_of(self, record: OwnerRecord) -> bool:
        """Return whether *record* has one of these nonces."""
        return bool(record.nonce) and record.nonce in {self.recorded, self.nonce}


NO_HOLD = Hold()


@dataclass(frozen=True, kw_only=True)
class Requester:
    """The stack that asks for objects, or one without a name."""

    owner: str = ""
    """``project/stack``; empty: nobody that leaves a record."""

    stack_id: str = ""
    """The stack's random id; empty: known by its label alone, as on the command line."""

    former: str = ""
    """The label that its state has."""

    adopts: bool = False
    """Whether others' objects are taken over."""

    is_recorded: bool = False
    """Whether the object was made by the same one before."""

    def may_have(self, record: OwnerRecord | None, hold: Hold = NO_HOLD) -> bool:
        """
        Return whether an object with the owner *record* may be taken; without a record it may.

        The object's nonce verifies it, then the stack's id. A label counts only where one of the two has no id.
        """
        return record is None or self.adopts or hold.is_proof_of(record) or self.is_same_stack(record)

    def is_same_stack(self, record: OwnerRecord) -> bool:
        """Return whether *record* names this stack, whatever object of it holds the nonce."""
        if self.stack_id and record.stack_id:
            return self.stack_id == record.stack_id
        return record.label in {self.owner, self.former} - {""}


NO_OWNER = Requester()
"""One without a name, that takes nothing from others."""


@dataclass(frozen=True, kw_only=True)
class AcquiredKeys:
    """The result of taking objects of one page."""

    owners: Owners
    """The page as it is to be."""

    refused: Owners
    """Those that belong to others, with their owners."""

    fresh: frozenset[str]
    """Those that had no record before."""

    adopted: Owners
    """Those that another stack owned before, with that."""


def page_of(object_id: str, folder: str = FOLDER) -> str:
    """Return the path of the variable with the owner record of *object_id*."""
    return f"{folder}/{hashlib.sha256(object_id.encode()).hexdigest()[0]}"


def read(items: Mapping[str, str]) -> dict[str, OwnerRecord]:
    """Return the owners that stand in the *items* of a page."""
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
            object_id, nonce, origin, *_ = f"{token}::".split(":")
            if labels.get(object_id) == label:
                found[object_id] = OwnerRecord(label=label, stack_id=stack_id, nonce=nonce, origin=origin)
    return found


def written(owners: Owners) -> dict[str, str]:
    """Return the items of a page with *owners*."""
    found: dict[str, list[str]] = {}
    for object_id, owner in sorted(owners.items()):
        found.setdefault(owner.label, []).append(object_id)
        if owner.stack_id or owner.nonce or owner.origin:
            found.setdefault(f"{IDENTIFIED}{owner.label}#{owner.stack_id}", []).append(_token(object_id, owner))
    return {name: " ".join(texts) for name, texts in sorted(found.items())}


def _token(object_id: str, owner: OwnerRecord) -> str:
    return ":".join([object_id, owner.nonce, *([owner.origin] if owner.origin else [])])


def taken(owners: Owners, wanted: Mapping[str, Hold], requester: Requester) -> AcquiredKeys:
    """Return what becomes of a page when *requester* takes those of the *wanted* objects that it may have."""
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
    """Return the record of an object that *requester* takes; who knows its label alone changes nothing else."""
    kept = before if before is not None and before.label == requester.owner else OwnerRecord(label="")
    return OwnerRecord(
        label=requester.owner,
        stack_id=requester.stack_id or kept.stack_id,
        nonce=hold.nonce or kept.nonce,
        origin=hold.origin or (before.origin if before else ""),
    )


def released(owners: Owners, held: Mapping[str, Hold], requester: Requester) -> dict[str, OwnerRecord]:
    """Return what becomes of a page when *requester* gives up the objects *held*; records of others stay."""
    gone = {object_id for object_id, hold in held.items() if _is_held(owners.get(object_id), requester, hold)}
    return {object_id: owner for object_id, owner in owners.items() if object_id not in gone}


def _is_held(record: OwnerRecord | None, requester: Requester, hold: Hold) -> bool:
    """Return whether *record* is that of *requester*, and not of another resource of its stack."""
    if record is None or not requester.may_have(record, hold):
        return False
    return not (hold.recorded and record.nonce) or hold.recorded == record.nonce
