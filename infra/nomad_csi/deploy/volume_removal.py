"""Deregistration: aware of claims, and of registrations that are not the recorded ones any more."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes


def remove(client: nomad.Nomad, volume: volumes.Volume, recorded: Mapping[str, Any]) -> None:
    """
    Deregister *volume*, never by force; the storage stays.

    Raises `errors.RefusedError` while it is claimed, naming who holds it, and where it stands for other storage than
    *recorded*.
    """
    _refuse_another(volume, recorded)
    _refuse_claimed(volume)
    _deregister(client, volume)


def _refuse_another(volume: volumes.Volume, outputs: Mapping[str, Any]) -> None:
    """Refuse to deregister what somebody else registered under the same id."""
    recorded = outputs.get("externalId", volume.external_id)
    if volume.external_id != recorded:
        raise errors.RefusedError(
            f"volume {volume.namespace}/{volume.volume_id} stands for {volume.external_id} now, not for {recorded} as "
            "recorded; nothing was deregistered: run `pulumi refresh` and look before deleting it"
        )


def _refuse_claimed(volume: volumes.Volume) -> None:
    if volume.claims:
        raise errors.RefusedError(
            f"volume {volume.namespace}/{volume.volume_id} is claimed and stays registered: "
            f"{'; '.join(_holder(claim) for claim in volume.claims)}; stop these jobs, wait until their claims are "
            "free, and run again"
        )


def _holder(claim: volumes.Claim) -> str:
    job = f"job {claim.namespace}/{claim.job_id}" if claim.job_id else "a job that is gone"
    state = f"{claim.client_status} on node {claim.node_name or claim.node_id}" if claim.node_id else "node unknown"
    return f"{job} ({claim.mode}, allocation {claim.alloc_id}, {state})"


def _deregister(client: nomad.Nomad, volume: volumes.Volume) -> None:
    try:
        volumes.deregister(client, volume.namespace, volume.volume_id)
    except errors.NomadApiError as error:
        now = volumes.get(client, volume.namespace, volume.volume_id)
        if now is None and error.kind == "ambiguous":
            return
        if now is not None and "volume in use" in error.message:
            _refuse_claimed(now)
        raise
