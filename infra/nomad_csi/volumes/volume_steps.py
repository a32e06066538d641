"""Common steps of the resources of a volume, whether its storage exists already or its plugin creates it."""

from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi.frame import declaration, resource
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.volumes import (
    deregistration,
    removed_volume,
    replacement,
    secret_safety,
    volume_facts,
    volume_ownership,
    volume_properties,
    wanted_volume,
)

State = volume_ownership.State


def preview_new(context: resource.Context, wanted: wanted_volume.WantedVolume, news: Mapping[str, Any]) -> None:
    """Refuse in a preview a new volume *news* that a create would refuse, and warn where its plugin is missing."""
    decision = wanted.decision()
    if decision.refusal in {"taken", "impossible", "unreadable"}:
        volume_ownership.warn_unless_owned(context, news, wanted.refused(decision.refusal))
    elif decision.refusal is not None:
        raise wanted.refused(decision.refusal)
    elif "moved" in decision.remarks:
        context.warn(
            f"moved: volume {wanted.name} is this stack's already, and this resource takes it over; where another "
            "resource of the program had it, its removal leaves the volume as it is"
        )
    elif "registered again" in decision.remarks:
        context.warn(f"volume {wanted.name} gets the storage {wanted.kept_storage} again, which is kept for it")
    if "storage not checked" in decision.remarks:
        context.warn(
            f"volume {wanted.name} would be registered for storage that was not found: "
            f"{'; '.join(wanted.unchecked_storage)}; where it was deleted, run `pulumi refresh` first"
        )
    replacement.warn_of_missing_plugin(context, news)


def preview_replacement(
    context: resource.Context,
    declared: declaration.Declaration,
    recorded: Mapping[str, Any],
    news: Mapping[str, Any],
) -> None:
    """Refuse in a preview a replacement of the volume *recorded* by *news* that an `up` would refuse."""
    if any(news[name] != recorded[name] for name in ("namespace", "volumeId")):
        replaced = recorded["namespace"], recorded["volumeId"]
        new = wanted_volume.WantedVolume(context, declared, news, None, in_preview=True, replaced=replaced)
        if (refusal := new.decision().refusal) is not None:
            raise new.refused(refusal)
    removed = removed_volume.RemovedVolume(context, declared, recorded, replaced_by=news, in_preview=True)
    if removed.fitness == "unfit":
        raise removed.refused("unfit")
    warn_unchecked(context, removed)


def warn_unchecked(context: resource.Context, volume: volume_facts.VolumeFacts) -> None:
    """Warn of the checks of a replacement that could not be made."""
    if volume.unchecked:
        context.warn(f"not checked before {volume.name} is deregistered: {'; '.join(volume.unchecked)}")


def read(
    context: resource.Context,
    identity: str,
    recorded: State,
    *,
    live: Callable[[volumes.Volume], State],
    is_gone: Callable[[], bool] = lambda: False,
    is_ours: Callable[[volumes.Volume], bool] = lambda _volume: False,
) -> State | None:
    """
    Return the observed inputs and outputs of the volume; all as *recorded* while Nomad is unreachable.

    A recorded volume that is not registered stays in the state: it knows the storage, which Nomad does not any more.
    So does one that something else registered for other storage. *live* returns the state of a registered volume,
    *is_gone* whether the storage is known to be gone, *is_ours* whether this stack had the plugin create the other
    storage.
    """
    inputs, outputs = recorded
    namespace, volume_id = resource.split_identity(identity, "namespace/volume_id")
    with resource.KeptIfUnreachable(context, f"volume {identity}", is_recorded=bool(inputs)):
        if secret_safety.is_at_risk(context.client, inputs):
            why = secret_safety.risk(context.client)
            context.warn(f"volume {identity} was not compared: it has secrets, and {why}")
            return recorded
        volume = volumes.get(context.client, namespace, volume_id)
        if volume is None:
            return _not_registered(context, identity, recorded, is_gone)
        if inputs and (why := volume_facts.stands_for_another(volume, outputs)) and not is_ours(volume):
            context.warn(f"{why}: something else registered it, and `up` will be refused")
            return inputs, _without_remarks(outputs) | {volume_properties.OTHER_STORAGE: volume.external_id}
        if volume.has_mount_flags and not inputs:
            context.warn(
                f"Nomad does not show the mount flags of {identity}, nor whether it has secrets: "
                "write them into the program, or the next update drops them"
            )
        return volume_ownership.read_owner(context, identity, outputs, live(volume))
    return recorded


def _not_registered(
    context: resource.Context, identity: str, recorded: State, is_gone: Callable[[], bool]
) -> State | None:
    inputs, outputs = recorded
    if not inputs:
        return None
    storage = outputs.get("externalId", "")
    if why := cluster_identity.sentence(context.client, f"volume {identity}", outputs):
        context.warn(why)
    elif is_gone():
        context.warn(f"volume {identity} is not registered in Nomad any more, and its storage {storage} is gone")
        return None
    elif not outputs.get(volume_properties.DEREGISTERED):
        context.warn(
            f"volume {identity} is not registered in Nomad any more: `up` registers it again, with its storage "
            f"{storage}"
        )
    return inputs, _without_remarks(outputs) | {volume_properties.DEREGISTERED: True}


def _without_remarks(outputs: resource.Properties) -> resource.Properties:
    return {name: value for name, value in outputs.items() if name not in volume_properties.OF_REGISTRATION}


def seen_afterwards(
    context: resource.Context, news: Mapping[str, Any], outputs: resource.Properties, *, done: str, gone: str
) -> volumes.Volume:
    """Return the volume of *news* after a step; see `resource.seen_afterwards`."""
    return resource.seen_afterwards(
        lambda: volumes.get(context.client, news["namespace"], news["volumeId"]),
        volume_properties.key_of(news),
        outputs,
        done=done,
        gone=f"{gone}, but gone again: something else deregisters it",
    )


def wait_until_free(
    context: resource.Context, volume: volumes.Volume, recorded: Mapping[str, Any]
) -> volumes.Volume | None:
    """
    Return *volume* once it is unclaimed, ``None`` where it was deregistered meanwhile; sends no change.

    Waits for claims of terminating allocations. Raises `errors.RefusedError` for other claims, with their allocations,
    and where the volume has other storage than *recorded* by then.
    """
    found: volumes.Volume | None = volume
    if volume.claims and deregistration.is_ending(volume):
        context.status("waiting for terminating allocations to release their claims")
        found = deregistration.wait_until_free(
            context.client,
            volume,
            wait_s=deregistration.ENDING_WAIT_S,
            cancelled=context.cancelled,
            should_wait=deregistration.is_ending,
        )
    if found is not None:
        if volume_facts.stands_for_another(found, recorded):
            raise volume_facts.refusal_of_another(found, recorded)
        deregistration.refuse_claimed(found)
    return found


def remove(context: resource.Context, removed: removed_volume.RemovedVolume, recorded: Mapping[str, Any]) -> bool:
    """
    Deregister the volume, if it is there, never by force; then remove its owner record. Return whether it was removed.

    The record of a volume that its plugin created stays, with the storage, unless the volume is replaced. After a wait
    for claims, or for other volumes in its storage, it is decided again. ``False``: another resource holds it, or may
    hold it, and nothing was changed. Raises `errors.RefusedError` where the decision is that nothing is done, and what
    `wait_until_free` does.
    """
    if removed.decision().refusal == "dependents":
        removed.wait_for_dependents()
        removed = removed.again()
    decision = removed.permitted()
    if "held elsewhere" in decision.remarks:
        context.warn(
            f"volume {removed.name} stays registered: another resource of this stack has taken it over, or a newer "
            "state of this one"
        )
        return False
    if "owner not known" in decision.remarks:
        context.warn(removed.unknown_owner("stays registered"))
        return False
    warn_unchecked(context, removed)
    found = removed.found if "deregister" in decision.steps else None
    if found is not None and removed.claims == "ending":
        wait_until_free(context, found, recorded)
        return remove(context, removed.again(), recorded)  # the owner may be another one after the wait
    if "delete storage" in decision.steps:
        return True
    if removed.keeps_storage:
        removed.keep_storage()
    if found is not None:
        deregistration.deregister_free(context.client, found)
    if not removed.keeps_storage:
        volume_ownership.release(context, recorded)
    return True
