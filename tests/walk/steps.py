"""What people do to a stack, each followed by the `up` that makes it so; a fault breaks or kills that one."""

from tests.walk import clusters, engines, ledger, stacks
from tests.walk.providers import Fault

LIMIT = 3
"""Stacks in a walk at most."""


def again(walk, stack, _volume, fault):
    walk.up(stack, fault, is_harmless=True)


def refresh(walk, stack, _volume, _fault):
    walk.operate(stack, "refresh")


def destroy(walk, stack, _volume, fault):
    """Destroy a stack; what it had is nobody's then."""
    was = [key for key, holder in walk.held.items() if holder is stack]
    declared = stack.volumes
    if walk.operate(stack, "destroy", fault):
        stack.removed += declared.values()
        stack.volumes = {}
    left = walk.world.facts().volumes
    for key in was:
        if key not in left:
            walk.held.pop(key, None)
    for volume in declared.values():
        if stack.key(volume) not in left:
            volume.give_up()


# --- names
def rename_stack(walk, stack, _volume, fault):
    _rename(walk, stack, fault, f"{stack.place.name}-x", stack.place.project)


def rename_project(walk, stack, _volume, fault):
    _rename(walk, stack, fault, stack.place.name, f"{stack.place.project}-x")


def _rename(walk, stack, fault, name, project):
    stack.former_labels.add(stack.place.label)
    walk.engine.rename(stack.place, name, project)
    walk.up(stack, fault, is_harmless=True)


def wrap(walk, stack, volume, fault):
    """Put a resource into a component, or take it out of one."""
    _change(walk, stack, volume, fault, wrapper=_other_wrapper(volume))


def rename_resource(walk, stack, volume, fault):
    _change(walk, stack, volume, fault, name=f"{volume.name}-x")


def wrap_with_alias(walk, stack, volume, fault):
    aliases = (*volume.aliases, volume.was)
    _change(walk, stack, volume, fault, is_harmless=True, wrapper=_other_wrapper(volume), aliases=aliases)


def rename_resource_with_alias(walk, stack, volume, fault):
    aliases = (*volume.aliases, volume.was)
    _change(walk, stack, volume, fault, is_harmless=True, name=f"{volume.name}-x", aliases=aliases)


def change_id(walk, stack, volume, fault):
    is_harmless = _is_alone(walk, volume)
    _change(walk, stack, volume, fault, is_harmless=is_harmless, volume_id=f"{volume.volume_id}-x")


def change_namespace(walk, stack, volume, fault):
    is_harmless = _is_alone(walk, volume)
    _change(walk, stack, volume, fault, is_harmless=is_harmless, namespace=_next_namespace(volume.namespace))


def _change(walk, stack, volume, fault, *, is_harmless=False, **fields):
    """Change the program; what the preview refuses is taken back."""
    before, key = {name: getattr(volume, name) for name in fields}, volume.key
    _set(volume, fields)
    walk.up(stack, fault, is_harmless=is_harmless)
    if walk.outcome == "refused":
        _set(volume, before)
    elif volume.slot == "scratch" and volume.key != key:
        volume.give_up()  # what a plugin makes is made anew for another id, as the preview says


def _set(volume, fields):
    for name, value in fields.items():
        setattr(volume, name, value)


def _other_wrapper(volume):
    return "" if volume.wrapper else f"around-{volume.slot}"


def _next_namespace(namespace):
    spaces = clusters.NAMESPACES
    return spaces[(spaces.index(namespace) + 1) % len(spaces)]


def _is_alone(walk, volume):
    """Whether another id of *volume* is free, and its storage does not hang on the id."""
    return len(walk.stacks) == 1 and volume.slot != "scratch"


def fail_replacement(walk, stack, volume, fault):
    """Ask for another namespace, have the new object refused after the old one went, and take it back."""
    namespace = volume.namespace
    volume.namespace = _next_namespace(namespace)
    walk.up(stack, Fault(at=0, kind="fail", call="Create"))
    volume.namespace = namespace
    walk.up(stack, fault)


# --- what is given up
def unprotect(walk, stack, volume, fault):
    volume.protect = False
    walk.up(stack, fault)


def remove(walk, stack, volume, fault):
    """Take a volume out of the program, for good where that is accepted."""
    stack.removed.append(stack.volumes.pop(volume.slot))
    walk.up(stack, fault)
    if walk.outcome == "refused":
        stack.volumes[volume.slot] = stack.removed.pop()


def unprotect_and_remove(walk, stack, volume, fault):
    unprotect(walk, stack, volume, None)
    remove(walk, stack, volume, fault)


def unprotect_and_wrap(walk, stack, volume, fault):
    unprotect(walk, stack, volume, None)
    wrap(walk, stack, volume, fault)


def unprotect_and_destroy(walk, stack, _volume, fault):
    for volume in stack.volumes.values():
        volume.protect = False
    walk.up(stack)
    destroy(walk, stack, None, fault)


# --- states
def copy_rewritten(walk, stack, _volume, _fault):
    """Import the state into another stack with the same program, with the name of that put into it."""
    if len(walk.stacks) < LIMIT and walk.resources(stack):
        made = walk.new_stack(stack.cluster, stacks.without_data(stack.volumes))
        ids = {each.get("id") for each in walk.resources(stack)}
        for slot, volume in stack.volumes.items():
            made.volumes[slot].data = volume.data if ledger.storage_of(volume.data) in ids else ""
        document = walk.engine.export(stack.place)
        walk.engine.put(made.place, engines.renamed(document, stack.place, made.place.name, made.place.project))


def copy_as_it_is(walk, stack, _volume, _fault):
    """Import the state as it is: what it holds is foreign to the program, which makes all anew and has it deleted."""
    if len(walk.stacks) < LIMIT and walk.resources(stack):
        made = walk.new_stack(stack.cluster, stacks.without_data(stack.volumes))
        walk.engine.put(made.place, walk.engine.export(stack.place))


def drop_state(walk, stack, volume, fault):
    """Have the state forget one resource of a volume and what depends on it."""
    found = [
        each["urn"] for each in walk.resources(stack) if each["custom"] and ":pulumi:providers:" not in each["urn"]
    ]
    found = [urn for urn in found if urn.rpartition("::")[2].startswith(volume.name)]
    if found:
        walk.engine.drop(stack.place, found[(fault.at if fault else -1) % len(found)])
        walk.up(stack)


# --- other stacks
def second_stack(walk, stack, _volume, fault):
    """Run the same program as another stack, in the same cluster: the ids are taken."""
    if len(walk.stacks) < LIMIT:
        walk.up(walk.new_stack(stack.cluster, stacks.without_data(stack.volumes)), fault)


def second_stack_with_other_ids(walk, stack, _volume, fault):
    if len(walk.stacks) < LIMIT:
        walk.up(walk.new_stack(stack.cluster, _others(walk, stack, volume_id="other")), fault)


def second_namespace(walk, stack, _volume, fault):
    """Run the same program as another stack, in another namespace."""
    if len(walk.stacks) < LIMIT:
        walk.up(walk.new_stack(stack.cluster, _others(walk, stack, namespace="batch")), fault)


def second_namespace_of_one_disk(walk, stack, _volume, fault):
    """As before, with the very disk that was there: two would write to it."""
    if len(walk.stacks) < LIMIT:
        volumes = stacks.without_data(stack.volumes)
        for volume in volumes.values():
            volume.namespace = "batch"
        walk.up(walk.new_stack(stack.cluster, volumes), fault)


def second_cluster(walk, stack, _volume, fault):
    """Run the same program as a stack of the same name in another cluster, from another backend."""
    if len(walk.stacks) < LIMIT:
        label = stack.place.project, stack.place.name
        walk.up(walk.new_stack("west", _others(walk, stack), label), fault)


def _others(walk, stack, **fields):
    """Return the volumes of *stack* for a program with storage of its own."""
    volumes = stacks.without_data(stack.volumes)
    for volume in volumes.values():
        _set(volume, fields)
        walk.give_disk(volume)
    return volumes


STEPS = {
    "up": again,
    "refresh": refresh,
    "destroy": destroy,
    "rename stack": rename_stack,
    "rename project": rename_project,
    "wrap": wrap,
    "rename resource": rename_resource,
    "wrap with alias": wrap_with_alias,
    "rename resource with alias": rename_resource_with_alias,
    "change id": change_id,
    "change namespace": change_namespace,
    "fail replacement": fail_replacement,
    "unprotect": unprotect,
    "remove": remove,
    "unprotect and remove": unprotect_and_remove,
    "unprotect and wrap": unprotect_and_wrap,
    "unprotect and destroy": unprotect_and_destroy,
    "copy rewritten": copy_rewritten,
    "copy as it is": copy_as_it_is,
    "drop state": drop_state,
    "second stack": second_stack,
    "second stack with other ids": second_stack_with_other_ids,
    "second namespace": second_namespace,
    "second namespace of one disk": second_namespace_of_one_disk,
    "second cluster": second_cluster,
}

OF_VOLUME = frozenset(
    {
        "wrap",
        "rename resource",
        "wrap with alias",
        "rename resource with alias",
        "change id",
        "change namespace",
        "fail replacement",
        "unprotect",
        "remove",
        "unprotect and remove",
        "unprotect and wrap",
        "drop state",
    }
)
"""Steps that need a volume; not possible in a stack without any."""

REFUSED = frozenset({"second stack", "second namespace of one disk"})
"""Steps that end with a refusal, unless other steps have made room for them."""
