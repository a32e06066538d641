"""
The document of a volume that the plugin makes, in Pulumi's words and back.

As in `volume_document`, optional parts that are empty are left out, so that both sides compare.
"""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from nomad_csi.nomad.records import volumes
from nomad_csi.plan import model, registration
from nomad_csi.resources import volume_document
from nomad_csi.resources.created import created_properties
from nomad_csi.spec import model as spec

_PLACES = ("requiredTopologies", "preferredTopologies")


def in_order(values: dict[str, Any]) -> dict[str, Any]:
    """Return *values* with the required places in one order: to a plugin it means nothing, to Nomad it is fixed."""
    places = values.get("requiredTopologies")
    if not isinstance(places, list):
        return values
    return values | {"requiredTopologies": sorted(places, key=_key)}


def with_recorded_places(recorded: Mapping[str, Any], news: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return *news* with the places *recorded*, where the program asks for the same zone as before.

    Storage is somewhere by now, and what was asked for is a record. A place is that zone under the topology key that
    the catalogue names: where only the catalogue changes, to replace the volume would cost its data.
    """
    zone = news.get("availabilityZone")
    if zone is None or zone != recorded.get("availabilityZone"):
        return dict(news)
    kept = {name: recorded[name] for name in _PLACES if name in recorded}
    return {name: value for name, value in news.items() if name not in _PLACES} | kept


def as_stored(wanted: registration.VolumeRegistration, found: volumes.Volume) -> registration.VolumeRegistration:
    """
    Return *wanted* with id, name and places as Nomad holds them: it refuses others, and the storage is there.

    With the plugin's context, too, which older releases erase where it is not sent (``nomad-erases-context``).
    """
    return dataclasses.replace(
        wanted,
        name=found.name,
        external_id=found.external_id,
        required_topologies=found.required_topologies,
        preferred_topologies=found.preferred_topologies,
        context=wanted.context or found.context,
    )


def of_volume(volume: volumes.Volume) -> dict[str, Any]:
    """Return the inputs that describe what Nomad holds, without secrets and mount flags: every read redacts them."""
    whole = volume_document.to_inputs(volume.registration()) | {"name": registration.readable_part(volume.name)}
    return in_order({name: value for name, value in whole.items() if name in created_properties.INPUTS})


def of_plan(planned: model.VolumePlan, document: registration.VolumeRegistration, owner: str) -> dict[str, Any]:
    """
    Return the inputs that a program declares for the volume *planned*, with what its *document* says, for *owner*.

    Without what becomes of the storage when the volume is removed: who declares that, is also who removes it.
    """
    zone = planned.source.availability_zone if isinstance(planned.source, spec.CreateSpec) else None
    own = {
        "availabilityZone": zone,
        "owner": owner,
        "adopt": planned.adopt,
    }
    return volume_document.to_inputs(document) | {name: value for name, value in own.items() if value}


def outputs_of(volume: volumes.Volume) -> dict[str, Any]:
    """Return what the plugin answered of *volume*."""
    return {
        "externalId": volume.external_id,
        "capacityBytes": volume.capacity_bytes,
        "context": dict(volume.context),
        "topologies": volume_document.topologies(volume.topologies),
    }


def _key(place: Mapping[str, Any]) -> str:
    return json.dumps(place, sort_keys=True)
