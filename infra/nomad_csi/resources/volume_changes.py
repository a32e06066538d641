"""Send registrations: new ones, changed ones, and ones that are taken over."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.compare import difference, volume
from nomad_csi.nomad import volumes
from nomad_csi.ownership import registration_ownership
from nomad_csi.registration import concurrent_registrations, secret_safety
from nomad_csi.resources import volume_document, volume_ownership, volume_properties
from nomad_csi.resources.frame import properties, resource


def compare(found: volumes.Volume | None, news: Mapping[str, Any]) -> difference.Comparison:
    """Return the comparison of *news* with what Nomad holds; ``None``: no such volume."""
    return volume.compare_volume(
        volume_document.parse_inputs(news), found, made_by_plugin=volume_properties.is_created(news)
    )


def take_over(
    context: resource.Context, found: volumes.Volume, news: Mapping[str, Any], held: registration_ownership.Hold
) -> None:
    """Take over an equal registration unchanged, change one that may be adopted, refuse any other; record the owner."""
    volume_ownership.refuse_others(context.client, news, {})
    compared = compare(found, news)
    volume_document.refuse_foreign(found, news, compared)
    refuse_impossible(compared, news)
    if compared.must_be_sent:
        register(context, news, held, is_new=False, found=found)
    else:
        volume_ownership.mark(context, news, {}, held)


def refuse_taken(client: nomad.Nomad, news: Mapping[str, Any]) -> None:
    """
    Raise `errors.RefusedError` where `create` would not take over the existing volume, if there is one.

    Storage that the program has yet to create is never the registered one. Other unknown values are not compared.
    """
    volume_ownership.refuse_others(client, news, {})
    name = volume_properties.key_of(news)
    secret_safety.refuse(client, name, news)
    found = volumes.get(client, news["namespace"], news["volumeId"])
    if found is None:
        return
    if news.get("externalId") == resource.UNKNOWN and news.get("storage", {}).get("owned"):
        raise errors.RefusedError(
            f"volume {name} is registered already, for {found.external_id}, and this resource would make new storage "
            "for it: add an alias where the resource was renamed or moved in the program, or choose another id"
        )
    known = {name: value for name, value in news.items() if name in volume_document.COMPARED}
    if not properties.has_unknown(known):
        compared = compare(found, news)
        volume_document.refuse_foreign(found, news, compared)
        if not volume_properties.is_created(news):
            refuse_impossible(compared, news)


def refuse_impossible(compared: difference.Comparison, news: Mapping[str, Any]) -> None:
    """
    Raise `errors.RefusedError` for what Nomad would refuse of *compared*.

    All reasons at once, before anything is sent: Nomad's own message has no values, and does not name the volume.
    """
    if refused := compared.differences_of_kind("refused"):
        reasons = "; ".join(difference.sentences(refused))
        raise errors.RefusedError(f"volume {volume_properties.key_of(news)} cannot be changed: {reasons}")


def register(
    context: resource.Context,
    news: Mapping[str, Any],
    held: registration_ownership.Hold,
    *,
    is_new: bool,
    found: volumes.Volume | None = None,
    recorded: Mapping[str, Any] | None = None,
) -> None:
    """
    Record the owner and send the registration once; after a lost response succeed only where a read finds it.

    Concurrent registrations are sent in one batch. *recorded* are the previous outputs, if any.
    Raises `errors.RefusedError` where another stack owns the volume.
    """
    document = volume.keep_actual_places(volume_document.parse_inputs(news), found)
    try:
        concurrent_registrations.coalescer_of(context.client).register(
            document,
            tell=context.warn,
            cancelled=context.cancelled,
            requester=volume_ownership.requester(news, recorded or {}),
            hold=held,
        )
    except errors.NomadApiError as error:
        if error.kind != "ambiguous" or not _has_arrived(context.client, news, is_new=is_new):
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
    compared = compare(found, news)
    return not compared.differences and (is_new or not compared.hidden)
