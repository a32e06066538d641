"""
Volumes of a cluster that would share their storage, found before a registration is sent.

The rule is `plan.registration.sharing_refusal`, as within one spec. Nomad shows the volumes of all namespaces to
a token that may list those of one. Concurrent registrations of two stacks are not compared.
"""

import threading
from collections.abc import Iterable, Iterator
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.compare import difference
from nomad_csi.nomad import plugins, volumes
from nomad_csi.plan import registration
from nomad_csi.registration import secret_safety

_Key = volumes.Key

UNLISTED = (
    "whether other volumes have the same storage was not checked: the token lacks csi-list-volume in namespace {0}"
)


class Users:
    """
    The volumes of each storage in a cluster: those registered, and those that this run registers or has created.

    Thread-safe. The cluster is listed once. A volume is read again before another one is refused because of it.
    """

    def __init__(self, client: nomad.Nomad) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._keys: dict[str, set[_Key]] | None = None
        self._wanted: dict[_Key, registration.VolumeRegistration] = {}
        self.unlisted = ""
        """Why nothing could be listed; empty where it was."""

    def refusal(self, document: registration.VolumeRegistration) -> str:
        """
        Return why *document* may not be registered beside the other volumes; empty where it may.

        It then counts as registered. Raises `errors.NomadApiError` where Nomad does not answer.
        """
        key = volumes.key_of(document)
        with self._lock:
            if self._keys is None:
                self._keys = self._listed(document.namespace)
            names = registration.storage_identities(document.external_id)
            others = sorted({other for name in names for other in self._keys.get(name, ())} - {key})
            refused = next(filter(None, self._refusals(document, others)), "")
            if not refused:
                self._wanted[key] = document
                self._add(self._keys, document.external_id, key)
            return refused

    def made(self, document: registration.VolumeRegistration) -> None:
        """Add the volume of *document*, which a plugin has just created: the list may be older."""
        with self._lock:
            if self._keys is not None:
                self._add(self._keys, document.external_id, volumes.key_of(document))

    def has(self, document: registration.VolumeRegistration) -> bool:
        """Return whether the volume of *document* has its storage already, by the list."""
        with self._lock:
            if self._keys is None:
                self._keys = self._listed(document.namespace)
            return volumes.key_of(document) in self._keys.get(document.external_id, ())

    @staticmethod
    def _add(keys: dict[str, set[_Key]], external_id: str, key: _Key) -> None:
        for name in registration.storage_identities(external_id):
            keys.setdefault(name, set()).add(key)

    def _listed(self, namespace: str) -> dict[str, set[_Key]]:
        found: dict[str, set[_Key]] = {}
        try:
            listed = volumes.list_volumes(self._client, "*")
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            self.unlisted = UNLISTED.format(namespace)
            return found
        for item in listed:
            self._add(found, item.external_id, (item.namespace, item.volume_id))
        return found

    def _refusals(self, document: registration.VolumeRegistration, others: Iterable[_Key]) -> Iterator[str]:
        wanted = _user(document)
        for key in others:
            other = self._other(document, key)
            if other is None:
                continue
            if why := registration.sharing_refusal(wanted, other):
                yield (
                    f"{document.external_id} is registered as {other.name} already: {why}; if it is to take the place "
                    "of that one, deregister that one first"
                )

    def _other(self, document: registration.VolumeRegistration, key: _Key) -> registration.StorageUser | None:
        """Return the volume *key* as it is now; ``None`` where its storage is another one."""
        if key in self._wanted:
            mine = self._wanted[key]
            return _user(mine) if self._is_same(document, mine.external_id, mine.plugin_id) else None
        listed = secret_safety.listed(self._client, *key)
        if listed is None or not self._is_same(document, listed.external_id, listed.plugin_id):
            return None
        modes: tuple[str, ...] = ()
        if secret_safety.is_excluded(self._client):
            try:
                found = volumes.get(self._client, *key)
            except errors.NomadApiError as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
            else:
                modes = tuple(mode.access_mode for mode in found.capabilities) if found else ()
        return registration.StorageUser(name="/".join(key), access_modes=modes)

    def _is_same(self, document: registration.VolumeRegistration, external_id: str, plugin_id: str) -> bool:
        """Return whether the other storage is the same: by its id, and for another plugin also by the driver."""
        if not registration.is_same_storage(document.external_id, external_id):
            return False
        if plugin_id == document.plugin_id:
            return True
        ours, theirs = (plugins.get(self._client, item) for item in (document.plugin_id, plugin_id))
        return ours is None or theirs is None or ours.provider == theirs.provider


def _user(document: registration.VolumeRegistration) -> registration.StorageUser:
    return registration.StorageUser(
        name=document.key,
        access_modes=tuple(mode.access_mode for mode in document.capabilities),
        shares=document.shares_storage,
    )


def refuse_sharing(
    users: Users, document: registration.VolumeRegistration, compared: difference.Comparison
) -> difference.Comparison:
    """Return *compared* of *document*, or a refusal where it would newly share storage that it may not share."""
    is_other_use = compared.is_new or any(item.field == "capability" for item in compared.differences)
    why = users.refusal(document) if document.external_id and is_other_use else ""
    if not why:
        return compared
    refused = difference.Difference(
        field="external_id", desired=document.external_id, actual="", effect="refused", why=why
    )
    return difference.Comparison(differences=(refused, *compared.differences_of_kind("refused")))
