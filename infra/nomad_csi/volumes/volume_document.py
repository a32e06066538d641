"""
Conversion of the volume document to Pulumi properties and back, and comparison in these properties.

Optional parts that are empty are left out, as `properties.check` does, so that both sides compare.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from nomad_csi import errors
from nomad_csi.frame import properties
from nomad_csi.nomad.records import volumes
from nomad_csi.plan import registration, volume_forms
from nomad_csi.volumes import compare, volume_properties

if TYPE_CHECKING:
    from nomad_csi.plan import model

_PROPERTIES = {item.file: item.property for item in volume_forms.FIELDS}

_DECLARED = {**volume_properties.CREATED.inputs, **volume_properties.REGISTRATION.inputs}


def property_path(field: str) -> str:
    """Return the path of the property for a *field*: ``property_path("external_id")`` is ``"externalId"``."""
    return _PROPERTIES[field]


COMPARED = frozenset(map(properties.top_of_path, _PROPERTIES.values())) - {"volumeId", "namespace", "secrets"}
"""Properties that `volumes.compare` compares by fields of the document."""


def parse_inputs(inputs: Mapping[str, Any]) -> registration.VolumeRegistration:
    """Return the document that checked *inputs* describe, of a volume that exists or that its plugin makes."""
    known = {
        name: properties.spread_unknown(_DECLARED[name], value) for name, value in inputs.items() if name in _DECLARED
    }
    document = volume_forms.read(known, "property")
    return dataclasses.replace(document, shares_storage=bool(known.get("storage", {}).get("shared")))


def places(listed: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, str], ...]:
    """Return the segments of a list of places."""
    return tuple(item["segments"] for item in listed)


def topologies(segments: Iterable[Mapping[str, str]]) -> list[dict[str, Any]]:
    """Return the list of places with these *segments*."""
    return [{"segments": dict(place)} for place in segments]


def write_inputs(document: registration.VolumeRegistration) -> dict[str, Any]:
    """Return the inputs that describe *document*, in the shape of `check`."""
    return volume_forms.write(document, "property")


# The comparison of a volume (`volumes.compare`) in the properties of its resource, and the refusal to take over
# another's.
#
# Inputs before and after a change are compared as Nomad would: what it holds once the old ones are registered.


def compare_inputs(
    old_inputs: Mapping[str, Any], news: Mapping[str, Any], made: Mapping[str, Any] | None = None
) -> compare.Comparison:
    """
    Return the comparison of *news* with what Nomad holds of a volume that has *old_inputs*.

    *made* are the outputs of one that its plugin made.
    """
    held = compare.registered_volume(parse_inputs(old_inputs))
    if made is not None and "topologies" in made:
        held = dataclasses.replace(held, topologies=places(made["topologies"]))
    return compare.compare_volume(parse_inputs(news), held, made_by_plugin=made is not None)


def property_names(differences: Iterable[compare.Difference]) -> tuple[str, ...]:
    """Return the properties of *differences*."""
    return tuple(dict.fromkeys(properties.top_of_path(property_path(item.field)) for item in differences))


def changed_properties(
    old_inputs: Mapping[str, Any], news: Mapping[str, Any], compared: compare.Comparison
) -> frozenset[str]:
    """
    Return the properties in which *old_inputs* and *news* differ; *compared* decides of those that Nomad shows.

    Secrets, mount flags, and properties that are not sent to Nomad, are compared by their values.
    """
    flags = (parse_inputs(inputs).mount_options.mount_flags for inputs in (old_inputs, news))
    by_value = {name for name in old_inputs.keys() | news.keys() if old_inputs.get(name) != news.get(name)}
    hidden = {"mountOptions"} if next(flags) != next(flags) else set()
    return frozenset({*property_names(compared.differences), *hidden, *(by_value - COMPARED)})


def refusal_of_foreign(
    found: volumes.Volume, news: Mapping[str, Any], compared: compare.Comparison
) -> errors.RefusedError:
    """Return the refusal to take over *found*, which is not as *news* by *compared*."""
    name = volume_properties.key_of(news)
    differences = _property_paths(compared)
    text = "; ".join(map(str, differences))
    if not news.get("adopt"):
        return errors.RefusedError(
            f"volume {name} is registered already, and not by this stack as it is now: {text}; "
            "set adopt: true to take it over, import it, or choose another id"
        )
    unchangeable = [item.field for item in differences if item.needs_new_registration]
    return errors.RefusedError(
        f"volume {name} cannot be adopted, because Nomad never changes {', '.join(unchangeable)}: {text}; "
        f"deregister it first, when nothing uses it: nomad volume deregister -namespace {found.namespace} "
        f"{found.volume_id}"
    )


def merge_recorded(
    actual: volumes.Volume, live: Mapping[str, Any], recorded: Mapping[str, Any], *, made_by_plugin: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """
    Return the inputs *recorded*, with those of *live* that differ, and the output that records foreign flags.

    *live* are the inputs that describe Nomad's view of *actual*; returned whole where nothing is *recorded*, for an
    import.
    """
    if not recorded:
        return dict(live), {}
    compared = compare.compare_volume(parse_inputs(recorded), actual, made_by_plugin=made_by_plugin)
    differing = property_names(compared.differences)
    whole = {name: value for name, value in recorded.items() if name not in differing}
    whole |= {name: live[name] for name in differing if name in live}
    flags = recorded.get("mountOptions", {}).get("mountFlags")
    if "mountOptions" in differing and actual.has_mount_flags and flags:
        whole["mountOptions"] = whole.get("mountOptions", {}) | {"mountFlags": flags}
    return whole, {"foreignMountFlags": True} if actual.has_mount_flags and not flags else {}


def _property_paths(compared: compare.Comparison) -> tuple[compare.Difference, ...]:
    """Return the differences by the paths of their properties."""
    return tuple(dataclasses.replace(item, field=property_path(item.field)) for item in compared.differences)


# The document of a volume that its plugin creates.


_PLACES = ("requiredTopologies", "preferredTopologies")


def sort_places(values: dict[str, Any]) -> dict[str, Any]:
    """Return *values* with sorted required places: a plugin ignores the order, Nomad does not permit a change of it."""
    places = values.get("requiredTopologies")
    if not isinstance(places, list):
        return values
    return values | {"requiredTopologies": sorted(places, key=_place_key)}


def keep_recorded_places(recorded: Mapping[str, Any], news: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return *news* with the places *recorded*, where the program asks for the same zone as before.

    Existing storage does not move. A place is the zone under the catalogue's topology key: a replacement because of a
    changed catalogue alone would lose the data.
    """
    zone = news.get("availabilityZone")
    if zone is None or zone != recorded.get("availabilityZone"):
        return dict(news)
    kept = {name: recorded[name] for name in _PLACES if name in recorded}
    return {name: value for name, value in news.items() if name not in _PLACES} | kept


def keep_stored_fields(
    wanted: registration.VolumeRegistration, found: volumes.Volume
) -> registration.VolumeRegistration:
    """
    Return *wanted* with id, name and places as Nomad has them: it refuses others, and the storage is there.

    Also with the plugin's context, which older releases erase where it is not sent (``nomad-erases-context``).
    """
    return dataclasses.replace(
        wanted,
        name=found.name,
        external_id=found.external_id,
        required_topologies=found.required_topologies,
        preferred_topologies=found.preferred_topologies,
        context=wanted.context or found.context,
    )


def inputs_of_created(volume: volumes.Volume) -> dict[str, Any]:
    """Return the inputs that describe *volume*, without secrets and mount flags: every read redacts them."""
    whole = write_inputs(volume.registration()) | {"name": registration.readable_part(volume.name)}
    return sort_places({name: value for name, value in whole.items() if name in volume_properties.CREATED.inputs})


def inputs_of(
    planned: "model.VolumePlan | None", document: registration.VolumeRegistration, owner: str
) -> dict[str, Any]:
    """
    Return the inputs that a program declares for the volume *planned* with its *document*, for *owner*.

    ``None``: a volume file describes it. Without the inputs of the deletion: they belong to the resource that deletes
    the volume.
    """
    from nomad_csi.spec import model as spec  # noqa: PLC0415  # the provider reads no spec

    zone = planned.source.availability_zone if planned and isinstance(planned.source, spec.CreateSpec) else None
    own = {
        "availabilityZone": zone,
        "owner": owner,
        "adopt": planned is not None and planned.adopt,
        "storage": {"shared": True} if document.shares_storage else {},
    }
    return write_inputs(document) | {name: value for name, value in own.items() if value}


def outputs_of(volume: volumes.Volume) -> dict[str, Any]:
    """Return the plugin's outputs of *volume*."""
    return {
        "externalId": volume.external_id,
        "capacityBytes": volume.capacity_bytes,
        "context": dict(volume.context),
        "topologies": topologies(volume.topologies),
    }


def _place_key(place: Mapping[str, Any]) -> str:
    return json.dumps(place, sort_keys=True)
