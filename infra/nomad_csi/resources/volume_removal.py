"""Deregistration: aware of claims, and of registrations that are not the recorded ones any more."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.registration import deregistration
from nomad_csi.resources.frame import resource

ENDING_WAIT_S = 30.0
"""How long claims have to go whose allocations have ended, or are told to: at Nomad it is a matter of seconds."""


def remove(context: resource.Context, volume: volumes.Volume, recorded: Mapping[str, Any]) -> None:
    """
    Deregister *volume*, never by force; the storage stays.

    Claims that are about to go are waited for. Raises `errors.RefusedError` while it is claimed otherwise, naming who
    holds it, and where it stands for other storage than *recorded*.
    """
    found = let_go(context, volume, recorded)
    if found is not None:
        deregistration.deregister_free(context.client, found)


def let_go(context: resource.Context, volume: volumes.Volume, recorded: Mapping[str, Any]) -> volumes.Volume | None:
    """
    Return *volume* once nobody claims it, ``None`` where it is gone meanwhile; nothing is sent.

    Raises `errors.RefusedError` as `remove` does.
    """
    _refuse_another(volume, recorded)
    found: volumes.Volume | None = volume
    if volume.claims and deregistration.is_ending(volume):
        context.status("waiting for terminating allocations to release their claims")
        found = deregistration.wait_until_free(
            context.client, volume, wait_s=ENDING_WAIT_S, cancelled=context.cancelled, goes_on=deregistration.is_ending
        )
    if found is not None:
        _refuse_another(found, recorded)
        deregistration.refuse_claimed(found)
    return found


def _refuse_another(volume: volumes.Volume, outputs: Mapping[str, Any]) -> None:
    """Refuse to deregister what somebody else registered under the same id."""
    recorded = outputs.get("externalId", volume.external_id)
    if volume.external_id != recorded:
        raise errors.RefusedError(
            f"volume {volume.key} stands for {volume.external_id} now, not for {recorded} as "
            "recorded; nothing was deregistered: run `pulumi refresh` and check before deleting it"
        )
