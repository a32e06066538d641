"""Volumes that a plugin makes: made once, taken over, changed, and never made to shrink."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.deploy import (
    created_document,
    created_properties,
    mark_upkeep,
    resource,
    volume_comparison,
    volume_ownership,
)
from nomad_csi.nomad import namespaces, volume_creation, volumes

_NEVER_CHANGED = volume_comparison.fixed(created_properties.INPUTS)


def make(context: resource.Context, client: nomad.Nomad, news: Mapping[str, Any]) -> volumes.Volume:
    """
    Have the plugin make a volume that Nomad does not know, and return what it answered.

    Raises `errors.RefusedError` for an unknown namespace, in which Nomad would not keep what the plugin made.
    Sent once. After an ambiguous answer the volume is looked for: it is ours when it is there and as wanted.
    """
    taken = volume_ownership.mark(context, client, news)
    key, who = (news["namespace"], news["volumeId"]), volume_ownership.claimant(news, {})
    namespaces.refuse_unknown(client, news["namespace"])
    context.status(f"plugin {news['pluginId']} makes {_name(news)}")
    try:
        created = volume_creation.create(
            client, created_document.from_inputs(news), timeout_s=context.timeout_s or volume_creation.CREATE_TIMEOUT_S
        )
    except errors.NomadApiError as error:
        if error.kind != "ambiguous":
            volume_ownership.take_back(client, taken, {key: error}, who, context.warn)
            raise
        made = _arrived(client, news, error)
    else:
        _warn(context, created.warnings)
        made = created.volume
    for owner in mark_upkeep.confirm(client, [key], who, context.warn).values():
        context.warn(str(volume_ownership.lost(key, owner)))
    return made


def take_over(
    context: resource.Context, client: nomad.Nomad, found: volumes.Volume, news: Mapping[str, Any]
) -> volumes.Volume:
    """Leave an equal volume as it is, change one that may be adopted, refuse any other; mark it as ours."""
    volume_ownership.refuse_others(client, news, {})
    differing = _differing(found, news)
    if differing:
        volume_comparison.refuse_foreign(found, news, differing, _NEVER_CHANGED)
    volume_ownership.mark(context, client, news)
    if differing or "secrets" in news or found.has_mount_flags:
        change(context, client, found, news)
    return found


def change(context: resource.Context, client: nomad.Nomad, found: volumes.Volume, news: Mapping[str, Any]) -> None:
    """Change *found* in place, growing it where more is wanted. Raises `errors.RefusedError` for one too large."""
    _refuse_shrinking(found, news)
    wanted = created_document.as_stored(created_document.from_inputs(news), found)
    if wanted.capacity_min_bytes > found.capacity_bytes:
        context.status(f"plugin {news['pluginId']} grows {_name(news)} to {wanted.capacity_min_bytes} bytes")
    try:
        warnings = volume_creation.change(
            client, wanted, found.external_id, timeout_s=context.timeout_s or volume_creation.CHANGE_TIMEOUT_S
        )
    except errors.NomadApiError as error:
        if error.kind != "ambiguous" or not _has_changed(client, news):
            raise
        return
    _warn(context, warnings)


def is_of_deletion_only(recorded: Mapping[str, Any], news: Mapping[str, Any]) -> bool:
    """Return whether *news* differ from *recorded* outputs in what becomes of the storage, and in nothing for Nomad."""
    differing = {name for name in created_properties.INPUTS if name != "adopt" and recorded.get(name) != news.get(name)}
    return bool(differing) and differing <= created_properties.OF_DELETION and not recorded.get("foreignMountFlags")


def refusal_of_shrinking(capacity_bytes: int, news: Mapping[str, Any]) -> str:
    """Return why *news* cannot be had of a volume of *capacity_bytes*; empty where it can."""
    most = news.get("capacityMaxBytes", resource.UNKNOWN)
    if most == resource.UNKNOWN or not isinstance(capacity_bytes, int) or most >= capacity_bytes:
        return ""
    problem = errors.Problem(
        path="capacityMaxBytes",
        got=str(most),
        allowed=f"{capacity_bytes} or more, which volume {_name(news)} has",
        fix="a volume never shrinks: make a smaller one under another id, and copy the data",
    )
    return str(problem)


def _refuse_shrinking(found: volumes.Volume, news: Mapping[str, Any]) -> None:
    if why := refusal_of_shrinking(found.capacity_bytes, news):
        raise errors.RefusedError(why)


def _differing(found: volumes.Volume, news: Mapping[str, Any]) -> dict[str, str]:
    live = created_document.of_volume(found, with_sizes=asks_for_size(news))
    return volume_comparison.differing(created_properties.INPUTS, live, news, has_flags=found.has_mount_flags)


def asks_for_size(inputs: Mapping[str, Any]) -> bool:
    """Return whether *inputs* name a size, smallest or largest."""
    return any(name in inputs for name in created_properties.SIZES)


def _arrived(client: nomad.Nomad, news: Mapping[str, Any], error: errors.NomadApiError) -> volumes.Volume:
    """Return the volume that was made although nobody said so; raise *error*, with what it may mean, where none is."""
    try:
        found = volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError:
        found = None
    if found is None or _differing(found, news):
        advice = (
            f"the plugin may have made the storage all the same; it finds it by the name {news['name']} when this runs "
            "again, and makes no second one"
        )
        message, status = error.message, error.status
        raise errors.NomadApiError(
            error.method, error.path, message, status=status, kind="ambiguous", advice=advice
        ) from error
    return found


def _has_changed(client: nomad.Nomad, news: Mapping[str, Any]) -> bool:
    """Return whether a change that was not answered is in force; false where that cannot be seen."""
    try:
        found = volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError:
        return False
    return found is not None and not (found.has_mount_flags or "secrets" in news or _differing(found, news))


def _warn(context: resource.Context, warnings: str) -> None:
    if warnings:
        context.warn(f"Nomad warns: {warnings}")


def _name(news: Mapping[str, Any]) -> str:
    return f"{news['namespace']}/{news['volumeId']}"
