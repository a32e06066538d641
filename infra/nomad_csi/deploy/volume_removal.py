"""Deregistration: aware of claims, and of registrations that are not the recorded ones any more."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.deploy import resource
from nomad_csi.nomad import changes, volumes
from nomad_csi.verify import claim_model

ENDING_WAIT_S = 30.0
"""How long claims have to go whose allocations have ended, or are told to: at Nomad it is a matter of seconds."""


def remove(context: resource.Context, client: nomad.Nomad, volume: volumes.Volume, recorded: Mapping[str, Any]) -> None:
    """
    Deregister *volume*, never by force; the storage stays.

    Claims that are about to go are waited for. Raises `errors.RefusedError` while it is claimed otherwise, naming who
    holds it, and where it stands for other storage than *recorded*.
    """
    found = let_go(context, client, volume, recorded)
    if found is not None:
        deregister(client, found)


def let_go(
    context: resource.Context, client: nomad.Nomad, volume: volumes.Volume, recorded: Mapping[str, Any]
) -> volumes.Volume | None:
    """
    Return *volume* once nobody claims it, ``None`` where it is gone meanwhile; nothing is sent.

    Raises `errors.RefusedError` as `remove` does.
    """
    _refuse_another(volume, recorded)
    found: volumes.Volume | None = volume
    if volume.claims and is_ending(volume):
        context.status("waiting for allocations that end to let go")
        found = wait_until_free(client, volume, wait_s=ENDING_WAIT_S, cancelled=context.cancelled, goes_on=is_ending)
    if found is not None:
        _refuse_another(found, recorded)
        _refuse_claimed(found)
    return found


def is_ending(volume: volumes.Volume) -> bool:
    """Return whether every allocation that claims *volume* has ended, or was told to."""
    return all(
        claim.client_status in claim_model.ENDED or claim.desired_status in {"stop", "evict"} for claim in volume.claims
    )


def wait_until_free(
    client: nomad.Nomad,
    volume: volumes.Volume,
    *,
    wait_s: float,
    cancelled: threading.Event,
    goes_on: Callable[[volumes.Volume], bool] = lambda _volume: True,
) -> volumes.Volume | None:
    """
    Return *volume* as soon as nothing claims it, as it is after *wait_s*, or where *goes_on* says that it is no use.

    ``None`` where it is gone. Raises `errors.CancelledError` when *cancelled* is set.
    """
    deadline = time.monotonic() + wait_s
    found: volumes.Volume | None = volume
    watched = changes.Watched(client, volume.namespace, volumes.path_of(volume.volume_id))
    while found is not None and found.claims and goes_on(found) and time.monotonic() < deadline:
        watched.wait(max(0.0, deadline - time.monotonic()), cancelled)
        if cancelled.is_set():
            raise errors.CancelledError(f"cancelled while {_key(volume)} was claimed; nothing was deregistered")
        found = volumes.get(client, volume.namespace, volume.volume_id)
    return found


def _refuse_another(volume: volumes.Volume, outputs: Mapping[str, Any]) -> None:
    """Refuse to deregister what somebody else registered under the same id."""
    recorded = outputs.get("externalId", volume.external_id)
    if volume.external_id != recorded:
        raise errors.RefusedError(
            f"volume {_key(volume)} stands for {volume.external_id} now, not for {recorded} as "
            "recorded; nothing was deregistered: run `pulumi refresh` and look before deleting it"
        )


def _refuse_claimed(volume: volumes.Volume) -> None:
    if volume.claims:
        raise errors.RefusedError(
            f"volume {_key(volume)} is claimed and stays registered: "
            f"{'; '.join(claim_model.holder(claim) for claim in volume.claims)}; stop these jobs, wait until their "
            "claims are free, and run again"
        )


def deregister(client: nomad.Nomad, volume: volumes.Volume) -> None:
    """Deregister *volume*, never by force. Raises `errors.RefusedError` where it is claimed by now."""
    try:
        volumes.deregister(client, volume.namespace, volume.volume_id)
    except errors.NomadApiError as error:
        now = volumes.get(client, volume.namespace, volume.volume_id)
        if now is None and error.kind == "ambiguous":
            return
        if now is not None and "volume in use" in error.message:
            _refuse_claimed(now)
        raise


def _key(volume: volumes.Volume) -> str:
    return f"{volume.namespace}/{volume.volume_id}"
