"""
Carry out what was decided about a volume: each step is checked against the facts that it was decided on.

Nomad changes external id, plugin, places and parameters of a registration only where it is deregistered and registered
again. Between the two requests the volume is not registered: after a failure there either the new or the old
registration is in effect, and the error says which.
"""

import dataclasses
import threading

from nomad_csi import errors
from nomad_csi.frame import resource, stack_identity
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import (
    compare,
    created_changes,
    decide,
    deregistration,
    removal,
    sending,
    volume_ownership,
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
    if wanted.source == "created":
        return created_changes.carry_out(context, wanted, decision) | done
    if "deregister" in decision.steps and wanted.found is not None:
        _register_anew(context, wanted)
    elif "register" in decision.steps:
        register(context, wanted, wanted.found, policy)
    else:
        volume_ownership.acquire(context, wanted.key, wanted.requester, wanted.token)
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
    context: resource.Context, wanted: wanted_volume.WantedVolume, outputs: resource.Properties, done: str, gone: str
) -> volumes.Volume:
    """Return the *wanted* volume after a step; see `resource.seen_afterwards`."""
    return resource.seen_afterwards(
        lambda: volumes.get(context.client, *wanted.key),
        wanted.name,
        outputs,
        done=done,
        gone=f"{gone}, but gone again: something else deregisters it",
    )


# Deregister and register again; roll back on failure.


def _register_anew(context: resource.Context, wanted: wanted_volume.WantedVolume) -> None:
    """Deregister what is registered, and register the *wanted* volume."""
    if unsent := _run(context).breaker.refusal(wanted.desired.document):
        raise unsent
    found, recorded = wanted.registered, wanted.recorded_outputs
    # The record keeps the old storage until the new registration is sent.
    before = volume_ownership.naming(wanted.token, found.registration())
    volume_ownership.acquire(context, wanted.key, wanted.requester, before)
    free = removal.wait_until_free(context, found, recorded)
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
        old = old_document(free or found, wanted.before.document)
        _Return(uninterrupted, old, wanted).after(error)


class _Return:
    """The rollback after a new registration that Nomad did not accept."""

    def __init__(
        self, context: resource.Context, old: registration.VolumeRegistration, wanted: wanted_volume.WantedVolume
    ) -> None:
        self._context = context
        self._old = old
        self._wanted = wanted
        self._what = f"volume {old.key}"

    def after(self, error: errors.NomadCsiError) -> None:
        """
        Return where Nomad has the wanted registration after *error*; else restore the old one, and raise.

        Retries for `OUTAGE_S` while Nomad does not answer.
        """
        clock = self._context.client.clock
        deadline = clock.now() + OUTAGE_S
        refusal: errors.NomadCsiError | None = None
        while True:
            try:
                now = volumes.get(self._context.client, self._old.namespace, self._old.volume_id)
                if now is None and refusal is None:
                    self._put_back()
            except (errors.NomadApiError, errors.RefusedError) as again:
                is_refused = isinstance(again, errors.RefusedError) or again.kind == "refused"
                if clock.now() > deadline or (is_refused and refusal is not None):
                    raise self._not_registered(error, again) from error
                # Read once more after a refusal: the new registration may have arrived late.
                refusal = again if is_refused else refusal
                self._context.status(f"not registered, trying to put it back: {again}")
                clock.sleep(PAUSE_S)
                continue
            if now is not None:
                self._judge(now, error)
                return
            raise (self._restore(error) if refusal is None else self._not_registered(error, refusal)) from error

    def _judge(self, now: volumes.Volume, error: errors.NomadCsiError) -> None:
        """Return where *now* is as wanted; else raise with the observed state."""
        if not compare.compare_volume(self._wanted.desired.document, now).differences:
            if isinstance(error, errors.RefusedError):
                raise error
            return
        if compare.compare_volume(self._old, now).differences:
            raise errors.NomadCsiError(
                f"{self._what} was registered for {now.external_id} meanwhile: {error}; run "
                "`pulumi refresh` and check before another `up`"
            ) from error
        raise self._restore(error) from error

    def _put_back(self) -> None:
        # A run of its own: this one is sent even where its plugin did not answer for other volumes.
        token = volume_ownership.naming(self._wanted.token, self._old)
        who = self._wanted.before.requester({"owner": self._wanted.desired.owner})
        run = sending.RegistrationRun(self._context.client)
        run.register(self._old, token, who, _single_attempt(self._context), is_new=False)

    def _restore(self, error: errors.NomadCsiError) -> errors.NomadCsiError:
        return errors.NomadCsiError(
            f"{self._what} is registered for {self._old.external_id} as before: its replacement failed, and the old "
            f"registration was put back: {error}"
        )

    def _not_registered(self, error: errors.NomadCsiError, again: errors.NomadCsiError) -> errors.NomadCsiError:
        return errors.NomadCsiError(
            f"{self._what} is NOT registered now: {error}; putting back its registration for {self._old.external_id} "
            f"failed, too: {again}; its storage was not touched; correct the cause and run `pulumi up`, which "
            "registers what the program declares"
        )


def old_document(found: volumes.Volume, before: registration.VolumeRegistration) -> registration.VolumeRegistration:
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
