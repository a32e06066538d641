"""Acquire, compare and release owner records of volumes, for their resources; and check the cluster."""

import dataclasses
from collections.abc import Mapping, Sized
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import resource, stack_identity
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import facts, owner_records, registration_ownership, volume_properties
from nomad_csi.volumes.desired import DesiredVolume

Requester = registration_ownership.Requester
OwnerToken = registration_ownership.OwnerToken
OwnerRecord = registration_ownership.OwnerRecord
_AFTER_EJECT = "after `nomad-csi eject`, remove it from the program"
State = tuple[resource.Properties, resource.Properties]
"""Inputs and outputs."""


def requester(news: Mapping[str, Any], recorded: Mapping[str, Any]) -> Requester:
    """Return the requester of the object of *news*, as `owner_records.requester_of`."""
    owner, owner_id = str(news.get("owner", "")), str(news.get("ownerId", ""))
    return owner_records.requester_of(owner, owner_id, recorded, adopts=bool(news.get("adopt")))


def next_token(recorded: str, *, is_same: bool) -> OwnerToken:
    """
    Return the *recorded* nonce, and the one to write.

    They are equal while the stack, and what a removal does, *is_same*. Another stack gets a new nonce, so that a copy
    of the state under the old stack does not own the volume any more; so does another ``onDestroy``, so that an older
    state does not bring back a deletion that was withdrawn.
    """
    return OwnerToken(recorded=recorded, nonce=recorded if recorded and is_same else owner_records.new_nonce())


def naming(token: OwnerToken, document: registration.VolumeRegistration) -> OwnerToken:
    """Return *token* with the existing storage of *document*: no empty storage is created for its id then."""
    external_id = document.external_id.replace(resource.UNKNOWN, "")
    return dataclasses.replace(token, external_id=external_id, plugin_id=document.plugin_id)


def compare_record(
    record: OwnerRecord | None, who: Requester, recorded: Mapping[str, Any], unread: Sized
) -> facts.Record:
    """Return whose *record* it is for *who*, with the *recorded* outputs; *unread*: the token may not read it."""
    if record is None or not record.owner:
        return "not known" if record is None and unread else "none"
    nonce = str(recorded.get("nonce", ""))
    if not dataclasses.replace(who, adopts=False).may_have(record, OwnerToken(recorded=nonce)):
        return "foreign"
    return "own" if record.nonce in {"", nonce} else "sibling"


def refuse_unless_imported(context: resource.Context, volume: DesiredVolume, refusal: errors.RefusedError) -> None:
    """
    Raise the *refusal* of a new *volume*; a preview for an import warns of it where this stack does not own the volume.

    The stack's id decides that: its state then has, or had, another resource for the volume.
    """
    owner = registration_ownership.owner_records_of(context.client).cached(volume.key)
    if not context.imports or (owner is not None and owner.stack_id and owner.stack_id == volume.owner_id):
        raise refusal
    context.warn(f"{refusal}; `up` is refused, unless the volume is imported first; {_AFTER_EJECT}")


def acquire(
    context: resource.Context, key: volumes.Key, who: Requester, token: OwnerToken
) -> registration_ownership.AcquiredVolumes:
    """Record *who* as the owner of the volume *key*. Raises `errors.RefusedError` where another stack owns it."""
    taken = registration_ownership.owner_records_of(context.client).acquire({key: token}, who, context.warn)
    if key in taken.refused:
        raise registration_ownership.refusal(key, taken.refused[key], who)
    return taken


def keep(context: resource.Context, recorded: Mapping[str, Any], token: OwnerToken) -> None:
    """Complete the owner record of the volume *recorded* by its storage in *token*, where this stack has the record."""
    who, key = dataclasses.replace(requester(recorded, recorded), adopts=False), _key(recorded)
    if not who.owner:
        return
    if registration_ownership.owner_records_of(context.client).acquire({key: token}, who).unrecorded:
        rights = registration_ownership.RIGHTS.format(namespace=key[0])
        context.warn(
            f"the owner record of volume {'/'.join(key)} keeps the id of this stack, so that a later one of the same "
            f"name has to adopt the volume: the token lacks {rights}"
        )


def release(context: resource.Context, recorded: Mapping[str, Any]) -> None:
    """Remove the owner record of the volume *recorded*, unless it is registered again, or another owner has it."""
    if recorded.get("owner"):
        tokens = {_key(recorded): OwnerToken(recorded=str(recorded.get("nonce", "")))}
        registration_ownership.release(context.client, tokens, requester(recorded, {}), context.warn)


def unknown(news: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of `outputs` that are unknown before the registration."""
    owned = volume_properties.OWNERSHIP if news.get("owner") else ()
    return dict.fromkeys((*owned, *stack_identity.OUTPUTS), resource.UNKNOWN)


def outputs(client: nomad.Nomad, news: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs of a volume with an owner: its cluster, and whether it has an owner record."""
    if not news.get("owner"):
        return {}
    record = registration_ownership.owner_records_of(client).cached(_key(news))
    has_record = record is not None and record.owner == news["owner"]
    return {"cluster": cluster_identity.cluster_id(client), "marked": has_record}


def step_outputs(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the *recorded* outputs that a refresh does not change: the nonce, and the stack that wrote it."""
    return {name: recorded[name] for name in stack_identity.OUTPUTS if name in recorded}


def has_created(record: OwnerRecord | None, who: Requester, volume: volumes.Volume) -> bool:
    """Return whether the plugin created the storage of *volume* for it and for *who*, by its owner *record*."""
    if record is None or not record.created_name or not who.is_same_stack(record):
        return False
    return record.created_name == volume.name and record.external_id in {"", volume.external_id}


def has_created_for(context: resource.Context, recorded: Mapping[str, Any], volume: volumes.Volume) -> bool:
    """Return whether this stack had the plugin create the storage of *volume*, which *recorded* does not know."""
    record = registration_ownership.owner_records_of(context.client).cached(_key(recorded), context.warn)
    return has_created(record, requester(recorded, recorded), volume)


def is_another_resources(record: OwnerRecord | None, recorded: Mapping[str, Any]) -> bool:
    """Return whether *record* has the nonce of another resource of the stack than that of the *recorded* outputs."""
    if record is None or record.nonce in {"", recorded.get("nonce", "")}:
        return False
    return requester(recorded, recorded).is_same_stack(record)


def read_owner(context: resource.Context, identity: str, recorded: Mapping[str, Any], found: State) -> State:
    """
    Return the inputs and outputs *found*, with the owner from its record; *recorded* are the old outputs.

    A lost record removes the owner from the inputs, so that it is set again. Another stack's record is a warning. Where
    another resource of the stack owns the volume, the nonce is left out: if the program still declares this one, as
    after the rollback of an interrupted move, its update acquires the volume again before the other one's delete.
    Raises `errors.RefusedError` where the volume was recorded in another cluster, and this one has one of that id too.
    """
    inputs, live = found
    live |= step_outputs(recorded)
    if recorded and "owner" not in inputs:
        return inputs, live
    cluster_identity.refuse_other(context.client, f"volume {identity}", recorded)
    record = registration_ownership.owner_records_of(context.client).cached(_key(inputs), context.warn)
    now = _merge_owner(context, inputs, recorded, record)
    lost = {"nonce"} if is_another_resources(record, recorded) else set()
    shown = {name: value for name, value in live.items() if name not in {*stack_identity.OF_OWNER, *lost}}
    # Where the record is lost, the state still knows the cluster.
    shown |= {"cluster": recorded["cluster"]} if recorded.get("cluster") else {}
    return now, shown | {name: now[name] for name in stack_identity.OF_OWNER if name in now} | outputs(
        context.client, now
    )


def _merge_owner(
    context: resource.Context,
    inputs: resource.Properties,
    recorded: Mapping[str, Any],
    record: OwnerRecord | None,
) -> resource.Properties:
    """Return *inputs* with the owner of *record*; an unknown record, or another owner's, changes nothing."""
    if record is None:
        return inputs
    if not recorded:
        found = {"owner": record.owner, "ownerId": record.stack_id}
        return inputs | {name: value for name, value in found.items() if value}
    if record.owner and record.owner != inputs["owner"]:
        sentence = registration_ownership.sentence(_key(inputs), record)
        context.warn(f"{sentence} now, not to {inputs['owner']} as recorded")
    if not record.owner and recorded.get("marked"):
        return {name: value for name, value in inputs.items() if name not in stack_identity.OF_OWNER}
    return inputs


def _key(inputs: Mapping[str, Any]) -> volumes.Key:
    return inputs["namespace"], inputs["volumeId"]
