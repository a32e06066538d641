"""
An abstract world of stacks, clusters and storage. Everything in it is a value; equal worlds are one state.

Two stacks work on two clusters and two volume ids; a stack can have several resources of one id. The storage: a file
system that stack 0 creates in its program, a folder in it, and what two plugins create, which they find again by its name. Not expressed: two clients, mounts, sizes,
namespaces, access modes, the files of the command line.
"""

from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import NamedTuple

SYSTEM, FOLDER, OTHERS = "fs", "fs/f", "x"
"""The file system, a folder in it, and storage of another tool."""

IDS = ("v", "w")
OTHER_PLUGIN, PLUGIN_OF_SYSTEM = "q:", f"{SYSTEM}/"
"""Before the name of storage, where the second plugin created it, or one that creates it in the file system."""

STACKS = CLUSTERS = (0, 1)


@dataclass(frozen=True, eq=False)
class Wanted:
    """A volume in a program; no two are equal (`operations.volume`)."""

    storage: str
    """Existing storage; empty: the plugin creates it."""

    is_owned: bool = False
    """Whether the program creates the storage, and deletes it once the volume is removed."""

    protect: bool = False
    deletes: bool = False
    """``on_destroy: delete``."""

    plugin: str = ""
    """`OTHER_PLUGIN` or `PLUGIN_OF_SYSTEM` where that one creates the storage."""

    adopt: bool = False

    resource: str = ""
    """Distinguishes resources of one id: a component of another type is another one, unless it has an alias."""

    has_alias: bool = False
    is_hold: bool = False
    """Whether it is a file system of the program that several volumes share: it is not registered itself."""

    retained: bool = False
    """``retainOnDelete``: the engine forgets resource and storage, and asks nobody."""

    def makes(self, storage: str) -> bool:
        """Return whether the program creates *storage*, or what contains it."""
        return self.is_owned and contains(self.storage, storage)


class Recorded(NamedTuple):
    """A volume in a state."""

    wanted: Wanted
    storage: str
    nonce: int
    cluster: int
    stack: int
    """Whose `up` wrote it."""

    name: str = ""
    """By which the plugin created the storage; empty: it did not."""

    made: str = ""
    """The storage that the plugin created for this resource; empty: nothing proves that."""


class Record(NamedTuple):
    """An owner record."""

    stack: int
    nonce: int
    name: str = ""
    """By which a plugin creates the storage; empty: none does."""

    plugin: str = ""
    storage: str = ""
    """The storage of the id; empty: not known."""

    is_taken: bool = False
    """Whether the storage was registered before, so that nothing proves that it was created for the id."""


class Cluster(NamedTuple):
    """One Nomad cluster."""

    identity: int = 0
    """0: none."""

    volumes: tuple[tuple[str, str], ...] = ()
    """Id and storage of each registration."""

    records: tuple[tuple[str, Record], ...] = ()
    claimed: frozenset[str] = frozenset()
    given: tuple[tuple[str, str], ...] = ()
    """The storage of each id that a record or a state knows and that is not given up, also after a removal."""

    noted: tuple[tuple[str, str], ...] = ()
    """What a repair of claims has deregistered, and not registered again."""

    def storage_of(self, name: str) -> str:
        """Return the storage that *name* is registered for; empty: it is not."""
        return next((storage for key, storage in self.volumes if key == name), "")

    def record_of(self, name: str) -> Record | None:
        """Return the owner record of *name*."""
        return next((record for key, record in self.records if key == name), None)

    def with_volume(self, name: str, storage: str) -> "Cluster":
        """Return the cluster with *name* registered for *storage*; empty: not registered."""
        claimed = self.claimed if storage else self.claimed - {name}
        return self._replace(volumes=put(self.volumes, name, storage), claimed=claimed)

    def with_record(self, name: str, record: Record | None) -> "Cluster":
        """Return the cluster with *record* as the owner record of *name*."""
        return self._replace(records=put(self.records, name, record))


class Stack(NamedTuple):
    """One stack: its program, its state, and the state before the last change that took something from it."""

    program: tuple[tuple[str, Wanted], ...] = ()
    state: tuple[tuple[str, Recorded], ...] = ()
    older: tuple[tuple[str, Recorded], ...] = ()
    address: int = 0
    """The cluster that its provider connects to."""

    is_blind: bool = False
    """Whether its token has no rights to variables."""

    def wanted(self, name: str) -> Wanted | None:
        """Return *name* of the program."""
        return next((item for key, item in self.program if key == name), None)

    def recorded(self, key: str) -> Recorded | None:
        """Return the resource *key* of the state."""
        return next((item for each, item in self.state if each == key), None)

    def with_program(self, name: str, wanted: Wanted | None) -> "Stack":
        """Return the stack with *wanted* as the volume *name* of its program."""
        return self._replace(program=put(self.program, name, wanted))

    def with_state(self, key: str, recorded: Recorded | None) -> "Stack":
        """Return the stack with *recorded* as the resource *key* of its state."""
        before = self.recorded(key)
        older = self.state if before is not None and before != recorded else self.older
        return self._replace(state=put(self.state, key, recorded), older=older)


class World(NamedTuple):
    """All that lasts."""

    clusters: tuple[Cluster, Cluster] = (Cluster(), Cluster())
    stacks: tuple[Stack, Stack] = (Stack(), Stack())
    storage: frozenset[str] = frozenset({SYSTEM, FOLDER})
    saved: Cluster | None = None
    """An older snapshot of cluster 0."""

    unfound: frozenset[str] = frozenset()
    """Storage that its plugin does not find by its name any more."""

    lists: bool = True
    """Whether the tokens may list volumes."""

    drawn: int = 0
    """How many nonces and identities were drawn."""

    def with_cluster(self, number: int, cluster: Cluster) -> "World":
        """Return the world with another cluster."""
        return self._replace(clusters=pair(number, cluster, self.clusters[1 - number]))

    def with_stack(self, number: int, stack: Stack) -> "World":
        """Return the world with another stack."""
        return self._replace(stacks=pair(number, stack, self.stacks[1 - number]))

    def without_storage(self, storage: str) -> "World":
        """Return the world without *storage* and what is in it."""
        gone = {item for item in self.storage if contains(storage, item)}
        return self._replace(storage=self.storage - gone, unfound=self.unfound - gone)

    def answer(self, plugin: str, name: str) -> str:
        """Return the storage that a plugin answers to the request to create *name*, whether it was there before."""
        if (first := f"{plugin}{name}") not in self.unfound:
            return first
        head, _, drawn = first.partition("~")
        return f"{head}'~{drawn}"


def name_of(storage: str) -> str:
    """Return the name by which a plugin created *storage*."""
    return storage.removeprefix(OTHER_PLUGIN).removeprefix(PLUGIN_OF_SYSTEM)


def key_of(name: str, wanted: Wanted) -> str:
    """Return the resource, in a state, of the volume *name* that a program has as *wanted*."""
    return f"{name}{wanted.resource}"


def id_of(key: str) -> str:
    """Return the id of the volume of the resource *key*."""
    return key[0]


def pair(number, item, other):
    """Return a pair with *item* at *number*."""
    return (item, other) if number == 0 else (other, item)


def put(items, name, item):
    """Return the pairs *items* with *item* as *name*; without it where it is empty or ``None``."""
    others = [pair for pair in items if pair[0] != name]
    return tuple(sorted([*others, (name, item)], key=lambda pair: pair[0])) if item else tuple(others)


def contains(storage: str, other: str) -> bool:
    """Return whether *other* is *storage*, or a part of it."""
    return other == storage or other.startswith(f"{storage}/")


def canonical(world: World) -> World:
    """Return *world* with its drawn numbers in the order of their appearance, so that equal worlds are equal."""
    kept = (world.storage, world.unfound)
    drawn = dict.fromkeys((0, *chain.from_iterable(map(_drawn, (*world.clusters, *world.stacks, world.saved, kept)))))
    if all(each == place for place, each in enumerate(drawn)):
        return world if world.drawn in (0, len(drawn)) else world._replace(drawn=len(drawn))
    number = {each: place for place, each in enumerate(drawn)}

    def renumbered(part):
        return _renumbered(part, tuple(number[each] for each in _drawn(part)))

    storage, unfound = renumbered(kept)
    return world._replace(
        clusters=tuple(map(renumbered, world.clusters)),
        stacks=tuple(map(renumbered, world.stacks)),
        storage=storage,
        saved=renumbered(world.saved),
        unfound=unfound,
        drawn=len(drawn),
    )


Part = Cluster | Stack | tuple[frozenset[str], frozenset[str]] | None
"""A part of a world that has drawn numbers; many worlds share it."""


@cache
def _drawn(part: Part) -> tuple[int, ...]:
    """Return the drawn numbers of *part*, in the order in which they appear."""
    drawn: list[int] = []

    def same(number):
        drawn.append(number)
        return number

    _with_numbers(part, same)
    return tuple(drawn)


@cache
def _renumbered(part: Part, numbers: tuple[int, ...]) -> Part:
    """Return *part* with *numbers* instead of those drawn, in the order in which they appear."""
    others = dict(zip(_drawn(part), numbers, strict=True))
    return _with_numbers(part, others.__getitem__)


def _with_numbers(part, number):
    """Return *part* with *number* of each drawn number."""

    def name(text):
        head, mark, drawn = text.partition("~")
        return f"{head}~{number(int(drawn))}" if mark else text

    def storage(items):
        return tuple((key, name(each)) for key, each in items)

    def record(item):
        return item._replace(nonce=number(item.nonce), name=name(item.name), storage=name(item.storage))

    def state(items):
        return tuple((key, recorded(item)) for key, item in items)

    def recorded(item):
        return item._replace(
            storage=name(item.storage),
            nonce=number(item.nonce),
            cluster=number(item.cluster),
            name=name(item.name),
            made=name(item.made),
        )

    if isinstance(part, Cluster):
        return part._replace(
            identity=number(part.identity),
            records=tuple((key, record(item)) for key, item in part.records),
            volumes=storage(part.volumes),
            given=storage(part.given),
            noted=storage(part.noted),
        )
    if isinstance(part, Stack):
        return part._replace(state=state(part.state), older=state(part.older))
    return part and tuple(frozenset(map(name, sorted(items))) for items in part)
