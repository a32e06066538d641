"""Every operation of users and of misfortune on the abstract world."""

from nomad_csi.volume import decide
from tests.volume import observed
from tests.volume.run import Run
from tests.volume.world import (
    CLUSTERS,
    FOLDER,
    IDS,
    OTHER_PLUGIN,
    OTHERS,
    STACKS,
    SYSTEM,
    Cluster,
    Wanted,
    World,
    canonical,
    put,
)

PROGRAMS = {
    0: {
        "v": (
            Wanted(SYSTEM, is_owned=True),
            Wanted(SYSTEM, is_owned=True, protect=True),
            Wanted(""),
            Wanted("", protect=True),
            Wanted("", deletes=True),
            Wanted("", plugin=OTHER_PLUGIN),
        ),
    },
    1: {"v": (Wanted(SYSTEM), Wanted(""), Wanted("", adopt=True)), "w": (Wanted(FOLDER), Wanted(SYSTEM))},
}
"""What each stack may declare."""

EMPTY = World()

KILLS = (1, 2, 3)
"""After how many steps an `up` is killed."""

MEETINGS = (1, 2)
"""After how many steps another one runs."""


def up(world: World, number: int) -> World:
    """Return the world after an `up`."""
    run = Run(world, number)
    for _ in run.steps():
        pass
    return run.world


class Killed:
    """An `up`, carried out once, that can be killed after each step."""

    def __init__(self, world: World, number: int) -> None:
        self.edited = world
        """The world before it, with the program that is brought up."""

        self._run = Run(world, number)
        self._worlds: list[World] = []

    def after(self, count: int | None = None) -> World:
        """Return the world after *count* steps, or at the end."""
        if not self._worlds:
            self._worlds = [self._run.world for _ in self._run.steps()]
            self._worlds.append(self._run.world)
        return self._worlds[-1] if count is None or count >= len(self._worlds) else self._worlds[count - 1]


def interleaved(world: World, number: int, after: int) -> World:
    """Return the world after an `up` of a stack, with one of the other stack *after* so many of its steps."""
    run = Run(world, number)
    for count, _ in enumerate(run.steps(), 1):
        if count == after:
            run.is_disturbed = True
            run.world = up(run.world, 1 - number)
    return run.world


def failed(world: World, number: int) -> World:
    """Return the world after an `up` whose plugin answers with an error after it has created storage."""
    run = Run(world, number, fails=True)
    for _ in run.steps():
        pass
    return run.world


def commanded(world: World, number: int) -> World:
    """Return the world after a `nomad-csi apply` of the program of a stack, under its name."""
    run = Run(world, number, is_command=True)
    for _ in run.steps():
        pass
    return run.world.with_stack(number, world.stacks[number]._replace(program=()))


def repaired(world: World, number: int, name: str) -> World:
    """Return the world after the rest of a repair of claims, which deregistered the volume."""
    cluster = world.clusters[number]
    storage = dict(cluster.noted)[name]
    decision = decide.decide_presence(observed.repair(cluster, name, storage))
    if decision.refusal is None:
        cluster = cluster.with_volume(name, storage)._replace(noted=put(cluster.noted, name, ""))
    return world.with_cluster(number, cluster)


def operations(world: World):
    """Yield every operation that can change *world*: its name, a function, and the function's arguments."""
    for number in STACKS:
        yield from _programs(world, number)
        yield from _states(world, number)
    for number in CLUSTERS:
        yield from _of_cluster(world, number)
        for name, _ in world.clusters[number].noted:
            if not world.clusters[number].storage_of(name):
                yield f"cluster {number}: claims repair {name}, continued", repaired, (world, number, name)
    yield from _of_storage(world)


def _programs(world, number):
    """Yield an `up` of every program that the stack can have: to its end, killed, and with one of the other in it."""
    other = world.stacks[1 - number]
    for name, options in PROGRAMS[number].items():
        stack = world.stacks[number]
        for wanted in (None, *options):
            if wanted is not None and wanted.is_owned and wanted.storage not in world.storage:
                continue
            changed = stack.with_program(name, wanted)
            if not changed.program and not changed.state:
                continue
            edited, what = world.with_stack(number, changed), f"stack {number}: {name} {described(wanted)}, up"
            run = Killed(edited, number)
            yield what, Killed.after, (run,)
            if wanted is not None and not wanted.storage:
                yield from _creations(edited, number, name, what)
            for count in KILLS:
                yield f"{what}, killed after {count} steps", Killed.after, (run, count)
            if other.program or other.state:
                for count in MEETINGS:
                    yield f"{what}, with one of the other after {count} steps", interleaved, (edited, number, count)
            if changed != stack:
                yield f"stack {number}: {name} {described(wanted)}", _same, (edited,)


def _creations(edited, number, name, what):
    """Yield an `up` whose plugin fails late, of stack 0, and `nomad-csi apply` of the same."""
    if number == 0 and not edited.stacks[number].recorded(name):
        yield f"{what}, and its plugin fails late", failed, (edited, number)
    yield f"{what.removesuffix(', up')}, nomad-csi apply", commanded, (edited, number)


def _states(world, number):
    stack, who = world.stacks[number], f"stack {number}"
    if stack.state:
        copied = world.stacks[1 - number]._replace(state=stack.state)
        yield f"{who}: state copied to the other", _same, (world.with_stack(1 - number, copied),)
    if stack.older and stack.older != stack.state:
        yield f"{who}: older state imported", _same, (world.with_stack(number, stack._replace(state=stack.older)),)
    for name, _ in stack.state:
        yield f"{who}: state delete {name}", _same, (world.with_stack(number, stack.with_state(name, None)),)
    if number == 0 and (stack.state or stack.is_blind or not stack.program):
        blind = stack._replace(is_blind=not stack.is_blind)
        rights = "with" if stack.is_blind else "without"
        yield f"{who}: token {rights} rights to variables", _same, (world.with_stack(number, blind),)
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


def _of_volumes(world, cluster):
    for name, storage in cluster.volumes:
        if name in cluster.claimed:
            yield f"the job of {name} ends", cluster._replace(claimed=cluster.claimed - {name})
            continue
        gone = cluster.with_volume(name, "")
        yield f"nomad volume deregister {name}", gone
        record = cluster.record_of(name)
        yield f"nomad-csi remove {name}", gone if record and record.name else gone.with_record(name, None)
        yield f"claims repair {name}, cut", gone._replace(noted=put(cluster.noted, name, storage))
        if storage in world.storage:
            yield f"a job claims {name}", cluster._replace(claimed=cluster.claimed | {name})
    for name, record in cluster.records:
        if record.name and record.storage != cluster.storage_of(name):
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
    if not any("~" in item for item in world.data):
        return  # only what a plugin created is looked for
    answers = world._replace(answers=not world.answers)
    yield ("storage is not observable" if world.answers else "storage is observable"), _same, (answers,)


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
    flags = {"protect": wanted.protect, "on_destroy: delete": wanted.deletes, "adopt": wanted.adopt}
    storage = wanted.storage or ("created by another plugin" if wanted.plugin else "created by its plugin")
    return ", ".join([f"= {storage}", *(name for name, is_set in flags.items() if is_set)])
