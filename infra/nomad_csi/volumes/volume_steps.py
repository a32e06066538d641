"""Common steps of the resources of a volume, whether its storage exists already or its plugin creates it."""

from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi.frame import declaration, resource
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.volumes import (
    removal,
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
    removed = removal.RemovedVolume(context, declared, recorded, replaced_by=news, in_preview=True)
    if removed.fitness == "unfit":
        raise removed.refused("unfit")
    removed.warn_unchecked()


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
