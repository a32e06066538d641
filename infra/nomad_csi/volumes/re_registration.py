"""
Register a volume again in one step: check the new registration, deregister, register; roll back on failure.

Nomad changes external id, plugin, places and parameters of a registration only in this way. Between the two requests
the volume is not registered: after a failure there either the new or the old registration is in effect, and the error
says which.
"""

import dataclasses
import threading
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import (
    compare,
    deregistration,
    owned,
    registration_ownership,
    removal,
    volume_changes,
    volume_document,
    volume_ownership,
)

OUTAGE_S = 30.0
"""Retry timeout while a volume is not registered: a leader election took 3.8 s (Nomad 2.0.6-dev)."""

PAUSE_S = 1.0


def register(
    context: resource.Context,
    found: volumes.Volume,
    recorded: Mapping[str, Any],
    news: Mapping[str, Any],
    token: registration_ownership.OwnerToken,
) -> None:
    """
    Deregister *found* and register *news*; *recorded* are its outputs, with the parts that Nomad never shows.

    Raises:
        errors.RefusedError: the volume is claimed, or it has changed since the decision. Nothing was changed.
        errors.NomadApiError: the plugin did not answer for other volumes of this operation. Nothing was changed.
        errors.NomadCsiError: Nomad refused the new registration; says whether the old one was restored.

    """
    if unsent := volume_changes.registration_run(context).breaker.refusal(volume_document.parse_inputs(news)):
        raise unsent
    volume_ownership.acquire(context, news, recorded, token)
    free = removal.wait_until_free(context, found, recorded)
    if context.cancelled.is_set():
        raise errors.CancelledError(f"cancelled before {found.key} was deregistered; nothing was changed")
    # From here on an interruption would leave the volume unregistered.
    client = context.client
    uninterrupted = dataclasses.replace(context, cancelled=threading.Event(), connect=lambda: client)
    if free is not None:
        deregistration.deregister_free(client, free)
    try:
        volume_changes.register(uninterrupted, news, token, found=None, recorded=recorded)
    except errors.NomadCsiError as error:
        old = old_document(free or found, recorded)
        _Return(uninterrupted, old, token).after(error, news, volume_ownership.requester(recorded, news))


class _Return:
    """The rollback after a new registration that Nomad did not accept."""

    def __init__(
        self, context: resource.Context, old: registration.VolumeRegistration, token: registration_ownership.OwnerToken
    ) -> None:
        self._context = context
        self._old = old
        self._token = token
        self._what = f"volume {old.key}"

    def after(
        self, error: errors.NomadCsiError, news: Mapping[str, Any], who: registration_ownership.Requester
    ) -> None:
        """
        Return where Nomad has *news* after *error*; else restore the old registration as *who*, and raise.

        Retries for `OUTAGE_S` while Nomad does not answer.
        """
        clock = self._context.client.clock
        deadline = clock.now() + OUTAGE_S
        refusal: errors.NomadCsiError | None = None
        while True:
            try:
                now = volumes.get(self._context.client, self._old.namespace, self._old.volume_id)
                if now is None and refusal is None:
                    self._put_back(who)
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
                self._judge(now, error, news)
                return
            raise (self._restore(error) if refusal is None else self._not_registered(error, refusal)) from error

    def _judge(self, now: volumes.Volume, error: errors.NomadCsiError, news: Mapping[str, Any]) -> None:
        """Return where *now* is as *news* require; else raise with the observed state."""
        if not volume_changes.compare_inputs(now, news, is_created=False).differences:
            if isinstance(error, errors.RefusedError):
                raise error
            return
        if compare.compare_volume(self._old, now).differences:
            raise errors.NomadCsiError(
                f"{self._what} was registered for {now.external_id} meanwhile: {error}; run "
                "`pulumi refresh` and check before another `up`"
            ) from error
        raise self._restore(error) from error

    def _put_back(self, who: registration_ownership.Requester) -> None:
        # A run of its own: this one is sent even where its plugin did not answer for other volumes.
        owned.RegistrationRun(self._context.client).register_one(
            owned.Acquisition(document=self._old, token=self._token, is_new=False),
            requester=who,
            policy=volume_changes.policy(self._context),
        )

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


def old_document(found: volumes.Volume, recorded: Mapping[str, Any]) -> registration.VolumeRegistration:
    """
    Return the registration that gives Nomad *found* again, with flags and secrets as *recorded*.

    Where a plugin created the volume, the places that it chose become the required ones: Nomad accepts no others here.
    """
    flags = tuple(recorded.get("mountOptions", {}).get("mountFlags", ())) if found.has_mount_flags else ()
    return dataclasses.replace(
        found.registration(),
        mount_options=dataclasses.replace(found.mount_options, mount_flags=flags),
        required_topologies=found.topologies or found.required_topologies,
        preferred_topologies=(),
        secrets=recorded.get("secrets", {}),
    )
