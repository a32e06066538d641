"""
The document of a volume that the plugin makes, in Pulumi's words and back.

As in `volume_document`, optional parts that are empty are left out, so that both sides compare.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from nomad_csi.deploy import created_properties, volume_document
from nomad_csi.nomad import volume_creation, volumes


def in_order(values: dict[str, Any]) -> dict[str, Any]:
    """Return *values* with the required places in one order: to a plugin it means nothing, to Nomad it is fixed."""
    places = values.get("requiredTopologies")
    if not isinstance(places, list):
        return values
    return values | {"requiredTopologies": sorted(places, key=_key)}


def as_stored(wanted: volume_creation.NewVolume, found: volumes.Volume) -> volume_creation.NewVolume:
    """Return *wanted* with the required places in the order in which Nomad holds them, where they are the same."""
    stored = found.requested_topologies
    is_same = sorted(map(_key, stored)) == sorted(map(_key, wanted.required_topologies))
    return dataclasses.replace(wanted, required_topologies=stored) if is_same else wanted


def from_inputs(inputs: Mapping[str, Any]) -> volume_creation.NewVolume:
    """Return the document that checked *inputs* describe."""
    common = volume_document.from_inputs({**inputs, "externalId": ""})
    return volume_creation.NewVolume(
        volume_id=common.volume_id,
        namespace=common.namespace,
        name=common.name,
        plugin_id=common.plugin_id,
        capabilities=common.capabilities,
        mount_options=common.mount_options,
        required_topologies=common.required_topologies,
        preferred_topologies=tuple(item["segments"] for item in inputs.get("preferredTopologies", ())),
        parameters=common.parameters,
        secrets=common.secrets,
        capacity_min_bytes=int(inputs.get("capacityMinBytes", 0)),
        capacity_max_bytes=int(inputs.get("capacityMaxBytes", 0)),
        clone_id=inputs.get("cloneId", ""),
        snapshot_id=inputs.get("snapshotId", ""),
    )


def of_volume(volume: volumes.Volume, *, with_sizes: bool = True) -> dict[str, Any]:
    """
    Return the inputs that describe what Nomad holds, without secrets and mount flags: every read redacts them.

    *with_sizes* is false where nobody asks for a size: Nomad never forgets one that was asked for before.
    """
    sizes = {"capacityMinBytes": volume.capacity_min_bytes, "capacityMaxBytes": volume.capacity_max_bytes}
    own = {
        "preferredTopologies": _topologies(volume.preferred_topologies),
        "cloneId": volume.clone_id,
        "snapshotId": volume.snapshot_id,
    }
    whole = volume_document.to_inputs(volume_document.of_volume(volume)) | own | (sizes if with_sizes else {})
    return in_order({name: value for name, value in whole.items() if name in created_properties.INPUTS and value})


def outputs_of(volume: volumes.Volume) -> dict[str, Any]:
    """Return what the plugin answered of *volume*."""
    return {
        "externalId": volume.external_id,
        "capacityBytes": volume.capacity_bytes,
        "context": dict(volume.context),
        "topologies": _topologies(volume.topologies),
    }


def _topologies(places: tuple[Mapping[str, str], ...]) -> list[dict[str, Any]]:
    return [{"segments": dict(segments)} for segments in places]


def _key(place: Mapping[str, Any]) -> str:
    return json.dumps(place, sort_keys=True)
