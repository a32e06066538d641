"""
Volumes of a cluster that would share their storage, found before a registration is sent.

The rule is `plan.registration.sharing_refusal`, as within one spec. Nomad shows the volumes of all namespaces to
a token that may list those of one. Of two that are registered at the same moment, the later is taken back
(`take_back_later`).
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Generic, TypeVar

from nomad_csi import errors, nomad
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import resource
from nomad_csi.nomad import plugins, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import deregistration, secret_safety

if TYPE_CHECKING:
    from nomad_csi.drivers import catalogue

_Key = volumes.Key

_SENTENCES: Mapping[storage_identity.Relation, str] = {
    "same": "{storage} is registered as {other} already",
    "around": "{storage} is a part of the storage of {other}",
    "within": "{storage} contains the storage of {other}",
}
_FIX = "to replace that one, deregister that one first"
UNLISTED = (
    "whether other volumes have the same storage was not checked: the token lacks csi-list-volume in namespace {0}"
)
UNREAD = "whether {0} has the same storage was not checked: its context could not be read"


class Users:
    """
    The volumes of each storage in a cluster: those registered, and those that this run registers or has created.

    Thread-safe. The cluster is listed once; a volume is read again before another one is refused because of it.
    """

    def __init__(self, client: nomad.Nomad) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._listed: dict[_Key, volumes.ListedVolume] | None = None
        self._keys: storage_identity.Index[_Key] = storage_identity.Index()
        self._wanted: dict[_Key, registration.VolumeRegistration] = {}
        self._drivers: dict[str, tuple[str, catalogue.Driver | None]] = {}
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
            wanted = self._wanted_storage(document)
            refused = next(self._refusals(document, wanted, lambda other: other not in {key, replaced}), "")
            if not refused:
                self._wanted[key] = document
                self._keys.add(wanted, key)
            return refused

    def older_refusal(self, document: registration.VolumeRegistration) -> str:
        """
        Return why *document*, which is registered now, may not stay beside the volumes registered before it.

        Empty where its id is not registered any more, or has other storage: then it is another registration.
        """
        with self._lock:
            wanted, listed = self._wanted_storage(document), self._listed or {}
            mine = listed.get(volumes.key_of(document))
            if mine is None or mine.external_id != document.external_id:
                return ""
            index = mine.create_index  # of the Raft log, so that each was registered before or after
            return next(self._refusals(document, wanted, lambda other: listed[other].create_index < index), "")

    def _wanted_storage(self, document: registration.VolumeRegistration) -> frozenset[storage_identity.StorageIdentity]:
        """
        Return the identities of the storage of *document*, once the volumes of the cluster are listed.

        Where its context locates storage, the contexts of all volumes of its driver are read, once: no list shows them.
        """
        self.list()
        wanted = self._identities(document.external_id, document.plugin_id, document.context)
        if len(wanted) > 1:
            self._locate(self._driver(document.plugin_id)[0])
        return wanted

    def _locate(self, provider: str) -> None:
        """Read the contexts of the volumes of the driver *provider*, once."""
        if provider in self._located:
            return
        self._located.add(provider)
        for key, item in (self._listed or {}).items():
            if self._driver(item.plugin_id)[0] == provider:
                volume = self._read(key)
                if volume is None:
                    self.unlisted = UNREAD.format("/".join(key))
                else:
                    self._keys.add(self._identities(item.external_id, item.plugin_id, volume.context), key)

    def within(self, storage: storage_identity.StorageIdentity) -> tuple[_Key, ...]:
        """Return the listed volumes of *storage* and of parts of it, sorted."""
        with self._lock:
            keys = (*self._keys.find((storage,), "same"), *self._keys.find((storage,), "within"))
            return tuple(sorted(set(keys)))

    def list(self, storage: storage_identity.StorageIdentity | None = None) -> "Users":
        """
        List the volumes of all namespaces, once, and return this; *storage*: at least those of its container.

        Raises `errors.NomadApiError` where Nomad does not answer.
        """
        if self._listed is not None:
            return self
        rows: tuple[volumes.ListedVolume, ...] = ()
        try:
            rows = volumes.list_volumes(self._client, "*", storage=_listed_by(storage))
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            self.unlisted = UNLISTED
        self._listed = {(item.namespace, item.volume_id): item for item in rows}
        for key, item in self._listed.items():
            self._keys.add((storage_identity.identify(item.external_id),), key)
        return self

    def _identities(
        self, external_id: str, plugin_id: str, context: Mapping[str, str]
    ) -> frozenset[storage_identity.StorageIdentity]:
        driver = self._driver(plugin_id)[1] if context else None
        return storage_identity.identities(external_id, context, driver)

    def _driver(self, plugin_id: str) -> "tuple[str, catalogue.Driver | None]":
        """Return the provider of the plugin and its driver in the catalogue; empty and ``None``: unknown."""
        if plugin_id not in self._drivers:
            from nomad_csi.drivers import catalogue  # noqa: PLC0415  # most registrations need no driver

            plugin = plugins.get(self._client, plugin_id)
            provider = plugin.provider if plugin else ""  # Nomad has none before the first instance has reported
            self._drivers[plugin_id] = provider, catalogue.find_by_provider(provider)
        return self._drivers[plugin_id]

    def _refusals(
        self,
        document: registration.VolumeRegistration,
        wanted: frozenset[storage_identity.StorageIdentity],
        counts: Callable[[_Key], bool],
    ) -> Iterator[str]:
        user = _user(document)
        for relation, sentence in _SENTENCES.items():
            # None of those within can be a reason then, and there may be thousands.
            is_idle = relation == "within" and registration.is_shareable(user.access_modes)
            keys = () if is_idle else self._keys.find(wanted, relation)
            for key in sorted(filter(counts, keys)):
                other = self._other(document, wanted, key, relation)
                if other is not None and (why := registration.sharing_refusal(user, other, relation)):
                    yield f"{sentence.format(storage=document.external_id, other=other.name)}: {why}; {_FIX}"

    def _other(
        self,
        document: registration.VolumeRegistration,
        wanted: frozenset[storage_identity.StorageIdentity],
        key: _Key,
        relation: storage_identity.Relation,
    ) -> registration.StorageUser | None:
        """Return the volume *key* as it is now; ``None`` where its storage has not this *relation* to that *wanted*."""
        mine = self._wanted.get(key)
        listed = mine or secret_safety.listed(self._client, *key)
        if listed is None:
            return None
        volume = mine or self._read(key)
        theirs = frozenset((storage_identity.identify(listed.external_id),))
        theirs |= self._identities(listed.external_id, listed.plugin_id, volume.context) if volume else frozenset()
        if not storage_identity.is_related(wanted, theirs, relation):
            return None
        if listed.plugin_id != document.plugin_id:  # names of two drivers differ; one that is not known may be the same
            ours, other = (self._driver(item)[0] for item in (document.plugin_id, listed.plugin_id))
            if ours and other and ours != other:
                return None
        return registration.StorageUser(name="/".join(key)) if volume is None else _user(volume)

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


def _listed_by(storage: storage_identity.StorageIdentity | None) -> str:
    """Return the text by which Nomad filters a list; empty for storage whose external ids may not contain it."""
    return storage.container if storage is not None and (storage.is_ebs or storage.is_efs) else ""


def _user(document: registration.VolumeRegistration) -> registration.StorageUser:
    return registration.StorageUser(
        name=document.key,
        access_modes=tuple(mode.access_mode for mode in document.capabilities),
        shares=document.shares_storage,
    )


_Answer = TypeVar("_Answer")


class Latest(Generic[_Answer]):
    """What *read* returns, by a read that begins after the call. Thread-safe; concurrent callers share one."""

    def __init__(self, read: Callable[[], _Answer]) -> None:
        self._read = read
        self._lock = threading.Lock()
        self._begun = 0
        """Reads so far."""

        self._answer: _Answer | None = None

    def read(self) -> _Answer:
        """Return what is read now; a read that fails serves no other caller."""
        needed = self._begun + 1
        with self._lock:
            if self._begun < needed or self._answer is None:
                self._begun, self._answer = self._begun + 1, None
                self._answer = self._read()
            return self._answer


def users_now(context: resource.Context, storage: storage_identity.StorageIdentity) -> Users:
    """
    Return the volumes of *storage*, by a list that begins after the call.

    Those of an EBS volume are few, and Nomad filters them. For other storage concurrent callers share a list of all.
    """
    client = context.client
    if storage.is_ebs:
        return Users(client).list(storage)
    return context.operation.once("latest users", lambda: Latest(lambda: Users(client).list())).read()


def take_back_later(
    client: nomad.Nomad, document: registration.VolumeRegistration, read: Callable[[], Users]
) -> errors.NomadApiError | errors.RefusedError | None:
    """
    Deregister *document*, registered before *read* is called, where another volume had its storage before; return why.

    Two runs that compare before either has registered see none. Nomad has no constraint on storage, and its Raft index
    gives one order to both, so that one of them stays. Where the token may not list volumes, both stay.
    """
    why = ""
    try:
        if why := read().older_refusal(document):
            deregistration.deregister_now(client, volumes.key_of(document))
    except errors.NomadApiError as problem:
        unknown = "and whether another volume has the same storage was not checked"
        left = f"and not deregistered again although {why}" if why else unknown
        return problem.ambiguous(f"registered, {left}: {problem.message}")
    if not why:
        return None
    return errors.RefusedError(
        f"volume {document.key} was registered at the same moment as another one, and deregistered again: {why}"
    )


# The volumes that an operation of Pulumi registers.


def registered_as(client: nomad.Nomad, external_id: str) -> tuple[tuple[str, str], ...]:
    """
    Return namespace and id of every volume that is registered with this storage or a part of it, whatever its plugin.

    In all namespaces: a token that may list the volumes of one is shown those of all. Raises `errors.NomadApiError`.
    """
    identity = storage_identity.identify(external_id)
    listed = volumes.list_volumes(client, "*", storage=_listed_by(identity))
    return tuple(
        (item.namespace, item.volume_id)
        for item in listed
        if identity.contains(storage_identity.identify(item.external_id))
    )


def reason(
    context: resource.Context, document: registration.VolumeRegistration, replaced: volumes.Key | None = None
) -> str:
    """
    Return why the volume of *document* may not share its storage with another one; empty where it may.

    Volumes of one operation are compared, too. Where the token may not list volumes, that is a warning, once.
    *replaced*: deregistered before.
    """
    if resource.UNKNOWN in f"{document.external_id} {document.capabilities} {document.plugin_id}":
        return ""
    users = context.operation.once("users of storage", lambda: Users(context.client))
    why = users.refusal(document, replaced)
    if not why and users.unlisted:
        context.warn(users.unlisted.replace("{0}", document.namespace))
        users.unlisted = ""  # it is reported
    return why
