"""
Identity of storage: one value for the data that a volume refers to, however its external id and context are written.

Two volumes with equal identities have the same data, and a file system contains its folders and access points. Pure.
Sources: kubernetes-sigs/aws-efs-csi-driver v3.4.1, ``parseVolumeId`` in ``pkg/driver/node.go`` (``fs[:path[:fsap]]``,
the path joined to ``/``); the drivers' context keys: ``external_id.located_by`` in the catalogue.
"""

import posixpath
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

if TYPE_CHECKING:  # the provider starts without the models of the spec
    from nomad_csi.spec import driver as drivers

_EFS = re.compile(
    r"(?:efs:)?(?P<s3files>s3files:)?(?P<system>fs-[0-9a-f]{8,40})(?::(?P<path>[^:]*)(?::(?P<point>fsap-[0-9a-f]{8,40})?)?)?"
)
_EBS = re.compile(r"vol-[0-9a-f]{8,17}")
_NO_CONTEXT: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageIdentity:
    """The data of a volume. Equal values are the same data of one driver."""

    container: str
    """What holds the data as a whole: ``vol-...``, ``fs-...``, ``s3files:fs-...``, a server, or another external id."""

    access_point: str = ""
    """EFS access point, ``fsap-...``. It decides the folder, so no path stands beside it."""

    path: tuple[str, ...] = ()
    """Names of the folders below the container; empty: all of it."""

    @property
    def is_whole(self) -> bool:
        """Whether it is all data of its container."""
        return not (self.access_point or self.path)

    @property
    def is_ebs(self) -> bool:
        """Whether it is an EBS volume."""
        return _EBS.fullmatch(self.container) is not None

    @property
    def is_efs(self) -> bool:
        """Whether it is an EFS file system or a part of one."""
        return self.container.startswith("fs-") and _EFS.fullmatch(self.container) is not None

    def contains(self, other: "StorageIdentity") -> bool:
        """Return whether *other* is this data or a part of it: ``fs-1`` contains ``fs-1:/a`` and ``fs-1::fsap-2``."""
        return self == other or self in other.around()

    def around(self) -> Iterator["StorageIdentity"]:
        """Yield what contains this data and more: the folders above it, and the whole container."""
        for length in range(len(self.path)):
            yield StorageIdentity(container=self.container, path=self.path[:length])
        if self.access_point:
            yield StorageIdentity(container=self.container)


Item = TypeVar("Item", bound=Hashable)
Relation = Literal["same", "around", "within"]
"""``same`` data; the storage that is ``around`` it and contains it; a part ``within`` it."""


class Index(Generic[Item]):
    """Items by the storage that they refer to. A file system with ten thousand access points costs no more."""

    def __init__(self) -> None:
        self._same: dict[StorageIdentity, dict[Item, None]] = {}
        self._within: dict[StorageIdentity, dict[Item, None]] = {}

    def add(self, storage: Iterable[StorageIdentity], item: Item) -> None:
        """Add *item*, which refers to *storage*."""
        for identity in storage:
            self._same.setdefault(identity, {})[item] = None
            for outer in identity.around():
                self._within.setdefault(outer, {})[item] = None

    def find(self, storage: Iterable[StorageIdentity], relation: Relation) -> tuple[Item, ...]:
        """Return the items whose storage has this *relation* to *storage*, each once."""
        wanted = tuple(storage)
        if relation == "around":
            wanted = tuple(outer for identity in wanted for outer in identity.around())
        items = self._within if relation == "within" else self._same
        return tuple(dict.fromkeys(item for identity in wanted for item in items.get(identity, ())))


def is_related(ours: Iterable[StorageIdentity], theirs: Iterable[StorageIdentity], relation: Relation) -> bool:
    """Return whether *theirs* has this *relation* to *ours*."""
    index: Index[None] = Index()
    index.add(theirs, None)
    return bool(index.find(ours, relation))


def identify(external_id: str) -> StorageIdentity:
    """
    Return the identity of the storage *external_id*.

    ``fs-1``, ``fs-1:`` and ``efs:fs-1:/`` are equal; ``fs-1:/a``, ``fs-1:a/`` and ``fs-1:/x/../a`` are, too.
    """
    parts = _EFS.fullmatch(external_id)
    if parts is None:
        return StorageIdentity(container=external_id)
    container = f"{parts['s3files'] or ''}{parts['system']}"
    if parts["point"]:
        return StorageIdentity(container=container, access_point=parts["point"])
    return StorageIdentity(container=container, path=folders(parts["path"] or ""))


def identities(
    external_id: str, context: Mapping[str, str] = _NO_CONTEXT, driver: "drivers.DriverSpec | None" = None
) -> frozenset[StorageIdentity]:
    """
    Return the identity of *external_id*, and of the location which *driver* reads from *context*, if it reads one.

    Two volumes with one of them in common are the same storage: the controller knows the id, a mount the location.
    """
    return frozenset((identify(external_id), *(located(context, driver) if driver else ())))


def located(context: Mapping[str, str], driver: "drivers.DriverSpec") -> Iterator[StorageIdentity]:
    """Yield the identity of the storage that *context* locates, by the first keys that *driver* reads and it has."""
    for location in driver.external_id.located_by:
        names = [driver.context.entry(context, key) for key in location.container]
        below = [driver.context.entry(context, key) for key in location.path]
        if all(names) and (not below or below[0]):
            host = "//".join(str(name).lower().rstrip(".") for name in names)
            yield StorageIdentity(container=host, path=folders("/".join(filter(None, below))))
            return


def folders(path: str) -> tuple[str, ...]:
    """Return the names in *path*, which begins at the container: ``folders("/x/../a/")`` is ``("a",)``."""
    return tuple(filter(None, posixpath.normpath(f"/{path}").split("/")))
