"""The facts about a volume of an abstract world, with the fields of `volume.facts`."""

from typing import NamedTuple

from tests.volume.world import contains, id_of, key_of


class Observed(NamedTuple):
    """The facts about a wanted volume; the fields of `volume.facts.Presence`."""

    source: str
    protect: bool
    adopt: bool
    recorded: str
    cluster: str
    record: str
    origin: str
    registration: str
    claims: str
    storage: str
    sharing: str
    left_storage: str
    fitness: str = "fit"


class ObservedRemoval(NamedTuple):
    """The facts about a volume that is not wanted; the fields of `volume.facts.Removal`."""

    is_replaced: bool
    is_renamed: bool
    protect: bool
    ends: str
    is_proven: bool
    cluster: str
    record: str
    registration: str
    claims: str
    dependents: str
    fitness: str = "fit"


class ObservedHold(NamedTuple):
    """The facts about a file system that several volumes share; the fields of `volume.facts.Held`."""

    is_renamed: bool
    cluster: str
    dependents: str


def presence(world, number, name, wanted):
    """Return the facts about the volume *name*, which a stack declares as *wanted*."""
    stack = world.stacks[number]
    cluster, recorded = world.clusters[stack.address], stack.recorded(key_of(name, wanted))
    record, held = cluster.record_of(name), cluster.storage_of(name)
    is_created = not wanted.storage
    storage = wanted.storage or (recorded.storage if recorded else "")
    compared = "nothing"
    if recorded is not None:
        compared = "same" if is_created or recorded.storage == wanted.storage else "other"
    others = [key for key, other in cluster.volumes if key != name and other == storage]
    is_begun = world.reads and record is not None and record.origin and record.stack == number
    return Observed(
        source="created" if is_created else "existing",
        protect=wanted.protect,
        adopt=False,
        recorded=compared,
        cluster=_cluster_of(cluster, recorded),
        record=_record_of(world, record, number, recorded),
        origin="begun" if is_begun else "none",
        registration=_registration(held, storage, recorded, is_created=is_created),
        claims="held" if name in cluster.claimed else "none",
        storage=_presence(world, storage) if is_created else "there" if storage in world.storage else "gone",
        sharing="refused" if others and not is_created else "none",
        left_storage=_left_storage(world, cluster, name, wanted, recorded),
    )


def _left_storage(world, cluster, name, wanted, recorded):
    if recorded is None or not recorded.wanted.is_owned or wanted.makes(recorded.storage):
        return "kept"
    if recorded.wanted.retained or wanted.retained:
        return "kept"
    if not world.lists:
        return "not known"
    after = cluster.with_volume(name, wanted.storage)
    return "needed" if others_in(after, recorded.storage) else "unneeded"


def others_in(cluster, storage, but=None):
    """Return the ids that are registered in *storage*, but *but*."""
    return [key for key, other in cluster.volumes if key != but and contains(storage, other)]


def dependents(world, cluster, storage, but=None):
    """Return the fact about the volumes in *storage*."""
    if not world.lists:
        return "not known"
    return "some" if others_in(cluster, storage, but) else "none"


def _registration(held, storage, recorded, *, is_created):
    if not held:
        return "absent"
    if is_created and recorded is None:
        # The comparison is of a volume that its plugin made: its storage is whatever it answered.
        return "equal" if "~" in held else "other-storage"
    if held == storage:
        return "equal"
    return "drifted" if recorded is not None and held != recorded.storage else "other-storage"


def removal(world, number, key):
    """Return the facts about the resource *key*, which a stack has in its state, and not in its program."""
    stack, name = world.stacks[number], id_of(key)
    cluster, recorded = world.clusters[stack.address], stack.recorded(key)
    held, wanted = cluster.storage_of(name), recorded.wanted
    return ObservedRemoval(
        is_replaced=False,
        is_renamed=recorded.stack != number,
        protect=wanted.protect,
        ends="deleted here" if wanted.deletes else "deleted after" if wanted.is_owned else "kept",
        is_proven=bool(recorded.name) and recorded.name == recorded.storage,
        cluster=_cluster_of(cluster, recorded),
        record=_record_of(world, cluster.record_of(name), number, recorded),
        registration="absent" if not held else "same" if held == recorded.storage else "other-storage",
        claims="held" if name in cluster.claimed else "none",
        dependents=dependents(world, cluster, recorded.storage, name if held == recorded.storage else None),
    )


def held(world, number, key):
    """Return the facts about the file system *key* of a stack, which is not in its program any more."""
    stack = world.stacks[number]
    cluster, recorded = world.clusters[stack.address], stack.recorded(key)
    return ObservedHold(
        is_renamed=recorded.stack != number,
        cluster=_cluster_of(cluster, recorded),
        dependents=dependents(world, cluster, recorded.storage),
    )


def _presence(world, storage):
    if not world.answers or not storage:
        return "not known"
    return "there" if storage in world.storage else "gone"


def _cluster_of(cluster, recorded):
    # Of a new volume the cluster of the others counts, where the engine compared those before: not here.
    of = recorded.cluster if recorded else 0
    if not of or of == cluster.identity:
        return "same"
    return "other" if cluster.identity else "lost"


def _record_of(world, record, number, recorded):
    if not world.reads:
        return "not known"
    if record is None:
        return "none"
    if recorded is not None and recorded.nonce == record.nonce:
        return "own"
    return "foreign" if record.stack != number else "sibling"
