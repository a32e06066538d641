"""Every operation of users and of misfortune on the abstract world."""

from collections.abc import Mapping
from functools import cache, cached_property, lru_cache

from nomad_csi.volumes import decide
from tests.model import observed
from tests.model.run import Run
from tests.model.world import (
    CLUSTERS,
    FOLDER,
    IDS,
    OTHER_PLUGIN,
    OTHERS,
    PLUGIN_OF_SYSTEM,
    STACKS,
    SYSTEM,
    Cluster,
    Stack,
    Wanted,
    World,
    canonical,
    id_of,
    key_of,
    pair,
    put,
)

CREATED, EXISTING = ".created", ".existing"
"""Distinguish resources of one id, in components of other types than that which creates its storage."""

Programs = Mapping[int, Mapping[str, tuple[Wanted, ...]]]

volume = cache(Wanted)
"""Return a volume in a program; equal ones are one object, so that a world is compared quickly."""

OWNERS: Programs = {
    0: {
        "v": (
            volume(SYSTEM, is_owned=True),
            volume(SYSTEM, is_owned=True, protect=True),
            volume("", resource=CREATED),
            volume("", protect=True, resource=CREATED),
            volume("", deletes=True, resource=CREATED),
            volume("", plugin=OTHER_PLUGIN, resource=CREATED),
        )
    },
    1: {
        "v": (
            volume(SYSTEM, resource=EXISTING),
            volume("", resource=CREATED),
            volume("", adopt=True, resource=CREATED),
        ),
        "w": (volume(FOLDER), volume(SYSTEM)),
    },
}
"""What each stack may declare, where it is about whose a volume is."""

STORAGE: Programs = {
    0: {
        "v": (
            volume(SYSTEM, is_owned=True),
            volume(SYSTEM, is_owned=True, retained=True),
            volume(FOLDER, is_owned=True),
            volume(SYSTEM, resource=EXISTING),
            volume(SYSTEM, has_alias=True),
            volume("", deletes=True, resource=CREATED),
            volume("", plugin=PLUGIN_OF_SYSTEM, resource=CREATED),
        ),
        "w": (volume(FOLDER, protect=True), volume(SYSTEM, protect=True)),
        "s": (volume(SYSTEM, is_owned=True, is_hold=True),),
    },
    1: {"w": (volume(FOLDER), volume(SYSTEM))},
}
"""
What each stack may declare, where it is about storage that the program creates: a volume of its own, a part of one, the
same storage registered by another resource, a volume in it, a file system without a registration, and a volume that its
plugin creates: in storage of its own, which `on_destroy: delete` deletes, or in the file system, where it stays.
"""

EMPTY = World()

KILLS = (1, 2, 3)
"""After how many steps an `up` is killed."""

MEETINGS = (1, 2)
"""After how many steps another one runs."""


def up(world: World, number: int, **how) -> World:
    """Return the world after an `up`; *how* are arguments of `Run`."""
    return _with_known(world, number, _steps_of(world, number, **how)[-1])


def _steps_of(world, number, **how):
    """Return what a stack knows after each step of its `up`, and at the end."""
    return _carried_out(known_to(world, number), number, (decide.decide_presence, decide.decide_removal), **how)


@lru_cache(maxsize=1 << 14)
def _carried_out(known, number, _decisions, **how):
    """Carry it out once for all worlds that differ only in what the stack does not know."""
    run = Run(known, number, **how)
    return [*[run.world for _ in run.steps()], run.world]


def known_to(world: World, number: int) -> World:
    """Return *world* without what an `up` of a stack neither reads nor changes."""
    stack, other = world.stacks[number], Stack(state=world.stacks[1 - number].state)
    return World(
        clusters=pair(stack.address, world.clusters[stack.address], Cluster()),
        stacks=pair(number, stack, other),
        storage=world.storage,
        unfound=world.unfound,
        lists=world.lists,
        drawn=world.drawn,
    )


def _with_known(world, number, known):
    """Return *world* after an `up` of a stack left what it knows as *known*."""
    stack, other = known.stacks[number], world.stacks[1 - number]
    cluster, another = known.clusters[stack.address], world.clusters[1 - stack.address]
    return World(
        clusters=pair(stack.address, cluster, another),
        stacks=pair(number, stack, other),
        storage=known.storage,
        saved=world.saved,
        unfound=known.unfound,
        lists=world.lists,
        drawn=known.drawn,
    )


class Up:
    """An `up`, which can be killed after each step, or have one of the other stack within."""

    def __init__(self, world: World, number: int) -> None:
        self.edited = world
        """The world before it, with the program that is brought up."""

        self._number = number

    @cached_property
    def _steps(self):
        return _steps_of(self.edited, self._number)

    def ended(self) -> World:
        """Return the world at its end."""
        return _with_known(self.edited, self._number, self._steps[-1])

    def killed(self, after: int) -> World:
        """Return the world *after* so many steps, or at its end."""
        return _with_known(self.edited, self._number, self._steps[min(after, len(self._steps)) - 1])

    def interleaved(self, after: int) -> World:
        """Return the world at its end, with an `up` of the other stack *after* so many steps."""
        other, within = 1 - self._number, self.killed(after)
        if len(self._steps) <= after or up(within, other) == within:
            return self.ended()
        run = Run(self.edited, self._number)
        for count, _ in enumerate(run.steps(), 1):
            if count == after:
                run.is_disturbed = True
                run.world = up(run.world, other)
        return run.world


def failed(world: World, number: int) -> World:
    """Return the world after an `up` whose plugin answers with an error after it has created storage."""
    return up(world, number, fails=True)


def commanded(world: World, number: int) -> World:
    """Return the world after a `nomad-csi apply` of the program of a stack, under its name."""
    return up(world, number, is_command=True).with_stack(number, world.stacks[number]._replace(program=()))


def repaired(world: World, number: int, name: str) -> World:
    """Return the world after the rest of a repair of claims, which deregistered the volume."""
    cluster = world.clusters[number]
    storage = dict(cluster.noted)[name]
    decision = decide.decide_presence(observed.repair(cluster, name, storage))
    if decision.refusal is None:
        cluster = cluster.with_volume(name, storage)._replace(noted=put(cluster.noted, name, ""))
    return world.with_cluster(number, cluster)


def operations(world: World, programs: Programs = OWNERS):
    """Yield every operation that can change *world*: its name, a function, and the function's arguments."""
    for number in STACKS:
        yield from _programs(world, number, programs[number])
    if programs is STORAGE:
        yield from _ways_of_deletion(world)
        yield from _of_tokens(world)
        for what, changed in _of_volumes(world, world.clusters[0]):
            yield f"cluster 0: {what}", _same, (world.with_cluster(0, changed),)
        yield from _repairs(world, 0)
        return
    for number in STACKS:
        yield from _states(world, number)
    for number in CLUSTERS:
        yield from _of_cluster(world, number)
        yield from _repairs(world, number)
    yield from _of_storage(world)


def _programs(world, number, programs):
    """Yield an `up` of every program that the stack can have: to its end, killed, and with one of the other in it."""
    other = world.stacks[1 - number]
    for name, options in programs.items():
        stack = world.stacks[number]
        for wanted in (None, *options):
            if wanted is not None and wanted.is_owned and wanted.storage not in world.storage:
                continue
            changed = stack.with_program(name, wanted)
            if (not changed.program and not changed.state) or _is_made_twice(changed):
                continue
            edited, what = world.with_stack(number, changed), f"stack {number}: {name} {described(wanted)}, up"
            run = Up(edited, number)
            yield what, Up.ended, (run,)
            if wanted is not None and not wanted.storage:
                yield from _creations(edited, number, key_of(name, wanted), what)
            for count in KILLS:
                yield f"{what}, killed after {count} steps", Up.killed, (run, count)
            if other.program or other.state:
                for count in MEETINGS:
                    yield f"{what}, with one of the other after {count} steps", Up.interleaved, (run, count)
            if changed != stack:
                yield f"stack {number}: {name} {described(wanted)}", _same, (edited,)


def _creations(edited, number, key, what):
    """Yield an `up` whose plugin fails late, of stack 0, and `nomad-csi apply` of the same."""
    if number == 0 and not edited.stacks[number].recorded(key):
        yield f"{what}, and its plugin fails late", failed, (edited, number)
    yield f"{what.removesuffix(', up')}, nomad-csi apply", commanded, (edited, number)


def _is_made_twice(stack):
    """Return whether two resources of a program create the same storage, which cannot be."""
    made = [wanted.storage for _, wanted in stack.program if wanted.is_owned]
    return len(made) != len(set(made))


def _ways_of_deletion(world):
    """Yield what deletes storage besides a whole `up`."""
    stack = world.stacks[0]
    ids = sorted({id_of(key) for key, _ in stack.state})
    if not ids:
        return
    for name in ids if len(ids) > 1 else ():
        only = frozenset(name)
        yield f"stack 0: up --target {name}", _run, (world, {"only": only})
        yield f"stack 0: destroy --target {name}", _run, (world, {"only": only, "removes_all": True})
    yield "stack 0: destroy", _run, (world, {"removes_all": True})
    yield "stack 0: destroy --continue-on-error", _run, (world, {"removes_all": True, "continues": True})
    yield "stack 0: up --continue-on-error", _run, (world, {"continues": True})


def _run(world, how):
    return up(world, 0, **how)


def _of_tokens(world):
    yield from _rights(world, 0)
    yield "tokens with other rights to list volumes", _same, (world._replace(lists=not world.lists),)


def _rights(world, number):
    stack = world.stacks[number]
    if stack.state or stack.is_blind or not stack.program:
        blind = stack._replace(is_blind=not stack.is_blind)
        rights = "with" if stack.is_blind else "without"
        yield f"stack {number}: token {rights} rights to variables", _same, (world.with_stack(number, blind),)


def _states(world, number):
    stack, who = world.stacks[number], f"stack {number}"
    if stack.state:
        copied = world.stacks[1 - number]._replace(state=stack.state)
        yield f"{who}: state copied to the other", _same, (world.with_stack(1 - number, copied),)
    if stack.older and stack.older != stack.state:
        yield f"{who}: older state imported", _same, (world.with_stack(number, stack._replace(state=stack.older)),)
    keys = [key for key, _ in stack.state]
    for key in keys:
        is_alone = [id_of(each) for each in keys].count(id_of(key)) == 1
        yield (
            f"{who}: state delete {id_of(key) if is_alone else key}",
            _same,
            (world.with_stack(number, stack.with_state(key, None)),),
        )
    if number == 0:
        yield from _rights(world, number)
    moved = stack._replace(address=1 - stack.address)
    yield f"{who}: address of the other cluster", _same, (world.with_stack(number, moved),)


def _of_cluster(world, number):
    cluster, where = world.clusters[number], f"cluster {number}"
    for what, changed in (*_of_volumes(world, cluster), *_of_variables(cluster, _recorded_here(world, number))):
        yield f"{where}: {what}", _same, (world.with_cluster(number, changed),)
    if number == 0:
        saved = cluster._replace(claimed=frozenset())
        if cluster.volumes and world.saved != saved:
            yield f"{where}: snapshot saved", _same, (world._replace(saved=saved),)
        if world.saved is not None and world.saved != saved:
            yield f"{where}: snapshot restored", _same, (world.with_cluster(0, world.saved),)


def _repairs(world, number):
    cluster = world.clusters[number]
    for name, _ in cluster.noted:
        if not cluster.storage_of(name):
            yield f"cluster {number}: claims repair {name}, continued", repaired, (world, number, name)


def _of_volumes(world, cluster):
    for name, storage in cluster.volumes:
        if name in cluster.claimed:
            yield f"the job of {name} ends", cluster._replace(claimed=cluster.claimed - {name})
            continue
        gone = cluster.with_volume(name, "")
        yield f"nomad volume deregister {name}", gone
        record = cluster.record_of(name)
        removed = gone.with_record(name, None)._replace(given=put(cluster.given, name, ""))
        yield f"nomad-csi remove {name}", gone if record and record.name else removed
        yield f"claims repair {name}, cut", gone._replace(noted=put(cluster.noted, name, storage))
        if storage in world.storage:
            yield f"a job claims {name}", cluster._replace(claimed=cluster.claimed | {name})
    for name, record in cluster.records:
        if (record.name or record.storage) and record.storage != cluster.storage_of(name):
            given = put(cluster.given, name, "")
            yield f"nomad-csi remove {name} --forget", cluster.with_record(name, None)._replace(given=given)
    for name in IDS:
        if not cluster.storage_of(name) and OTHERS not in dict(cluster.volumes).values():
            yield f"another tool registers {name}", cluster.with_volume(name, OTHERS)


def _recorded_here(world, number):
    """Return the identities that the states of the stacks at a cluster record, where it is not the other cluster's."""
    return {item.cluster for stack in world.stacks if stack.address == number for _, item in stack.state} - {
        world.clusters[1 - number].identity
    }


def _of_variables(cluster, recorded):
    if cluster != Cluster():
        yield "rebuilt empty", Cluster()
    if cluster.records:
        yield "owner records purged", cluster._replace(records=(), given=())
    if cluster.identity:
        yield "its variables are purged", cluster._replace(identity=0, records=(), given=(), noted=())
    for identity in sorted(recorded - {cluster.identity}):
        yield f"identity {identity} written again", cluster._replace(identity=identity)


def _of_storage(world):
    for storage in sorted(world.storage):
        yield f"{storage} is deleted by hand", _same, (world.without_storage(storage),)
    for storage in sorted(item for item in world.storage - world.unfound if "~" in item and "'" not in item):
        unfound = world._replace(unfound=world.unfound | {storage})
        yield f"its plugin forgets the name of {storage}", _same, (unfound,)


def read_by(world: World, programs: Programs) -> World:
    """Return *world* without what none of its operations reads: only those of `OWNERS` import an older state."""
    if programs is OWNERS:
        return world
    return world._replace(stacks=tuple(stack._replace(older=()) for stack in world.stacks))


def _same(world):
    return world


def after(*names, start: World = EMPTY) -> World:
    """Return the world after the operations *names*."""
    found = start
    for name in names:
        function, arguments = {item: (call, given) for item, call, given in operations(found)}[name]
        found = canonical(function(*arguments))
    return found


def described(wanted: Wanted | None) -> str:
    """Return *wanted* in words."""
    if wanted is None:
        return "taken out"
    flags = {
        "protect": wanted.protect,
        "on_destroy: delete": wanted.deletes,
        "adopt": wanted.adopt,
        "a file system": wanted.is_hold,
        "retained": wanted.retained,
        "existing": wanted.resource == EXISTING,
        "existing, with an alias": wanted.has_alias,
    }
    plugins = {OTHER_PLUGIN: "created by another plugin", PLUGIN_OF_SYSTEM: f"created in {SYSTEM}"}
    storage = wanted.storage or plugins.get(wanted.plugin, "created by its plugin")
    return ", ".join([f"= {storage}", *(name for name, is_set in flags.items() if is_set)])
