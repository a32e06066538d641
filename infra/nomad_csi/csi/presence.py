"""
Determine whether a volume exists, by a controller call that its driver answers reliably. Call `observe`.

CSI has no call for that. Most drivers return ``NOT_FOUND`` to ``ValidateVolumeCapabilities``; some confirm
every id, and some have another call. The catalogue's entry for a driver decides; for any other driver only the list
of volumes shows that one exists.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from nomad_csi import errors
from nomad_csi.csi import channel, services

Presence = Literal["present", "absent", "unobservable"]
"""``unobservable``: no call of the driver distinguishes an existing volume from an absent one."""

_ANY_USE = (services.volume_capability(access_mode="single-node-writer", attachment_mode="file-system"),)
_OUT_OF_REACH = frozenset({"", "UNAVAILABLE", "DEADLINE_EXCEEDED"})


@dataclass(frozen=True, kw_only=True)
class PresenceQuestion:
    """A volume, and the known behaviour of its driver."""

    volume_id: str
    absence: Literal["validate", "get", "none", ""] = ""
    """The call that reveals an absent volume: `drivers.catalogue.DriverDeletion`; empty: not known."""

    gone: Collection[str] = ()
    """Regular expressions for errors that mean absence with another code than ``NOT_FOUND``."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = 120.0
    """For each call; of a list, for all its pages."""


def observe(connection: channel.CsiConnection, question: PresenceQuestion) -> Presence:
    """
    Return whether the volume exists.

    Any other error counts as ``present`` if the driver is known to reveal absent volumes, else as
    ``unobservable``. Raises `errors.CsiError` if there is no response.
    """
    if question.absence == "none":
        return "unobservable"
    if question.absence == "get" and (presence := _ask_by_get(connection, question)) != "unobservable":
        return presence
    answer = _ask_by_validation(connection, question)
    if answer == "absent":
        return "absent"
    if question.absence and answer != "unimplemented":
        return "present"
    return _ask_by_list(connection, question)


def is_not_found(error: errors.CsiError, gone: Collection[str]) -> bool:
    """Return whether *error* means that the volume does not exist; *gone* as in `PresenceQuestion`."""
    return any(re.search(pattern, error.message) for pattern in gone)


def _refusal(error: errors.CsiError, question: PresenceQuestion) -> Literal["absent", "error", "unimplemented"]:
    """Return what a refused call means for the volume. Raises *error* if the driver was not reached."""
    if error.code in _OUT_OF_REACH:
        raise error
    if error.code == "UNIMPLEMENTED":
        return "unimplemented"
    return "absent" if error.code == "NOT_FOUND" or is_not_found(error, question.gone) else "error"


def _ask_by_validation(
    connection: channel.CsiConnection, question: PresenceQuestion
) -> Literal["present", "absent", "error", "unimplemented"]:
    try:
        services.validate_volume_capabilities(
            connection,
            volume_id=question.volume_id,
            capabilities=_ANY_USE,
            secrets=question.secrets,
            timeout_s=question.timeout_s,
        )
    except errors.CsiError as error:
        return _refusal(error, question)
    return "present"


_BY_REFUSAL: Mapping[str, Presence] = {"absent": "absent", "error": "present", "unimplemented": "unobservable"}
"""What a refused ControllerGetVolume means: a driver that fails on the volume knows it."""


def _ask_by_get(connection: channel.CsiConnection, question: PresenceQuestion) -> Presence:
    try:
        condition = services.controller_get_volume(
            connection, volume_id=question.volume_id, timeout_s=question.timeout_s
        )
    except errors.CsiError as error:
        return _BY_REFUSAL[_refusal(error, question)]
    is_gone = condition.abnormal and any(re.search(pattern, condition.message) for pattern in question.gone)
    return "absent" if is_gone else "present"


def _ask_by_list(connection: channel.CsiConnection, question: PresenceQuestion) -> Presence:
    if "LIST_VOLUMES" not in services.controller_get_capabilities(connection, timeout_s=question.timeout_s):
        return "unobservable"
    ids = services.list_volumes(connection, timeout_s=question.timeout_s)
    return "present" if question.volume_id in ids else "absent"
