"""
Carry out what was decided about a wanted volume: each step is checked against the facts that it was decided on.

A volume is registered for storage that exists, or created by its plugin, or changed in place. Nomad changes external
id, plugin, places and parameters of a registration only where it is deregistered and registered again. Between the two
requests the volume is not registered: after a failure there either the new or the old registration is in effect, and
the error says which.
"""

import dataclasses
import threading
from typing import Any

from nomad_csi import errors
from nomad_csi.frame import resource, stack_identity
from nomad_csi.nomad import cluster_identity, namespaces, volume_creation, volumes
from nomad_csi.plan import registration
from nomad_csi.text import listing
from nomad_csi.volumes import (
    compare,
    decide,
    deregistration,
    explain,
    owner_records,
    registration_ownership,
    sending,
    sharing,
    volume_properties,
    wanted_volume,
)

OUTAGE_S = 30.0
"""Retry timeout while a volume is not registered: a leader election took 3.8 s (Nomad 2.0.6-dev)."""

PAUSE_S = 1.0


def carry_out(
    context: resource.Context,
    wanted: wanted_volume.WantedVolume,
    decision: decide.Decision,
    policy: sending.RetryPolicy | None = None,
) -> resource.Properties:
    """
    Carry out the *decision* about a *wanted* volume, and return the outputs that its steps give.

    *policy*: of the registration; ``None``: a single attempt.

    Raises:
        errors.RefusedError: the volume is claimed, another stack owns it, or it has changed since the decision.
        errors.NomadApiError: the plugin did not answer for other volumes of this operation. Nothing was changed.
        errors.NomadCsiError: Nomad refused a step; says whether an old registration was restored.

    """
    if wanted.has_owner:
        cluster_identity.cluster_id(context.client, make=True)
    wanted.warn_unchecked()
    done = stack_identity.recorded(context, wanted.token.nonce)
    if {"create", "create again"} & set(decision.steps):
        if "new and empty" in decision.remarks:
            context.warn(explain.new_and_empty(wanted.name, wanted.recorded_outputs))
        return _create(context, wanted, is_new="create" in decision.steps) | done
    if wanted.source == "created":
        return _keep(context, wanted, is_changed="change" in decision.steps) | done
    if "deregister" in decision.steps and wanted.found is not None:
        _register_anew(context, wanted)
    elif "register" in decision.steps:
        register(context, wanted, wanted.found, policy)
    else:
        registration_ownership.acquire(context.client, wanted.key, wanted.token, wanted.requester, context.warn)
    return done


def register(
    context: resource.Context,
    wanted: wanted_volume.WantedVolume,
    found: volumes.Volume | None,
    policy: sending.RetryPolicy | None = None,
) -> None:
    """
    Record the owner and send the registration; after a lost response succeed only where a read finds it.

    *found* is Nomad's registration. Raises `errors.RefusedError` where another stack owns the volume.
    """
    document = compare.keep_actual_places(wanted.desired.document, found)
    policy = policy or _single_attempt(context)
    _run(context).register(document, wanted.token, wanted.requester, policy, is_new=found is None)


def _run(context: resource.Context) -> sending.RegistrationRun:
    """Return the run that the registrations of this operation share."""
    return context.operation.once("registrations", lambda: sending.RegistrationRun(context.client))


def _single_attempt(context: resource.Context) -> sending.RetryPolicy:
    clock = context.client.clock
    deadline = clock.now() + 2 * volumes.REGISTER_TIMEOUT_S  # of the request, and of the reads around it
    return sending.RetryPolicy(deadline=deadline, report=context.warn, cancelled=context.cancelled, clock=clock)


def seen_afterwards(
    context: resource.Context, wanted: wanted_volume.WantedVolume, outputs: resource.Properties
) -> volumes.Volume:
    """Return the *wanted* volume after its steps, which gave *outputs*; see `resource.seen_afterwards`."""
    is_made = wanted.source == "created"
    gone = f"made as {outputs.get('externalId', 'unknown')}" if is_made else "registered"
    return resource.seen_afterwards(
        lambda: volumes.get(context.client, *wanted.key),
        wanted.name,
        outputs,
        done="made" if is_made else "registered",
        gone=f"{gone}, but gone again: something else deregisters it",
    )


# Deregister and register again; roll back on failure.


def _register_anew(context: resource.Context, wanted: wanted_volume.WantedVolume) -> None:
    """Deregister what is registered, and register the *wanted* volume."""
    if unsent := _run(context).breaker.refusal(wanted.desired.document):
        raise unsent
    found = wanted.registered
    # The record keeps the old storage until the new registration is sent.
    before = owner_records.naming(wanted.token, found.registration())
    registration_ownership.acquire(context.client, wanted.key, before, wanted.requester, context.warn)
    free = wanted.wait_until_free()
    if context.cancelled.is_set():
        raise errors.CancelledError(f"cancelled before {found.key} was deregistered; nothing was changed")
    # From here on an interruption would leave the volume unregistered.
    client = context.client
    uninterrupted = dataclasses.replace(context, cancelled=threading.Event(), connect=lambda: client)
    if free is not None:
        deregistration.deregister_free(client, free)
    try:
        register(uninterrupted, wanted, None)
    except errors.NomadCsiError as error:
        _roll_back(uninterrupted, wanted, _old_document(free or found, wanted.before.document), error)


def _roll_back(
    context: resource.Context,
    wanted: wanted_volume.WantedVolume,
    old: registration.VolumeRegistration,
    error: errors.NomadCsiError,
) -> None:
    """
    Return where Nomad has the *wanted* registration after *error*; else restore the *old* one, and raise.

    Retries for `OUTAGE_S` while Nomad does not answer. After a refusal Nomad is read once more: the new registration
    may have arrived late.
    """
    clock = context.client.clock
    deadline = clock.now() + OUTAGE_S
    refusal: errors.NomadCsiError | None = None
    while True:
        try:
            now = volumes.get(context.client, old.namespace, old.volume_id)
            if now is None and refusal is None:
                _put_back(context, wanted, old)
            break
        except (errors.NomadApiError, errors.RefusedError) as again:
            is_refused = isinstance(again, errors.RefusedError) or again.kind == "refused"
            if clock.now() > deadline or (is_refused and refusal is not None):
                raise _not_registered(old, error, again) from error
            refusal = again if is_refused else refusal
            context.status(f"not registered, trying to put it back: {again}")
            clock.sleep(PAUSE_S)
    if now is None and refusal is not None:
        raise _not_registered(old, error, refusal) from error
    if now is not None and not compare.compare_volume(wanted.desired.document, now).differences:
        if isinstance(error, errors.RefusedError):
            raise error
        return
    if now is not None and compare.compare_volume(old, now).differences:
        raise errors.NomadCsiError(
            f"volume {old.key} was registered for {now.external_id} meanwhile: {error}; run `pulumi refresh` and check "
            "before another `up`"
        ) from error
    raise errors.NomadCsiError(
        f"volume {old.key} is registered for {old.external_id} as before: its replacement failed, and the old "
        f"registration was put back: {error}"
    ) from error


def _put_back(
    context: resource.Context, wanted: wanted_volume.WantedVolume, old: registration.VolumeRegistration
) -> None:
    """Register *old* by a run of its own: it is sent even where its plugin did not answer for other volumes."""
    token = owner_records.naming(wanted.token, old)
    who = wanted.before.requester({"owner": wanted.desired.owner})
    run = sending.RegistrationRun(context.client)
    run.register(old, token, who, _single_attempt(context), is_new=False)


def _not_registered(
    old: registration.VolumeRegistration, error: errors.NomadCsiError, again: errors.NomadCsiError
) -> errors.NomadCsiError:
    return errors.NomadCsiError(
        f"volume {old.key} is NOT registered now: {error}; putting back its registration for {old.external_id} "
        f"failed, too: {again}; its storage was not touched; correct the cause and run `pulumi up`, which registers "
        "what the program declares"
    )


def _old_document(found: volumes.Volume, before: registration.VolumeRegistration) -> registration.VolumeRegistration:
    """
    Return the registration that gives Nomad *found* again, with the flags and secrets of *before*.

    Where a plugin created the volume, the places that it chose become the required ones: Nomad accepts no others here.
    """
    flags = before.mount_options.mount_flags if found.has_mount_flags else ()
    return dataclasses.replace(
        found.registration(),
        mount_options=dataclasses.replace(found.mount_options, mount_flags=flags),
        required_topologies=found.topologies or found.required_topologies,
        preferred_topologies=(),
        secrets=before.secrets,
    )


# Volumes that a plugin creates; none is ever shrunk.


def created_outputs(volume: volumes.Volume) -> dict[str, Any]:
    """Return the plugin's outputs of *volume*."""
    return {
        "externalId": volume.external_id,
        "capacityBytes": volume.capacity_bytes,
        "context": dict(volume.context),
        "topologies": [{"segments": dict(place)} for place in volume.topologies],
    }


def _keep(context: resource.Context, wanted: wanted_volume.WantedVolume, *, is_changed: bool) -> resource.Properties:
    """Record the owner of a volume that its plugin has created, and change it in place; return its outputs."""
    recorded = wanted.recorded_outputs
    owned = volume_properties.OWNERSHIP if wanted.has_owner else ()
    names = (*volume_properties.CREATED.program_outputs, volume_properties.CREATED_NAME, volume_properties.MADE, *owned)
    kept = {name: recorded[name] for name in names if name in recorded}
    if wanted.found is not None and (not recorded or wanted.is_proven):
        kept |= created_outputs(wanted.found) | {volume_properties.CREATED_NAME: wanted.found.name}
        kept |= {volume_properties.MADE: wanted.found.external_id} if wanted.is_proven else {}
    token = wanted_volume.created_token(wanted.token, wanted.desired.document, kept)
    registration_ownership.acquire(context.client, wanted.key, token, wanted.requester, context.warn)
    if is_changed:
        _change(context, wanted)
    return kept


def _create(context: resource.Context, wanted: wanted_volume.WantedVolume, *, is_new: bool) -> resource.Properties:
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
    token = wanted_volume.created_token(wanted.token, document, known, is_new=is_new)
    taken = registration_ownership.acquire(context.client, key, token, who, context.warn)
    record = taken.record
    if taken.is_unrecorded and not known:
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
            if taken.is_new and not storage:
                registration_ownership.try_release(context.client, key, token, who, context.warn)
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
        if taken.is_new:
            registration_ownership.try_release(context.client, key, token, who, context.warn)
        raise others
    sharing.count(context, made)
    token = dataclasses.replace(token, external_id=made.external_id, is_new_storage=False)
    if owner := registration_ownership.confirm(context.client, key, token, who, context.warn):
        context.warn(str(registration_ownership.LostError(key, owner)))
    proof = {volume_properties.MADE: made.external_id} if name in {token.created_name, record.created_name} else {}
    return created_outputs(made) | {volume_properties.CREATED_NAME: name} | proof


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
        warnings = volume_creation.change(context.client, sent, timeout_s=timeout_s)
    except errors.NomadApiError as error:
        arrived = _read(context, document) if error.kind == "ambiguous" else None
        if arrived is None or compare.compare_volume(document, arrived, made_by_plugin=True) != compare.Comparison():
            raise
    else:
        _warn(context, warnings)


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
        raise error.ambiguous(advice=advice) from error
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
