"""
Volumes that the plugin itself makes, through Nomad: create, and change afterwards.

Nomad answers a creation when the plugin has made the storage, and only then stores the volume: between the two lies a
moment in which there is storage that nobody has registered. The plugin finds it again by its name (CSI's
``CreateVolume`` is idempotent by name), so the same call later registers it and makes no second one.
Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``Create``, ``createVolume``, ``expandVolume``), 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nomad_csi.nomad import replies, request, volume_records, volumes
from nomad_csi.plan import registration

CREATE_TIMEOUT_S = 150.0
"""Longer than the two minutes that Nomad gives a controller, so that Nomad's own answer arrives."""

CHANGE_TIMEOUT_S = 390.0
"""Nomad grows the volume at the controller, then on a node, then validates it: two minutes for each."""


@dataclass(frozen=True, kw_only=True)
class NewVolume:
    """A volume as the plugin is to make it. What the plugin answers (id, context, topology) has no place here."""

    volume_id: str
    """Nomad's id of the volume, unique in its namespace."""

    namespace: str = "default"

    name: str
    """What the plugin knows the storage by: the same name means the same storage, also after a deregistration."""

    plugin_id: str
    capabilities: tuple[registration.Capability, ...]
    mount_options: registration.MountOptions = field(default_factory=registration.MountOptions)

    required_topologies: tuple[Mapping[str, str], ...] = ()
    """Segments of each place where the storage may be; empty: anywhere."""

    preferred_topologies: tuple[Mapping[str, str], ...] = ()
    """Segments of the places among them that are tried first, best first."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    """What the driver makes the storage by, such as ``type``."""

    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    capacity_min_bytes: int = 0
    """At least this much; 0 together with a maximum of 0: the driver's own size."""

    capacity_max_bytes: int = 0
    """At most this much; 0: no limit."""

    clone_id: str = ""
    """External id of the volume to copy; empty: none."""

    snapshot_id: str = ""
    """Id of the snapshot to begin from; empty: none. Nomad takes one of the two."""


@dataclass(frozen=True, kw_only=True)
class Created:
    """What Nomad answered to a creation."""

    volume: volume_records.Volume
    """With external id, capacity, context and topologies. What depends on the plugin's health is not filled in yet."""

    warnings: str


def payload(wanted: NewVolume, external_id: str = "") -> dict[str, Any]:
    """
    Return the ``CSIVolume`` object of *wanted*; with *external_id* for storage that is there already.

    Always with ``MountOptions``, and never with fields that the server manages, as in `volumes.payload`.
    """
    common = registration.VolumeRegistration(
        volume_id=wanted.volume_id,
        namespace=wanted.namespace,
        name=wanted.name,
        external_id=external_id,
        plugin_id=wanted.plugin_id,
        capabilities=wanted.capabilities,
        mount_options=wanted.mount_options,
        parameters=wanted.parameters,
        secrets=wanted.secrets,
    )
    optional = {
        "ExternalID": external_id,
        "RequestedTopologies": _topology_request(wanted),
        "RequestedCapacityMin": wanted.capacity_min_bytes,
        "RequestedCapacityMax": wanted.capacity_max_bytes,
        "CloneID": wanted.clone_id,
        "SnapshotID": wanted.snapshot_id,
    }
    whole = volumes.payload(common) | optional
    return {name: value for name, value in whole.items() if value or name not in optional}


def create(nomad: request.Nomad, wanted: NewVolume, *, timeout_s: float = CREATE_TIMEOUT_S) -> Created:
    """
    Have the plugin make the volume, and Nomad register it; one request, sent once.

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
    body = replies.checked("PUT", path, reply)
    made = (*replies.rows(body, "Volumes"), {})[0]
    return Created(volume=volume_records.volume(made), warnings=replies.text(body, "Warnings"))


def change(nomad: request.Nomad, wanted: NewVolume, external_id: str, *, timeout_s: float = CHANGE_TIMEOUT_S) -> str:
    """
    Change a volume that was made before, and grow it where more is wanted than it has; return Nomad's warnings.

    It is registered again, with its *external_id*, and not created again: should it be gone meanwhile, the plugin is
    not made to replace it by an empty one. After an ``ambiguous`` error, look with `volumes.get`.
    """
    path = request.path_of("volume", "csi", wanted.volume_id)
    reply = nomad.request(
        "PUT",
        path,
        query={"namespace": wanted.namespace},
        body={"Volumes": [payload(wanted, external_id)]},
        timeout_s=timeout_s,
        secrets=wanted.secrets.values(),
    )
    # Nomad before 1.10.5 answers with an empty body.
    return "" if reply.data is None else replies.text(replies.checked("PUT", path, reply), "Warnings")


def _topology_request(wanted: NewVolume) -> dict[str, Any]:
    asked = {"Required": wanted.required_topologies, "Preferred": wanted.preferred_topologies}
    return {name: [{"Segments": dict(each)} for each in segments] for name, segments in asked.items() if segments}
