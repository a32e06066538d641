"""Volumes that may not share their storage, or would lose it with the volume of a resource."""

from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi.nomad import volumes
from nomad_csi.ownership import registration_ownership
from nomad_csi.plan import dependents, registration
from nomad_csi.registration import storage_sharing
from nomad_csi.resources import volume_document, volume_ownership, volume_properties
from nomad_csi.resources.frame import properties, resource


def reason(
    context: resource.Context,
    news: Mapping[str, Any],
    *,
    accepts_present: bool = False,
    replaced: volumes.Key | None = None,
) -> str:
    """
    Return why the volume of checked inputs *news* may not share its storage with another one; empty where it may.

    Volumes of one operation are compared, too. Where the token may not list volumes, that is a warning, once.
    *accepts_present*: accept a volume that has this storage already. *replaced*: deregistered before.
    """
    if properties.UNKNOWN in (news["externalId"], news["capabilities"], news["pluginId"]):
        return ""
    users, document = _users(context), volume_document.parse_inputs(news)
    if accepts_present and users.has(document):
        return ""
    why = users.refusal(document, replaced)
    if not why and users.unlisted:
        context.operation.once("unlisted storage", lambda: context.warn(users.unlisted))
    return why


def count(context: resource.Context, made: registration.VolumeRegistration) -> None:
    """Add the volume *made*, which is newer than the list of volumes that the registrations of this operation share."""
    _users(context).made(made)


def _users(context: resource.Context) -> storage_sharing.Users:
    return context.operation.once("users of storage", lambda: storage_sharing.Users(context.client))


def volumes_in_storage_of(
    context: resource.Context, identity: str, recorded: Mapping[str, Any], declared: Iterable[Mapping[str, Any]]
) -> tuple[str, ...]:
    """
    Return the volumes in the storage of the volume *recorded*, where removing it deletes that storage.

    That is storage which the program creates. The others are *declared* by the program, or registered in any namespace
    by another owner; volumes of this stack that are not declared are removed, too.
    """
    where = dependents.container(str(recorded.get("externalId", "")))
    if not where or not _makes_all(recorded):
        return ()
    others = {
        volume_properties.key_of(item)
        for item in declared
        if dependents.container(str(item.get("externalId", ""))) == where and not _makes_all(item)
    }
    others |= {"/".join(key) for key in _registered_by_others(context, where, recorded)}
    return tuple(sorted(others - {identity}))


def _registered_by_others(context: resource.Context, where: str, recorded: Mapping[str, Any]) -> Iterable[volumes.Key]:
    """Return the volumes registered in the storage *where*, but those that this stack certainly owns."""
    listed = volumes.list_volumes(context.client, "*")
    keys = [(item.namespace, item.volume_id) for item in listed if dependents.container(item.external_id) == where]
    owners = registration_ownership.owner_records_of(context.client).read(keys).owners
    who = volume_ownership.requester(recorded, recorded)
    return [key for key in keys if key not in owners or not who.is_same_stack(owners[key])]


def _makes_all(volume: Mapping[str, Any]) -> bool:
    """Return whether the program creates the whole disk or file system of *volume* for it, not a part of one."""
    storage = volume.get("storage", {})
    return bool(storage.get("owned")) and not storage.get("part")
