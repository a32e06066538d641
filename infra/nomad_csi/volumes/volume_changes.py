"""Send registrations: new ones, changed ones, and ones that are taken over."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.frame import resource
from nomad_csi.nomad import volumes
from nomad_csi.volumes import (
    compare,
    registration_ownership,
    sending,
    volume_document,
    volume_ownership,
    volume_properties,
)


def compare_inputs(found: volumes.Volume | None, news: Mapping[str, Any], *, is_created: bool) -> compare.Comparison:
    """Return the comparison of *news* with what Nomad holds; ``None``: no such volume. *is_created*: by its plugin."""
    return compare.compare_volume(volume_document.parse_inputs(news), found, made_by_plugin=is_created)


def refusal_of_impossible(compared: compare.Comparison, news: Mapping[str, Any]) -> errors.RefusedError:
    """
    Return the refusal of what Nomad would refuse of *compared*: all reasons at once, before anything is sent.

    Nomad's own message has no values, and does not name the volume.
    """
    reasons = "; ".join(compare.sentences(compared.differences_of_kind("refused")))
    return errors.RefusedError(f"volume {volume_properties.key_of(news)} cannot be changed: {reasons}")


def register(
    context: resource.Context,
    news: Mapping[str, Any],
    token: registration_ownership.OwnerToken,
    *,
    found: volumes.Volume | None,
    recorded: Mapping[str, Any],
) -> None:
    """
    Record the owner and send the registration once; after a lost response succeed only where a read finds it.

    *found* is Nomad's registration, *recorded* the previous outputs. Raises `errors.RefusedError` where another stack
    owns the volume.
    """
    document = compare.keep_actual_places(volume_document.parse_inputs(news), found)
    registration_run(context).register_one(
        sending.Acquisition(document=document, token=token, is_new=found is None),
        requester=volume_ownership.requester(news, recorded),
        policy=policy(context),
    )


def registration_run(context: resource.Context) -> sending.RegistrationRun:
    """Return the run that the registrations of this operation share."""
    return context.operation.once("registrations", lambda: sending.RegistrationRun(context.client))


def policy(context: resource.Context) -> sending.RetryPolicy:
    """Return the policy of a registration by a resource: one attempt."""
    clock = context.client.clock
    deadline = clock.now() + 2 * volumes.REGISTER_TIMEOUT_S  # of the request, and of the reads around it
    return sending.RetryPolicy(deadline=deadline, report=context.warn, cancelled=context.cancelled, clock=clock)
