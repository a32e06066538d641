"""
Volumes that the plugin itself makes, through Nomad: create, and change afterwards.

Nomad answers a creation when the plugin has made the storage, and only then stores the volume: between the two lies a
moment in which there is storage that nobody has registered. The plugin finds it again by its name (CSI's
``CreateVolume`` is idempotent by name), so the same call later registers it and makes no second one.
Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``Create``, ``createVolume``, ``expandVolume``), 2026-08-21.
"""

from dataclasses import dataclass
from typing import Any

from nomad_csi.nomad import volumes
from nomad_csi.nomad.http import replies, request
from nomad_csi.plan import registration

CREATE_TIMEOUT_S = request.PLUGIN_TIMEOUT_S
CHANGE_TIMEOUT_S = 390.0
"""Nomad grows the volume at the controller, then on a node, then validates it: two minutes for each."""


@dataclass(frozen=True, kw_only=True)
class Created:
    """What Nomad answered to a creation."""

    volume: volumes.Volume
    """With external id, capacity, context and topologies. What depends on the plugin's health is not filled in yet."""

    warnings: str


def payload(wanted: registration.VolumeRegistration) -> dict[str, Any]:
    """Return the ``CSIVolume`` object of *wanted* for its creation: what the plugin answers has no place in it."""
    return {name: value for name, value in volumes.payload(wanted).items() if name not in {"ExternalID", "Context"}}


def create(
    nomad: request.Nomad, wanted: registration.VolumeRegistration, *, timeout_s: float = CREATE_TIMEOUT_S
) -> Created:
    """
    Have the plugin make the volume, and Nomad register it; one request, sent once.

    The same name means the same storage to the plugin, also after a deregistration.

    After an ``ambiguous`` `errors.NomadApiError` the storage may exist, with or without a registration: look with
    `volumes.get` before anything is sent again. A volume of that id that is registered already is *changed* by Nomad
    as far as it can be, so look before as well.
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
    made = replies.first(body, "Volumes")
    replies.required(made, "ExternalID")
    return Created(volume=volumes.volume(made), warnings=replies.text(body, "Warnings"))


def change(
    nomad: request.Nomad, wanted: registration.VolumeRegistration, *, timeout_s: float = CHANGE_TIMEOUT_S
) -> str:
    """
    Change a volume that was made before, and grow it where more is wanted than it has; return Nomad's warnings.

    It is registered again, with its external id, and not created again: should it be gone meanwhile, the plugin is
    not made to replace it by an empty one. After an ``ambiguous`` error, look with `volumes.get`.
    """
    return "".join(volumes.register(nomad, [wanted], timeout_s=timeout_s))
