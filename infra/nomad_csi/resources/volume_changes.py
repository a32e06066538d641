"""Send registrations: new ones, changed ones, and ones that are taken over."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.compare import difference, volume
from nomad_csi.nomad import volumes
from nomad_csi.ownership import registration_ownership
from nomad_csi.registration import concurrent_registrations, secret_safety, storage_sharing
from nomad_csi.resources import volume_document, volume_ownership, volume_properties
from nomad_csi.resources.frame import resource


def compare(found: volumes.Volume | None, news: Mapping[str, Any], *, is_created: bool) -> difference.Comparison:
    """Return the comparison of *news* with what Nomad holds; ``None``: no such volume. *is_created*: by its plugin."""
    return volume.compare_volume(volume_document.parse_inputs(news), found, made_by_plugin=is_created)


def refusal_of_impossible(compared: difference.Comparison, news: Mapping[str, Any]) -> errors.RefusedError:
    """
    Return the refusal of what Nomad would refuse of *compared*: all reasons at once, before anything is sent.

    Nomad's own message has no values, and does not name the volume.
    """
    reasons = "; ".join(difference.sentences(compared.differences_of_kind("refused")))
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

    Concurrent registrations are sent in one batch. *found* is Nomad's registration, *recorded* the previous outputs.
    Raises `errors.RefusedError` where another stack owns the volume.
    """
    document = volume.keep_actual_places(volume_document.parse_inputs(news), found)
    try:
        concurrent_registrations.coalescer_of(context.client).register(
            document,
            tell=context.warn,
            cancelled=context.cancelled,
            requester=volume_ownership.requester(news, recorded),
            token=token,
            is_new=found is None,
        )
    except storage_sharing.NotCheckedError:
        raise
    except errors.NomadApiError as error:
        if error.kind != "ambiguous" or not _has_arrived(context.client, news, is_new=found is None):
            raise


def _has_arrived(client: nomad.Nomad, news: Mapping[str, Any], *, is_new: bool) -> bool:
    """Return whether a registration without a response is in effect; false where that could not be determined."""
    if secret_safety.is_at_risk(client, news):
        return False
    try:
        found = volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError:
        return False
    if found is None:
        return False
    compared = compare(found, news, is_created=False)
    return not compared.differences and (is_new or not compared.hidden)
