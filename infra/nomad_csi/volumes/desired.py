"""
A volume as it is wanted: made once of the properties of a resource, or of a plan, and taken by everything else.

In a preview `UNKNOWN` stands for a text that is not known, also in a list or a map.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from nomad_csi.frame import changes, properties
from nomad_csi.nomad.records import volumes
from nomad_csi.plan import registration, volume_forms
from nomad_csi.spec import names
from nomad_csi.volumes import compare, facts, owner_records, volume_properties
from nomad_csi.volumes.volume_properties import VolumeStorage

if TYPE_CHECKING:
    from nomad_csi.plan import model

UNKNOWN = names.UNKNOWN

_PROPERTIES = {item.file: item.property for item in volume_forms.FIELDS}


@dataclass(frozen=True, kw_only=True)
class DesiredVolume:
    """A volume that is wanted; or that was, in the last update of a state."""

    document: registration.VolumeRegistration
    """What is sent to Nomad."""

    source: facts.Source = "existing"
    owner: str = ""
    """The owning stack, as ``project/stack``; empty: none, and no owner record is written."""

    owner_id: str = ""
    adopt: bool = False
    protect: bool = False
    storage: VolumeStorage = field(default_factory=VolumeStorage.model_construct)
    on_destroy: str = volume_properties.KEEP
    deletion: Mapping[str, Any] = field(default_factory=dict)
    """How the storage is deleted."""

    @property
    def key(self) -> volumes.Key:
        """Namespace and id."""
        return volumes.key_of(self.document)

    @property
    def known(self) -> registration.VolumeRegistration:
        """The document for a comparison with Nomad: without the properties that are not known."""
        unknown = {
            changes.top_of_path(item.property)
            for item in volume_forms.FIELDS
            if (value := item.value(self.document)) == -1 or UNKNOWN in str(value)
        } - {"secrets"}
        if not unknown:
            return self.document
        inputs = write_inputs(self.document)
        return parse_inputs({name: value for name, value in inputs.items() if name not in unknown})

    @property
    def is_created(self) -> bool:
        """Whether its plugin creates the storage."""
        return self.source == "created"

    def requester(self, recorded: Mapping[str, Any]) -> owner_records.Requester:
        """Return who requests it; *recorded* are its previous outputs, empty for a new one."""
        return owner_records.requester_of(self.owner, self.owner_id, recorded, adopts=self.adopt)


def of_properties(declared: properties.Declaration, values: Mapping[str, Any]) -> DesiredVolume:
    """Return the volume of a resource that is *declared*, with the checked inputs, or the outputs, *values*."""
    inputs = declared.inputs_in(values)
    return DesiredVolume(
        document=parse_inputs(inputs),
        source="created" if declared is volume_properties.CREATED else "existing",
        owner=inputs.get("owner", ""),
        owner_id=inputs.get("ownerId", ""),
        adopt=bool(inputs.get("adopt")),
        protect=bool(inputs.get("protect")),
        storage=_storage(inputs),
        on_destroy=inputs.get("onDestroy", volume_properties.KEEP),
        deletion=inputs.get("deletion", {}),
    )


def of_plan(
    planned: "model.VolumePlan | None", document: registration.VolumeRegistration, who: owner_records.Requester
) -> DesiredVolume:
    """
    Return the volume *planned*, with its *document* and secrets, for *who*; ``None``: a volume file has it.

    Without what deletes its storage: that belongs to the resource that deletes it.
    """
    is_created = planned is not None and planned.made_by_plugin
    is_unknown = not (is_created or document.external_id)
    return DesiredVolume(
        document=dataclasses.replace(document, external_id=UNKNOWN) if is_unknown else document,
        source="created" if is_created else "existing",
        owner=who.owner,
        adopt=who.adopts or (planned is not None and planned.adopt),
    )


# The document in the properties of a resource.


def property_path(field_name: str) -> str:
    """Return the path of the property for a field: ``property_path("external_id")`` is ``"externalId"``."""
    return _PROPERTIES[field_name]


def parse_inputs(inputs: Mapping[str, Any]) -> registration.VolumeRegistration:
    """Return the document that checked *inputs* describe, of a volume that exists or that its plugin makes."""
    return dataclasses.replace(volume_forms.read(inputs, "property"), shares_storage=bool(_storage(inputs).shared))


def _storage(inputs: Mapping[str, Any]) -> VolumeStorage:
    """Return what the program knows of the storage; nothing where that is not known, or encrypted in a state."""
    known = inputs.get("storage", {})
    if not isinstance(known, Mapping):
        return VolumeStorage.model_construct(shared=True)  # nothing is refused for that before it is known
    return VolumeStorage.model_construct(**known)


def write_inputs(document: registration.VolumeRegistration) -> dict[str, Any]:
    """Return the inputs that describe *document*, in the shape of `check`."""
    return volume_forms.write(document, "property")


# What differs between two volumes, in the properties of their resource.


_OF_RESOURCE = {"owner": "owner", "ownerId": "owner_id", "onDestroy": "on_destroy", "deletion": "deletion"}
"""Compared properties that are not sent to Nomad, and their attributes."""


def property_names(differences: Iterable[compare.Difference]) -> tuple[str, ...]:
    """Return the properties of *differences*."""
    return tuple(dict.fromkeys(changes.top_of_path(property_path(item.field)) for item in differences))


def differing(before: DesiredVolume, after: DesiredVolume) -> frozenset[str]:
    """Return the compared properties whose values differ, whatever Nomad makes of it."""
    sent = {
        changes.top_of_path(item.property)
        for item in volume_forms.FIELDS
        if item.value(before.document) != item.value(after.document)
    }
    own = {
        name
        for name, attribute in _OF_RESOURCE.items()
        if attrgetter(attribute)(before) != attrgetter(attribute)(after)
    }
    return frozenset(sent | own) - volume_properties.of(after.source).not_compared


def compare_states(
    before: DesiredVolume, after: DesiredVolume, made: Mapping[str, Any] | None = None
) -> compare.Comparison:
    """
    Return the comparison of *after* with what Nomad holds of a volume once *before* is registered.

    *made* are the outputs of one that its plugin made.
    """
    held = compare.registered_volume(before.document)
    if made is not None and "topologies" in made:
        held = dataclasses.replace(held, topologies=tuple(item["segments"] for item in made["topologies"]))
    return compare.compare_volume(after.document, held, made_by_plugin=made is not None)


def changed(before: DesiredVolume, after: DesiredVolume, compared: compare.Comparison) -> frozenset[str]:
    """
    Return the properties in which *before* and *after* differ; *compared* decides of those that Nomad shows.

    Secrets, mount flags, and properties that are not sent to Nomad, are compared by their values.
    """
    flags = {item.document.mount_options.mount_flags for item in (before, after)}
    hidden = {"mountOptions"} if len(flags) > 1 else set()
    unsent = differing(before, after) & {"secrets", *_OF_RESOURCE}
    found = {*property_names(compared.differences), *hidden, *unsent}
    return frozenset(found) - volume_properties.of(after.source).not_compared
