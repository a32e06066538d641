"""
Owner records of registrations and plugin jobs in a cluster: the first stack that acquires an object owns it.

A record is written before its object is registered, and removed after it is deregistered. Pages of records are written
with check-and-set, so that of two concurrent requesters of one volume one is refused.
"""

import functools
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.ownership import owner_record_pages, owner_records

Requester = owner_records.Requester
OwnerRecord = owner_records.OwnerRecord
Hold = owner_records.Hold
NO_OWNER = owner_records.NO_OWNER
Holds = Mapping[volumes.Key, Hold]
"""Object key -> what its resource knows, and writes to its record."""


def objects_without_nonce(keys: Iterable[volumes.Key]) -> Holds:
    """Return *keys* as objects without a nonce: those of the command line."""
    return dict.fromkeys(keys, owner_records.NO_HOLD)


_POLICY = 'variables {{ path "nomad-csi/*" {{ capabilities = ["read", "write", "destroy"] }} }}'
RIGHTS = _POLICY + " in namespace {namespace}"
"""What a token needs, in the words of an ACL policy."""
_UNMARKED = (
    "volumes of namespace {namespace} are registered without an owner record: the token lacks " + RIGHTS + "; nothing "
    "keeps another stack from taking them"
)
_UNREAD = (
    "owner records in namespace {namespace} were not read: the token lacks " + RIGHTS + "; volumes of other stacks are "
    "not recognized"
)
_LEFT_EMPTY = (
    "variables without records are left in namespace {namespace}, which Nomad does not delete for that: the token "
    "lacks " + RIGHTS
)

UNKNOWN = "its owner record was not read: the token lacks " + RIGHTS
"""Message about a volume whose record the token may not read."""

Tell = Callable[[str], None]

_Written = TypeVar("_Written")
"""What is written to the record of an object."""


def _silent(_line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, kw_only=True)
class AcquiredVolumes:
    """The result of acquiring volumes."""

    refused: Mapping[volumes.Key, OwnerRecord]
    """Volumes of other owners, with these."""

    fresh: Holds
    """Volumes that have a record now and had none."""

    unrecorded: frozenset[volumes.Key]
    """Volumes that got no record, because the token may not write it."""

    adopted: Mapping[volumes.Key, OwnerRecord]
    """Volumes that had another owner before, with that one."""

    origins: Mapping[volumes.Key, str]
    """What their records say the objects were created by; those of an earlier attempt of the same owner stay."""


@dataclass(frozen=True, kw_only=True)
class VolumeOwners:
    """The owners of volumes, as far as the token may read them."""

    owners: Mapping[volumes.Key, OwnerRecord]
    """Volumes that have a record, with their owners."""

    unread: frozenset[volumes.Key]
    """Volumes in namespaces whose records the token may not read: they may have one."""


class OwnerRecords:
    """The owner records of one cluster. Thread-safe."""

    def __init__(self, client: nomad.Nomad, folder: str = owner_records.FOLDER) -> None:
        self._pages = owner_record_pages.Pages(client, folder)
        self._reported: set[str] = set()

    def read(self, keys: Iterable[volumes.Key], tell: Tell = _silent) -> VolumeOwners:
        """
        Read the owners of *keys*. Report once to *tell* each namespace whose records the token may not read.

        Raises `errors.NomadApiError` where Nomad does not answer.
        """
        owners: dict[volumes.Key, OwnerRecord] = {}
        unread: set[volumes.Key] = set()
        for namespace, volume_ids in _group_by_namespace(keys).items():
            pages = self._pages.read(namespace, volume_ids)
            if pages is None:
                unread |= {(namespace, item) for item in volume_ids}
                self._tell_once(_UNREAD.format(namespace=namespace), tell)
                continue
            for volume_id in volume_ids:
                owner = owner_record_pages.owners_on(pages[self._pages.page_of(volume_id)]).get(volume_id)
                owners |= {(namespace, volume_id): owner} if owner else {}
        return VolumeOwners(owners=owners, unread=frozenset(unread))

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

    def cached(self, key: volumes.Key) -> OwnerRecord | None:
        """Return the owner of *key*, seconds old at most; an empty record: none, ``None``: could not be determined."""
        return self._pages.cached(*key)

    def read_cached(self, key: volumes.Key) -> VolumeOwners:
        """Return what `read` does of one *key*, seconds old at most: for a preview, which writes nothing."""
        found = self.cached(key)
        owners = {key: found} if found is not None and found.label else {}
        return VolumeOwners(owners=owners, unread=frozenset({key} if found is None else ()))

    def seen_aloud(self, key: volumes.Key, tell: Tell) -> OwnerRecord | None:
        """Return what `seen` does; report once to *tell* each namespace whose records the token may not read."""
        found = self.cached(key)
        if found is None:
            self._tell_once(_UNREAD.format(namespace=key[0]), tell)
        return found

    def is_moved(self, key: volumes.Key, requester: Requester, recorded_nonce: str) -> bool:
        """
        Return whether another resource of the stack now holds *key* than the one that recorded *recorded_nonce*.

        Raises `errors.NomadApiError` where Nomad does not answer.
        """
        record = self.read([key]).owners.get(key)
        if record is None or record.nonce in {"", recorded_nonce}:
            return False
        return requester.is_same_stack(record)

    def acquire(self, wanted: Holds, requester: Requester, tell: Tell = _silent) -> AcquiredVolumes:
        """
        Record *requester* as the owner of *wanted*, and return the result; without an owner only read the owners.

        Where the token may not write records, report that and its consequence once to *tell*. Raises
        `errors.NomadApiError` where a record could neither be written nor refused.
        """
        refused: dict[volumes.Key, OwnerRecord] = {}
        fresh: dict[volumes.Key, Hold] = {}
        unrecorded: set[volumes.Key] = set()
        adopted: dict[volumes.Key, OwnerRecord] = {}
        origins: dict[volumes.Key, str] = {}
        for namespace, volume_ids in _group_by_namespace(wanted).items():
            pages = self._pages.read(namespace, volume_ids)
            if pages is None:
                unrecorded |= {(namespace, item) for item in volume_ids if requester.owner}
                self._tell_once((_UNMARKED if requester.owner else _UNREAD).format(namespace=namespace), tell)
                continue
            for path, page in pages.items():
                here = self._on_page(path, namespace, volume_ids, wanted)
                edit = functools.partial(_merge_acquired, wanted=here, requester=requester)
                owners, is_written = self._pages.change(namespace, path, page, edit)
                taken = owner_records.acquire(owners, here, requester)
                refused |= {(namespace, item): owner for item, owner in taken.refused.items()}
                if is_written:
                    fresh |= {(namespace, item): here[item] for item in taken.fresh}
                    adopted |= {(namespace, item): owner for item, owner in taken.adopted.items()}
                    written = {item: taken.owners[item].origin for item in here if item in taken.owners}
                    origins |= {(namespace, item): origin for item, origin in written.items() if origin}
                    continue
                unrecorded |= {(namespace, item) for item in here if item not in taken.refused}
                self._tell_once(_UNMARKED.format(namespace=namespace), tell)
        return AcquiredVolumes(
            refused=refused, fresh=fresh, unrecorded=frozenset(unrecorded), adopted=adopted, origins=origins
        )

    def _on_page(
        self, path: str, namespace: str, volume_ids: Iterable[str], wanted: Mapping[volumes.Key, _Written]
    ) -> dict[str, _Written]:
        """Return those of the *volume_ids* of a namespace whose records are on the page at *path*."""
        return {item: wanted[namespace, item] for item in volume_ids if self._pages.page_of(item) == path}

    def put_back(self, key: volumes.Key, record: OwnerRecord, tell: Tell = _silent) -> None:
        """Restore the removed *record*. Raises `errors.NomadApiError` where it could not be written."""
        again = Requester(owner=record.label, stack_id=record.stack_id)
        held = Hold(recorded=record.nonce, nonce=record.nonce, origin=record.origin)
        self.acquire({key: held}, again, tell)

    def keep_storage(self, kept: Mapping[volumes.Key, owner_records.KeptStorage], tell: Tell = _silent) -> None:
        """
        Record the storage *kept* of volumes that a plugin created, before they are deregistered; others are left out.

        Raises `errors.NomadApiError` where a record could not be written. Where the token may not, report that to
        *tell*.
        """
        for namespace, volume_ids in _group_by_namespace(kept).items():
            pages = self._pages.read(namespace, volume_ids)
            for path, page in (pages or {}).items():
                here = self._on_page(path, namespace, volume_ids, kept)
                edit = functools.partial(owner_records.with_kept_storage, kept=here)
                _, is_written = self._pages.change(namespace, path, page, edit)
                if not is_written:
                    lacking = RIGHTS.format(namespace=namespace)
                    tell(f"the owner records of {', '.join(here)} do not name their storage: the token lacks {lacking}")

    def give_up(self, held: Holds, requester: Requester, tell: Tell = _silent) -> dict[volumes.Key, OwnerRecord]:
        """
        Remove the records of *requester* for the volumes *held*, and return them; records of other owners stay.

        Raises `errors.NomadApiError` where one could not be removed. Where the token may not, report that to *tell*.
        """
        removed: dict[volumes.Key, OwnerRecord] = {}
        for namespace, volume_ids in _group_by_namespace(held).items():
            pages = self._pages.read(namespace, volume_ids)
            if pages is None:
                self._tell_once(_UNREAD.format(namespace=namespace), tell)
                continue
            for path, page in pages.items():
                here = self._on_page(path, namespace, volume_ids, held)
                edit = functools.partial(owner_records.released, held=here, requester=requester)
                owners, is_written = self._pages.change(namespace, path, page, edit)
                if is_written:
                    left = edit(owners)
                    removed |= {(namespace, item): owner for item, owner in owners.items() if item not in left}
                    if self._pages.is_left_empty(namespace, path):
                        self._tell_once(_LEFT_EMPTY.format(namespace=namespace), tell)
                    continue
                lacking = RIGHTS.format(namespace=namespace)
                tell(f"the owner records of {', '.join(here)} stay: the token lacks {lacking}")
        return removed

    def _tell_once(self, line: str, tell: Tell) -> None:
        if line not in self._reported and tell is not _silent:
            self._reported.add(line)
            tell(line)


def _merge_acquired(
    owners: owner_records.Owners, *, wanted: Mapping[str, Hold], requester: Requester
) -> owner_records.Owners:
    return owner_records.acquire(owners, wanted, requester).owners


_LOCK = threading.Lock()
_MARKS: weakref.WeakKeyDictionary[nomad.Nomad, dict[str, OwnerRecords]] = weakref.WeakKeyDictionary()


def owner_records_of(client: nomad.Nomad, folder: str = owner_records.FOLDER) -> OwnerRecords:
    """Return the owner records below *folder* in the cluster of *client*: the same ones for every thread."""
    with _LOCK:
        known = _MARKS.setdefault(client, {})
        if folder not in known:
            known[folder] = OwnerRecords(client, folder)
        return known[folder]


def sentence(key: volumes.Key, owner: OwnerRecord, requester: Requester = NO_OWNER) -> str:
    """Return a sentence with the stack that owns a volume; the ids distinguish two stacks of one label."""
    subject = f"volume {'/'.join(key)} belongs to"
    if owner.label == requester.owner:
        return f"{subject} another stack named {owner} (stack id {owner.stack_id}; this stack is {requester.stack_id})"
    return f"{subject} stack {owner}"


def _group_by_namespace(keys: Iterable[volumes.Key]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for namespace, volume_id in sorted(set(keys)):
        found.setdefault(namespace, []).append(volume_id)
    return found
