"""Registrations that are sent: new ones, changed ones, and ones that are taken over."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.deploy import (
    batch_coalesce,
    resource,
    secret_safety,
    volume_comparison,
    volume_document,
    volume_ownership,
    volume_properties,
    volume_verdict,
)
from nomad_csi.nomad import volumes

_NEVER_CHANGED = volume_comparison.fixed(volume_properties.INPUTS)


def _differing(found: volumes.Volume, news: Mapping[str, Any]) -> dict[str, str]:
    """Return a sentence for each property in which *found* is not what *news* wants."""
    live = volume_document.to_inputs(volume_document.of_volume(found))
    return volume_comparison.differing(volume_properties.INPUTS, live, news, has_flags=found.has_mount_flags)


def take_over(context: resource.Context, client: nomad.Nomad, found: volumes.Volume, news: Mapping[str, Any]) -> None:
    """Leave an equal registration as it is, change one that may be adopted, refuse any other; mark it as ours."""
    volume_ownership.refuse_others(client, news, {})
    differing = _differing(found, news)
    has_hidden_parts = "secrets" in news or found.has_mount_flags
    if differing:
        emptied = ("context",) if found.context and "context" not in news else ()
        volume_comparison.refuse_foreign(found, news, differing, (*_NEVER_CHANGED, *emptied))
    if differing or has_hidden_parts:
        register(context, client, news, is_new=False, found=found)
    else:
        volume_ownership.mark(context, client, news)


def refuse_impossible(context: resource.Context, found: volumes.Volume | None, news: Mapping[str, Any]) -> None:
    """
    Raise `errors.RefusedError` for what Nomad would refuse to change of *found*, and warn of what it would ignore.

    All reasons at once, before anything is sent: Nomad's own sentence has no values, and does not name the volume.
    """
    verdict = volume_verdict.verdict(volume_document.from_inputs(news), found)
    name = f"{news['namespace']}/{news['volumeId']}"
    if refused := verdict.of("refused"):
        raise errors.RefusedError(f"volume {name} cannot be changed: {'; '.join(volume_verdict.sentences(refused))}")
    if ignored := verdict.of("ignored"):
        context.warn(f"volume {name}: {'; '.join(volume_verdict.sentences(ignored))}")


def register(
    context: resource.Context,
    client: nomad.Nomad,
    news: Mapping[str, Any],
    *,
    is_new: bool,
    found: volumes.Volume | None = None,
    recorded: Mapping[str, Any] | None = None,
) -> None:
    """
    Mark the volume and send its registration once; after a lost answer go on only where a read shows that it arrived.

    It goes together with others that are sent at this moment. *recorded* are the outputs of before, if any.
    Raises `errors.RefusedError` where the volume is another stack's.
    """
    document = volume_verdict.in_order_of(volume_document.from_inputs(news), found)
    try:
        batch_coalesce.of(client).register(
            document,
            tell=context.warn,
            cancelled=context.cancelled,
            claimant=volume_ownership.claimant(news, recorded or {}),
        )
    except errors.NomadApiError as error:
        if error.kind != "ambiguous" or not _has_arrived(client, news, is_new=is_new):
            raise


def _has_arrived(client: nomad.Nomad, news: Mapping[str, Any], *, is_new: bool) -> bool:
    """Return whether a registration that was not answered is in force; false where that cannot be seen."""
    if secret_safety.is_at_risk(client, news):
        return False
    try:
        found = volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError:
        return False
    can_tell = is_new or not ("secrets" in news or (found is not None and found.has_mount_flags))
    return found is not None and can_tell and not _differing(found, news)
