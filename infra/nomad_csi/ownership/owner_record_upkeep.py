"""
Owner marks kept as the registrations are: there while a volume is registered, gone when it is not.

Mark and registration are two objects of Nomad, and nothing writes both in one step. So two runs of one stack can get in
each other's way: one removes the mark that the other relies on, which saw it and registers the volume now. Therefore
who removes a mark looks before and after (`release`), and who has registered looks once more (`confirm`): whichever of
the two comes last puts the mark back.
"""

import dataclasses
from collections.abc import Mapping

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.ownership import registration_ownership

ROUNDS = 5
"""How often marks are brought in line with registrations that others change all the time."""


def release(
    client: nomad.Nomad,
    held: registration_ownership.Holds,
    requester: registration_ownership.Requester,
    tell: registration_ownership.Tell,
) -> None:
    """
    Remove the marks of *requester* from those *held* that are not registered; those of others stay.

    A mark that is not removed, or is put back, because somebody has registered the volume is told of. Raises
    `errors.NomadApiError` where Nomad does not answer, or a mark could be neither removed nor put back.
    """
    if kept := _settled(client, held, requester, tell):
        tell(f"registered meanwhile: {', '.join(map('/'.join, kept))}; owner marks stay")


def _settled(
    client: nomad.Nomad,
    held: registration_ownership.Holds,
    requester: registration_ownership.Requester,
    tell: registration_ownership.Tell,
) -> list[volumes.Key]:
    """Remove and put back marks until they are as the registrations; return those that are marked at the end."""
    marks = registration_ownership.of(client)
    is_marked = dict.fromkeys(held, True)
    removed: dict[volumes.Key, registration_ownership.OwnerRecord] = {}
    for _ in range(ROUNDS):
        is_registered = {key: volume is not None for key, volume in volumes.found(client, is_marked)}
        wrong = [key for key, is_there in is_registered.items() if is_there is not is_marked[key]]
        if not wrong:
            break
        for key in wrong:
            if not is_marked[key] and key in removed:
                marks.put_back(key, removed[key], tell)
        removed |= marks.give_up({key: held[key] for key in wrong if is_marked[key]}, requester, tell)
        is_marked |= {key: is_registered[key] for key in wrong}
    return [key for key, has_mark in is_marked.items() if has_mark]


def confirm(
    client: nomad.Nomad,
    held: registration_ownership.Holds,
    requester: registration_ownership.Requester,
    tell: registration_ownership.Tell,
) -> Mapping[volumes.Key, registration_ownership.OwnerRecord]:
    """
    Put back what was removed of the marks *held*, which *requester* has registered; return those of others' by now.

    Where Nomad does not answer, *tell* hears of it.
    """
    if not requester.owner or not held:
        return {}
    try:
        who = dataclasses.replace(requester, adopts=False)
        taken = registration_ownership.of(client).take(held, who, tell)
        if taken.fresh:  # it was removed, and so may the registration be
            _settled(client, taken.fresh, who, tell)
    except errors.NomadApiError as error:
        tell(f"{error}; not seen whether the owner marks of {', '.join(map('/'.join, held))} are still there")
        return {}
    return taken.refused


# Marks of volumes that were acquired: taken back where the registration failed, and what is refused for one.


def take_back(
    client: nomad.Nomad,
    taken: registration_ownership.AcquiredVolumes,
    answers: Mapping[volumes.Key, errors.NomadCsiError | None],
    who: registration_ownership.Requester,
    tell: registration_ownership.Tell,
) -> None:
    """
    Remove the marks that were made for registrations which did not happen, as *answers* say; what fails is told.

    The mark of a volume that somebody else has registered meanwhile stays: another run of the same stack relies on it.
    """
    fresh = taken.fresh.keys() & answers.keys()
    refused = {
        key: taken.fresh[key]
        for key in sorted(fresh)
        if (error := answers[key]) is not None and not _is_ambiguous(error)
    }
    if not refused:
        return
    try:
        release(client, refused, who, tell)
    except errors.NomadApiError as problem:
        tell(f"{problem}; the owner marks of {', '.join(map('/'.join, refused))} stay")


def _is_ambiguous(error: errors.NomadCsiError) -> bool:
    return isinstance(error, errors.NomadApiError) and error.kind == "ambiguous"


def lost(key: volumes.Key, owner: registration_ownership.OwnerRecord) -> errors.RefusedError:
    """Return what to say of a volume that is registered as wanted, and became that of *owner* in the same moment."""
    whose = registration_ownership.sentence(key, owner)
    return errors.RefusedError(f"{whose} now, and was registered by this run: resolve the ownership")


def refusal(
    key: volumes.Key, owner: registration_ownership.OwnerRecord, who: registration_ownership.Requester
) -> errors.RefusedError:
    """Return the refusal of a volume with the mark of *owner* to *who*."""
    whose = registration_ownership.sentence(key, owner, who)
    if who.is_recorded:
        return errors.RefusedError(
            f"{whose} now: set adopt: true to take it back, or remove it from this stack with `pulumi state delete`"
        )
    return errors.RefusedError(f"{whose}: choose another id, or set adopt: true to take it over")
