"""
Owner marks of registrations, read from a cluster and written to it: who takes a volume first, has it.

A mark is written before its volume is registered, and removed after it was deregistered. A page of marks is written
only as it was read (check-and-set), so that of two who take one volume at the same time one is refused.
"""

import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from nomad_csi import errors, nomad
from nomad_csi.deploy import batch_look, registration_marks, registration_pages

Claimant = registration_marks.Claimant
ANYBODY = registration_marks.ANYBODY

_POLICY = 'variables {{ path "nomad-csi/*" {{ capabilities = ["read", "write", "destroy"] }} }}'
RIGHTS = _POLICY + " in namespace {namespace}"
"""What a token needs, in the words of an ACL policy."""
_UNMARKED = (
    "volumes of namespace {namespace} are registered without an owner mark: the token lacks " + RIGHTS + "; nothing "
    "keeps another stack from taking them"
)
_UNREAD = (
    "owner marks in namespace {namespace} were not read: the token lacks " + RIGHTS + "; volumes of other stacks are "
    "not told apart"
)

UNKNOWN = "whose it is was not read: the token lacks " + RIGHTS
"""What is told of a volume whose mark the token may not read."""

Tell = Callable[[str], None]


def _silent(_line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True, kw_only=True)
class Taken:
    """What came of taking volumes."""

    refused: Mapping[batch_look.Key, str]
    """Those that belong to others, with their owners."""

    fresh: frozenset[batch_look.Key]
    """Those that have a mark now and had none."""

    unmarked: frozenset[batch_look.Key]
    """Those that were to have a mark and have none, because the token may not write it."""

    adopted: Mapping[batch_look.Key, str]
    """Those that had the mark of another before, with that one."""


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Whose volumes are, as far as the token may know."""

    owners: Mapping[batch_look.Key, str]
    """Those that have a mark, with their owners."""

    unread: frozenset[batch_look.Key]
    """Those in namespaces whose marks the token may not read: they may have one."""


class Marks:
    """The marks of one cluster. May be used by several threads at once."""

    def __init__(self, client: nomad.Nomad) -> None:
        self._pages = registration_pages.Pages(client)
        self._told: set[str] = set()

    def look(self, keys: Iterable[batch_look.Key], tell: Tell = _silent) -> Seen:
        """
        Return whose *keys* are, as it is now. *tell* hears once of each namespace whose marks the token may not read.

        Raises `errors.NomadApiError` where Nomad does not answer.
        """
        owners: dict[batch_look.Key, str] = {}
        unread: set[batch_look.Key] = set()
        for namespace, volume_ids in _by_namespace(keys).items():
            pages = self._pages.read(namespace, volume_ids)
            if pages is None:
                unread |= {(namespace, item) for item in volume_ids}
                self._tell_once(_UNREAD.format(namespace=namespace), tell)
                continue
            for volume_id in volume_ids:
                owner = registration_pages.owners_on(pages[registration_marks.page_of(volume_id)]).get(volume_id)
                owners |= {(namespace, volume_id): owner} if owner else {}
        return Seen(owners=owners, unread=frozenset(unread))

    def owners(self, keys: Iterable[batch_look.Key]) -> Mapping[batch_look.Key, str]:
        """
        Return the owners of those of *keys* that have a mark; the others have none.

        Raises `errors.RefusedError` where the token may not read the mark of one, `errors.NomadApiError` where Nomad
        does not answer.
        """
        seen = self.look(keys)
        if seen.unread:
            key = min(seen.unread)
            raise errors.RefusedError(f"volume {'/'.join(key)}: {UNKNOWN.format(namespace=key[0])}")
        return seen.owners

    def seen(self, key: batch_look.Key) -> str | None:
        """Return the owner of *key*, as it was a moment ago: empty without a mark, ``None`` where it is not known."""
        return self._pages.seen(*key)

    def take(self, keys: Iterable[batch_look.Key], claimant: Claimant, tell: Tell = _silent) -> Taken:
        """
        Mark volumes as those of *claimant*, and return what came of it; without an owner only look whose they are.

        Where the token may not write marks, *tell* hears so once, and what it costs. Raises `errors.NomadApiError`
        where a mark could neither be written nor refused.
        """
        refused: dict[batch_look.Key, str] = {}
        fresh: set[batch_look.Key] = set()
        unmarked: set[batch_look.Key] = set()
        adopted: dict[batch_look.Key, str] = {}
        for namespace, volume_ids in _by_namespace(keys).items():
            pages = self._pages.read(namespace, volume_ids)
            if pages is None:
                unmarked |= {(namespace, item) for item in volume_ids if claimant.owner}
                self._tell_once((_UNMARKED if claimant.owner else _UNREAD).format(namespace=namespace), tell)
                continue
            for path, page in pages.items():
                here = [item for item in volume_ids if registration_marks.page_of(item) == path]
                taken, is_written = self._take(namespace, path, page, here, claimant)
                refused |= {(namespace, item): owner for item, owner in taken.refused.items()}
                if is_written:
                    fresh |= {(namespace, item) for item in taken.fresh}
                    adopted |= {(namespace, item): owner for item, owner in taken.adopted.items()}
                    continue
                unmarked |= {(namespace, item) for item in here if item not in taken.refused}
                self._tell_once(_UNMARKED.format(namespace=namespace), tell)
        return Taken(refused=refused, fresh=frozenset(fresh), unmarked=frozenset(unmarked), adopted=adopted)

    def give_up(
        self, keys: Iterable[batch_look.Key], claimant: Claimant, tell: Tell = _silent
    ) -> dict[batch_look.Key, str]:
        """
        Remove the marks of *claimant* from volumes, and return what they said; those of others stay.

        Raises `errors.NomadApiError` where one could not be removed. Where the token may not, *tell* hears so.
        """
        removed: dict[batch_look.Key, str] = {}
        for namespace, volume_ids in _by_namespace(keys).items():
            pages = self._pages.read(namespace, volume_ids)
            if pages is None:
                self._tell_once(_UNREAD.format(namespace=namespace), tell)
                continue
            for path, page in pages.items():
                here = [item for item in volume_ids if registration_marks.page_of(item) == path]
                owners, is_written = self._give_up(namespace, path, page, here, claimant)
                if is_written:
                    removed |= {(namespace, item): owner for item, owner in owners.items()}
                    continue
                lacking = RIGHTS.format(namespace=namespace)
                tell(f"the owner marks of {', '.join(here)} stay: the token lacks {lacking}")
        return removed

    def _take(
        self, namespace: str, path: str, page: registration_pages.Page, volume_ids: list[str], claimant: Claimant
    ) -> tuple[registration_marks.Taken, bool]:
        """Take what is on one page; return what came of it, and whether the page says so."""
        taken = registration_marks.taken({}, (), claimant)

        def with_ours(owners: Mapping[str, str]) -> Mapping[str, str]:
            nonlocal taken
            taken = registration_marks.taken(owners, volume_ids, claimant)
            return taken.owners

        is_written = self._pages.change(namespace, path, page, with_ours)
        return taken, is_written

    def _give_up(
        self, namespace: str, path: str, page: registration_pages.Page, volume_ids: list[str], claimant: Claimant
    ) -> tuple[registration_marks.Owners, bool]:
        """Give up what is on one page; return the marks that were to go, and whether they are gone."""
        removed: registration_marks.Owners = {}

        def without(owners: Mapping[str, str]) -> Mapping[str, str]:
            nonlocal removed
            after = registration_marks.released(owners, volume_ids, claimant)
            removed = {item: owner for item, owner in owners.items() if item not in after}
            return after

        is_written = self._pages.change(namespace, path, page, without)
        return removed, is_written

    def _tell_once(self, line: str, tell: Tell) -> None:
        if line not in self._told:
            self._told.add(line)
            tell(line)


_LOCK = threading.Lock()
_MARKS: weakref.WeakKeyDictionary[nomad.Nomad, Marks] = weakref.WeakKeyDictionary()


def of(client: nomad.Nomad) -> Marks:
    """Return the marks of the cluster of *client*: the same ones for every thread."""
    with _LOCK:
        return _MARKS.setdefault(client, Marks(client))


def sentence(key: batch_look.Key, owner: str) -> str:
    """Return whose a volume is, in words."""
    return f"volume {'/'.join(key)} belongs to stack {owner}"


def _by_namespace(keys: Iterable[batch_look.Key]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for namespace, volume_id in dict.fromkeys(keys):
        found.setdefault(namespace, []).append(volume_id)
    return found
