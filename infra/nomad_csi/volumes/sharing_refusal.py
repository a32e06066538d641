"""Volumes that may not share their storage."""

from collections.abc import Mapping
from typing import Any

from nomad_csi.frame import properties, resource
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import storage_sharing, volume_document


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
