"""Marks of volumes that were acquired: taken back where the registration failed, and what is refused for one."""

from collections.abc import Mapping

from nomad_csi import errors, nomad
from nomad_csi.nomad import volume_lookup
from nomad_csi.ownership import mark_upkeep, registration_ownership


def take_back(
    client: nomad.Nomad,
    taken: registration_ownership.AcquiredVolumes,
    answers: Mapping[volume_lookup.Key, errors.NomadCsiError | None],
    who: registration_ownership.Requester,
    tell: registration_ownership.Tell,
    *,
    holds: registration_ownership.Holds | None = None,
) -> None:
    """
    Remove the marks that were made for registrations which did not happen, as *answers* say; what fails is told.

    The mark of a volume that somebody else has registered meanwhile stays: another run of the same stack relies on it.
    """
    fresh = taken.fresh & answers.keys()
    refused = [key for key in sorted(fresh) if (error := answers[key]) is not None and not _is_ambiguous(error)]
    if not refused:
        return
    try:
        mark_upkeep.release(client, refused, who, tell, holds=holds)
    except errors.NomadApiError as problem:
        tell(f"{problem}; the owner marks of {', '.join(map('/'.join, refused))} stay")


def _is_ambiguous(error: errors.NomadCsiError) -> bool:
    return isinstance(error, errors.NomadApiError) and error.kind == "ambiguous"


def lost(key: volume_lookup.Key, owner: registration_ownership.OwnerRecord) -> errors.RefusedError:
    """Return what to say of a volume that is registered as wanted, and became that of *owner* in the same moment."""
    whose = registration_ownership.sentence(key, owner)
    return errors.RefusedError(f"{whose} now, and was registered by this run: resolve the ownership")


def refusal(
    key: volume_lookup.Key, owner: registration_ownership.OwnerRecord, who: registration_ownership.Requester
) -> errors.RefusedError:
    """Return the refusal of a volume with the mark of *owner* to *who*."""
    whose = registration_ownership.sentence(key, owner, who)
    if who.is_recorded:
        return errors.RefusedError(
            f"{whose} now: set adopt: true to take it back, or remove it from this stack with `pulumi state delete`"
        )
    return errors.RefusedError(f"{whose}: choose another id, or set adopt: true to take it over")
