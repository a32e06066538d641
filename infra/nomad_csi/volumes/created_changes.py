"""Create, adopt and change volumes that a plugin creates; never shrink one."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.nomad import namespaces, volume_creation, volumes
from nomad_csi.plan import registration
from nomad_csi.text import listing
from nomad_csi.volumes import (
    compare,
    decide,
    deregistration,
    explain,
    owner_records,
    registration_ownership,
    sharing,
    volume_ownership,
    volume_properties,
    wanted_volume,
)


def carry_out(
    context: resource.Context, wanted: wanted_volume.WantedVolume, decision: decide.Decision
) -> resource.Properties:
    """Carry out the *decision* about a *wanted* volume, and return the outputs of its storage, as `steps.carry_out`."""
    recorded = wanted.recorded_outputs
    if {"create", "create again"} & set(decision.steps):
        if "new and empty" in decision.remarks:
            context.warn(explain.new_and_empty(wanted.name, recorded))
        return _make(context, wanted, is_new="create" in decision.steps)
    outputs = volume_properties.CREATED.outputs
    kept = {name: value for name, value in recorded.items() if name in outputs}
    if wanted.found is not None and (not recorded or wanted.is_proven):
        kept |= outputs_of(wanted.found) | {volume_properties.CREATED_NAME: wanted.found.name}
        kept |= {volume_properties.MADE: wanted.found.external_id} if wanted.is_proven else {}
    token = token_of(wanted.token, wanted.desired.document, kept)
    volume_ownership.acquire(context, wanted.key, wanted.requester, token)
    if "change" in decision.steps:
        _change(context, wanted)
    return kept


def outputs_of(volume: volumes.Volume) -> dict[str, Any]:
    """Return the plugin's outputs of *volume*."""
    return {
        "externalId": volume.external_id,
        "capacityBytes": volume.capacity_bytes,
        "context": dict(volume.context),
        "topologies": [{"segments": dict(place)} for place in volume.topologies],
    }


def _make(context: resource.Context, wanted: wanted_volume.WantedVolume, *, is_new: bool) -> resource.Properties:
    """
    Have the plugin create a volume that Nomad does not have, or find its storage again, and return its outputs.

    The owner record comes first, with the name of the storage: an interrupted run finds it by that. *is_new*: there is
    no storage of the id, or what there was is gone. Sent once. After an error that does not prove that nothing was made
    the volume is read: it is ours when it is registered without drift.

    Raises `errors.RefusedError` for an unknown namespace, in which Nomad would not keep the created volume, where no
    record keeps new storage, and where the plugin returns other storage than is known for the id, or storage that is
    registered already; then the volume is deregistered again, and not deleted.
    """
    key, who, document = wanted.key, wanted.requester, wanted.desired.document
    known = {} if is_new else wanted.recorded_outputs
    namespaces.refuse_unknown(context.client, document.namespace)
    token = token_of(wanted.token, document, known, is_new=is_new)
    taken = volume_ownership.acquire(context, key, who, token)
    record = taken.records.get(key, owner_records.NO_RECORD)
    if key in taken.unrecorded and not known:
        raise explain.unrecorded(key)
    storage = "" if is_new else known.get("externalId", record.external_id)
    name = known.get(volume_properties.CREATED_NAME) or record.storage_name
    name = name or token.created_name or token.registered_name
    context.status(f"plugin {document.plugin_id} creates {wanted.name}")
    document = dataclasses.replace(document, name=name, external_id="")
    timeout_s = context.timeout_s or volume_creation.CREATE_TIMEOUT_S
    try:
        created = volume_creation.create(context.client, document, timeout_s=timeout_s)
    except errors.NomadApiError as error:
        if volume_creation.has_made_nothing(error):
            if not storage:
                registration_ownership.remove_unused(context.client, taken, {key: error}, who, context.warn)
            raise
        made = _arrived(context, document, error)
    else:
        _warn(context, created.warnings)
        made = created.volume
    if storage not in {"", made.external_id}:
        deregistration.put_away(context.client, key)
        raise _another_storage(made, storage, record.owner or who.owner)
    if others := _registered_besides(context, made):
        deregistration.put_away(context.client, key)
        registration_ownership.remove_unused(context.client, taken, {key: others}, who, context.warn)
        raise others
    sharing.count(context, made)
    token = dataclasses.replace(token, external_id=made.external_id, is_new_storage=False)
    for owner in registration_ownership.confirm(context.client, {key: token}, who, context.warn).values():
        context.warn(str(registration_ownership.LostError(key, owner)))
    proof = {volume_properties.MADE: made.external_id} if name in {token.created_name, record.created_name} else {}
    return outputs_of(made) | {volume_properties.CREATED_NAME: name} | proof


def token_of(
    token: registration_ownership.OwnerToken,
    document: registration.VolumeRegistration,
    recorded: Mapping[str, Any],
    *,
    is_new: bool = False,
) -> registration_ownership.OwnerToken:
    """
    Return *token* with the storage of the *recorded* outputs, for the owner record; without any, with a new name.

    The name of storage proves that it was created for the volume only with `volume_properties.MADE`.
    """
    kept = dataclasses.replace(
        token,
        external_id=str(recorded.get("externalId", "")),
        plugin_id=document.plugin_id,
        is_new_storage=is_new,
    )
    if not recorded:
        new = registration.made_name(document.name, owner_records.new_nonce())
        return dataclasses.replace(kept, created_name=new)
    # Storage that was registered without a recorded name has its own.
    name = str(recorded.get(volume_properties.CREATED_NAME, document.name))
    if recorded.get(volume_properties.MADE):
        return dataclasses.replace(kept, created_name=name)
    return dataclasses.replace(kept, registered_name=name)


def _another_storage(made: volumes.Volume, known: str, owner: str) -> errors.RefusedError:
    """Return the refusal of *made*, where the storage *known* of its id was to be found again."""
    return errors.RefusedError(
        f"volume {made.key} has storage {known}, and plugin {made.plugin_id} answered {made.external_id} to its name: "
        f"{made.key} was deregistered again, and nothing deleted; restore {known}, or give it up: "
        f"{registration_ownership.way_to_give_up(volumes.key_of(made), known, owner)}, after `pulumi state delete` "
        "where a stack has it"
    )


def _registered_besides(context: resource.Context, made: volumes.Volume) -> errors.RefusedError | None:
    """Return the refusal of *made* where another volume has the same storage; else ``None``."""
    key, name = volumes.key_of(made), made.key
    try:
        held = sharing.registered_as(context.client, made.external_id)
    except errors.NomadApiError as error:
        context.warn(f"{error}; not compared whether {made.external_id}, made for {name}, is another volume's, too")
        return None
    others = ["/".join(other) for other in held if other != key]
    if not others:
        return None
    return errors.RefusedError(
        f"plugin {made.plugin_id} answered storage {made.external_id} for the new volume {name}, and that is "
        f"registered as {', '.join(others)}: the two would write into one storage; {name} was deregistered again, and "
        "nothing deleted: check why the plugin does not distinguish storage by its name"
    )


def _change(context: resource.Context, wanted: wanted_volume.WantedVolume) -> None:
    """
    Change the volume in place, and grow it to the desired size.

    Id, name and places stay as Nomad has them: it refuses others, and the storage is there. So does the plugin's
    context, which older releases erase where it is not sent (``nomad-erases-context``).
    """
    document, found = wanted.desired.document, wanted.registered
    if document.capacity_min_bytes > found.capacity_bytes:
        size = listing.size(document.capacity_min_bytes)
        context.status(f"plugin {document.plugin_id} grows {found.key} to {size}")
    sent = dataclasses.replace(
        document,
        name=found.name,
        external_id=found.external_id,
        required_topologies=found.required_topologies,
        preferred_topologies=found.preferred_topologies,
        context=document.context or found.context,
    )
    timeout_s = context.timeout_s or volume_creation.CHANGE_TIMEOUT_S
    try:
        _warn(context, volume_creation.change(context.client, sent, timeout_s=timeout_s))
    except errors.NomadApiError as error:
        arrived = _read(context, document) if error.kind == "ambiguous" else None
        if arrived is None or compare.compare_volume(document, arrived, made_by_plugin=True) != compare.Comparison():
            raise


def _arrived(
    context: resource.Context, document: registration.VolumeRegistration, error: errors.NomadApiError
) -> volumes.Volume:
    """Return the volume that was created without a response; raise *error*, with advice, where there is none."""
    found = _read(context, document)
    if found is None or compare.compare_volume(document, found, made_by_plugin=True).differences:
        advice = (
            f"the plugin may have made the storage all the same; it finds it by the name {document.name} when this "
            "runs again, and makes no second one"
        )
        message, status = error.message, error.status
        raise errors.NomadApiError(
            error.method, error.path, message, status=status, kind="ambiguous", advice=advice
        ) from error
    return found


def _read(context: resource.Context, document: registration.VolumeRegistration) -> volumes.Volume | None:
    """Return the volume; ``None`` where there is none, or it could not be read."""
    try:
        return volumes.get(context.client, document.namespace, document.volume_id)
    except errors.NomadApiError:
        return None


def _warn(context: resource.Context, warnings: str) -> None:
    if warnings:
        context.warn(f"Nomad warns: {warnings}")
