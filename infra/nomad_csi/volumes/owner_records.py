"""
Owner records: their format in Nomad variables, and the rules for changing them. Pure.

A registration has no field for its owner. A Nomad variable can hold one, and is written by check-and-set. Each volume
and each plugin job has a variable of its own, in its namespace, at `path_of` its id; each field of `OwnerRecord` is an
item of that variable, and empty fields are left out. The format is that of release 0.1.0, and is kept.
"""

import dataclasses
import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.spec import names
from nomad_csi.volumes import facts

FOLDER = "nomad-csi/volumes"
"""Folder of the variables of volumes."""

JOB_FOLDER = "nomad-csi/jobs"
"""Folder of the variables of plugin jobs."""

NOT_AN_ID = "~"
"""Name in a folder that `path_of` gives no object."""

ID = "id"
"""Item with the object's id, as the path does not show every id."""

MAXIMUM_PATH = 128
"""Characters of a path. Source: hashicorp/nomad, ``nomad/structs/variables.go`` (``validVariablePath``), 2026-08-21."""

NONCE_BYTES = 6


def new_nonce() -> str:
    """Return a new nonce of an object: 12 hexadecimal digits."""
    return secrets.token_hex(NONCE_BYTES)


def path_of(object_id: str, folder: str = FOLDER) -> str:
    """
    Return the path of the variable with the owner record of *object_id*: ``nomad-csi/volumes/data~5b0~5d``.

    A path has letters, digits, ``-`` and ``_``; each byte of another character of the id is ``~`` and two hexadecimal
    digits. An id that is too long for a path becomes ``~~`` and its SHA-256 digest.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", lambda found: "".join(f"~{byte:02x}" for byte in found[0].encode()), object_id)
    path = f"{folder}/{name}"
    return path if len(path) <= MAXIMUM_PATH else f"{folder}/~~{hashlib.sha256(object_id.encode()).hexdigest()}"


@dataclass(frozen=True, kw_only=True)
class OwnerRecord:
    """Which stack owns an object, and which storage was created for it. As text it is the owner."""

    owner: str
    """``project/stack``; can change at any time."""

    stack_id: str = ""
    """The stack's random id, kept in its state; empty: written by a command, which knows the owner alone."""

    nonce: str = ""
    """The random id of the resource that acquired the object; empty as above."""

    created_name: str = ""
    """Of a volume that its plugin creates: the name of the storage, with a nonce in it; written before the creation."""

    registered_name: str = ""
    """Of one that was taken over instead: its name in Nomad, by which its plugin may find the storage."""

    external_id: str = ""
    """The id of the storage; empty: not known yet."""

    plugin_id: str = ""
    """The plugin that has the storage."""

    def __str__(self) -> str:
        return self.owner

    @property
    def keeps_storage(self) -> bool:
        """Whether it keeps storage that a plugin created."""
        return bool(self.storage_name and self.external_id)

    @property
    def storage_name(self) -> str:
        """The name by which its plugin finds the storage of the id; empty: none is kept for it."""
        return self.created_name or self.registered_name

    @property
    def storage(self) -> str:
        """The storage that is kept for the id, for messages."""
        return self.external_id or f"named {self.storage_name}"

    def without_storage(self) -> "OwnerRecord":
        """Return the record once its storage is given up."""
        return dataclasses.replace(self, created_name="", registered_name="", external_id="", plugin_id="")

    def to_items(self) -> dict[str, str]:
        """Return the items of the variable, without the object's id."""
        return {name: value for name, value in dataclasses.asdict(self).items() if value}

    @classmethod
    def from_items(cls, items: Mapping[str, str]) -> "OwnerRecord":
        """Return the record in the *items* of a variable; one without an owner is still a record."""
        return cls(**{field.name: items.get(field.name, "") for field in dataclasses.fields(cls)})


NO_RECORD = OwnerRecord(owner="")
"""Represents a missing record."""


@dataclass(frozen=True, kw_only=True)
class OwnerToken:
    """What a resource knows about the object that it owns, and writes to its record."""

    recorded: str = ""
    """The nonce in its state; empty: none."""

    nonce: str = ""
    """The nonce to write to the record; empty: keep the record's."""

    created_name: str = ""
    """The name by which its plugin is to create the storage. The record's stays where it has one."""

    registered_name: str = ""
    """Of storage that is taken over; as above."""

    external_id: str = ""
    """The id of the storage. The record's stays where its plugin finds it by a name; else the requester names it."""

    plugin_id: str = ""
    """Its plugin; as above."""

    leaves_stack: bool = False
    """Whether the volume is removed: a later stack of the same label may declare it again."""

    def is_proof_of(self, record: OwnerRecord) -> bool:
        """Return whether *record* has one of these nonces."""
        return bool(record.nonce) and record.nonce in {self.recorded, self.nonce}


NO_TOKEN = OwnerToken()
"""The token of a command, which has no state."""


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

    def may_have(self, record: OwnerRecord | None, token: OwnerToken = NO_TOKEN) -> bool:
        """
        Return whether this requester may acquire an object with the owner *record*; without a record it may.

        The object's nonce decides, then the stack's id. The label decides only where one of the two has no id.
        """
        if record is None or not record.owner:
            return True
        return self.adopts or token.is_proof_of(record) or self.is_same_stack(record)

    def is_same_stack(self, record: OwnerRecord) -> bool:
        """Return whether *record* names this stack, whichever of its resources has the nonce."""
        if self.stack_id and record.stack_id:
            return self.stack_id == record.stack_id
        return record.owner in {self.owner, self.former} - {""}


def requester(news: Mapping[str, Any], recorded: Mapping[str, Any]) -> Requester:
    """Return who requests the object of *news*; *recorded* are its previous outputs, empty for a new one."""
    return Requester(
        owner=str(news.get("owner", "")),
        stack_id=str(news.get("ownerId", "")).replace(names.UNKNOWN, ""),
        former=str(recorded.get("owner", "")),
        adopts=bool(news.get("adopt")),
        is_recorded=bool(recorded),
    )


NO_OWNER = Requester()
"""A requester without an owner, that takes over nothing."""


def acquired(before: OwnerRecord | None, token: OwnerToken, requester: Requester) -> OwnerRecord | None:
    """
    Return the record of an object once *requester*, which may have it, acquired it; ``None``: it has no owner then.

    A command keeps the ids of its stack: it changes the owner alone. The storage of the id stays in the record, whoever
    acquires it.
    """
    before = before or NO_RECORD
    if not requester.owner:
        is_kept = before.storage_name or before.external_id
        return dataclasses.replace(before, owner="", stack_id="", nonce="") if is_kept else None
    same = before if before.owner == requester.owner else NO_RECORD
    # Whoever registers storage that exists names it; what a plugin finds by a name in the record stays.
    is_named = bool(token.external_id) and not (before.storage_name or token.created_name or token.registered_name)
    kept = dataclasses.replace(before, external_id="", plugin_id="") if is_named else before
    return OwnerRecord(
        owner=requester.owner,
        stack_id="" if token.leaves_stack else requester.stack_id or same.stack_id,
        nonce=token.nonce or same.nonce,
        created_name=before.created_name or ("" if before.registered_name else token.created_name),
        registered_name=before.registered_name or ("" if before.created_name else token.registered_name),
        external_id=kept.external_id or token.external_id,
        plugin_id=kept.plugin_id or token.plugin_id,
    )


def is_released_by(record: OwnerRecord, token: OwnerToken, requester: Requester) -> bool:
    """Return whether *record* belongs to *requester*, and not to another resource of its stack."""
    if not requester.may_have(record, token):
        return False
    return not (token.recorded and record.nonce) or token.recorded == record.nonce


# What a resource of a stack knows of its object, compared with the record.


def next_token(recorded: str, *, is_same: bool) -> OwnerToken:
    """
    Return the *recorded* nonce, and the one to write.

    They are equal while the stack, and what a removal does, *is_same*. Another stack gets a new nonce, so that a copy
    of the state under the old stack does not own the volume any more; so does another ``onDestroy``, so that an older
    state does not bring back a deletion that was withdrawn.
    """
    return OwnerToken(recorded=recorded, nonce=recorded if recorded and is_same else new_nonce())


def naming(token: OwnerToken, document: registration.VolumeRegistration) -> OwnerToken:
    """Return *token* with the existing storage of *document*: no empty storage is created for its id then."""
    external_id = document.external_id.replace(names.UNKNOWN, "")
    return dataclasses.replace(token, external_id=external_id, plugin_id=document.plugin_id)


def compare_record(
    record: OwnerRecord | None, who: Requester, recorded: Mapping[str, Any], *, is_unread: bool
) -> facts.Record:
    """Return whose *record* it is for *who*, with the *recorded* outputs; *is_unread*: the token may not read it."""
    if record is None or not record.owner:
        return "not known" if record is None and is_unread else "none"
    nonce = str(recorded.get("nonce", ""))
    if not dataclasses.replace(who, adopts=False).may_have(record, OwnerToken(recorded=nonce)):
        return "foreign"
    return "own" if record.nonce in {"", nonce} else "sibling"


def has_created(record: OwnerRecord | None, who: Requester, volume: volumes.Volume) -> bool:
    """Return whether the plugin created the storage of *volume* for it and for *who*, by its owner *record*."""
    if record is None or not record.created_name or not who.is_same_stack(record):
        return False
    return record.created_name == volume.name and record.external_id in {"", volume.external_id}


def is_another_resources(record: OwnerRecord | None, recorded: Mapping[str, Any]) -> bool:
    """Return whether *record* has the nonce of another resource of the stack than that of the *recorded* outputs."""
    if record is None or record.nonce in {"", recorded.get("nonce", "")}:
        return False
    return requester(recorded, recorded).is_same_stack(record)
