"""
Owner marks of registrations, read from a cluster and written to it: who takes a volume first, has it.

A mark is written before its volume is registered, and removed after it was deregistered. A page of marks is written
only as it was read (check-and-set), so that of two who take one volume at the same time one is refused.
"""

import threading
import time
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.deploy import batch_look, registration_marks
from nomad_csi.nomad import variables

Claimant = registration_marks.Claimant
ANYBODY = registration_marks.ANYBODY

SEEN_S = 5.0
"""How old what was seen may be where it only informs: a refresh of 300 volumes reads each page once."""

ATTEMPTS = 100
"""How often a page is written that others write at the same time. Each time one of them gets through."""

LOST_ATTEMPTS = 3
"""How often it is looked whether a write that was not answered has arrived."""

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


class Marks:
    """The marks of one cluster. May be used by several threads at once."""

    def __init__(self, client: nomad.Nomad) -> None:
        self._client = weakref.ref(client)
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], tuple[float, Mapping[str, str]]] = {}
        self._blind: dict[str, float] = {}
        """When a namespace did not let its marks be read."""
        self._told: set[str] = set()

    def owners(self, keys: Iterable[batch_look.Key]) -> dict[batch_look.Key, str] | None:
        """
        Return the owners of those of *keys* that have a mark; ``None`` where the token may not read marks.

        Raises `errors.NomadApiError` where Nomad does not answer.
        """
        found: dict[batch_look.Key, str] = {}
        for namespace, volume_ids in _by_namespace(keys).items():
            pages = self._pages(namespace, volume_ids)
            if pages is None:
                return None
            for volume_id in volume_ids:
                owner = _owners(pages[registration_marks.page_of(volume_id)]).get(volume_id)
                found |= {(namespace, volume_id): owner} if owner else {}
        return found

    def seen(self, key: batch_look.Key) -> str | None:
        """Return the owner of *key*, as it was a moment ago: empty without a mark, ``None`` where it is not known."""
        namespace, volume_id = key
        page = registration_marks.page_of(volume_id)
        with self._lock:
            read_at, owners = self._seen.get((namespace, page), (-SEEN_S, {}))
            if time.monotonic() - read_at > SEEN_S:
                pages = self._pages(namespace, [volume_id])
                if pages is None:
                    return None
                owners = _owners(pages[page])
                self._note(namespace, page, owners)
        return owners.get(volume_id, "")

    def take(self, keys: Iterable[batch_look.Key], claimant: Claimant, tell: Tell = _silent) -> Taken:
        """
        Mark volumes as those of *claimant*, and return what came of it; without an owner only look whose they are.

        Where the token may not write marks, *tell* hears so once, and what it costs. Raises `errors.NomadApiError`
        where a mark could neither be written nor refused.
        """
        refused: dict[batch_look.Key, str] = {}
        fresh: set[batch_look.Key] = set()
        unmarked: set[batch_look.Key] = set()
        for namespace, volume_ids in _by_namespace(keys).items():
            pages = self._pages(namespace, volume_ids)
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
                    continue
                unmarked |= {(namespace, item) for item in here if item not in taken.refused}
                self._tell_once(_UNMARKED.format(namespace=namespace), tell)
        return Taken(refused=refused, fresh=frozenset(fresh), unmarked=frozenset(unmarked))

    def give_up(self, keys: Iterable[batch_look.Key], claimant: Claimant, tell: Tell = _silent) -> None:
        """
        Remove the marks of *claimant* from volumes; those of others stay.

        Raises `errors.NomadApiError` where one could not be removed. Where the token may not, *tell* hears so.
        """
        for namespace, volume_ids in _by_namespace(keys).items():
            for path, page in (self._pages(namespace, volume_ids) or {}).items():
                here = [item for item in volume_ids if registration_marks.page_of(item) == path]

                def without(owners: Mapping[str, str], gone: Iterable[str] = tuple(here)) -> dict[str, str]:
                    return registration_marks.released(owners, gone, claimant)

                if not self._change(namespace, path, page, without):
                    lacking = RIGHTS.format(namespace=namespace)
                    tell(f"the owner marks of {', '.join(here)} stay: the token lacks {lacking}")

    def _take(
        self, namespace: str, path: str, page: variables.Variable | None, volume_ids: list[str], claimant: Claimant
    ) -> tuple[registration_marks.Taken, bool]:
        """Take what is on one page; return what came of it, and whether the page says so."""
        taken = registration_marks.taken({}, (), claimant)

        def with_ours(owners: Mapping[str, str]) -> Mapping[str, str]:
            nonlocal taken
            taken = registration_marks.taken(owners, volume_ids, claimant)
            return taken.owners

        is_written = self._change(namespace, path, page, with_ours)
        return taken, is_written

    def _change(
        self,
        namespace: str,
        path: str,
        page: variables.Variable | None,
        edit: Callable[[Mapping[str, str]], Mapping[str, str]],
    ) -> bool:
        """Bring *page* to what *edit* makes of it, also where others change it; false where the token may not."""
        lost = 0
        for _ in range(ATTEMPTS):
            owners = _owners(page)
            after = edit(owners)
            if after == owners:
                self._note(namespace, path, after)
                return True
            try:
                if self._write(namespace, path, after, index=page.modify_index if page else variables.NEW):
                    self._note(namespace, path, after)
                    return True
            except errors.NomadApiError as error:
                if error.status == HTTPStatus.FORBIDDEN:
                    return False
                lost += 1
                if error.kind != "ambiguous" or lost == LOST_ATTEMPTS:
                    raise
            page = variables.get(self._nomad, namespace, path)
        reason = "others write it all the time"
        raise errors.NomadApiError("PUT", f"/v1/var/{path}", reason, kind="retry", advice="run it again")

    def _write(self, namespace: str, path: str, owners: Mapping[str, str], *, index: int) -> bool:
        """Write a page, or delete it where it is empty. An empty one keeps its namespace from being deleted."""
        if owners:
            return variables.put(self._nomad, namespace, path, registration_marks.written(owners), index=index)
        try:
            return variables.delete(self._nomad, namespace, path, index=index)
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
        return variables.put(self._nomad, namespace, path, {registration_marks.NOBODY: "no volume"}, index=index)

    def _pages(self, namespace: str, volume_ids: Iterable[str]) -> dict[str, variables.Variable | None] | None:
        """Return the pages of *volume_ids* by path; ``None`` where the token may not read them."""
        if time.monotonic() - self._blind.get(namespace, -SEEN_S) < SEEN_S:
            return None
        paths = sorted({registration_marks.page_of(item) for item in volume_ids})
        try:
            return dict(zip(paths, variables.get_many(self._nomad, namespace, paths), strict=True))
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            self._blind[namespace] = time.monotonic()
            return None

    def _note(self, namespace: str, path: str, owners: Mapping[str, str]) -> None:
        self._seen[namespace, path] = time.monotonic(), owners

    def _tell_once(self, line: str, tell: Tell) -> None:
        if line not in self._told:
            self._told.add(line)
            tell(line)

    @property
    def _nomad(self) -> nomad.Nomad:
        client = self._client()
        assert client is not None  # noqa: S101  # a caller holds it
        return client


_LOCK = threading.Lock()
_MARKS: weakref.WeakKeyDictionary[nomad.Nomad, Marks] = weakref.WeakKeyDictionary()


def of(client: nomad.Nomad) -> Marks:
    """Return the marks of the cluster of *client*: the same ones for every thread."""
    with _LOCK:
        return _MARKS.setdefault(client, Marks(client))


def sentence(key: batch_look.Key, owner: str) -> str:
    """Return whose a volume is, in words."""
    return f"volume {'/'.join(key)} belongs to stack {owner}"


def _owners(page: variables.Variable | None) -> dict[str, str]:
    return registration_marks.read(page.items) if page else {}


def _by_namespace(keys: Iterable[batch_look.Key]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for namespace, volume_id in dict.fromkeys(keys):
        found.setdefault(namespace, []).append(volume_id)
    return found
