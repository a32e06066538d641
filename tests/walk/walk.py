"""
A walk: what people do to stacks, one thing after the other, with a ledger of written data beside it.

Before each change there is a preview, as a careful operator has it; where that fails, the change is left alone. A step
is plain data, so that a walk can be printed, played again and shortened.
"""

import collections

from tests.walk import engines, ledger, stacks, steps
from tests.walk.providers import Fault

FAULTS = ("fail", "kill before", "kill after", "kill within")
LABELS = (("shop", "prod"), ("shop", "second"), ("shop", "third"))

TAKEN_OVER = "takes its volumes and jobs over"
"""Of a preview that names the stack from which everything is taken."""

LOST = "volume {} belongs to stack "
"""Of an `up` that succeeds and says that another stack has taken a volume over."""


class Walk:
    """One walk."""

    def __init__(self, world, engine, folder, slots):
        self.world, self.engine, self._folder = world, engine, folder
        self.ledger = ledger.Ledger()
        self.stacks = []
        self.wrong = []
        """What must not be, in words."""

        self.log = []
        """What was done, for whoever reads of a failure."""

        self.happened = collections.Counter()
        """How often, by kind of step, or of fault, and outcome."""

        self.outcome = ""
        """What the last operation came to."""

        self.held = {}
        """The stack that registered a volume last, by cluster, namespace and volume id."""

        world.empty()
        volumes = {slot: stacks.Volume(slot=slot, name=slot, volume_id=slot) for slot in slots}
        for volume in volumes.values():
            self.give_disk(volume)
        self.up(self.new_stack("east", volumes))

    def give_disk(self, volume):
        """Give a volume that stands for storage that was there such storage."""
        if volume.slot == "legacy":
            volume.external_id = self.world.cloud.disk()

    def new_stack(self, cluster, volumes, label=None):
        """Return a new stack, not up yet; *label*, project and name, may be that of a stack in another backend."""
        number = len(self.stacks)
        project, name = label or LABELS[number]
        place = engines.Place(folder=self._folder / str(number), project=project, name=name)
        self.engine.init(place)
        self.stacks.append(stacks.Stack(place=place, cluster=cluster, volumes=volumes))
        return self.stacks[-1]

    def take(self, step):
        """Take one step: a name, which stack, which volume, what goes wrong. What cannot be done is skipped."""
        name, which, slot, at = step
        stack = self.stacks[which % len(self.stacks)]
        volumes = list(stack.volumes.values())
        volume = volumes[slot % len(volumes)] if volumes else None
        fault = Fault(at=(at - 1) // len(FAULTS), kind=FAULTS[at % len(FAULTS)]) if at else None
        self.log.append(f"{name}, {stack.place.label}, {volume.slot if volume else 'no volume'}, {fault or 'no fault'}")
        self.outcome, stacks_before = "", len(self.stacks)
        if volume is not None or name not in steps.OF_VOLUME:
            steps.STEPS[name](self, stack, volume, fault)
        made = "done" if len(self.stacks) > stacks_before else "not possible"
        self.happened[name, self.outcome or made] += 1

    def finish(self):
        """Run every stack that is not well once more without a fault, as whoever repairs does."""
        for stack in [each for each in self.stacks if not each.is_well]:
            self.log.append(f"at the end, {stack.place.label}")
            self.up(stack)

    # --- engines
    def up(self, stack, fault=None, *, is_harmless=False):
        """
        Preview and `up`; return whether that succeeded.

        What is *harmless* is accepted of a stack that is well: else its data is safe, and it can never be changed again.
        """
        is_due = is_harmless and fault is None and stack.is_well
        is_done = self.operate(stack, "up", fault)
        if is_due and not is_done:
            self.wrong.append(f"{stack.place.label} was well, and its next `up` is refused")
        return is_done

    def operate(self, stack, operation, fault=None):
        """Run an operation after its preview, and judge; return whether it succeeded."""
        before = self.world.facts()
        volumes = [volume.wanted() for volume in stack.volumes.values()]
        address = self.world.clusters[stack.cluster].url
        engines.prepare(stack.place.folder, {"address": address, "volumes": volumes})
        preview = self._preview(stack, operation)
        if self.world.facts() != before:
            self.wrong.append("the preview changed something")
        stack.is_well = False
        if not preview.is_done:
            self.log.append(f"  preview of {stack.place.label} is refused: {engines.errors_in(preview.text)}")
            self.outcome = "refused"
            return False
        owned = {each.get("id"): each["urn"] for each in self.resources(stack)}
        done = self.engine.run(stack.place, operation, fault)
        if self.world.providers.gate.is_used:
            self.happened[fault.kind, "done"] += 1
        self.outcome = "done" if done.is_done else "failed"
        outcome = "done" if done.is_done else engines.errors_in(done.text)
        self.log.append(f"  {operation} of {stack.place.label}: {outcome}")
        self._judge(stack, before, preview, owned)
        if done.is_done and operation == "up":
            self._judge_declared(stack, before, preview.text, done.text)
        return done.is_done

    def _preview(self, stack, operation):
        """Preview an `up`; a destroy deletes what there is, and a refresh nothing."""
        if operation == "up":
            return self.engine.run(stack.place, "preview")
        urns = [each["urn"] for each in self.resources(stack)] if operation == "destroy" else []
        return engines.Told(is_done=True, text="", operations=tuple(("delete", urn) for urn in urns))

    def resources(self, stack):
        """Return the resources in the state of *stack*."""
        return self.engine.export(stack.place).get("deployment", {}).get("resources", [])

    # --- judging
    def _judge(self, stack, before, preview, owned):
        after = self.world.facts()
        self._allowed = {data for data in self.ledger.written if self._is_confirmed(stack, data, preview, owned)}
        self.wrong += self.ledger.judge(before, after, self._allowed)
        for volume in (volume for each in self.stacks for volume in each.volumes.values()):
            if ledger.storage_of(volume.data) in self.ledger.given_up:
                volume.give_up()
        for key, holder in list(self.held.items()):
            if holder is not stack:
                is_named = ("delete", owned.get("/".join(key[1:]))) in preview.operations
                if is_named and _is_of(holder, owned["/".join(key[1:])]):
                    continue
                self._judge_other(stack, key, (before.volumes.get(key), after.volumes.get(key)), preview)

    def _judge_other(self, stack, key, datas, preview):
        """What another stack registered stays as it is, unless the preview said that it is taken from that stack."""
        (was, now), holder = datas, self.held[key]
        is_named = TAKEN_OVER in preview.text and holder.place.label in preview.text
        if is_named and key[0] == stack.cluster:
            del self.held[key]  # a success makes it the other one's; what failed may have taken it, or not
            holder.is_well = False
        elif was is not None and was != now:
            what = f"{ledger.named(key)}, which {holder.place.label} registered"
            self.wrong.append(f"{what}, was {was} and is {now} after what {stack.place.label} did")

    def _judge_declared(self, stack, before, previewed, text):
        """
        After a success everything that is declared is registered, with the data that it had.

        What the *text* of it says is another stack's by now, stays that one's.

        Storage that was gone before is in the state of a stack that was copied; only a refresh would check it, and
        what was *previewed* names it where it is registered again.
        """
        now = self.world.facts()
        wanted = {stack.key(each): each for each in stack.volumes.values()}
        for key in [key for key, holder in self.held.items() if holder is stack and key not in wanted]:
            del self.held[key]
        for key, volume in wanted.items():
            data = now.volumes.get(key)
            if data is None:
                self.wrong.append(f"{ledger.named(key)} is not registered after a successful `up`")
            elif ledger.storage_of(data) in self.ledger.given_up & before.storage:
                self.wrong.append(f"{ledger.named(key)} stands for {data}, which is gone, after a successful `up`")
            elif key not in before.volumes and ledger.storage_of(data) not in {*before.storage, *now.storage}:
                if ledger.storage_of(data) not in previewed:
                    self.wrong.append(
                        f"{ledger.named(key)} is registered for {data}, which was gone, and no one said so"
                    )
            elif volume.data not in {"", data, *self._allowed}:
                self.wrong.append(
                    f"{ledger.named(key)} stood for {volume.data} as {volume.slot}, and stands for {data}"
                )
            volume.data = data or volume.data
            if LOST.format(volume.key) not in text:
                self.held[key] = stack
        stack.is_well = all(self.held.get(key) is stack for key in wanted)

    def _is_confirmed(self, stack, data, preview, owned):
        """Whether the loss of *data* was named in the preview, and confirmed by giving up its protection."""
        storage = ledger.storage_of(data)
        written_by = self.ledger.written[data]
        key = "/".join(written_by[1:])
        urn = owned.get(storage) or owned.get(key) or ""  # storage that a plugin made is in no state but by its volume
        is_held_by_another = self.held.get(written_by, stack) is not stack
        volumes = [
            each.having(data, None if is_held_by_another else written_by)
            for each in self.stacks
            if each is stack or _is_of(each, urn)
        ]
        volume = next((each for each in volumes if each is not None), None)
        if volume is None or volume.protect:
            return False
        if {("delete", urn), ("delete", owned.get(key))} & set(preview.operations):
            return True
        lines = [line for line in preview.text.splitlines() if storage in line or key in line]
        return any("data" in line or "delete" in line for line in lines)


def _is_of(stack, urn):
    """
    Whether *urn* names *stack*, by a name that it has or had.

    A state that was imported by force into another stack has such URNs, and its preview names that stack: what is done
    with it is done as that stack.
    """
    _, _, name, _, project, *_ = [*urn.split(":"), "", "", "", "", ""]
    return f"{project}/{name}" in {stack.place.label, *stack.former_labels}
