"""Refuse volumes that may not share their storage, or would remove it from others, before a change."""

from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.ownership import registration_ownership
from nomad_csi.plan import guests, registration
from nomad_csi.registration import storage_sharing
from nomad_csi.resources import volume_document, volume_ownership, volume_properties
from nomad_csi.resources.frame import properties, resource


def refuse_new(context: resource.Context, news: Mapping[str, Any]) -> None:
    """Do as `refuse`, in a preview: accept a volume that has this storage already."""
    is_known = properties.UNKNOWN not in (news["externalId"], news["capabilities"], news["pluginId"])
    if is_known and not _users(context).has(volume_document.parse_inputs(news)):
        refuse(context, news)


def refuse(context: resource.Context, news: Mapping[str, Any]) -> None:
    """
    Raise `errors.RefusedError` where the volume of checked inputs *news* may not share its storage with another one.

    Volumes of one operation are compared, too. Where the token may not list volumes, that is a warning, once.
    """
    if news["externalId"] == properties.UNKNOWN or properties.UNKNOWN in (news["capabilities"], news["pluginId"]):
        return
    users = _users(context)
    if why := users.refusal(volume_document.parse_inputs(news)):
        raise errors.RefusedError(f"volume {volume_properties.key_of(news)} was not registered: {why}")
    if users.unlisted:
        context.operation.once("unlisted storage", lambda: context.warn(users.unlisted))


def count(context: resource.Context, made: registration.VolumeRegistration) -> None:
    """Add the volume *made*, which is newer than the list of volumes that the registrations of this operation share."""
    _users(context).made(made)


def _users(context: resource.Context) -> storage_sharing.Users:
    return context.operation.once("users of storage", lambda: storage_sharing.Users(context.client))


def refuse_with_guests(
    context: resource.Context, identity: str, recorded: Mapping[str, Any], declared: Iterable[Mapping[str, Any]]
) -> None:
    """
    Raise `errors.RefusedError` where removing the volume *recorded* deletes storage that contains other volumes.

    That is storage which the program creates. The others are *declared* by the program, or registered in any namespace
    by another owner; volumes of this stack that are not declared are removed, too. The registration is removed before
    the storage, so that nothing is deleted yet.
    """
    where = guests.container(str(recorded.get("externalId", "")))
    if not where or not _makes_all(recorded):
        return
    others = {
        volume_properties.key_of(item)
        for item in declared
        if guests.container(str(item.get("externalId", ""))) == where and not _makes_all(item)
    }
    others |= {"/".join(key) for key in _registered_by_others(context, where, recorded)}
    if found := sorted(others - {identity}):
        raise errors.RefusedError(
            f"volume {identity} is not removed: {where} goes with it, and {', '.join(found)} would lose their data in "
            f"it; keep {identity}, or move that data first; nothing was changed"
        )


def _registered_by_others(context: resource.Context, where: str, recorded: Mapping[str, Any]) -> Iterable[volumes.Key]:
    """Return the volumes registered in the storage *where*, but those that this stack certainly owns."""
    listed = volumes.list_volumes(context.client, "*")
    keys = [(item.namespace, item.volume_id) for item in listed if guests.container(item.external_id) == where]
    owners = registration_ownership.owner_records_of(context.client).read(keys).owners
    who = volume_ownership.requester(recorded, recorded)
    return [key for key in keys if key not in owners or not who.is_same_stack(owners[key])]


def _makes_all(volume: Mapping[str, Any]) -> bool:
    """Return whether the program creates the whole disk or file system of *volume* for it, not a part of one."""
    storage = volume.get("storage", {})
    return bool(storage.get("owned")) and not storage.get("part")
