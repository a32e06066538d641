"""
Changes of a `VolumeRegistration` between two desired volumes, and whether its id then has other data. Pure.

`volumes.compare` determines what Nomad changes in place. The program declares what the external id does not show of the
data (`volume_properties.VolumeStorage`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from nomad_csi import errors
from nomad_csi.drivers import storage_identity
from nomad_csi.volumes import desired
from nomad_csi.volumes.desired import UNKNOWN, DesiredVolume

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

    kind: Kind
    changed: frozenset[str] = frozenset()
    """The top-level properties that differ, without those that are not sent to Nomad."""

    properties: tuple[str, ...] = ()
    """Those of them that Nomad does not change in place; empty for ``none`` and ``in-place``."""

    storage: Storage = "same"
    old_external_id: str = ""
    new_external_id: str = ""
    """May be `UNKNOWN` in a preview."""

    old_location: str = ""
    """The location of the data, from the program; empty where only the external id is known."""

    new_location: str = ""
    """May be `UNKNOWN` in a preview."""

    left_storage: storage_identity.StorageIdentity | None = None
    """What the program created before, and deletes after this change; ``None``: nothing."""

    context_keys: tuple[str, ...] = ()
    """Changed keys of the context that may identify the data."""


def classify(before: DesiredVolume, after: DesiredVolume) -> RegistrationChange:
    """Return the change from *before* to *after*, ignoring properties that Nomad does not get."""
    old, new = before.document, after.document
    changed = desired.differing(before, after)
    fixed: tuple[str, ...] = ()
    identity = tuple(name for name in IDENTITY if name in changed)
    if not identity:
        compared = desired.compare_states(before, after)
        changed = desired.changed(before, after, compared)
        fixed = desired.property_names(item for item in compared.differences if item.needs_new_registration)
    keys = tuple(_locating_keys(before, after))
    return RegistrationChange(
        kind="replace" if identity else "re-register" if fixed else "in-place" if changed else "none",
        changed=changed,
        properties=identity or fixed,
        storage=_storage(changed, before, after, keys),
        old_external_id=old.external_id,
        new_external_id=new.external_id,
        old_location=before.storage.location,
        new_location=after.storage.location,
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
    found = storage_identity.identify(volume.document.external_id)
    return found if volume.storage.part else storage_identity.StorageIdentity(container=found.container)


def has_other_fate(before: DesiredVolume, after: DesiredVolume) -> bool:
    """Return whether the program deletes other storage after the volume *after* than after *before*."""
    fates = {(item.storage.owned, item.storage.part, item.storage.retained) for item in (before, after)}
    return len(fates) > 1


def left_storage(before: DesiredVolume, after: DesiredVolume) -> storage_identity.StorageIdentity | None:
    """
    Return what the program deletes of the storage of *before*, once the volume is registered as *after*.

    That is also an access point of a file system that stays. Unknown storage is other storage.
    """
    made = storage_of_program(before)
    if made is None:
        return None
    old = storage_identity.identify(before.document.external_id)
    is_whole_kept = after.storage.owned and not after.storage.part
    if made.is_whole and not (is_whole_kept and planned_storage(after).container == made.container):
        return made
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
        kept = _kept(change.old_external_id)
        return f"{identity} is deregistered first, which is refused while it is claimed; {kept}"
    if change.kind == "re-register":
        how = f"is deregistered and registered again (Nomad never changes {', '.join(change.properties)} in place)"
        if change.old_external_id != change.new_external_id:
            how = f"is deregistered and registered again for another access point of {change.new_location}"
        if _is_re_pointed(change):
            how = f"{_re_pointed(change, 'is re-pointed', 'gets')}: deregistered and registered again"
        return f"{identity} {how}, refused while claimed; {_consequence(change)}"
    return f"{identity} {_doubt(change)}" if change.storage == "unknown" else ""


def refusal_of_other_data(identity: str, change: RegistrationChange) -> errors.RefusedError:
    """Return the refusal where the protected volume *identity* would, or might, get other data by *change*."""
    why = _doubt(change)
    if _is_re_pointed(change):
        why = f"{_re_pointed(change, 'would be re-pointed', 'would get')}: {_consequence(change)}"
    fix = "where that is meant, set protect: false, run `pulumi up`, and change it then"
    return errors.RefusedError(f"volume {identity} is protected, and {why}; nothing was changed: {fix}")


def _is_re_pointed(change: RegistrationChange) -> bool:
    return change.storage != "same" and change.old_external_id != change.new_external_id


def _re_pointed(change: RegistrationChange, is_known: str, is_made: str) -> str:
    """Return what becomes of a volume with other storage; one that this run makes has no id yet."""
    new = (change.new_location if change.old_location else "") or change.new_external_id
    if new != UNKNOWN:
        return f"{is_known} from {_old(change)} to {new}"
    is_lost = change.left_storage is not None and not change.left_storage.access_point
    return f"{is_made} {'new, empty' if is_lost else 'other'} storage instead of {_old(change)}"


def _consequence(change: RegistrationChange) -> str:
    """Return the consequences for the data of a volume that is registered again."""
    if not _is_re_pointed(change):
        kept = _kept(change.old_location or change.old_external_id)
        return f"{kept}; the volume id may stand for other data afterwards" if change.storage == "unknown" else kept
    left = change.left_storage
    if left is None or left.access_point:
        return f"the data stays in {_old(change)} and is not copied"
    return f"{left.container} is deleted with all its data afterwards"


def _doubt(change: RegistrationChange) -> str:
    changed = " and ".join(f"context.{key}" for key in change.context_keys) or "its plugin"
    verb = "change" if len(change.context_keys) > 1 else "changes"
    return f"may stand for other data afterwards: {changed} {verb}, and {change.old_external_id} stays its external id"


def _old(change: RegistrationChange) -> str:
    return change.old_location or change.old_external_id


def _storage(changed: frozenset[str], old: DesiredVolume, new: DesiredVolume, context_keys: tuple[str, ...]) -> Storage:
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
    where = " in AWS" if _GLOBAL_ID.fullmatch(external_id) else ""
    return f"this step leaves {external_id} and its data{where} as they are"
