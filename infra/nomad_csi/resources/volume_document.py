"""
The volume document in Pulumi's words and back: inputs of a `VolumeRegistration` resource, and what Nomad holds.

Optional parts that are empty are left out, as `properties.check` does, so that both sides compare.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from nomad_csi.plan import registration, volume_forms
from nomad_csi.resources import volume_properties
from nomad_csi.resources.created import created_properties
from nomad_csi.resources.frame import paths, properties

_PROPERTIES = {item.file: item.property for item in volume_forms.FIELDS}

_DECLARED = {**created_properties.INPUTS, **volume_properties.INPUTS}


def property_path(field: str) -> str:
    """Return the path of the property for a *field*: ``property_path("external_id")`` is ``"externalId"``."""
    return _PROPERTIES[field]


COMPARED = frozenset(map(paths.top, _PROPERTIES.values())) - {"volumeId", "namespace", "secrets"}
"""Properties that `compare.volume` compares by fields of the document."""


def from_inputs(inputs: Mapping[str, Any]) -> registration.VolumeRegistration:
    """Return the document that checked *inputs* describe, of a volume that exists or that its plugin makes."""
    known = {
        name: properties.with_unknown_parts(_DECLARED[name], value)
        for name, value in inputs.items()
        if name in _DECLARED
    }
    document = volume_forms.read(known, "property")
    return dataclasses.replace(document, shares_storage=bool(known.get("storage", {}).get("shared")))


def places(listed: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, str], ...]:
    """Return the segments of a list of places."""
    return tuple(item["segments"] for item in listed)


def topologies(segments: Iterable[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return the list of places with these *segments*."""
    return [{"segments": dict(place)} for place in segments]


def to_inputs(document: registration.VolumeRegistration) -> dict[str, Any]:
    """Return the inputs that describe *document*, in the shape of `check`."""
    return volume_forms.write(document, "property")
