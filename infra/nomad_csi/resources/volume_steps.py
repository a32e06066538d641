"""Common steps of the resources of a volume, whether its storage exists already or its plugin creates it."""

from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.ownership import cluster_identity
from nomad_csi.registration import deregistration, secret_safety
from nomad_csi.resources import (
    stack_identity,
    successor,
    volume_changes,
    volume_ownership,
    volume_properties,
)
from nomad_csi.resources.frame import resource

ENDING_WAIT_S = 30.0
"""Timeout for the release of claims of ended or terminating allocations: Nomad takes seconds."""

_NOT_DEREGISTERED = "nothing was deregistered: run `pulumi refresh` and check before deleting it"

State = volume_ownership.State


def preview_new(context: resource.Context, news: Mapping[str, Any]) -> None:
    """Refuse in a preview a new volume *news* that a create would refuse, and warn where its plugin is missing."""
    volume_ownership.refuse_others(context.client, news, {})
    with volume_ownership.warn_unless_owned(context, news):
        volume_changes.refuse_taken(context.client, news)
        volume_ownership.say_take_over(context, news)
    successor.warn_of_missing_plugin(context, news)


def read_new(context: resource.Context, news: Mapping[str, Any]) -> volumes.Volume | None:
    """Return Nomad's registration of the volume *news*, new to the state; creates the cluster's identity first."""
    secret_safety.refuse(context.client, volume_properties.key_of(news), news)
    if "owner" in news:
        cluster_identity.cluster_id(context.client, make=True)
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
    Return the observed inputs and outputs of the volume; all as *recorded* while Nomad is unreachable.

    *live* returns those of a registered volume, *gone* those to keep of one that is not registered.
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
            return gone() or volume_ownership.read_owner(context, identity, outputs, None)
        if volume.has_mount_flags and not inputs:
            context.warn(
                f"Nomad does not show the mount flags of {identity}, nor whether it has secrets: "
                "write them into the program, or the next update drops them"
            )
        return volume_ownership.read_owner(context, identity, outputs, live(volume))
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


def is_taken_over(context: resource.Context, token: str, identity: str, outputs: Mapping[str, Any]) -> bool:
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


def wait_until_free(
    context: resource.Context, volume: volumes.Volume, recorded: Mapping[str, Any]
) -> volumes.Volume | None:
    """
    Return *volume* once it is unclaimed, ``None`` where it was deregistered meanwhile; sends no change.

    Waits for claims of terminating allocations. Raises `errors.RefusedError` for other claims, with their allocations,
    and where the volume has other storage than *recorded*.
    """
    refuse_another(volume, recorded, _NOT_DEREGISTERED)
    found: volumes.Volume | None = volume
    if volume.claims and deregistration.is_ending(volume):
        context.status("waiting for terminating allocations to release their claims")
        found = deregistration.wait_until_free(
            context.client,
            volume,
            wait_s=ENDING_WAIT_S,
            cancelled=context.cancelled,
            should_wait=deregistration.is_ending,
        )
    if found is not None:
        refuse_another(found, recorded, _NOT_DEREGISTERED)
        deregistration.refuse_claimed(found)
    return found


def stands_for_another(volume: volumes.Volume, recorded: Mapping[str, Any]) -> str:
    """Return a sentence that *volume* in Nomad has other storage than *recorded*; empty where it has not."""
    external_id = recorded.get("externalId", volume.external_id)
    if external_id == volume.external_id:
        return ""
    return f"volume {volume.key}: external id is {volume.external_id} in Nomad, {external_id} in the state"


def refuse_another(volume: volumes.Volume, recorded: Mapping[str, Any], advice: str) -> None:
    """Raise `errors.RefusedError` with *advice* where *volume* has other storage than *recorded*."""
    if why := stands_for_another(volume, recorded):
        raise errors.RefusedError(f"{why}; {advice}")


def deregister(context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> volumes.Volume | None:
    """
    Deregister the volume *identity*, if it is there, never by force; then remove its owner record.

    Return the volume that was registered. Raises what `wait_until_free` does.
    """
    volume = volumes.get(context.client, *resource.split_identity(identity, "namespace/volume_id"))
    if volume is not None:
        volume_ownership.refuse_others(context.client, outputs, outputs)
        free = wait_until_free(context, volume, outputs)
        if free is not None:
            deregistration.deregister_free(context.client, free)
    volume_ownership.unmark(context, outputs)
    return volume
