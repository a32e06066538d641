"""Steps that the resources of a volume have in common, whether its storage exists already or its plugin makes it."""

from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi.nomad import volumes
from nomad_csi.ownership import cluster_identity
from nomad_csi.registration import secret_safety
from nomad_csi.resources import (
    stack_identity,
    successor,
    volume_changes,
    volume_ownership,
    volume_properties,
    volume_removal,
)
from nomad_csi.resources.frame import resource

State = volume_ownership.State


def preview_new(context: resource.Context, news: Mapping[str, Any], *, is_created: bool) -> None:
    """Refuse in a preview what the new volume *news* would be refused for, and warn where its plugin is missing."""
    volume_ownership.refuse_others(context.client, news, {})
    with volume_ownership.refused_where_held(context, news):
        volume_changes.refuse_taken(context.client, news, is_created=is_created)
        volume_ownership.say_take_over(context, news)
    successor.warn_of_missing_plugin(context, news)


def found(context: resource.Context, news: Mapping[str, Any]) -> volumes.Volume | None:
    """Return what Nomad has of the volume *news*, which is new to the state; the cluster gets an identity first."""
    secret_safety.refuse(context.client, volume_properties.key_of(news), news)
    if "owner" in news:
        cluster_identity.of(context.client, make=True)
    return volumes.get(context.client, news["namespace"], news["volumeId"])


def read(
    context: resource.Context,
    identity: str,
    recorded: State,
    *,
    live: Callable[[volumes.Volume], State],
    gone: Callable[[], State | None] = lambda: None,
) -> State | None:
    """
    Return inputs and outputs as Nomad holds the volume; all as *recorded* when Nomad is out of reach.

    *live* are those of a volume that is there, *gone* those of one that is not, where they are kept.
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
            return gone() or volume_ownership.seen(context, identity, outputs, None)
        if volume.has_mount_flags and not inputs:
            context.warn(
                f"Nomad does not show the mount flags of {identity}, nor whether it has secrets: "
                "write them into the program, or the next update drops them"
            )
        return volume_ownership.seen(context, identity, outputs, live(volume))
    return recorded


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


def is_held_elsewhere(context: resource.Context, token: str, identity: str, outputs: Mapping[str, Any]) -> bool:
    """
    Return whether another resource of the stack has taken over the volume *identity*, which is to be removed.

    Raises `errors.RefusedError` where it was recorded by another stack, or in another cluster.
    """
    stack_identity.refuse_other_stack(context, f"volume {identity}", outputs)
    volume_ownership.refuse_other_cluster(context.client, identity, outputs)
    if not context.operation.was_created(token, identity) and not volume_ownership.is_moved(context.client, outputs):
        return False
    context.warn(f"volume {identity} stays registered: a newer resource of this stack holds it (moved, or replaced)")
    return True


def deregister(context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> volumes.Volume | None:
    """Deregister the volume *identity*, if it is there, then remove its owner record. Return what was there."""
    volume = volumes.get(context.client, *resource.split_identity(identity, "namespace/volume_id"))
    if volume is not None:
        volume_ownership.refuse_others(context.client, outputs, outputs)
        volume_removal.remove(context, volume, outputs)
    volume_ownership.unmark(context, outputs)
    return volume
