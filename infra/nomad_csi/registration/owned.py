"""
Registrations of acquired volumes: sent, taken back where another run came first, and their owner records confirmed.

The one path to a registration, for the command line and for Pulumi.
"""

from collections.abc import Iterable

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.ownership import owner_record_upkeep, registration_ownership
from nomad_csi.plan import registration
from nomad_csi.registration import sending, storage_sharing

Answer = errors.NomadApiError | errors.RefusedError | None
"""Why Nomad does not have a volume as wanted, or another owner has it by now; ``None``: it is registered."""


def send(
    client: nomad.Nomad,
    documents: Iterable[registration.VolumeRegistration],
    taken: registration_ownership.AcquiredVolumes,
    *,
    holds: registration_ownership.Holds,
    requester: registration_ownership.Requester,
    timeouts: sending.BatchTimeouts,
    new: frozenset[volumes.Key],
) -> list[tuple[registration.VolumeRegistration, Answer]]:
    """
    Register *documents*, whose owner records are *taken* with *holds*; return the answer of each.

    *new*: those that were not registered, so that they may be taken back where another run registered their storage at
    the same moment (`storage_sharing.take_back_later`). A record that this run wrote for nothing is removed. Raises
    `errors.NomadApiError` where Nomad does not answer afterwards.
    """
    sent: list[tuple[registration.VolumeRegistration, Answer]] = list(
        sending.send(client, documents, timeouts, new=new)
    )
    arrived = [document for document, error in sent if error is None]
    late = storage_sharing.take_back_later(client, (item for item in arrived if volumes.key_of(item) in new))
    failed = {volumes.key_of(document): error for document, error in sent if error is not None}
    owner_record_upkeep.remove_unused(client, taken, {**failed, **late}, requester, timeouts.tell)
    kept = {key: holds[key] for key in map(volumes.key_of, arrived) if key not in late}
    owners = owner_record_upkeep.confirm(client, kept, requester, timeouts.tell)
    lost = {key: owner_record_upkeep.LostError(key, owner) for key, owner in owners.items()}
    return [(document, error or {**late, **lost}.get(volumes.key_of(document))) for document, error in sent]
