"""
The volume document in Pulumi's words and back: inputs of a `VolumeRegistration` resource, and what Nomad holds.

Optional parts that are empty are left out, as `properties.check` does, so that both sides compare.
"""

from collections.abc import Mapping
from typing import Any

from nomad_csi.nomad import volumes
from nomad_csi.plan import registration


def from_inputs(inputs: Mapping[str, Any]) -> registration.VolumeRegistration:
    """Return the document that checked *inputs* describe."""
    mount = inputs.get("mountOptions", {})
    return registration.VolumeRegistration(
        volume_id=inputs["volumeId"],
        namespace=inputs["namespace"],
        name=inputs["name"],
        external_id=inputs["externalId"],
        plugin_id=inputs["pluginId"],
        capabilities=tuple(
            registration.Capability(access_mode=item["accessMode"], attachment_mode=item["attachmentMode"])
            for item in inputs["capabilities"]
        ),
        mount_options=registration.MountOptions(
            fs_type=mount.get("fsType", ""), mount_flags=tuple(mount.get("mountFlags", ()))
        ),
        required_topologies=tuple(item["segments"] for item in inputs.get("requiredTopologies", ())),
        parameters=inputs.get("parameters", {}),
        context=inputs.get("context", {}),
        secrets=inputs.get("secrets", {}),
    )


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
            "requiredTopologies": [{"segments": dict(segments)} for segments in document.required_topologies],
            "parameters": dict(document.parameters),
            "context": dict(document.context),
            "secrets": dict(document.secrets),
        }
    )


def of_volume(volume: volumes.Volume) -> registration.VolumeRegistration:
    """Return the document of what Nomad holds, without secrets and mount flags: every read redacts them."""
    return registration.VolumeRegistration(
        volume_id=volume.volume_id,
        namespace=volume.namespace,
        name=volume.name,
        external_id=volume.external_id,
        plugin_id=volume.plugin_id,
        capabilities=tuple(volume.capabilities),
        mount_options=registration.MountOptions(fs_type=volume.fs_type),
        required_topologies=tuple(volume.requested_topologies),
        parameters=volume.parameters,
        context=volume.context,
    )


def _without_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ("", [], {})}
