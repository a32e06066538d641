"""
A volume registered anew in one step: its successor is checked, it is deregistered, registered, or put back.

Nomad changes external id, plugin, places and parameters of a registration only so. Between the two requests it does not
have the volume: whatever fails there ends with a registration, the new one or the old one, and says which.
"""

import dataclasses
import threading
import time
from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.compare import volume
from nomad_csi.nomad import volumes
from nomad_csi.nomad.records import volumes as volume_records
from nomad_csi.ownership import registration_ownership
from nomad_csi.plan import registration
from nomad_csi.registration import concurrent_registrations, deregistration, secret_safety
from nomad_csi.resources import (
    successor,
    volume_changes,
    volume_document,
    volume_ownership,
    volume_properties,
    volume_steps,
)
from nomad_csi.resources.frame import resource

OUTAGE_S = 30.0
"""How long Nomad is asked again while a volume is not registered: a change of leader took 3.8 s (Nomad 2.0.6-dev)."""

PAUSE_S = 1.0


def is_needed(found: volumes.Volume, news: Mapping[str, Any]) -> bool:
    """Return whether *found* becomes what *news* want only by a new registration."""
    return any(item.needs_new_registration for item in volume_changes.compare(found, news).differences)


def preview(context: resource.Context, recorded: Mapping[str, Any], news: Mapping[str, Any]) -> None:
    """
    Raise `errors.RefusedError` for what `register` would refuse, but for claims: they may be gone by then.

    Nothing is changed. Raises `errors.NomadApiError` where Nomad does not answer.
    """
    secret_safety.refuse(context.client, volume_properties.key_of(news), {**recorded, **news})
    found = volumes.get(context.client, news["namespace"], news["volumeId"])
    if found is not None:
        _refuse_hidden(found, recorded)
        successor.refuse(context, news, recorded, in_preview=True)
        if found.claims and not deregistration.is_ending(found):
            holders = volume_records.holders(found)
            context.warn(f"volume {found.key} is claimed now, and `up` refuses this change while it is: {holders}")


def register(
    context: resource.Context,
    found: volumes.Volume,
    recorded: Mapping[str, Any],
    news: Mapping[str, Any],
    held: registration_ownership.Hold,
) -> None:
    """
    Deregister *found* and register *news*; *recorded* are its outputs, with the parts that Nomad never shows.

    Raises:
        errors.RefusedError: the successor would not work, the volume is claimed, it is not as recorded any more, or
            Nomad holds parts of it that could not be put back. Nothing was changed.
        errors.NomadCsiError: Nomad did not take the successor; says whether the old registration was put back.

    """
    _refuse_changed(found, recorded)
    _refuse_hidden(found, recorded)
    successor.refuse(context, news, recorded)
    volume_ownership.mark(context, news, recorded, held)
    free = volume_steps.let_go(context, found, recorded)
    if context.cancelled.is_set():
        raise errors.CancelledError(f"cancelled before {found.key} was deregistered; nothing was changed")
    # From here on an interruption would leave the volume unregistered.
    uninterrupted = dataclasses.replace(context, cancelled=threading.Event())
    if free is not None:
        deregistration.deregister_free(context.client, free)
    try:
        volume_changes.register(uninterrupted, news, held, is_new=True, recorded=recorded)
    except errors.NomadCsiError as error:
        old = old_document(free or found, recorded)
        _Return(uninterrupted, old, held).after(error, news, volume_ownership.requester(recorded, news))


class _Return:
    """The way back after a successor that Nomad did not take."""

    def __init__(
        self, context: resource.Context, old: registration.VolumeRegistration, held: registration_ownership.Hold
    ) -> None:
        self._context = context
        self._old = old
        self._held = held
        self._what = f"volume {old.key}"

    def after(
        self, error: errors.NomadCsiError, news: Mapping[str, Any], who: registration_ownership.Requester
    ) -> None:
        """
        Return where Nomad has *news* after *error*; else put the old registration back as *who*, and raise.

        While Nomad does not answer, it is asked again for `OUTAGE_S`.
        """
        deadline = time.monotonic() + OUTAGE_S
        refusal: errors.NomadCsiError | None = None
        while True:
            try:
                now = volumes.get(self._context.client, self._old.namespace, self._old.volume_id)
                if now is None and refusal is None:
                    self._put_back(who)
            except (errors.NomadApiError, errors.RefusedError) as again:
                is_refused = isinstance(again, errors.RefusedError) or again.kind == "refused"
                if time.monotonic() > deadline or (is_refused and refusal is not None):
                    raise self._not_registered(error, again) from error
                # Looked at once more after a refusal: the successor may have arrived late.
                refusal = again if is_refused else refusal
                self._context.status(f"not registered, trying to put it back: {again}")
                time.sleep(PAUSE_S)
                continue
            if now is not None:
                self._judge(now, error, news)
                return
            raise (self._as_before(error) if refusal is None else self._not_registered(error, refusal)) from error

    def _judge(self, now: volumes.Volume, error: errors.NomadCsiError, news: Mapping[str, Any]) -> None:
        """Return where *now* is what *news* want; raise what it is else."""
        if not volume_changes.compare(now, news).differences:
            if isinstance(error, errors.RefusedError):
                raise error
            return
        if volume.compare_volume(self._old, now).differences:
            raise errors.NomadCsiError(
                f"{self._what} was registered for {now.external_id} meanwhile: {error}; run "
                "`pulumi refresh` and check before another `up`"
            ) from error
        raise self._as_before(error) from error

    def _put_back(self, who: registration_ownership.Requester) -> None:
        concurrent_registrations.of(self._context.client).register(
            self._old, tell=self._context.warn, cancelled=self._context.cancelled, requester=who, hold=self._held
        )

    def _as_before(self, error: errors.NomadCsiError) -> errors.NomadCsiError:
        return errors.NomadCsiError(
            f"{self._what} is registered for {self._old.external_id} as before: its successor failed, and the old "
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

    Where a plugin made the volume, the places that it chose become the required ones: Nomad takes no others here.
    """
    flags = tuple(recorded.get("mountOptions", {}).get("mountFlags", ())) if found.has_mount_flags else ()
    return dataclasses.replace(
        found.registration(),
        mount_options=dataclasses.replace(found.mount_options, mount_flags=flags),
        required_topologies=found.topologies or found.required_topologies,
        preferred_topologies=(),
        secrets=recorded.get("secrets", {}),
    )


def _refuse_hidden(found: volumes.Volume, recorded: Mapping[str, Any]) -> None:
    """Refuse where the registration has mount flags that are not known here: it could not be put back."""
    if found.has_mount_flags and not recorded.get("mountOptions", {}).get("mountFlags"):
        raise errors.RefusedError(
            f"volume {found.key} stays as it is: Nomad holds mount flags of it that the state "
            "does not have and Nomad does not show, so that it could not be put back if its successor failed; write "
            "them into the program, or change them there, in an `up` of its own first"
        )


def _refuse_changed(found: volumes.Volume, recorded: Mapping[str, Any]) -> None:
    """Refuse what somebody else registered anew since it was read."""
    differences = volume_changes.compare(found, recorded).differences if recorded else ()
    changed = "; ".join(
        f"{volume_document.property_path(item.field)} is {item.actual!r} in Nomad, {item.desired!r} in the state"
        for item in differences
        if item.needs_new_registration
    )
    if changed:
        raise errors.RefusedError(
            f"volume {found.key} is not as recorded any more; nothing was changed: {changed}; "
            "run `pulumi refresh`, check, and run again"
        )
