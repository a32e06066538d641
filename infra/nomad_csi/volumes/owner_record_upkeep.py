"""
Owner records kept in line with the registrations: present while a volume is registered, removed when it is not.

Record and registration are two objects of Nomad, and no request writes both. So two runs of one stack can conflict: one
removes the record while the other, which has read it, registers the volume. Therefore a run that removes a record reads
the registration before and after (`release`), and a run that registers reads the record once more (`confirm`):
whichever of the two comes last restores the record.
"""

import dataclasses
from collections.abc import Mapping

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.volumes import registration_ownership as owners

ROUNDS = 5
"""Attempts to bring records in line with registrations under concurrent changes."""


def release(client: nomad.Nomad, tokens: owners.Tokens, requester: owners.Requester, tell: owners.Tell) -> None:
    """
    Remove the records of *requester* for those of *tokens* that are not registered; records of other owners stay.

    A record that is kept, or restored, because of a concurrent registration is reported. Raises
    `errors.NomadApiError` where Nomad does not answer, or a record could be neither removed nor restored.
    """
    if kept := _settled(client, tokens, requester, tell):
        tell(f"registered meanwhile: {', '.join(map('/'.join, kept))}; owner records stay")


def _settled(
    client: nomad.Nomad, tokens: owners.Tokens, requester: owners.Requester, tell: owners.Tell
) -> list[volumes.Key]:
    """Remove and restore records until they match the registrations; return the volumes that have one at the end."""
    records = owners.owner_records_of(client)
    has_record = dict.fromkeys(tokens, True)
    removed: dict[volumes.Key, owners.OwnerRecord] = {}
    for _ in range(ROUNDS):
        is_registered = {key: volume is not None for key, volume in volumes.found(client, has_record)}
        wrong = [key for key, is_there in is_registered.items() if is_there is not has_record[key]]
        if not wrong:
            break
        for key in wrong:
            if not has_record[key] and key in removed:
                records.restore(key, removed[key], tell)
        removed |= records.release({key: tokens[key] for key in wrong if has_record[key]}, requester, tell)
        has_record |= {key: is_registered[key] for key in wrong}
    return [key for key, is_recorded in has_record.items() if is_recorded]


def confirm(
    client: nomad.Nomad, tokens: owners.Tokens, requester: owners.Requester, tell: owners.Tell
) -> Mapping[volumes.Key, owners.OwnerRecord]:
    """
    Restore removed records of volumes that *requester* has registered; return those of *tokens* that others own now.

    Where Nomad does not answer, report that to *tell*.
    """
    if not requester.owner or not tokens:
        return {}
    try:
        who = dataclasses.replace(requester, adopts=False)
        taken = owners.owner_records_of(client).acquire(tokens, who, tell)
        if taken.new:  # the record was removed, and so may the registration be
            _settled(client, taken.new, who, tell)
    except errors.NomadApiError as error:
        names = ", ".join(map("/".join, tokens))
        tell(f"{error}; could not be determined whether the owner records of {names} still exist")
        return {}
    return taken.refused


# Records of acquired volumes: their rollback where the registration failed, and refusals because of a record.


def remove_unused(
    client: nomad.Nomad,
    taken: owners.AcquiredVolumes,
    answers: Mapping[volumes.Key, errors.NomadCsiError | None],
    who: owners.Requester,
    tell: owners.Tell,
) -> None:
    """
    Remove the records that were written for registrations which failed by *answers*; report a failure to do so.

    The record of a volume with a concurrent registration stays: another run of the same stack relies on it.
    """
    new = taken.new.keys() & answers.keys()
    refused = {
        key: taken.new[key] for key in sorted(new) if (error := answers[key]) is not None and not _is_ambiguous(error)
    }
    if not refused:
        return
    try:
        release(client, refused, who, tell)
    except errors.NomadApiError as problem:
        tell(f"{problem}; the owner records of {', '.join(map('/'.join, refused))} stay")


def _is_ambiguous(error: errors.NomadCsiError) -> bool:
    return isinstance(error, errors.NomadApiError) and error.kind == "ambiguous"


class LostError(errors.RefusedError):
    """A volume is registered as wanted, and another stack acquired it at the same time."""

    def __init__(self, key: volumes.Key, owner: owners.OwnerRecord) -> None:
        owned = owners.sentence(key, owner)
        super().__init__(f"{owned} now, and was registered by this run: resolve the ownership")
        self.owner = str(owner)


def refusal(key: volumes.Key, owner: owners.OwnerRecord, who: owners.Requester) -> errors.RefusedError:
    """Return the refusal to *who* of a volume that *owner* owns."""
    owned = owners.sentence(key, owner, who)
    if who.is_recorded:
        return errors.RefusedError(
            f"{owned} now: set adopt: true to take it back, or remove it from this stack with `pulumi state delete`"
        )
    return errors.RefusedError(f"{owned}: choose another id, or set adopt: true to take it over")
