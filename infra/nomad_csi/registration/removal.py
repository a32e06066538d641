"""One volume deregistered: waited for until it is free, and never by force."""

import threading
import time
from collections.abc import Callable

from nomad_csi import errors, nomad
from nomad_csi.nomad import changes, volumes
from nomad_csi.nomad.records import claim_holders


def is_ending(volume: volumes.Volume) -> bool:
    """Return whether every allocation that claims *volume* has ended, or was told to."""
    return all(
        claim.client_status in claim_holders.ENDED or claim.desired_status in {"stop", "evict"}
        for claim in volume.claims
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
            raise errors.CancelledError(f"cancelled while {key_of(volume)} was claimed; nothing was deregistered")
        found = volumes.get(client, volume.namespace, volume.volume_id)
    return found


def refuse_claimed(volume: volumes.Volume) -> None:
    """Raise `errors.RefusedError` where *volume* is claimed, naming who holds it."""
    if volume.claims:
        raise errors.RefusedError(
            f"volume {key_of(volume)} is claimed and stays registered: "
            f"{'; '.join(claim_holders.holder(claim) for claim in volume.claims)}; stop these jobs, wait until their "
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
            refuse_claimed(now)
        raise


def key_of(volume: volumes.Volume) -> str:
    """Return ``namespace/volume_id``."""
    return f"{volume.namespace}/{volume.volume_id}"
