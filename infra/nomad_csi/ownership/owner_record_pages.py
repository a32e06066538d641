"""Pages of owner records in a cluster, written with check-and-set. For `registration_ownership`."""

import threading
import time
import weakref
from collections.abc import Callable, Iterable
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.nomad import variables
from nomad_csi.ownership import owner_records

SEEN_S = 5.0
"""Seconds that a cached page serves reads that only inform: a refresh of 300 volumes reads each page once."""

ATTEMPTS = 100
"""Attempts to write a page under concurrent writes. Each time one of the writers succeeds."""

LOST_ATTEMPTS = 3
"""How often a page is read to see whether an unanswered write has arrived."""

ABSENT = owner_records.OwnerRecord(label="")
"""Represents a missing record."""

Page = variables.Variable | None
Edit = Callable[[owner_records.Owners], owner_records.Owners]


class Pages:
    """The pages of one cluster. Thread-safe."""

    def __init__(self, client: nomad.Nomad, folder: str) -> None:
        self._client = weakref.ref(client)
        self._folder = folder
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], tuple[float, owner_records.Owners]] = {}
        self._blind: dict[str, float] = {}
        """Time at which the token was last refused to read the records, by namespace."""

        self._left_empty: set[tuple[str, str]] = set()

    def page_of(self, object_id: str) -> str:
        """Return the path of the page of *object_id*."""
        return owner_records.page_of(object_id, self._folder)

    def read(self, namespace: str, volume_ids: Iterable[str]) -> dict[str, Page] | None:
        """Return the pages of *volume_ids* by path; ``None`` where the token may not read them."""
        if time.monotonic() - self._blind.get(namespace, -SEEN_S) < SEEN_S:
            return None
        paths = sorted({self.page_of(item) for item in volume_ids})
        try:
            return dict(zip(paths, variables.get_many(self._nomad, namespace, paths), strict=True))
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            self._blind[namespace] = time.monotonic()
            return None

    def is_left_empty(self, namespace: str, path: str) -> bool:
        """Return whether a page without records still exists, because the token may not delete it."""
        return (namespace, path) in self._left_empty

    def cached(self, namespace: str, volume_id: str) -> owner_records.OwnerRecord | None:
        """
        Return the owner record, at most `SEEN_S` old; an empty one where there is none.

        ``None`` where it could not be determined.
        """
        path = self.page_of(volume_id)
        with self._lock:
            read_at, owners = self._seen.get((namespace, path), (-SEEN_S, {}))
            if time.monotonic() - read_at > SEEN_S:
                pages = self.read(namespace, [volume_id])
                if pages is None:
                    return None
                owners = owners_on(pages[path])
                self._note(namespace, path, owners)
        return owners.get(volume_id, ABSENT)

    def change(self, namespace: str, path: str, page: Page, edit: Edit) -> tuple[owner_records.Owners, bool]:
        """
        Apply *edit* to *page*, also under concurrent writes.

        Return the owners on it before, and whether it was written: the token may lack the right. Raises
        `errors.NomadApiError` where the write failed.
        """
        lost = 0
        for _ in range(ATTEMPTS):
            owners = owners_on(page)
            after = edit(owners)
            try:
                if after == owners or self._write(namespace, path, after, page):
                    self._note(namespace, path, after)
                    return owners, True
            except errors.NomadApiError as error:
                if error.status == HTTPStatus.FORBIDDEN:
                    return owners, False
                lost += 1
                if error.kind != "ambiguous" or lost == LOST_ATTEMPTS:
                    raise
            page = variables.get(self._nomad, namespace, path)
        reason = "others write it all the time"
        raise errors.NomadApiError("PUT", f"/v1/var/{path}", reason, kind="retry", advice="run it again")

    def _write(self, namespace: str, path: str, owners: owner_records.Owners, page: Page) -> bool:
        """Write a page, or delete it where it is empty: Nomad does not delete a namespace with a variable in it."""
        index = page.modify_index if page else variables.NEW
        if owners:
            return variables.put(self._nomad, namespace, path, owner_records.written(owners), index=index)
        try:
            return variables.delete(self._nomad, namespace, path, index=index)
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
        is_put = variables.put(self._nomad, namespace, path, {owner_records.NOBODY: "no volume"}, index=index)
        self._left_empty |= {(namespace, path)} if is_put else set()
        return is_put

    def _note(self, namespace: str, path: str, owners: owner_records.Owners) -> None:
        self._seen[namespace, path] = time.monotonic(), owners

    @property
    def _nomad(self) -> nomad.Nomad:
        client = self._client()
        assert client is not None  # noqa: S101  # a caller holds it
        return client


def owners_on(page: Page) -> dict[str, owner_records.OwnerRecord]:
    """Return the owners on *page*, by object id."""
    return owner_records.read(page.items) if page else {}
