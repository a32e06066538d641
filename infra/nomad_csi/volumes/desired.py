"""
A volume as it is wanted: made once of the properties of a resource, or of a plan, and taken by everything else.

In a preview `UNKNOWN` stands for a text that is not known, also in a list or a map.
"""

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

from nomad_csi import errors
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import properties, resource
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.spec import names
from nomad_csi.volumes import compare, facts, volume_properties
from nomad_csi.volumes.volume_properties import VolumeStorage

if TYPE_CHECKING:
    from nomad_csi.plan import model
    from nomad_csi.volumes import ownership

UNKNOWN = names.UNKNOWN

_PROPERTIES = {item.file: item.property for item in registration.FIELDS}


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
            resource.top_of_path(item.property)
            for item in registration.FIELDS
            if (value := item.value(self.document)) == -1 or UNKNOWN in str(value)
        } - {"secrets"}
        if not unknown:
            return self.document
        inputs = write_inputs(self.document)
        return parse_inputs({name: value for name, value in inputs.items() if name not in unknown})

    @property
    def owned(self) -> Mapping[str, Any]:
        """The inputs that identify its requester."""
        return {"owner": self.owner, "ownerId": self.owner_id, "adopt": self.adopt}

    @property
    def is_created(self) -> bool:
        """Whether its plugin creates the storage."""
        return self.source == "created"


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
    planned: "model.VolumePlan", document: registration.VolumeRegistration, who: "ownership.Requester"
) -> DesiredVolume:
    """
    Return the volume *planned*, with its *document* and secrets, for *who*.

    Without what deletes its storage: that belongs to the resource that deletes it.
    """
    is_unknown = not (planned.made_by_plugin or document.external_id)
    return DesiredVolume(
        document=dataclasses.replace(document, external_id=UNKNOWN) if is_unknown else document,
        source="created" if planned.made_by_plugin else "existing",
        owner=who.owner,
        adopt=who.adopts or planned.adopt,
    )


# The document in the properties of a resource.


def property_path(field_name: str) -> str:
    """Return the path of the property for a field: ``property_path("external_id")`` is ``"externalId"``."""
    return _PROPERTIES[field_name]


def parse_inputs(inputs: Mapping[str, Any]) -> registration.VolumeRegistration:
    """Return the document that checked *inputs* describe, of a volume that exists or that its plugin makes."""
    return dataclasses.replace(registration.read(inputs, "property"), shares_storage=bool(_storage(inputs).shared))


def _storage(inputs: Mapping[str, Any]) -> VolumeStorage:
    """Return what the program knows of the storage; nothing where that is not known, or encrypted in a state."""
    known = inputs.get("storage", {})
    if not isinstance(known, Mapping):
        return VolumeStorage.model_construct(shared=True)  # nothing is refused for that before it is known
    return VolumeStorage.model_construct(**known)


def write_inputs(document: registration.VolumeRegistration) -> dict[str, Any]:
    """Return the inputs that describe *document*, in the shape of `check`."""
    return registration.write(document, "property")


# What differs between two volumes, in the properties of their resource.


_OF_RESOURCE = {"owner": "owner", "ownerId": "owner_id", "onDestroy": "on_destroy", "deletion": "deletion"}
"""Compared properties that are not sent to Nomad, and their attributes."""


def property_names(differences: Iterable[compare.Difference]) -> tuple[str, ...]:
    """Return the properties of *differences*."""
    return tuple(dict.fromkeys(resource.top_of_path(property_path(item.field)) for item in differences))


def differing(before: DesiredVolume, after: DesiredVolume) -> frozenset[str]:
    """Return the compared properties whose values differ, whatever Nomad makes of it."""
    sent = {
        resource.top_of_path(item.property)
        for item in registration.FIELDS
        if item.value(before.document) != item.value(after.document)
    }
    own = {
        name
        for name, attribute in _OF_RESOURCE.items()
        if attrgetter(attribute)(before) != attrgetter(attribute)(after)
    }
    return frozenset(sent | own) - volume_properties.of(after.source).not_compared


def compare_states(
    before: DesiredVolume, after: DesiredVolume, outputs: Mapping[str, Any] | None = None
) -> compare.Comparison:
    """
    Return the comparison of *after* with what Nomad has of a volume once *before* is registered.

    *outputs* are those of a volume that its plugin created.
    """
    actual = compare.registered_volume(before.document)
    if outputs is not None and "topologies" in outputs:
        actual = dataclasses.replace(actual, topologies=tuple(item["segments"] for item in outputs["topologies"]))
    return compare.compare_volume(after.document, actual, made_by_plugin=outputs is not None)


def changed(before: DesiredVolume, after: DesiredVolume, compared: compare.Comparison) -> frozenset[str]:
    """
    Return the properties in which *before* and *after* differ; *compared* decides of those that Nomad shows.

    Secrets, mount flags, and properties that are not sent to Nomad, are compared by their values.
    """
    flags = {item.document.mount_options.mount_flags for item in (before, after)}
    hidden = {"mountOptions"} if len(flags) > 1 else set()
    unsent = differing(before, after) & {"secrets", *_OF_RESOURCE}
    changed_names = {*property_names(compared.differences), *hidden, *unsent}
    return frozenset(changed_names) - volume_properties.of(after.source).not_compared


# The change of a `VolumeRegistration`, and whether its id then has other data.
#
# `volumes.compare` determines what Nomad changes in place. The program declares what the external id does not show of
# the data (`volume_properties.VolumeStorage`).


IDENTITY = ("namespace", "volumeId")
"""Properties that identify the volume."""

Kind = Literal["none", "in-place", "re-register", "replace"]
"""
``in-place``: Nomad changes the registration. ``re-register``: it is deregistered and registered again, in one update.
``replace``: another volume, so another object.
"""

Storage = Literal["same", "other", "unknown"]
"""Whether the volume id has the same data afterwards; ``unknown``: the inputs alone do not determine it."""

_GLOBAL_ID = re.compile(r"(efs:)?(vol|fs)-[0-9a-f]{8,40}(:.*)?")
"""External ids that identify the same storage for every plugin: those of EBS and EFS."""


@dataclass(frozen=True, kw_only=True)
class RegistrationChange:
    """The differences between two desired states of one volume."""

    before: DesiredVolume
    after: DesiredVolume
    kind: Kind
    changed: frozenset[str] = frozenset()
    """The top-level properties that differ, without those that are not sent to Nomad."""

    properties: tuple[str, ...] = ()
    """Those of them that Nomad does not change in place; empty for ``none`` and ``in-place``."""

    storage: Storage = "same"
    left_storage: storage_identity.StorageIdentity | None = None
    """What the program created before, and deletes after this change; ``None``: nothing."""

    context_keys: tuple[str, ...] = ()
    """Changed keys of the context that may identify the data."""

    @property
    def is_re_pointed(self) -> bool:
        """Whether the volume id has, or may have, other data by another external id."""
        return self.storage != "same" and self.before.document.external_id != self.after.document.external_id

    @property
    def old_data(self) -> str:
        """The data before: its location, where the program knows it, else the external id."""
        return self.before.storage.location or self.before.document.external_id


def classify(before: DesiredVolume, after: DesiredVolume) -> RegistrationChange:
    """Return the change from *before* to *after*, ignoring properties that Nomad does not get."""
    different = differing(before, after)
    fixed: tuple[str, ...] = ()
    identity = tuple(name for name in IDENTITY if name in different)
    if not identity:
        compared = compare_states(before, after)
        different = changed(before, after, compared)
        fixed = property_names(item for item in compared.differences if item.needs_new_registration)
    keys = tuple(_locating_keys(before, after))
    return RegistrationChange(
        before=before,
        after=after,
        kind="replace" if identity else "re-register" if fixed else "in-place" if different else "none",
        changed=different,
        properties=identity or fixed,
        storage=_storage_after(different, before, after, keys),
        left_storage=left_storage(before, after),
        context_keys=keys,
    )


def storage_of_program(volume: DesiredVolume) -> storage_identity.StorageIdentity | None:
    """
    Return what the program creates for *volume*, and deletes after it: disk, file system, access point.

    ``None``: nothing, or Pulumi retains it.
    """
    if not volume.storage.owned or volume.storage.retained:
        return None
    identity = storage_identity.identify(volume.document.external_id)
    return identity if volume.storage.part else storage_identity.StorageIdentity(container=identity.container)


def has_other_fate(before: DesiredVolume, after: DesiredVolume) -> bool:
    """Return whether the program deletes other storage after the volume *after* than after *before*."""
    fates = {(item.storage.owned, item.storage.part, item.storage.retained) for item in (before, after)}
    return len(fates) > 1


def left_storage(before: DesiredVolume, after: DesiredVolume) -> storage_identity.StorageIdentity | None:
    """
    Return what the program deletes of the storage of *before*, once the volume is registered as *after*.

    That is also an access point of a file system that stays. Unknown storage is other storage.
    """
    created = storage_of_program(before)
    if created is None:
        return None
    old = storage_identity.identify(before.document.external_id)
    is_whole_kept = after.storage.owned and not after.storage.part
    if created.is_whole and not (is_whole_kept and planned_storage(after).container == created.container):
        return created
    new = storage_identity.identify(after.document.external_id)
    is_point_kept = after.storage.owned and new.access_point == old.access_point
    return old if old.access_point and not is_point_kept else None


def planned_storage(volume: DesiredVolume) -> storage_identity.StorageIdentity:
    """Return the storage of *volume*; where an access point is not known yet, the folder that it will be for."""
    external_id = volume.document.external_id
    return storage_identity.identify(volume.storage.location if external_id == UNKNOWN else external_id)


def sentence(identity: str, change: RegistrationChange) -> str:
    """Return the consequences of *change* for volume *identity*, for the user; empty for a change of settings."""
    if change.kind == "replace":
        kept = _kept(change.before.document.external_id)
        return f"{identity} is deregistered first, which is refused while it is claimed; {kept}"
    if change.kind == "re-register":
        how = f"is deregistered and registered again (Nomad never changes {', '.join(change.properties)} in place)"
        if change.is_re_pointed:
            how = f"is {_re_pointed(change)}: deregistered and registered again"
        return f"{identity} {how}, refused while claimed; {_consequence(change)}"
    return f"{identity} {_doubt(change)}" if change.storage == "unknown" else ""


def refusal_of_other_data(identity: str, change: RegistrationChange) -> errors.RefusedError:
    """Return the refusal where the protected volume *identity* would, or might, get other data by *change*."""
    why = _doubt(change)
    if change.is_re_pointed:
        why = f"would be {_re_pointed(change)}: {_consequence(change)}"
    fix = "where that is meant, set protect: false, run `pulumi up`, and change it then"
    return errors.RefusedError(f"volume {identity} is protected, and {why}; nothing was changed: {fix}")


def _re_pointed(change: RegistrationChange) -> str:
    """Return from which storage to which a volume is re-pointed; one that this run makes has no id yet."""
    location = change.after.storage.location if change.before.storage.location else ""
    new = location or change.after.document.external_id
    return f"re-pointed from {change.old_data} to {'other storage' if new == UNKNOWN else new}"


def _consequence(change: RegistrationChange) -> str:
    """Return the consequences for the data of a volume that is registered again."""
    if not change.is_re_pointed:
        kept = _kept(change.old_data)
        return f"{kept}; the volume id may stand for other data afterwards" if change.storage == "unknown" else kept
    left = change.left_storage
    if left is None or left.access_point:
        return f"the data stays in {change.old_data} and is not copied"
    return f"{left.container} is deleted with all its data afterwards"


def _doubt(change: RegistrationChange) -> str:
    changed = " and ".join(f"context.{key}" for key in change.context_keys) or "plugin"
    external_id = change.before.document.external_id
    return f"may stand for other data afterwards: {external_id} stays its external id, with another {changed}"


def _storage_after(
    changed: frozenset[str], old: DesiredVolume, new: DesiredVolume, context_keys: tuple[str, ...]
) -> Storage:
    external_id, before, after = new.document.external_id, old.storage.location, new.storage.location
    if "externalId" in changed and not (before and before == after):
        becomes = after if before and after else external_id
        return "unknown" if becomes == UNKNOWN else "other"
    if "pluginId" in changed and not _GLOBAL_ID.fullmatch(external_id):
        return "unknown"
    return "unknown" if context_keys else "same"


def _locating_keys(before: DesiredVolume, after: DesiredVolume) -> Iterator[str]:
    """Yield the changed keys of the context that may identify the data: all but the driver's settings."""
    old, new = before.document.context, after.document.context
    if UNKNOWN in {*old, *new}:
        yield "*"
        return
    for key in sorted((old.keys() | new.keys()) - {*before.storage.settings, *after.storage.settings}):
        if old.get(key) != new.get(key):
            yield key


def _kept(external_id: str) -> str:
    return f"this step leaves {external_id} and its data as they are"
