"""
Volumes of a cluster that would share their storage, found before a registration is sent.

The rule is `plan.registration.sharing_refusal`, as within one spec. Nomad shows the volumes of all namespaces to
a token that may list those of one. Concurrent registrations of two stacks are not compared.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.compare import difference
from nomad_csi.drivers import catalogue, model, storage_identity
from nomad_csi.nomad import plugins, volumes
from nomad_csi.plan import registration
from nomad_csi.registration import secret_safety

_Key = volumes.Key

UNLISTED = (
    "whether other volumes have the same storage was not checked: the token lacks csi-list-volume in namespace {0}"
)
UNREAD = "whether {0} has the same storage was not checked: its context could not be read"


class Users:
    """
    The volumes of each storage in a cluster: those registered, and those that this run registers or has created.

    Thread-safe. The cluster is listed once. A volume is read again before another one is refused because of it.
    """

    def __init__(self, client: nomad.Nomad) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._listed: tuple[volumes.ListedVolume, ...] | None = None
        self._keys: dict[storage_identity.StorageIdentity, set[_Key]] = {}
        self._wanted: dict[_Key, registration.VolumeRegistration] = {}
        self._created: dict[_Key, int] = {}
        """Raft index at which each was registered."""

        self._drivers: dict[str, tuple[str | None, model.Driver | None]] = {}
        self._located: set[str] = set()
        self.unlisted = ""
        """Why the other volumes could not be compared; empty where they could."""

    def refusal(self, document: registration.VolumeRegistration, replaced: _Key | None = None) -> str:
        """
        Return why *document* may not be registered beside the other volumes; empty where it may.

        It then counts as registered. *replaced*: a volume that is deregistered before, and does not count. Raises
        `errors.NomadApiError` where Nomad does not answer.
        """
        key = volumes.key_of(document)
        with self._lock:
            wanted, found = self._users(document)
            refused = self._first_refusal(document, wanted, found - {key, replaced})
            if not refused:
                self._wanted[key] = document
                self._add(wanted, key)
            return refused

    def older_refusal(self, document: registration.VolumeRegistration) -> str:
        """Return why *document*, which is registered now, may not stay beside the volumes registered before it."""
        key = volumes.key_of(document)
        with self._lock:
            wanted, found = self._users(document)
            mine = self._created.get(key, 0)
            older = {other for other in found - {key} if self._created.get(other, mine) < mine}
            return self._first_refusal(document, wanted, older)

    def _users(
        self, document: registration.VolumeRegistration
    ) -> tuple[frozenset[storage_identity.StorageIdentity], set[_Key]]:
        """Return the identities of the storage of *document*, and the volumes that have one of them by the list."""
        self._list(document.namespace)
        wanted = self._identities(document.external_id, document.plugin_id, document.context)
        if len(wanted) > 1:
            self._read_contexts(document.plugin_id)
        return wanted, {other for identity in wanted for other in self._keys.get(identity, ())}

    def _first_refusal(
        self,
        document: registration.VolumeRegistration,
        wanted: frozenset[storage_identity.StorageIdentity],
        others: Iterable[_Key],
    ) -> str:
        return next(filter(None, self._refusals(document, wanted, sorted(others))), "")

    def made(self, document: registration.VolumeRegistration) -> None:
        """Add the volume of *document*, which a plugin has just created: the list may be older."""
        with self._lock:
            if self._listed is not None:
                self._add((storage_identity.identify(document.external_id),), volumes.key_of(document))

    def has(self, document: registration.VolumeRegistration) -> bool:
        """Return whether the volume of *document* has its storage already, by the list."""
        with self._lock:
            self._list(document.namespace)
            identity = storage_identity.identify(document.external_id)
            return volumes.key_of(document) in self._keys.get(identity, ())

    def _add(self, identities: Iterable[storage_identity.StorageIdentity], key: _Key) -> None:
        for identity in identities:
            self._keys.setdefault(identity, set()).add(key)

    def _list(self, namespace: str) -> None:
        """List the volumes of all namespaces, once."""
        if self._listed is not None:
            return
        try:
            self._listed = volumes.list_volumes(self._client, "*")
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            self._listed = ()
            self.unlisted = UNLISTED.format(namespace)
        for item in self._listed:
            key = (item.namespace, item.volume_id)
            self._add((storage_identity.identify(item.external_id),), key)
            self._created[key] = item.create_index

    def _read_contexts(self, plugin_id: str) -> None:
        """Read the contexts of all volumes of the driver of *plugin_id*, once: no list shows them."""
        provider = self._driver(plugin_id)[0] or ""
        if provider in self._located:
            return
        self._located.add(provider)
        for item in self._listed or ():
            key = (item.namespace, item.volume_id)
            if self._driver(item.plugin_id)[0] != provider:
                continue
            found = self._read(key)
            if found is None:
                self.unlisted = UNREAD.format("/".join(key))
            else:
                self._add(self._identities(item.external_id, item.plugin_id, found.context), key)

    def _identities(
        self, external_id: str, plugin_id: str, context: Mapping[str, str]
    ) -> frozenset[storage_identity.StorageIdentity]:
        is_located = not catalogue.locating_keys().isdisjoint(key.lower() for key in context)
        driver = self._driver(plugin_id)[1] if is_located else None
        return storage_identity.identities(external_id, context, driver)

    def _driver(self, plugin_id: str) -> tuple[str | None, model.Driver | None]:
        """Return the provider of the plugin and its driver in the catalogue; ``None``: unknown."""
        if plugin_id not in self._drivers:
            found = plugins.get(self._client, plugin_id)
            provider = found.provider if found else None
            self._drivers[plugin_id] = provider, catalogue.find_by_provider(provider) if provider else None
        return self._drivers[plugin_id]

    def _refusals(
        self,
        document: registration.VolumeRegistration,
        wanted: frozenset[storage_identity.StorageIdentity],
        others: Iterable[_Key],
    ) -> Iterator[str]:
        user = _user(document)
        for key in others:
            other = self._other(document, wanted, key)
            if other is None:
                continue
            if why := registration.sharing_refusal(user, other):
                yield (
                    f"{document.external_id} is registered as {other.name} already: {why}; if it is to take the place "
                    "of that one, deregister that one first"
                )

    def _other(
        self,
        document: registration.VolumeRegistration,
        wanted: frozenset[storage_identity.StorageIdentity],
        key: _Key,
    ) -> registration.StorageUser | None:
        """Return the volume *key* as it is now; ``None`` where its storage is another one."""
        if key in self._wanted:
            mine = self._wanted[key]
            theirs = self._identities(mine.external_id, mine.plugin_id, mine.context)
            return _user(mine) if self._is_same(document, wanted, mine.plugin_id, theirs) else None
        listed = secret_safety.listed(self._client, *key)
        if listed is None:
            return None
        theirs = frozenset((storage_identity.identify(listed.external_id),))
        if len(wanted) == 1 and wanted.isdisjoint(theirs):
            return None
        found = self._read(key)
        theirs |= self._identities(listed.external_id, listed.plugin_id, found.context) if found else frozenset()
        if not self._is_same(document, wanted, listed.plugin_id, theirs):
            return None
        modes = tuple(mode.access_mode for mode in found.capabilities) if found else ()
        return registration.StorageUser(name="/".join(key), access_modes=modes)

    def _read(self, key: _Key) -> volumes.Volume | None:
        """Return the volume; ``None`` where it is gone, or may not be read."""
        if not secret_safety.is_excluded(self._client):
            return None
        try:
            return volumes.get(self._client, *key)
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            return None

    def _is_same(
        self,
        document: registration.VolumeRegistration,
        wanted: frozenset[storage_identity.StorageIdentity],
        plugin_id: str,
        theirs: frozenset[storage_identity.StorageIdentity],
    ) -> bool:
        """Return whether the other storage is the same: by its identities, and of another plugin also by the driver."""
        if wanted.isdisjoint(theirs):
            return False
        if plugin_id == document.plugin_id:
            return True
        ours, other = (self._driver(item)[0] for item in (document.plugin_id, plugin_id))
        return ours is None or other is None or ours == other


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


def take_back_later(
    client: nomad.Nomad, documents: Iterable[registration.VolumeRegistration]
) -> dict[_Key, errors.RefusedError]:
    """
    Deregister those of *documents*, registered a moment ago, whose storage another volume had before; return why.

    Two runs that compare before either has registered see none. Nomad has no constraint on storage, and its Raft index
    gives one order to both, so that one of them stays. Where the token may not list volumes, all stay. Raises
    `errors.NomadApiError` where Nomad does not answer, or does not deregister one of them.
    """
    users, taken = Users(client), {}
    for document in documents:
        if why := users.older_refusal(document):
            key = volumes.key_of(document)
            volumes.deregister(client, *key)
            taken[key] = errors.RefusedError(
                f"volume {document.key} was registered at the same moment as another one, and deregistered again: {why}"
            )
    return taken
