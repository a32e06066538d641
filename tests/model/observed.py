"""The facts about a volume of an abstract world, with the fields of `volumes.facts`."""

from typing import NamedTuple

from tests.model.world import OTHER_PLUGIN, PLUGIN_OF_SYSTEM, contains, id_of


class Observed(NamedTuple):
    """The facts about a wanted volume; the fields of `volumes.facts.Presence`."""

    source: str
    protect: bool
    adopt: bool
    recorded: str
    cluster: str
    record: str
    kept: str
    registration: str
    claims: str
    sharing: str
    dependents: str
    fitness: str = "fit"


class ObservedRemoval(NamedTuple):
    """The facts about a volume that is not wanted; the fields of `volumes.facts.Removal`."""

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


def presence(world, number, name, wanted, recorded):
    """Return the facts about the volume *name*, which a stack declares as *wanted*, and has in its state as *recorded*."""
    stack = world.stacks[number]
    cluster = world.clusters[stack.address]
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
        adopt=wanted.adopt,
        recorded=compared,
        cluster=_cluster_of(stack, cluster, recorded),
        record=_record_of(stack, record, number, recorded),
        kept="nothing" if stack.is_blind or record is None else _kept(record, wanted, recorded, held),
        registration=_registration(held, storage, recorded, wanted.plugin, is_created=is_created),
        claims="held" if name in cluster.claimed else "none",
        sharing="refused" if others and not is_created else "none",
        dependents=_left_dependents(world, stack, cluster, name, wanted, recorded),
    )


def repair(cluster, name, storage):
    """Return the facts about the volume *name*, which a repair has deregistered and is to register again."""
    return Observed(
        source="existing",
        protect=False,
        adopt=False,
        recorded="same",
        cluster="same",
        record="own",
        kept="same",
        registration="absent",
        claims="none",
        sharing="refused" if any(key != name and other == storage for key, other in cluster.volumes) else "none",
        dependents="none",
    )


def _kept(record, wanted, recorded, held):
    if wanted.storage and not record.name:
        return "nothing"  # who registers storage that exists names it
    if not (record.name or record.storage):
        return "nothing"
    if not wanted.storage and (record.plugin != wanted.plugin or (recorded and recorded.name not in {"", record.name})):
        return "other"
    known = wanted.storage or (recorded.storage if recorded else held) or record.storage
    if record.storage not in {"", known} or not (record.name or held or recorded):
        return "other"
    return "same" if record.storage else "other" if wanted.storage else "begun"


def _left_dependents(world, stack, cluster, name, wanted, recorded):
    if recorded is None or not recorded.wanted.is_owned or wanted.makes(recorded.storage):
        return "none"
    if recorded.wanted.retained or wanted.retained:
        return "none"
    after = world.with_cluster(stack.address, cluster.with_volume(name, wanted.storage))
    return dependents(after, stack, recorded.storage)


def others_in(cluster, storage, but=None):
    """Return the ids that are registered in *storage*, but *but*."""
    return [key for key, other in cluster.volumes if key != but and contains(storage, other)]


def dependents(world, stack, storage, but=None, removed=()):
    """Return the fact about what needs *storage*: volumes, and ids that keep a part of it and are not *removed* now."""
    if not world.lists or stack.is_blind:
        return "not known"
    cluster = world.clusters[stack.address]
    kept = {key for key, record in cluster.records if record.storage and contains(storage, record.storage)}
    return "some" if others_in(cluster, storage, but) or kept - {but, *removed} else "none"


def _dependents_of_removed(world, stack, recorded, name, removed, record):
    """Return the fact about the storage of a removed volume; a plugin that deletes it counts registrations alone."""
    cluster = world.clusters[stack.address]
    # Its own registration goes before, and its owner record, unless another resource has taken it over.
    goes = {recorded.storage: record != "sibling", "": record == "own"}
    but = name if goes.get(cluster.storage_of(name)) else None
    if not recorded.wanted.deletes:
        return dependents(world, stack, recorded.storage, but, removed)
    if not world.lists:
        return "not known"
    return "some" if others_in(cluster, recorded.storage, but) else "none"


def _registration(held, storage, recorded, plugin, *, is_created):
    if not held:
        return "absent"
    if is_created and recorded is None:
        # The comparison is of a volume that its plugin made: its storage is whatever it answered.
        if "~" not in held:
            return "other-storage"
        by = next((each for each in (OTHER_PLUGIN, PLUGIN_OF_SYSTEM) if held.startswith(each)), "")
        return "equal" if by == plugin else "re-register"
    if held == storage:
        return "equal"
    return "drifted" if recorded is not None and held != recorded.storage else "other-storage"


def removal(world, number, key, removed):
    """Return the facts about the resource *key* of a state, not in the program; *removed* are ids that are removed now."""
    stack, name = world.stacks[number], id_of(key)
    cluster, recorded = world.clusters[stack.address], stack.recorded(key)
    held, wanted = cluster.storage_of(name), recorded.wanted
    record = _record_of(stack, cluster.record_of(name), number, recorded)
    return ObservedRemoval(
        is_replaced=False,
        is_renamed=recorded.stack != number,
        protect=wanted.protect,
        ends="deleted here" if wanted.deletes else "deleted after" if wanted.is_owned else "kept",
        is_proven=bool(recorded.made) and recorded.made == recorded.storage,
        cluster=_cluster_of(stack, cluster, recorded),
        record=record,
        registration="absent" if not held else "same" if held == recorded.storage else "other-storage",
        claims="held" if name in cluster.claimed else "none",
        dependents=_dependents_of_removed(world, stack, recorded, name, removed, record),
    )


def held(world, number, key, removed):
    """Return the facts about the file system *key* of a stack, which is not in its program any more."""
    stack = world.stacks[number]
    cluster, recorded = world.clusters[stack.address], stack.recorded(key)
    return ObservedRemoval(
        is_replaced=False,
        is_renamed=recorded.stack != number,
        protect=False,
        ends="deleted after",
        is_proven=False,
        cluster=_cluster_of(stack, cluster, recorded),
        record="none",
        registration="absent",
        claims="none",
        dependents=dependents(world, stack, recorded.storage, removed=removed),
    )


def _cluster_of(stack, cluster, recorded):
    if stack.is_blind:
        return "not known"
    # Of a new volume the cluster of the others counts, where the engine compared those before: not here.
    of = recorded.cluster if recorded else 0
    if not of or of == cluster.identity:
        return "same"
    return "other" if cluster.identity else "lost"


def _record_of(stack, record, number, recorded):
    if stack.is_blind:
        return "not known"
    if record is None:
        return "none"
    if recorded is not None and recorded.nonce == record.nonce:
        return "own"
    return "foreign" if record.stack != number else "sibling"
