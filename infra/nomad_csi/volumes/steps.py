"""
Carry out what was decided about a wanted volume: each step is checked against the facts that it was decided on.

A volume is registered for storage that exists, or created by its plugin, or changed in place. Nomad changes external
id, plugin, topologies and parameters of a registration only where it is deregistered and registered again. Between
the two requests the volume is not registered: after a failure there either the new or the old registration is in
effect, and the error names it.
"""

import dataclasses
import threading
from typing import Any

from nomad_csi import errors
from nomad_csi.frame import resource, stack_identity
from nomad_csi.nomad import cluster_identity, namespaces, volumes
from nomad_csi.plan import registration
from nomad_csi.text import listing
from nomad_csi.volumes import (
    compare,
    decide,
    deregistration,
    explain,
    hold,
    observe,
    ownership,
    sending,
    sharing,
    volume_properties,
)

OUTAGE_S = 30.0
"""Retry timeout while a volume is not registered: a leader election took 3.8 s (Nomad 2.0.6-dev)."""

PAUSE_S = 1.0


def carry_out(
    context: resource.Context,
    wanted: observe.WantedVolume,
    decision: decide.Decision,
    policy: sending.RetryPolicy | None = None,
) -> resource.Properties:
    """
    Carry out the *decision* about a *wanted* volume, and return the outputs that its steps give.

    *policy*: of the registration; ``None``: a single attempt.

    Raises:
        errors.RefusedError: the volume is claimed, another stack owns it, or it has changed since the decision.
        errors.NomadApiError: the plugin did not answer for other volumes of this operation. Nothing was changed.
        errors.NomadCsiError: Nomad refused a step; names whether an old registration was restored.

    """
    if wanted.has_owner:
        cluster_identity.cluster_id(context.client, make=True)
    done = stack_identity.recorded(context, wanted.token.nonce)
    if {"create", "create again"} & set(decision.steps):
        return _create(context, wanted) | done
    if wanted.source == "created":
        return _keep(context, wanted, is_changed="change" in decision.steps) | done
    if "deregister" in decision.steps and wanted.actual is not None:
        _re_register(context, wanted)
    elif "register" in decision.steps:
        register(context, wanted, wanted.actual, policy)
    else:
        wanted.owned(wanted.token).acquire()
    return done


def register(
    context: resource.Context,
    wanted: observe.WantedVolume,
    actual: volumes.Volume | None,
    policy: sending.RetryPolicy | None = None,
) -> None:
    """
    Record the owner and send the registration; after a lost response succeed only where a read finds it.

    *actual* is Nomad's registration. Raises `errors.RefusedError` where another stack owns the volume.
    """
    document = compare.keep_actual_topologies(wanted.desired.document, actual)
    policy = policy or _single_attempt(context)
    _run(context).register(document, wanted.owned(wanted.token), policy, is_new=actual is None)


def _run(context: resource.Context) -> sending.RegistrationRun:
    """Return the run that the registrations of this operation share."""
    return context.operation.once("registrations", lambda: sending.RegistrationRun(context))


def _single_attempt(context: resource.Context) -> sending.RetryPolicy:
    clock = context.client.clock
    deadline = clock.now() + 2 * volumes.REGISTER_TIMEOUT_S  # of the request, and of the reads around it
    return sending.RetryPolicy(deadline=deadline, report=context.warn, cancelled=context.cancelled, clock=clock)


def seen_afterwards(
    context: resource.Context, wanted: observe.WantedVolume, outputs: resource.Properties
) -> volumes.Volume:
    """
    Return the *wanted* volume after its steps, which gave *outputs*; see `resource.seen_afterwards`.

    The owner record of one that was created gets its storage. Where that fails, the state has it, and the next run
    writes it.
    """
    is_made = wanted.source == "created"

    def read() -> volumes.Volume | None:
        volume = volumes.get(context.client, *wanted.key)
        if volume is not None and is_made and wanted.actual is None:
            owner = wanted.owned(observe.created_token(wanted.token, wanted.desired.document, outputs))
            if other := owner.confirm():
                context.warn(str(ownership.LostError(wanted.key, other)))
        return volume

    gone = f"made as {outputs.get('externalId', 'unknown')}" if is_made else "registered"
    return resource.seen_afterwards(
        read,
        wanted.name,
        outputs,
        done="made" if is_made else "registered",
        gone=f"{gone}, but gone again: something else deregisters it",
    )


# Deregister and register again; roll back on failure.


def _re_register(context: resource.Context, wanted: observe.WantedVolume) -> None:
    """Deregister what is registered, and register the *wanted* volume."""
    if unsent := _run(context).breaker.refusal(wanted.desired.document):
        raise unsent
    registered = wanted.registered
    # The record keeps the old storage until the new registration is sent.
    before = ownership.naming(wanted.token, registered.registration())
    wanted.owned(before).acquire()
    free = wanted.wait_until_free()
    if context.cancelled.is_set():
        raise errors.CancelledError(f"cancelled before {registered.key} was deregistered; nothing was changed")
    # From here on an interruption would leave the volume unregistered.
    client = context.client
    uninterrupted = dataclasses.replace(context, cancelled=threading.Event(), connect=lambda: client)
    if free is not None:
        deregistration.deregister_free(client, free)
    try:
        register(uninterrupted, wanted, None)
    except errors.NomadCsiError as error:
        _roll_back(uninterrupted, wanted, _old_document(free or registered, wanted.before.document), error)


def _roll_back(
    context: resource.Context,
    wanted: observe.WantedVolume,
    old: registration.VolumeRegistration,
    error: errors.NomadCsiError,
) -> None:
    """
    Return where Nomad has the *wanted* registration after *error*; else restore the *old* one, and raise.

    Retries for `OUTAGE_S` while Nomad does not answer.
    """
    clock = context.client.clock
    deadline = clock.now() + OUTAGE_S
    while True:
        try:
            now = volumes.get(context.client, old.namespace, old.volume_id)
            if now is None:
                _put_back(context, wanted, old)
            break
        except (errors.NomadApiError, errors.RefusedError) as again:
            is_refused = isinstance(again, errors.RefusedError) or again.kind == "refused"
            if is_refused or clock.now() > deadline:
                raise _not_registered(old, error, again) from error
            context.status(f"not registered, trying to put it back: {again}")
            clock.sleep(PAUSE_S)
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


def _put_back(context: resource.Context, wanted: observe.WantedVolume, old: registration.VolumeRegistration) -> None:
    """Register *old* by a run of its own: it is sent even where its plugin did not answer for other volumes."""
    owner = dataclasses.replace(
        wanted.owned(ownership.naming(wanted.token, old)),
        requester=ownership.requester(wanted.before.owned, {}),
    )
    sending.RegistrationRun(context).register(old, owner, _single_attempt(context), is_new=False)


def _not_registered(
    old: registration.VolumeRegistration, error: errors.NomadCsiError, again: errors.NomadCsiError
) -> errors.NomadCsiError:
    return errors.NomadCsiError(
        f"volume {old.key} is NOT registered now: {error}; putting back its registration for {old.external_id} "
        f"failed, too: {again}; its storage was not touched; correct the cause and run `pulumi up`, which registers "
        "what the program declares"
    )


def _old_document(actual: volumes.Volume, before: registration.VolumeRegistration) -> registration.VolumeRegistration:
    """
    Return the registration that gives Nomad *actual* again, with the flags and secrets of *before*.

    Where a plugin created the volume, the topologies that it chose become the required ones: Nomad accepts no others.
    """
    flags = before.mount_options.mount_flags if actual.has_mount_flags else ()
    return dataclasses.replace(
        actual.registration(),
        mount_options=dataclasses.replace(actual.mount_options, mount_flags=flags),
        required_topologies=actual.topologies or actual.required_topologies,
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


def _keep(context: resource.Context, wanted: observe.WantedVolume, *, is_changed: bool) -> resource.Properties:
    """Record the owner of a volume that its plugin has created, and change it in place; return its outputs."""
    recorded = wanted.recorded_outputs
    owned = volume_properties.OWNERSHIP if wanted.has_owner else ()
    names = (*volume_properties.CREATED.program_outputs, volume_properties.CREATED_NAME, volume_properties.MADE, *owned)
    kept = {name: recorded[name] for name in names if name in recorded}
    if wanted.actual is not None and (not recorded or wanted.is_proven):
        kept |= created_outputs(wanted.actual) | {volume_properties.CREATED_NAME: wanted.actual.name}
        kept |= {volume_properties.MADE: wanted.actual.external_id} if wanted.is_proven else {}
    token = observe.created_token(wanted.token, wanted.desired.document, kept)
    wanted.owned(token).acquire()
    if is_changed:
        _change(context, wanted)
    return kept


def _create(context: resource.Context, wanted: observe.WantedVolume) -> resource.Properties:
    """
    Have the plugin create a volume that Nomad does not have, or find its storage again, and return its outputs.

    The owner record comes first, with the name of the storage: an interrupted run finds it by that. Sent once. After an
    error that does not prove that nothing was made the volume is read: it is ours when it is registered without drift.

    Raises `errors.RefusedError` for an unknown namespace, in which Nomad would not keep the created volume, where no
    record keeps new storage, and where the plugin returns other storage than is known for the id, or storage that is
    registered already; then the volume is deregistered again, and not deleted.
    """
    key, document = wanted.key, wanted.desired.document
    known = wanted.recorded_outputs
    namespaces.check(context.client, [document.namespace])
    token = observe.created_token(wanted.token, document, known)
    owner = wanted.owned(token)
    taken = owner.acquire()
    record = taken.after or ownership.NO_RECORD
    if taken.is_denied and wanted.has_owner and not known:
        raise explain.unrecorded(key)
    storage = known.get("externalId", record.external_id)
    name = known.get(volume_properties.CREATED_NAME) or record.storage_name
    name = name or token.created_name or token.registered_name
    context.status(f"plugin {document.plugin_id} creates {wanted.name}")
    document = dataclasses.replace(document, name=name, external_id="")
    timeout_s = context.timeout_s or volumes.CREATE_TIMEOUT_S
    try:
        created = volumes.create(context.client, document, timeout_s=timeout_s)
    except errors.NomadApiError as error:
        if volumes.has_made_nothing(error):
            if taken.is_new and not storage:
                owner.try_release()
            raise
        volume = _arrived(context, document, error)
    else:
        _warn(context, created.warnings)
        volume = created.volume
    if storage not in {"", volume.external_id}:
        deregistration.deregister_now(context.client, key)
        raise explain.created_other_storage(volume, storage, record.owner or wanted.requester.owner)
    if others := _others_of(context, volume):
        deregistration.deregister_now(context.client, key)
        if taken.is_new:
            owner.try_release()
        raise explain.created_shared_storage(volume, others)
    proof = {volume_properties.MADE: volume.external_id} if name in {token.created_name, record.created_name} else {}
    return created_outputs(volume) | {volume_properties.CREATED_NAME: name} | proof


def _others_of(context: resource.Context, new: volumes.Volume) -> list[volumes.Key]:
    """Return the other volumes of the storage of *new*; none where they could not be listed, which is a warning."""
    try:
        keys = sharing.registered_as(context.client, new.external_id)
    except errors.NomadApiError as error:
        context.warn(f"{error}; not compared whether {new.external_id}, made for {new.key}, is another volume's, too")
        return []
    return [key for key in keys if key != volumes.key_of(new)]


def _change(context: resource.Context, wanted: observe.WantedVolume) -> None:
    """
    Change the volume in place, and grow it to the desired size.

    Id, name and topologies stay as Nomad has them: it refuses others, and the storage is there. So does the plugin's
    context, which older releases erase where it is not sent (``nomad-erases-context``).
    """
    document, registered = wanted.desired.document, wanted.registered
    if document.capacity_min_bytes > registered.capacity_bytes:
        size = listing.size(document.capacity_min_bytes)
        context.status(f"plugin {document.plugin_id} grows {registered.key} to {size}")
    sent = dataclasses.replace(
        document,
        name=registered.name,
        external_id=registered.external_id,
        required_topologies=registered.required_topologies,
        preferred_topologies=registered.preferred_topologies,
        context=document.context or registered.context,
    )
    timeout_s = context.timeout_s or volumes.CHANGE_TIMEOUT_S
    _warn(context, volumes.register(context.client, sent, timeout_s=timeout_s))


def _arrived(
    context: resource.Context, document: registration.VolumeRegistration, error: errors.NomadApiError
) -> volumes.Volume:
    """Return the volume that was created without a response; raise *error*, with advice, where there is none."""
    try:
        volume = volumes.get(context.client, document.namespace, document.volume_id)
    except errors.NomadApiError:
        volume = None
    if volume is None or compare.compare_volume(document, volume, made_by_plugin=True).differences:
        advice = (
            f"the plugin may have made the storage all the same; it finds it by the name {document.name} when this "
            "runs again, and makes no second one"
        )
        raise error.ambiguous(advice=advice) from error
    return volume


def _warn(context: resource.Context, warnings: str) -> None:
    if warnings:
        context.warn(f"Nomad warns: {warnings}")


# Removal.


def remove(context: resource.Context, removed: observe.RemovedVolume) -> bool:
    """
    Deregister the volume, if it is there, never by force; then remove its owner record. Return whether it was removed.

    The record of a volume that its plugin created stays, with the storage, unless the volume is replaced. After a wait
    for claims it is decided again. ``False``: another resource has it, or may have it, and nothing was changed. Raises
    `errors.RefusedError` where the decision is that nothing is done, and what `observe.RemovedVolume.wait_until_free`
    does.
    """
    decision = removed.permitted()
    if "held elsewhere" in decision.remarks:
        context.warn(
            f"volume {removed.name} stays registered: another resource of this stack has taken it over, or a newer "
            "state of this one"
        )
        return False
    if "owner not known" in decision.remarks:
        context.warn(explain.unknown_owner(removed, "stays registered"))
        return False
    registered = removed.actual if "deregister" in decision.steps else None
    if registered is not None and removed.claims == "ending":
        removed.wait_until_free()
        return remove(context, removed.again())  # the owner may be another one after the wait
    if "delete storage" in decision.steps:
        return True
    with hold.removing(context, removed.key):
        if removed.keeps_storage:
            removed.keep_storage()
        if registered is not None:
            deregistration.deregister_free(context.client, registered)
        if not removed.keeps_storage:
            removed.release_record()
    return True


def delete_storage(context: resource.Context, removed: observe.RemovedVolume) -> None:
    """
    Deregister the volume *removed* and delete its storage; neither has to exist any more.

    Raises `errors.RefusedError` where that is refused, before any change; `errors.NomadCsiError` where a re-run may
    complete it.
    """
    from nomad_csi.volumes import deletion  # noqa: PLC0415  # few volumes are deleted, and all would pay for it

    request, options = observe.deletion_order(context, removed.recorded_outputs)
    [outcome] = deletion.delete(context.client, [request], options)
    if not outcome.is_done:
        kind = errors.NomadCsiError if outcome.is_broken else errors.RefusedError
        raise kind(explain.deletion_outcome(outcome))
    removed.release_record()
    context.warn(explain.deletion_outcome(outcome))
