"""
Owner records of registrations and plugin jobs in a cluster: the first stack that acquires an object owns it.

A record is written before its object is registered, and removed after it is deregistered. It is written with
check-and-set, so that of two concurrent requesters of one object one is refused.

Record and registration are two objects of Nomad, and no request writes both. So two runs of one stack can conflict: one
removes the record while the other, which has read it, registers the volume. Therefore a run that removes a record reads
the registration before and after (`release`), and a run that registers reads the record once more (`confirm`):
whichever of the two comes last restores the record.
"""

import dataclasses
import functools
import shlex
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from nomad_csi import errors, nomad
from nomad_csi.nomad import tokens, variables, volumes
from nomad_csi.nomad.http import request
from nomad_csi.volumes import owner_records

Requester = owner_records.Requester
OwnerRecord = owner_records.OwnerRecord
OwnerToken = owner_records.OwnerToken
NO_OWNER = owner_records.NO_OWNER
NO_TOKEN = owner_records.NO_TOKEN

SEEN_S = 5.0
"""Seconds that a record, or the refusal to read those of a namespace, serves reads that only inform."""

ATTEMPTS = 10
"""Attempts to write a record under concurrent writes. Each time one of the writers succeeds."""

LOST_ATTEMPTS = 3
"""How often a record is read to see whether an unanswered write has arrived."""

ROUNDS = 5
"""Attempts to bring records in line with registrations under concurrent changes."""

_POLICY = 'variables {{ path "nomad-csi/*" {{ capabilities = ["read", "write", "destroy"] }} }}'
RIGHTS = _POLICY + " in namespace {namespace}"
"""What a token needs, in the words of an ACL policy."""
_UNRECORDED = (
    "volumes of namespace {namespace} are registered without an owner record: the token lacks " + RIGHTS + "; nothing "
    "keeps another stack from taking them"
)
_UNREAD = (
    "owner records in namespace {namespace} were not read: the token lacks " + RIGHTS + "; volumes of other stacks are "
    "not recognized"
)

UNKNOWN = "its owner record was not read: the token lacks " + RIGHTS
"""Message about a volume whose record the token may not read."""

Tell = Callable[[str], None]


def _silent(_line: str) -> None:
    """Say nothing."""


def may_write(token: tokens.AclToken, key: volumes.Key) -> bool:
    """Return whether *token* may write the record of *key* by its policies, as far as Nomad shows these."""
    rights = token.variable_capabilities(key[0], owner_records.path_of(key[1]))
    return token.is_unlimited or bool(token.unread) or "write" in rights


@dataclass(frozen=True, kw_only=True)
class Acquired:
    """The result of acquiring an object."""

    refused: OwnerRecord | None = None
    """The record of another owner, who has it."""

    is_new: bool = False
    """Whether it has a record now and had none."""

    is_unrecorded: bool = False
    """Whether it got no record, because the token may not write it."""

    record: OwnerRecord = owner_records.NO_RECORD
    """The record as it is now: the storage that it keeps for the id stays in it."""


@dataclass(frozen=True, kw_only=True)
class VolumeOwners:
    """The owners of volumes, as far as the token may read them."""

    owners: Mapping[volumes.Key, OwnerRecord]
    """Volumes that have a record, with their owners."""

    unread: frozenset[volumes.Key]
    """Volumes whose records the token may not read: they may have one."""


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What was read at the path of a record."""

    variable: variables.Variable | None
    read_at: float = 0.0
    """By the monotonic clock."""

    is_denied: bool = False
    """Whether the token may not read it."""

    @property
    def record(self) -> OwnerRecord | None:
        return OwnerRecord.from_items(self.variable.items) if self.variable else None


@dataclass(frozen=True, kw_only=True)
class _Change:
    """A record before and after a change."""

    before: OwnerRecord | None
    after: OwnerRecord | None
    denied: Literal["", "read", "write"] = ""
    """What the token may not do; the record is as before then."""


Edit = Callable[[OwnerRecord | None], OwnerRecord | None]
"""Returns the record that the object is to have; it gets the one that it has."""


class _Known:
    """What is known of the records in a folder of one cluster, for all threads."""

    def __init__(self) -> None:
        self.seen: dict[volumes.Key, _Seen] = {}
        """What was read or written last."""

        self.listing = threading.Lock()
        self.listed: dict[tuple[str, str], variables.Variable] = {}
        """Records by namespace and path, as `OwnerRecords.list_all` read them last."""

        self.denied: dict[str, float] = {}
        """Time at which the token was last refused to read the records, by namespace."""

        self.reported: set[str] = set()


_KNOWN: weakref.WeakKeyDictionary[nomad.Nomad, dict[str, _Known]] = weakref.WeakKeyDictionary()
_LOCK = threading.Lock()


class OwnerRecords:
    """The owner records of one cluster. Thread-safe."""

    def __init__(self, client: nomad.Nomad, folder: str) -> None:
        self._nomad = client
        self._folder = folder
        with _LOCK:
            self._known = _KNOWN.setdefault(client, {}).setdefault(folder, _Known())

    # Read.

    def read(self, keys: Iterable[volumes.Key], tell: Tell = _silent, *, max_age_s: float = 0.0) -> VolumeOwners:
        """
        Return the owners of *keys*, as they were at most *max_age_s* ago.

        Report once to *tell* each namespace whose records the token may not read. Raises `errors.NomadApiError` where
        Nomad does not answer.
        """
        keys = set(keys)
        oldest = time.monotonic() - max_age_s
        known = {key: seen for key in keys if (seen := self._known.seen.get(key)) and seen.read_at > oldest}
        wanted = sorted(keys - known.keys())
        if len(wanted) > 1:  # a single one is read in the calling thread
            found = request.read_many(functools.partial(self._read, key) for key in wanted)
        else:
            found = map(self._read, wanted)
        known |= zip(wanted, found, strict=True)
        unread = frozenset(key for key, seen in known.items() if seen.is_denied)
        for key in sorted(unread):
            self._tell_once(_UNREAD, key, tell)
        return VolumeOwners(owners={key: seen.record for key, seen in known.items() if seen.record}, unread=unread)

    def known(self, keys: Iterable[volumes.Key]) -> Mapping[volumes.Key, OwnerRecord]:
        """
        Return the owners of those of *keys* that have one.

        Raises `errors.RefusedError` where the token may not read the record of one, `errors.NomadApiError` where Nomad
        does not answer.
        """
        seen = self.read(keys)
        if seen.unread:
            key = min(seen.unread)
            raise errors.RefusedError(f"volume {'/'.join(key)}: {UNKNOWN.format(namespace=key[0])}")
        return seen.owners

    def cached(self, key: volumes.Key, tell: Tell = _silent) -> OwnerRecord | None:
        """
        Return the record, `SEEN_S` old at most; `owner_records.NO_RECORD` where there is none.

        ``None`` where the token may not read it, which is reported once to *tell*.
        """
        seen = self.read([key], tell, max_age_s=SEEN_S)
        return None if seen.unread else seen.owners.get(key, owner_records.NO_RECORD)

    def list_all(self, namespace: str, *, everywhere: bool = False) -> dict[volumes.Key, OwnerRecord]:
        """
        Return all records of *namespace*; *everywhere*: also those of other namespaces, as far as the token may list.

        The list is read on each call; a record that has not changed since an earlier call is not read again. Raises
        `errors.NomadApiError` where the token may not read them, or Nomad does not answer.
        """
        # A list leaves out, without a word, what the token may not read; a read is refused.
        variables.get(self._nomad, namespace, f"{self._folder}/{owner_records.NOT_AN_ID}")
        indexes = variables.list_all(self._nomad, "*" if everywhere else namespace, f"{self._folder}/")
        with self._known.listing:
            listed = self._known.listed
            changed = [
                path for path, index in indexes.items() if path not in listed or listed[path].modify_index < index
            ]
            found = request.read_many(functools.partial(variables.get, self._nomad, *path) for path in changed)
            now = dict(zip(changed, found, strict=True))
            seen = {path: each for path in indexes if (each := now.get(path, listed.get(path)))}
            listed.clear()
            listed.update(seen)
        return {
            (of, each.items.get(owner_records.ID, each.path)): OwnerRecord.from_items(each.items)
            for (of, _), each in seen.items()
        }

    # Change.

    def acquire(self, key: volumes.Key, token: OwnerToken, requester: Requester, tell: Tell = _silent) -> Acquired:
        """
        Record *requester* as the owner of the object *key*, and return the result; without an owner only read.

        Where the token may not write the record, report that and its consequence once to *tell*. Raises
        `errors.NomadApiError` where it could neither be written nor refused.
        """

        def acquired(before: OwnerRecord | None) -> OwnerRecord | None:
            return owner_records.acquired(before, token, requester) if requester.may_have(before, token) else before

        change = self._change(key, acquired)
        if change.before is not None and not requester.may_have(change.before, token):
            return Acquired(refused=change.before)
        if change.denied:
            self._tell_once(_UNRECORDED if requester.owner else _UNREAD, key, tell)
            return Acquired(is_unrecorded=bool(requester.owner))
        is_new = change.before is None and change.after is not None
        return Acquired(is_new=is_new, record=change.after or owner_records.NO_RECORD)

    def restore(self, key: volumes.Key, record: OwnerRecord, tell: Tell = _silent) -> None:
        """Write the removed *record* again. Raises `errors.NomadApiError` where it could not be written."""
        if self._change(key, lambda before: before or record).denied:
            self._tell_once(_UNRECORDED, key, tell)

    def keep_storage(self, volume: volumes.Volume, tell: Tell = _silent) -> None:
        """
        Record the storage of the registered *volume* before it is deregistered, where a name of it is recorded.

        Raises `errors.NomadApiError` where it could not be written. Where the token may not, report that to *tell*.
        """

        def with_storage(before: OwnerRecord | None) -> OwnerRecord | None:
            if before is None or not before.storage_name or before.external_id:
                return before
            return dataclasses.replace(before, external_id=volume.external_id, plugin_id=volume.plugin_id)

        key = volumes.key_of(volume)
        self._tell_denied(key, self._change(key, with_storage), "does not name its storage", tell)

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
        if change.denied:
            raise errors.RefusedError(f"volume {'/'.join(key)}: {UNKNOWN.format(namespace=key[0])}")
        return change.after != change.before

    def release(
        self, key: volumes.Key, token: OwnerToken, requester: Requester, tell: Tell = _silent
    ) -> OwnerRecord | None:
        """
        Remove the record of *requester* for the object *key*, and return it; the record of another owner stays.

        Raises `errors.NomadApiError` where it could not be removed. Where the token may not, report that to *tell*.
        """

        def released(before: OwnerRecord | None) -> OwnerRecord | None:
            is_released = before is not None and owner_records.is_released_by(before, token, requester)
            return None if is_released else before

        change = self._change(key, released)
        self._tell_denied(key, change, "stays", tell)
        return change.before if change.after is None else None

    def _change(self, key: volumes.Key, edit: Edit) -> _Change:
        """Apply *edit* to the record, also under concurrent writes. Raises `errors.NomadApiError` where that failed."""
        # What was seen some time ago serves a write, which fails if it is something else by now.
        guessed = self._known.seen.get(key)
        known = guessed if guessed is not None and edit(guessed.record) != guessed.record else None
        sent: _Change | None = None
        lost = 0
        for _ in range(ATTEMPTS):
            seen, known = known or self._read(key), None
            if seen.is_denied:
                return _Change(before=None, after=None, denied="read")
            change = _Change(before=seen.record, after=edit(seen.record))
            if change.after == change.before:
                # An unanswered write may have arrived.
                return sent if sent is not None and sent.after == change.before else change
            try:
                if self._write(key, change.after, seen.variable):
                    return change
            except errors.NomadApiError as error:
                if error.status == HTTPStatus.FORBIDDEN:
                    return _Change(before=change.before, after=change.before, denied="write")
                lost += 1
                if error.kind != "ambiguous" or lost == LOST_ATTEMPTS:
                    raise
                sent = change
        path = f"/v1/var/{self._path(key)}"
        raise errors.NomadApiError("PUT", path, "others write it all the time", kind="retry", advice="run it again")

    # Variables.

    def _read(self, key: volumes.Key) -> _Seen:
        """Return the variable of *key*; a namespace whose variables may not be read is not asked again for a while."""
        if time.monotonic() - self._known.denied.get(key[0], -SEEN_S) < SEEN_S:
            return _Seen(variable=None, is_denied=True)
        try:
            variable = variables.get(self._nomad, key[0], self._path(key))
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            self._known.denied[key[0]] = time.monotonic()
            return _Seen(variable=None, is_denied=True)
        return self._note(key, variable)

    def _note(self, key: volumes.Key, variable: variables.Variable | None) -> _Seen:
        self._known.seen[key] = seen = _Seen(variable=variable, read_at=time.monotonic())
        return seen

    def _write(self, key: volumes.Key, record: OwnerRecord | None, old: variables.Variable | None) -> bool:
        """Write *record*, or delete the variable, if it is still as *old*; return false on a conflict."""
        namespace, object_id = key
        index = old.modify_index if old else variables.NEW
        if record is None:
            is_deleted = variables.delete(self._nomad, namespace, self._path(key), index=index)
            if is_deleted:
                self._note(key, None)
            return is_deleted
        items = {owner_records.ID: object_id, **record.to_items()}
        written = variables.put(self._nomad, namespace, self._path(key), items, index=index)
        if written is not None:
            self._note(key, written)
        return written is not None

    def _path(self, key: volumes.Key) -> str:
        return owner_records.path_of(key[1], self._folder)

    # Reports.

    def _tell_denied(self, key: volumes.Key, change: _Change, consequence: str, tell: Tell) -> None:
        """Report a record that the token may not read, or not change with this *consequence*."""
        if change.denied == "read":
            self._tell_once(_UNREAD, key, tell)
        elif change.denied:
            rights = RIGHTS.format(namespace=key[0])
            tell(f"the owner record of {'/'.join(key)} {consequence}: the token lacks {rights}")

    def _tell_once(self, line: str, key: volumes.Key, tell: Tell) -> None:
        """Report *line* for the namespace of *key*, unless that was done before."""
        said = line.format(namespace=key[0])
        if tell is not _silent and said not in self._known.reported:
            self._known.reported.add(said)
            tell(said)


def owner_records_of(client: nomad.Nomad, folder: str = owner_records.FOLDER) -> OwnerRecords:
    """Return the owner records below *folder* in the cluster of *client*, with what any thread has read of them."""
    return OwnerRecords(client, folder)


def way_to_give_up(key: volumes.Key, storage: str, owner: str) -> str:
    """Return the command that gives up *storage*, which the record of *owner* keeps for the id *key*."""
    acting = ["--owner", owner] if owner else []
    return f"`{shlex.join(['nomad-csi', 'remove', '/'.join(key), '--forget', storage, *acting])}`"


def sentence(key: volumes.Key, owner: OwnerRecord, requester: Requester = NO_OWNER) -> str:
    """Return a sentence with the stack that owns a volume; the ids distinguish two stacks of one label."""
    subject = f"volume {'/'.join(key)} belongs to"
    if owner.owner == requester.owner:
        return f"{subject} another stack named {owner} (stack id {owner.stack_id}; this stack is {requester.stack_id})"
    return f"{subject} stack {owner}"


# The record of a volume, kept in line with its registration: there while it is registered, removed when it is not.


def acquire(client: nomad.Nomad, key: volumes.Key, token: OwnerToken, requester: Requester, tell: Tell) -> Acquired:
    """Acquire the volume as `OwnerRecords.acquire`. Raises `errors.RefusedError` where another owner has it."""
    taken = owner_records_of(client).acquire(key, token, requester, tell)
    if taken.refused is not None:
        raise refusal(key, taken.refused, requester)
    return taken


def release(client: nomad.Nomad, key: volumes.Key, token: OwnerToken, requester: Requester, tell: Tell) -> None:
    """
    Remove the record of *requester* where the volume is not registered; that of another owner stays.

    A record that is kept, or restored, because of a concurrent registration is reported. Raises
    `errors.NomadApiError` where Nomad does not answer, or it could be neither removed nor restored.
    """
    if _settled(client, key, token, requester, tell):
        tell(f"registered meanwhile: {'/'.join(key)}; its owner record stays")


def _settled(client: nomad.Nomad, key: volumes.Key, token: OwnerToken, requester: Requester, tell: Tell) -> bool:
    """Remove and restore the record until it matches the registration; return whether the volume has one at the end."""
    records, removed, has_record = owner_records_of(client), None, True
    for _ in range(ROUNDS):
        is_registered = volumes.get(client, *key) is not None
        if is_registered is has_record:
            break
        if not is_registered:
            removed = records.release(key, token, requester, tell) or removed
        elif removed is not None:
            records.restore(key, removed, tell)
        has_record = is_registered
    return has_record


def confirm(
    client: nomad.Nomad, key: volumes.Key, token: OwnerToken, requester: Requester, tell: Tell
) -> OwnerRecord | None:
    """
    Restore the removed record of a volume that *requester* has registered; return that of another owner, if it has one.

    Where Nomad does not answer, report that to *tell*.
    """
    if not requester.owner:
        return None
    try:
        who = dataclasses.replace(requester, adopts=False)
        taken = owner_records_of(client).acquire(key, token, who, tell)
        if taken.is_new:  # the record was removed, and so may the registration be
            _settled(client, key, token, who, tell)
    except errors.NomadApiError as error:
        tell(f"{error}; could not be determined whether the owner record of {'/'.join(key)} still exists")
        return None
    return taken.refused


def try_release(client: nomad.Nomad, key: volumes.Key, token: OwnerToken, requester: Requester, tell: Tell) -> None:
    """Remove the record as `release`; report to *tell* where it stays because Nomad does not answer."""
    try:
        release(client, key, token, requester, tell)
    except errors.NomadApiError as error:
        tell(f"{error}; the owner record of {'/'.join(key)} stays")


class LostError(errors.RefusedError):
    """A volume is registered as wanted, and another stack acquired it at the same time."""

    def __init__(self, key: volumes.Key, owner: OwnerRecord) -> None:
        owned = sentence(key, owner)
        super().__init__(f"{owned} now, and was registered by this run: resolve the ownership")
        self.owner = str(owner)


def refusal(key: volumes.Key, owner: OwnerRecord, who: Requester) -> errors.RefusedError:
    """Return the refusal to *who* of a volume that *owner* owns."""
    owned = sentence(key, owner, who)
    if who.is_recorded:
        return errors.RefusedError(
            f"{owned} now: set adopt: true to take it back, or remove it from this stack with `pulumi state delete`"
        )
    return errors.RefusedError(f"{owned}: choose another id, or set adopt: true to take it over")
