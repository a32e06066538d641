"""
Owner records: who owns a volume or a plugin job, and which storage was created for it.

A registration has no field for its owner. A Nomad variable can hold one, and is written by check-and-set: of two
concurrent requesters of one object one is refused. Each volume and each plugin job has a variable of its own, in its
namespace, at `path_of` its id; each field of `OwnerRecord` is an item of that variable, and empty fields are left out.
The format is that of release 0.1.0, and is kept.

A record is written before its object is registered, and removed after it is deregistered. Both are objects of Nomad,
and no request writes both. So two runs of one stack can conflict: one removes the record while the other, which has
read it, registers the volume. Therefore a run that removes a record reads the registration before and after
(`release`), and a run that registers reads the record once more (`confirm`): whichever of the two comes last restores
the record.
"""

import dataclasses
import functools
import hashlib
import re
import secrets
import shlex
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.nomad import request, token_rights, variables, volumes
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


def new_nonce() -> str:
    """Return a new nonce of an object: 12 hexadecimal digits."""
    return secrets.token_hex(6)


def path_of(object_id: str, folder: str = FOLDER) -> str:
    """
    Return the path of the variable with the owner record of *object_id*: ``nomad-csi/volumes/data~5b0~5d``.

    A path has letters, digits, ``-`` and ``_``; each byte of another character of the id is ``~`` and two hexadecimal
    digits. An id that is too long for a path becomes ``~~`` and its SHA-256 digest.
    """
    name = re.sub(r"[^A-Za-z0-9_-]", lambda match: "".join(f"~{byte:02x}" for byte in match[0].encode()), object_id)
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


def requester(new_inputs: Mapping[str, Any], recorded: Mapping[str, Any]) -> Requester:
    """Return who requests the object of *new_inputs*; *recorded* are its previous outputs, empty for a new one."""
    return Requester(
        owner=str(new_inputs.get("owner", "")),
        stack_id=str(new_inputs.get("ownerId", "")).replace(names.UNKNOWN, ""),
        former=str(recorded.get("owner", "")),
        adopts=bool(new_inputs.get("adopt")),
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


# The records in a cluster.


SEEN_S = 5.0
"""Seconds that a record serves reads that only inform."""

ATTEMPTS = 10
"""Attempts to write a record under concurrent writes. Each time one of the writers succeeds."""

ROUNDS = 5
"""Attempts to bring records in line with registrations under concurrent changes."""

RIGHTS = 'variables {{ path "nomad-csi/*" {{ capabilities = ["read", "write", "destroy"] }} }} in namespace {namespace}'
"""What a token needs, in the words of an ACL policy."""
_LACKS = (
    "owner records in namespace {namespace} were not read or not written: the token lacks " + RIGHTS + "; volumes of "
    "other stacks are not recognized, and nothing keeps another stack from taking those of this one"
)

OF_ANOTHER = (
    "choose another id, set adopt: true to take it over, or remove it from this stack with `pulumi state delete`"
)
"""What to do where another stack has an object."""

UNKNOWN = "its owner record was not read: the token lacks " + RIGHTS
"""Message about a volume whose record the token may not read."""

Report = Callable[[str], None]
Edit = Callable[[OwnerRecord | None], OwnerRecord | None]
"""Returns the record that the object is to have; it gets the one that it has."""


def _silent(_line: str) -> None:
    """Report nothing."""


def may_write(token: token_rights.AclToken, key: volumes.Key) -> bool:
    """Return whether *token* may write the record of *key* by its policies, as far as Nomad shows these."""
    is_shown_in_full = not (token.unread or token.is_unlimited)
    return not is_shown_in_full or "write" in token.variable_capabilities(key[0], path_of(key[1]))


def is_any_denied(token: token_rights.AclToken) -> bool:
    """Return whether a policy of *token* denies single owner records of volumes, which a list leaves out then."""
    rules = {rule for policy in token.policies.values() for rule in policy.variables}
    return any(
        path.startswith(f"{FOLDER}/") and "read" not in token.variable_capabilities(namespace, path)
        for namespace, path in rules
    )


@dataclass(frozen=True, kw_only=True)
class VolumeOwners:
    """The owners of volumes, as far as the token may read them."""

    owners: Mapping[volumes.Key, OwnerRecord]
    """Volumes that have a record, with their owners."""

    unread: frozenset[volumes.Key]
    """Volumes whose records the token may not read: they may have one."""


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """What was read at the path of a record."""

    variable: variables.Variable | None
    read_at: float = 0.0
    """By the monotonic clock."""

    is_denied: bool = False
    """Whether the token may not read it."""

    @property
    def record(self) -> OwnerRecord | None:
        return OwnerRecord.from_items(self.variable.items) if self.variable else None


_DENIED = _Entry(variable=None, is_denied=True)


@dataclass(frozen=True, kw_only=True)
class RecordChange:
    """A record before and after a change."""

    before: OwnerRecord | None = None
    after: OwnerRecord | None = None
    is_denied: bool = False
    """Whether the token may not read or not write it; the record is as before then."""

    refused: OwnerRecord | None = None
    """The record of another owner, who has the object."""

    @property
    def is_new(self) -> bool:
        """Whether the object has a record now and had none."""
        return self.before is None and self.after is not None


class _Known:
    """What is known of the records in a folder of one cluster, for all threads."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], _Entry] = {}
        """What was read or written last, by namespace and path."""

        self.reported: set[str] = set()


_KNOWN: weakref.WeakKeyDictionary[nomad.Nomad, dict[str, _Known]] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


class OwnerRecords:
    """The owner records of one cluster. Thread-safe."""

    def __init__(self, client: nomad.Nomad, folder: str = FOLDER) -> None:
        self._nomad = client
        self._folder = folder
        with _LOCK:
            self._known = _KNOWN.setdefault(client, {}).setdefault(folder, _Known())

    # Read.

    def read(self, keys: Iterable[volumes.Key], report: Report = _silent, *, max_age_s: float = 0.0) -> VolumeOwners:
        """
        Return the owners of *keys*, as they were at most *max_age_s* ago.

        Report once each namespace whose records the token may not read. Raises `errors.NomadApiError` where Nomad does
        not answer.
        """
        keys = set(keys)
        oldest = time.monotonic() - max_age_s
        known = {key: entry for key in keys if (entry := self._last_entry(key)) and entry.read_at > oldest}
        wanted = sorted(keys - known.keys())
        known |= zip(wanted, request.read_many(functools.partial(self._read, key) for key in wanted), strict=True)
        unread = frozenset(key for key, entry in known.items() if entry.is_denied)
        for key in sorted(unread):
            self._report_denied(key, report)
        return VolumeOwners(owners={key: entry.record for key, entry in known.items() if entry.record}, unread=unread)

    def known(self, keys: Iterable[volumes.Key]) -> Mapping[volumes.Key, OwnerRecord]:
        """
        Return the owners of those of *keys* that have one.

        Raises `errors.RefusedError` where the token may not read the record of one, `errors.NomadApiError` where Nomad
        does not answer.
        """
        records = self.read(keys)
        if records.unread:
            key = min(records.unread)
            raise errors.RefusedError(f"volume {'/'.join(key)}: {UNKNOWN.format(namespace=key[0])}")
        return records.owners

    def cached(self, key: volumes.Key, report: Report = _silent) -> OwnerRecord | None:
        """
        Return the record, `SEEN_S` old at most; `NO_RECORD` where there is none.

        ``None`` where the token may not read it, which is reported once to *report*.
        """
        records = self.read([key], report, max_age_s=SEEN_S)
        return None if records.unread else records.owners.get(key, NO_RECORD)

    def list_all(self, namespace: str, *, everywhere: bool = False) -> dict[volumes.Key, OwnerRecord]:
        """
        Return all records of *namespace*; *everywhere*: also those of other namespaces, as far as the token may list.

        The list is read on each call; a record that has not changed since an earlier call is not read again. Raises
        `errors.NomadApiError` where the token may not read them, or Nomad does not answer.
        """
        listed = self._list(namespace, everywhere=everywhere)
        return {
            (path[0], each.items.get(ID, each.path)): OwnerRecord.from_items(each.items)
            for path, each in listed.items()
        }

    # Change.

    def acquire(
        self, key: volumes.Key, token: OwnerToken, requester: Requester, report: Report = _silent
    ) -> RecordChange:
        """
        Record *requester* as the owner of the object *key*, and return the change; without an owner only read.

        Where the token may not write the record, report that and its consequence once to *report*. Raises
        `errors.NomadApiError` where it could neither be written nor refused.
        """

        def edited(before: OwnerRecord | None) -> OwnerRecord | None:
            return acquired(before, token, requester) if requester.may_have(before, token) else before

        change = self._change(key, edited)
        if change.is_denied:
            self._report_denied(key, report)
        is_permitted = requester.may_have(change.before, token)
        return change if is_permitted else dataclasses.replace(change, refused=change.before)

    def restore(self, key: volumes.Key, record: OwnerRecord, report: Report = _silent) -> None:
        """Write the removed *record* again. Raises `errors.NomadApiError` where it could not be written."""
        if self._change(key, lambda before: before or record).is_denied:
            self._report_denied(key, report)

    def keep_storage(self, volume: volumes.Volume, report: Report = _silent) -> None:
        """
        Record the storage of the registered *volume* before it is deregistered, where a name of it is recorded.

        Raises `errors.NomadApiError` where it could not be written. Where the token may not, report that to *report*.
        """

        def with_storage(before: OwnerRecord | None) -> OwnerRecord | None:
            if before is None or not before.storage_name or before.external_id:
                return before
            return dataclasses.replace(before, external_id=volume.external_id, plugin_id=volume.plugin_id)

        key = volumes.key_of(volume)
        if self._change(key, with_storage).is_denied:
            self._report_denied(key, report)

    def give_up(self, key: volumes.Key, storage: str, *, is_registered: bool) -> bool:
        """
        Remove *storage*, its external id or its name, from the record of *key*; all of it where it is not registered.

        Return whether the record has it no longer. Raises `errors.NomadApiError` where the record could not be written,
        `errors.RefusedError` where the token may not.
        """

        def given_up(before: OwnerRecord | None) -> OwnerRecord | None:
            if before is None or storage not in {before.external_id, before.storage_name} - {""}:
                return before
            return before.without_storage() if is_registered else None

        change = self._change(key, given_up)
        if change.is_denied:
            raise errors.RefusedError(f"volume {'/'.join(key)}: {UNKNOWN.format(namespace=key[0])}")
        return change.after != change.before

    def release(
        self, key: volumes.Key, token: OwnerToken, requester: Requester, report: Report = _silent
    ) -> OwnerRecord | None:
        """
        Remove the record of *requester* for the object *key*, and return it; the record of another owner stays.

        Raises `errors.NomadApiError` where it could not be removed. Where the token may not, report that to *report*.
        """

        def released(before: OwnerRecord | None) -> OwnerRecord | None:
            is_released = before is not None and is_released_by(before, token, requester)
            return None if is_released else before

        change = self._change(key, released)
        if change.is_denied:
            self._report_denied(key, report)
        return change.before if change.after is None else None

    def _change(self, key: volumes.Key, edit: Edit) -> RecordChange:
        """Apply *edit* to the record, also under concurrent writes. Raises `errors.NomadApiError` where that failed."""
        # What was seen some time ago serves a write, which fails if it is something else by now.
        known = self._last_entry(key)
        if known is not None and edit(known.record) == known.record:
            known = None
        for _ in range(ATTEMPTS):
            entry, known = known or self._read(key), None
            if entry.is_denied:
                return RecordChange(is_denied=True)
            change = RecordChange(before=entry.record, after=edit(entry.record))
            if change.after == change.before:
                return change
            try:
                if self._write(key, change.after, entry.variable):
                    return change
            except errors.NomadApiError as error:
                if error.status == HTTPStatus.FORBIDDEN:
                    return dataclasses.replace(change, after=change.before, is_denied=True)
                if error.kind != "ambiguous" or self._read(key).record != change.after:
                    raise
                return change
        path = f"/v1/var/{self._path(key)[1]}"
        raise errors.NomadApiError(
            "PUT", path, f"check-and-set conflict in each of {ATTEMPTS} attempts", kind="retry", advice="run it again"
        )

    # Variables.

    def _read(self, key: volumes.Key) -> _Entry:
        """Return what is at the path of *key*."""
        path = self._path(key)
        try:
            return self._note(path, variables.get(self._nomad, *path))
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return _DENIED

    def _list(self, namespace: str, *, everywhere: bool = False) -> dict[tuple[str, str], variables.Variable]:
        """Return the variables of *namespace*, or of all, by namespace and path; those that have changed are read."""
        # A list of variables that the token may not read is empty, and no error; a read is refused.
        variables.get(self._nomad, namespace, f"{self._folder}/{NOT_AN_ID}")
        indexes = variables.list_all(self._nomad, "*" if everywhere else namespace, f"{self._folder}/")
        known = {path: last.variable for path in indexes if (last := self._known.entries.get(path)) and last.variable}
        listed = {path: variable for path, variable in known.items() if variable.modify_index >= indexes[path]}
        changed = sorted(indexes.keys() - listed.keys())
        read = request.read_many(functools.partial(variables.get, self._nomad, *path) for path in changed)
        for path, variable in zip(changed, read, strict=True):
            self._note(path, variable)
            if variable is not None:
                listed[path] = variable
        return listed

    def _last_entry(self, key: volumes.Key) -> _Entry | None:
        return self._known.entries.get(self._path(key))

    def _note(self, path: tuple[str, str], variable: variables.Variable | None) -> _Entry:
        self._known.entries[path] = entry = _Entry(variable=variable, read_at=time.monotonic())
        return entry

    def _write(self, key: volumes.Key, record: OwnerRecord | None, old: variables.Variable | None) -> bool:
        """Write *record*, or delete the variable, if it is still as *old*; return false on a conflict."""
        path, index = self._path(key), old.modify_index if old else variables.NEW
        if record is None:
            written, is_written = None, variables.delete(self._nomad, *path, index=index)
        else:
            written = variables.put(self._nomad, *path, {ID: key[1], **record.to_items()}, index=index)
            is_written = written is not None
        if is_written:
            self._note(path, written)
        return is_written

    def _path(self, key: volumes.Key) -> tuple[str, str]:
        return key[0], path_of(key[1], self._folder)

    # Reports.

    def _report_denied(self, key: volumes.Key, report: Report) -> None:
        """Report once that the token may not read or write records in the namespace of *key*, and what follows."""
        line = _LACKS.format(namespace=key[0])
        if report is not _silent and line not in self._known.reported:
            self._known.reported.add(line)
            report(line)


def way_to_give_up(key: volumes.Key, storage: str, owner: str) -> str:
    """Return the command that gives up *storage*, which the record of *owner* keeps for the id *key*."""
    acting = ["--owner", owner] if owner else []
    return f"`{shlex.join(['nomad-csi', 'remove', '/'.join(key), '--forget', storage, *acting])}`"


def sentence(key: volumes.Key, owner: OwnerRecord) -> str:
    """Return a sentence with the stack that owns a volume; the id distinguishes two stacks of one label."""
    stack_id = f" (stack id {owner.stack_id})" if owner.stack_id else ""
    return f"volume {'/'.join(key)} belongs to stack {owner}{stack_id}"


# The record of a volume, kept in line with its registration: there while it is registered, removed when it is not.


@dataclass(frozen=True, kw_only=True)
class VolumeOwner:
    """The owner record of the volume *key*, for a requester."""

    client: nomad.Nomad
    key: volumes.Key
    token: OwnerToken = NO_TOKEN
    requester: Requester
    report: Report = _silent

    def acquire(self) -> RecordChange:
        """Acquire the volume as `OwnerRecords.acquire`. Raises `errors.RefusedError` where another owner has it."""
        taken = OwnerRecords(self.client).acquire(self.key, self.token, self.requester, self.report)
        if taken.refused is not None:
            raise refusal(self.key, taken.refused)
        return taken

    def release(self) -> None:
        """
        Remove the record of the requester where the volume is not registered; that of another owner stays.

        A record that is kept, or restored, because of a concurrent registration is reported. Raises
        `errors.NomadApiError` where Nomad does not answer, or it could be neither removed nor restored.
        """
        if self._settle():
            self.report(f"registered meanwhile: {'/'.join(self.key)}; its owner record stays")

    def try_release(self) -> None:
        """Remove the record as `release`; report where it stays because Nomad does not answer."""
        try:
            self.release()
        except errors.NomadApiError as error:
            self.report(f"{error}; the owner record of {'/'.join(self.key)} stays")

    def confirm(self) -> OwnerRecord | None:
        """
        Restore the removed record of a volume that was registered; return that of another owner, if it has one.

        Raises `errors.NomadApiError` where Nomad does not answer.
        """
        if not self.requester.owner:
            return None
        own = dataclasses.replace(self, requester=dataclasses.replace(self.requester, adopts=False))
        records = OwnerRecords(self.client)
        taken = records.acquire(self.key, self.token, own.requester, self.report)
        if taken.is_new:  # the record was removed, and so may the registration be
            own._settle()  # noqa: SLF001  # of its own class
        return taken.refused

    def _settle(self) -> bool:
        """Remove and restore the record until it matches the registration; return whether there is one at the end."""
        records, removed, has_record = OwnerRecords(self.client), None, True
        for _ in range(ROUNDS):
            is_registered = volumes.get(self.client, *self.key) is not None
            if is_registered is has_record:
                break
            if not is_registered:
                removed = records.release(self.key, self.token, self.requester, self.report) or removed
            elif removed is not None:
                records.restore(self.key, removed, self.report)
            has_record = is_registered
        return has_record


class LostError(errors.RefusedError):
    """A volume is registered as wanted, and another stack acquired it at the same time."""

    def __init__(self, key: volumes.Key, owner: OwnerRecord) -> None:
        owned = sentence(key, owner)
        super().__init__(f"{owned} now, and was registered by this run: resolve the ownership")
        self.owner = str(owner)


def refusal(key: volumes.Key, owner: OwnerRecord) -> errors.RefusedError:
    """Return the refusal of a volume that *owner* owns."""
    return errors.RefusedError(f"{sentence(key, owner)}: {OF_ANOTHER}")
