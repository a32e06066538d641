"""
The volume document in Pulumi's words and back: inputs of a `VolumeRegistration` resource, and what Nomad holds.

Optional parts that are empty are left out, as `properties.check` does, so that both sides compare.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi.plan import registration
from nomad_csi.resources import created_properties, volume_properties
from nomad_csi.resources.frame import paths, properties

_PROPERTIES = {
    "capability": "capabilities",
    "capacity_max": "capacityMaxBytes",
    "capacity_min": "capacityMinBytes",
    "clone_id": "cloneId",
    "context": "context",
    "external_id": "externalId",
    "mount_options.fs_type": "mountOptions.fsType",
    "mount_options.mount_flags": "mountOptions.mountFlags",
    "name": "name",
    "parameters": "parameters",
    "plugin_id": "pluginId",
    "snapshot_id": "snapshotId",
    "topology_request.preferred": "preferredTopologies",
    "topology_request.required": "requiredTopologies",
}
"""Properties by the fields that `compare.volume` compares."""

_DECLARED = {**created_properties.INPUTS, **volume_properties.INPUTS}


def property_path(field: str) -> str:
    """Return the path of the property for a *field*: ``property_path("external_id")`` is ``"externalId"``."""
    return _PROPERTIES[field]


COMPARED = frozenset(paths.top(path) for path in _PROPERTIES.values())
"""Properties that are compared by fields of the document."""


def from_inputs(inputs: Mapping[str, Any]) -> registration.VolumeRegistration:
    """Return the document that checked *inputs* describe, of a volume that exists or that its plugin makes."""
    known = {
        name: properties.with_unknown_parts(_DECLARED[name], value)
        for name, value in inputs.items()
        if name in _DECLARED
    }
    mount = known.get("mountOptions", {})
    return registration.VolumeRegistration(
        volume_id=known["volumeId"],
        namespace=known["namespace"],
        name=known.get("name", ""),
        external_id=known.get("externalId", ""),
        plugin_id=known["pluginId"],
        capabilities=tuple(
            registration.Capability(access_mode=item["accessMode"], attachment_mode=item["attachmentMode"])
            for item in known.get("capabilities", ())
        ),
        mount_options=registration.MountOptions(
            fs_type=mount.get("fsType", ""), mount_flags=tuple(mount.get("mountFlags", ()))
        ),
        required_topologies=places(known.get("requiredTopologies", ())),
        preferred_topologies=places(known.get("preferredTopologies", ())),
        parameters=known.get("parameters", {}),
        context=known.get("context", {}),
        secrets=known.get("secrets", {}),
        shares_storage=bool(known.get("storage", {}).get("shared")),
        clone_id=known.get("cloneId", ""),
        snapshot_id=known.get("snapshotId", ""),
        capacity_min_bytes=int(known.get("capacityMinBytes", 0)),
        capacity_max_bytes=int(known.get("capacityMaxBytes", 0)),
    )


def places(listed: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, str], ...]:
    """Return the segments of a list of places."""
    return tuple(item["segments"] for item in listed)


def topologies(segments: Iterable[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return the list of places with these *segments*."""
    return [{"segments": dict(place)} for place in segments]


def to_inputs(document: registration.VolumeRegistration) -> dict[str, Any]:
    """Return the inputs that describe *document*, in the shape of `check`."""
    mount = {"fsType": document.mount_options.fs_type, "mountFlags": list(document.mount_options.mount_flags)}
    return _without_empty(
        {
            "volumeId": document.volume_id,
            "namespace": document.namespace,
            "name": document.name,
            "externalId": document.external_id,
            "pluginId": document.plugin_id,
            "capabilities": [
                {"accessMode": item.access_mode, "attachmentMode": item.attachment_mode}
                for item in document.capabilities
            ],
            "mountOptions": _without_empty(mount),
            "requiredTopologies": topologies(document.required_topologies),
            "parameters": dict(document.parameters),
            "context": dict(document.context),
            "secrets": dict(document.secrets),
        }
    )


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ("", [], {})}
