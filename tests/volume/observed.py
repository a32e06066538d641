"""The facts about a volume of an abstract world, with the fields of `volume.facts`."""

from typing import NamedTuple

from tests.volume.world import contains


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
    fitness: str = "fit"


class ObservedRemoval(NamedTuple):
    """The facts about a volume that is not wanted; the fields of `volume.facts.Removal`."""

    is_replaced: bool
    is_held_elsewhere: bool
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


def presence(world, number, name, wanted):
    """Return the facts about the volume *name*, which a stack declares as *wanted*."""
    stack = world.stacks[number]
    cluster, recorded = world.clusters[stack.address], stack.recorded(name)
    record, held = cluster.record_of(name), cluster.storage_of(name)
    is_created = not wanted.storage
    storage = wanted.storage or (recorded.storage if recorded else "")
    compared = "nothing"
    if recorded is not None:
        compared = "same" if is_created or recorded.storage == wanted.storage else "other"
    others = [key for key, other in cluster.volumes if key != name and other == storage]
    return Observed(
        source="created" if is_created else "existing",
        protect=wanted.protect,
        adopt=False,
        recorded=compared,
        cluster=_cluster_of(cluster, recorded),
        record=_record_of(record, number, recorded),
        origin="begun" if record is not None and record.origin and record.stack == number else "none",
        registration=_registration(held, storage, recorded, is_created=is_created),
        claims="held" if name in cluster.claimed else "none",
        storage=_presence(world, storage) if is_created else "there" if storage in world.storage else "gone",
        sharing="refused" if others and not is_created else "none",
    )


def _registration(held, storage, recorded, *, is_created):
    if not held:
        return "absent"
    if is_created and recorded is None:
        # The comparison is of a volume that its plugin made: its storage is whatever it answered.
        return "equal" if "~" in held else "other-storage"
    if held == storage:
        return "equal"
    return "drifted" if recorded is not None and held != recorded.storage else "other-storage"


def removal(world, number, name):
    """Return the facts about the volume *name*, which a stack has in its state, and not in its program."""
    stack = world.stacks[number]
    cluster, recorded = world.clusters[stack.address], stack.recorded(name)
    held, wanted = cluster.storage_of(name), recorded.wanted
    mine = {key for key, record in cluster.records if record.stack == number}
    kept = {key for key in mine if stack.wanted(key)}
    others = [
        key
        for key, other in cluster.volumes
        if key != name and key not in mine - kept and contains(recorded.storage, other)
    ]
    return ObservedRemoval(
        is_replaced=False,
        is_held_elsewhere=False,
        is_renamed=recorded.stack != number,
        protect=wanted.protect,
        ends="deleted here" if wanted.deletes else "deleted after" if wanted.is_owned else "kept",
        is_proven=bool(recorded.name) and recorded.name == recorded.storage,
        cluster=_cluster_of(cluster, recorded),
        record=_record_of(cluster.record_of(name), number, recorded),
        registration="absent" if not held else "same" if held == recorded.storage else "other-storage",
        claims="held" if name in cluster.claimed else "none",
        dependents="some" if others else "none",
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


def _record_of(record, number, recorded):
    if record is None:
        return "none"
    if recorded is not None and recorded.nonce == record.nonce:
        return "own"
    return "foreign" if record.stack != number else "sibling"
