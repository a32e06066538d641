"""
Volumes that the plugin creates, through Nomad: create, and change afterwards.

Nomad stores the volume only after the plugin has created the storage: between the two there is a
moment with unregistered storage. The plugin finds it again by its name (CSI's
``CreateVolume`` is idempotent by name), so a repeated call registers it and creates no second one.
Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``Create``, ``createVolume``, ``expandVolume``), 2026-08-21.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.nomad.http import replies, request
from nomad_csi.plan import registration

CREATE_TIMEOUT_S = request.PLUGIN_TIMEOUT_S
CHANGE_TIMEOUT_S = 390.0
"""Nomad expands the volume at the controller, then on a node, then validates it: two minutes for each."""


@dataclass(frozen=True, kw_only=True)
class Created:
    """Nomad's reply to a creation."""

    volume: volumes.Volume
    """With external id, capacity, context and topologies. Fields that depend on the plugin's health are not set yet."""

    warnings: str


def payload(wanted: registration.VolumeRegistration) -> dict[str, Any]:
    """Return the ``CSIVolume`` object of *wanted* for its creation, without the fields that the plugin returns."""
    return {name: value for name, value in volumes.payload(wanted).items() if name not in {"ExternalID", "Context"}}


def create(
    nomad: request.Nomad, wanted: registration.VolumeRegistration, *, timeout_s: float = CREATE_TIMEOUT_S
) -> Created:
    """
    Have the plugin create the volume, and Nomad register it; one request, sent once.

    Idempotent by name: the plugin returns the same storage, also after a deregistration.

    After an `errors.NomadApiError` the storage may exist unless it `has_made_nothing`, with or without a registration:
    check with `volumes.get` before a retry. If a volume of that id is registered already, Nomad *changes* it as far as
    possible, so check before the call as well.
    """
    path = request.path_of("volume", "csi", wanted.volume_id, "create")
    reply = nomad.request(
        "PUT",
        path,
        query={"namespace": wanted.namespace},
        body={"Volumes": [payload(wanted)]},
        timeout_s=timeout_s,
        secrets=wanted.secrets.values(),
    )
    body = replies.checked(reply)
    made = body.first("Volumes")
    made.required("ExternalID")
    return Created(volume=volumes.volume(made), warnings=body.text("Warnings"))


_CODE = re.compile(r"code = (\w+)")
_BEFORE_CREATION = frozenset({"InvalidArgument", "NotFound", "OutOfRange", "Unimplemented"})
"""
Codes by which a plugin says that it created nothing. Source: container-storage-interface/spec, ``spec.md``
(``CreateVolume`` errors), 2026-08. Any other may come after the creation: aws-ebs-csi-driver answers Internal where a
volume takes long to become available.
"""


def has_made_nothing(error: errors.NomadApiError) -> bool:
    """Return whether *error*, of a creation, proves that the plugin created nothing."""
    if found := _CODE.search(error.message):
        return found[1] in _BEFORE_CREATION
    if error.kind == "retry":
        return True
    # Nomad answers 500 for most, also for what happens after the plugin's answer; known messages have advice.
    return error.kind == "refused" and (error.status != HTTPStatus.INTERNAL_SERVER_ERROR or bool(error.advice))


def change(
    nomad: request.Nomad, wanted: registration.VolumeRegistration, *, timeout_s: float = CHANGE_TIMEOUT_S
) -> str:
    """
    Change a volume that was created before, and expand it if *wanted* is larger; return Nomad's warnings.

    It is registered again, with its external id, and not created again: if it was deleted meanwhile, the plugin does
    not replace it by an empty one. After an ``ambiguous`` error, check with `volumes.get`.
    """
    return volumes.register(nomad, wanted, timeout_s=timeout_s)
