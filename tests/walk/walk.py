"""
Sequences of the abstract world on real code: components, provider and decisions, on an engine and emulated clusters.

After each operation the parts are compared with the abstract world: which ids are registered in which cluster, which of
them have the same storage, which storage there is, and whether an `up` was refused. Its preview comes first, changes
nothing, and fails where a volume of the program is refused. Left out are interleavings, which
`tests/volumes/test_races.py` has, kills within a step of the engine, and storage that does not answer.
"""

import copy
import random
import re

from nomad_csi.nomad import cluster_identity
from tests.model import operations
from tests.model.run import Run
from tests.model.world import FOLDER, OTHERS, SYSTEM, World, canonical, id_of, key_of
from tests.walk import clusters, engines, providers

LABELS = (("shop", "prod"), ("shop", "second"))
NAMES = ("east", "west")
LENGTH = 5
"""Operations of a sequence."""

OWNER_RECORDS = "nomad-csi/volumes/"

LEFT_OUT = re.compile(
    r"with one of the other|nomad-csi|another tool|protect|plugin fails|rights to|claims repair|forgets"
    r"|another plugin"
    rf"|stack 0: v = {SYSTEM}\b|{SYSTEM}(/f)? is deleted"
)
"""What is not replayed. Stack 0 declares what its plugin creates: the file system is there before."""


PROGRAM = re.compile(r"stack \d: [vw] (=|taken out)")
"""What changes a program."""


def drawn(seed: int, length: int) -> list[str]:
    """Return the sequence of *length* operations of a *seed*; every second one is an `up`, which may be killed."""
    draw, world, names = random.Random(seed), World(), []  # noqa: S311  # no secret
    while len(names) < length:
        found = {name: item for name, *item in operations.operations(world) if _can_be_replayed(name, world, *item)}
        ups = [name for name in found if ", up" in name]
        others = sorted(name for name in found if not PROGRAM.match(name))
        is_empty = not any(cluster.volumes for cluster in world.clusters)
        name = draw.choice(ups if ups and (is_empty or draw.random() < 0.5) else others)
        function, arguments = found[name]
        world = canonical(function(*arguments))
        names.append(name)
    return names


def _can_be_replayed(name, world, _function, arguments):
    """
    Return whether parts can do it.

    Storage that is deleted by hand is found by its registration, and EC2 refuses it of an attached volume. A snapshot
    has the claims of its time, and the jobs. A state has the id of its stack: with another one's state a stack has
    another id, and what it owned is another stack's. One id is of one type of resource: another type is another
    resource, which the engine creates before it removes the first. A new volume in a cluster that is not the one of the
    others is refused only where the engine compared one of those before.
    """
    storage, is_deleted, _ = name.partition(" is deleted")
    registered = {item for cluster in world.clusters for key, item in cluster.volumes if key not in cluster.claimed}
    if LEFT_OUT.search(name) or (is_deleted and storage not in registered):
        return False
    if "snapshot" in name and world.clusters[0].claimed:
        return False
    owners = {record.stack for cluster in world.clusters for _, record in cluster.records}
    if any(name == f"stack {number}: state copied to the other" for number in {1 - owner for owner in owners}):
        return False
    edited = _edited(arguments)
    if isinstance(arguments[0], operations.Up) and len(arguments) > 1 and _fault(name, edited) is None:
        return False
    for stack in edited.stacks:
        here = edited.clusters[stack.address].identity
        is_elsewhere = any(item.cluster not in {0, here} for _, item in stack.state)
        if is_elsewhere and any(stack.recorded(key_of(*item)) is None for item in stack.program):
            return False
        types = {key: bool(item.storage) for key, item in stack.program}
        if any(
            types.get(id_of(key), bool(item.wanted.storage)) != bool(item.wanted.storage) for key, item in stack.state
        ):
            return False
    return True


def _edited(arguments):
    """Return the world that an operation with *arguments* starts from."""
    [first, *_] = arguments
    return first.edited if isinstance(first, operations.Up) else first


def _fault(name, edited):
    """Return the call of the engine before or after which *name* kills an `up`; ``None`` where it is within one."""
    run = Run(edited, int(name[len("stack ")]))
    steps, count = list(run.steps()), int(name.split()[-2])
    if count >= len(steps) or "state" not in {steps[count], steps[count - 1]}:
        return None
    kind = "kill after" if steps[count] == "state" else "kill before"
    return providers.Fault(at=steps[:count].count("state"), kind=kind)


class Walk:
    """Two stacks, two clusters, a cloud."""

    def __init__(self, world, engine, folder) -> None:
        self._parts, self._engine = world, engine
        self.model = self._before = World()
        self.log: list[str] = []
        self.wrong: list[str] = []
        world.empty()
        self._system = world.cloud.file_system()
        self._places = []
        for number, (project, name) in enumerate(LABELS):
            place = engines.Place(folder=folder / str(number), project=project, name=name)
            engine.init(place)
            self._places.append(place)
        self._older = [{}, {}]
        self._saved = None
        self._is_over = False
        """After a refusal: what else the run has done by then depends on the engine's order."""

    def play(self, names) -> "Walk":
        """Carry out the operations *names*, until the first one after which parts and abstract world differ."""
        for name in names:
            self._operate(name)
            if self.wrong or self._is_over:
                break
        return self

    def _operate(self, name):
        found = {each: item for each, *item in operations.operations(self.model)}
        function, arguments = found[name]
        before = self._before = self.model
        after = function(*arguments)
        self.model = canonical(after)
        exports = [self._engine.export(place) for place in self._places]
        said = self._carry_out(name, arguments)
        for number, stack in enumerate(after.stacks):  # not of `canonical`, which gives new numbers to the same state
            if stack.older != before.stacks[number].older:
                self._older[number] = exports[number]
        self.log.append(f"{name}: {said}")
        if not self._is_over:
            self._compare(name)

    def _carry_out(self, name, arguments):
        where, _, what = name.partition(": ")
        kind, _, number = where.partition(" ")
        if kind == "stack":
            return self._of_stack(int(number), what, arguments)
        if kind == "cluster":
            return self._of_cluster(int(number), what)
        storage = name.partition(" is deleted")[0]
        self._parts.cloud.delete_disk(self._real[storage])
        return "deleted"

    # Stacks.

    def _of_stack(self, number, what, arguments):
        place = self._places[number]
        if ", up" in what:
            edited = _edited(arguments)
            fault = _fault(f"stack {number}: {what}", edited) if "killed" in what else None
            return self._up(number, edited, fault)
        if what == "state copied to the other":
            document = self._engine.export(place)
            other = self._places[1 - number]
            self._engine.put(other, engines.renamed(document, place, other.name, other.project))
        elif what == "older state imported":
            self._engine.put(place, self._older[number])
        elif what.startswith("state delete "):
            volume_id = what.removeprefix("state delete ")
            for each in self._engine.export(place)["deployment"]["resources"]:
                if each["custom"] and each["urn"].endswith(f"::{volume_id}"):
                    self._engine.drop(place, each["urn"])
        return "done"

    def _up(self, number, edited, fault):
        run, stack = Run(edited, number), edited.stacks[number]
        for _ in run.steps():
            pass
        wanted = {
            "address": self._parts.clusters[NAMES[stack.address]].url,
            "volumes": [self._wanted(name, item) for name, item in stack.program],
        }
        engines.prepare(self._places[number].folder, wanted)
        self._preview(number, run)
        told = self._engine.run(self._places[number], "up", fault)
        names = {id_of(key) for key, _ in (*stack.program, *stack.state)}
        self._is_over = bool(run.refusals) and len(names) > 1
        if told.is_done == bool(run.refusals or fault):
            self.wrong.append(
                f"`up` of stack {number} is {'done' if told.is_done else 'refused'}, and the abstract world has "
                f"{run.refusals or fault or 'no refusal'}: {engines.errors_in(told.text)}"
            )
        return f"{'done' if told.is_done else engines.errors_in(told.text)}"

    def _preview(self, number, run):
        before = self._parts.facts()
        told = self._engine.run(self._places[number], "preview")
        if self._parts.facts() != before:
            self.wrong.append(f"the preview of stack {number} changed something")
        # The refresh before it may refuse a removal as well; other removals no preview asks the provider about.
        if run.is_foreseen if told.is_done else not run.refusals:
            self.wrong.append(
                f"the preview of stack {number} is {'done' if told.is_done else 'refused'}, and the abstract world has "
                f"{run.refusals or 'no refusal'}: {engines.errors_in(told.text)}"
            )

    def _wanted(self, name, item):
        common = {"plugin_id": clusters.EBS, "driver": "aws-ebs", "volume_id": name, "namespace": "default"}
        if item.storage:
            path = item.storage.removeprefix(SYSTEM) or "/"
            kind = "ExistingVolume"
            common |= {"plugin_id": clusters.EFS, "driver": "aws-efs", "external_id": f"{self._system}:{path}"}
            common |= {
                "protect": False,
                "capabilities": [{"access_mode": "multi-node-multi-writer", "attachment_mode": "file-system"}],
            }
        else:
            kind = "CsiVolume"
            common |= {"capacity_min_gib": 5, "availability_zone": "us-east-1a", "protect": False}
            deletion = {"aws_region": "us-east-1", "skip_final_snapshot": True}
            common |= {"on_destroy": "delete", "deletion": deletion} if item.deletes else {}
        common |= {"adopt": True} if item.adopt else {}
        return {"kind": kind, "name": name, "args": common}

    # Clusters.

    def _of_cluster(self, number, what):
        cluster = self._parts.clusters[NAMES[number]]
        word, _, rest = what.partition(" ")
        volume_id = what.rpartition(" ")[2]
        if what == "rebuilt empty":
            cluster.empty()
        elif what == "owner records purged":
            cluster.purge(OWNER_RECORDS)
        elif what == "its variables are purged":
            cluster.purge("")
        elif word == "identity":
            cluster.write(cluster_identity.PATH, {cluster_identity.ITEM: self._identity_of(int(rest.split()[0]))})
        elif word == "snapshot":
            self._saved = cluster.snapshot() if rest == "saved" else cluster.restore(copy.deepcopy(self._saved))
        elif what.startswith("nomad volume deregister"):
            cluster.deregister(("default", volume_id))
        else:
            is_claimed = what.startswith("a job claims")
            name = volume_id if is_claimed else what.split()[3]
            cluster.claim(("default", name), is_claimed=is_claimed)
        return "done"

    def _identity_of(self, number):
        """Return the real identity of the one with *number* in the abstract world, from a state that records it."""
        for place, stack in zip(self._places, self._before.stacks, strict=True):
            for key, item in stack.state:
                if item.cluster == number:
                    [found] = [
                        each["outputs"]["cluster"]
                        for each in self._engine.export(place)["deployment"]["resources"]
                        if each["urn"].endswith(f"::{id_of(key)}") and "cluster" in each.get("outputs", {})
                    ]
                    return found
        raise KeyError(number)

    # Comparison.

    @property
    def _real(self):
        """The real storage of each of the abstract world, from the registrations."""
        found = {SYSTEM: f"{self._system}:/", FOLDER: f"{self._system}:{FOLDER.removeprefix(SYSTEM)}"}
        for number, cluster in enumerate(self.model.clusters):
            registered = self._parts.clusters[NAMES[number]].registered()
            found |= {
                storage: registered.get(("default", name), "") for name, storage in cluster.volumes if "~" in storage
            }
        return found

    def _compare(self, name):
        real = self._real
        for number, cluster in enumerate(self.model.clusters):
            there = {key[1]: value for key, value in self._parts.clusters[NAMES[number]].registered().items()}
            wanted = {key: real.get(storage, storage) for key, storage in cluster.volumes if storage != OTHERS}
            if there != wanted:
                self.wrong.append(f"after {name}: cluster {number} has {there}, and is to have {wanted}")
        created = [item for item in self.model.storage if "~" in item]
        disks = [item for item in self._parts.cloud.storage()[0] if item.startswith("vol-")]
        if len(disks) != len(created):
            self.wrong.append(f"after {name}: there are {len(disks)} disks, and are to be {sorted(created)}")
