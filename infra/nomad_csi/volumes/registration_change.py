"""
Changes of a `VolumeRegistration` between two sets of inputs, and whether its id then has other data. Pure.

`volumes.compare` determines what Nomad changes in place. The program declares what the external id does not show of the
data (`volume_properties.STORAGE`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from nomad_csi import errors
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import properties
from nomad_csi.volumes import volume_document, volume_properties

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
    """The differences between two sets of inputs of one volume."""

    kind: Kind
    changed: frozenset[str] = frozenset()
    """The top-level properties that differ, without those that are not sent to Nomad."""

    properties: tuple[str, ...] = ()
    """Those of them that Nomad does not change in place; empty for ``none`` and ``in-place``."""

    storage: Storage = "same"
    old_external_id: str = ""
    new_external_id: str = ""
    """May be `properties.UNKNOWN` in a preview."""

    old_location: str = ""
    """The location of the data, from the program; empty where only the external id is known."""

    new_location: str = ""
    """May be `properties.UNKNOWN` in a preview."""

    left_storage: storage_identity.StorageIdentity | None = None
    """What the program created before, and deletes after this change; ``None``: nothing."""

    context_keys: tuple[str, ...] = ()
    """Changed keys of the context that may identify the data."""


def classify(old_inputs: Mapping[str, Any], news: Mapping[str, Any]) -> RegistrationChange:
    """Return the change from checked inputs *old_inputs* to *news*, ignoring properties that Nomad does not get."""
    identity = tuple(name for name in IDENTITY if old_inputs.get(name) != news.get(name))
    fixed: tuple[str, ...] = ()
    if identity:
        changed = frozenset(name for name in old_inputs.keys() | news.keys() if old_inputs.get(name) != news.get(name))
    else:
        compared = volume_document.compare_inputs(old_inputs, news)
        changed = volume_document.changed_properties(old_inputs, news, compared)
        fixed = volume_document.property_names(item for item in compared.differences if item.needs_new_registration)
    changed -= volume_properties.REGISTRATION.not_compared
    kind: Kind = "replace" if identity else "re-register" if fixed else "in-place" if changed else "none"
    keys = tuple(_locating_keys(old_inputs, news))
    external_id, before, after = news.get("externalId", ""), _location(old_inputs), _location(news)
    return RegistrationChange(
        kind=kind,
        changed=changed,
        properties=identity or fixed,
        storage=_storage(changed, external_id, (before, after), keys),
        old_external_id=old_inputs.get("externalId", ""),
        new_external_id=external_id,
        old_location=before,
        new_location=after,
        left_storage=left_storage(old_inputs, news),
        context_keys=keys,
    )


def storage_of_program(inputs: Mapping[str, Any]) -> storage_identity.StorageIdentity | None:
    """
    Return what the program creates for the volume of *inputs*, and deletes after it: disk, file system, access point.

    ``None``: nothing, or Pulumi retains it.
    """
    known, found = _known(inputs), storage_identity.identify(str(inputs.get("externalId", "")))
    if not known.get("owned") or known.get("retained"):
        return None
    return found if known.get("part") else storage_identity.StorageIdentity(container=found.container)


def has_other_fate(old_inputs: Mapping[str, Any], news: Mapping[str, Any]) -> bool:
    """Return whether the program deletes other storage after the volume of *news* than after that of *old_inputs*."""
    return any(_known(old_inputs).get(name) != _known(news).get(name) for name in ("owned", "part", "retained"))


def left_storage(old_inputs: Mapping[str, Any], news: Mapping[str, Any]) -> storage_identity.StorageIdentity | None:
    """
    Return what the program deletes of the storage of *old_inputs*, once the volume is registered as in *news*.

    That is also an access point of a file system that stays. Unknown storage is other storage.
    """
    made = storage_of_program(old_inputs)
    if made is None:
        return None
    known, before = _known(news), storage_identity.identify(str(old_inputs.get("externalId", "")))
    is_whole_kept = known.get("owned") and not known.get("part")
    if made.is_whole and not (is_whole_kept and planned_storage(news).container == made.container):
        return made
    after = storage_identity.identify(str(news.get("externalId", "")))
    is_point_kept = known.get("owned") and after.access_point == before.access_point
    return before if before.access_point and not is_point_kept else None


def planned_storage(news: Mapping[str, Any]) -> storage_identity.StorageIdentity:
    """Return the storage of *news*; where an access point is not known yet, the folder that it will be for."""
    external_id = str(news.get("externalId", ""))
    return storage_identity.identify(_location(news) if external_id == properties.UNKNOWN else external_id)


def sentence(identity: str, change: RegistrationChange) -> str:
    """Return the consequences of *change* for volume *identity*, for the user; empty for a change of settings."""
    if change.kind == "replace":
        kept = _kept(change.old_external_id)
        return f"{identity} is deregistered first, which is refused while it is claimed; {kept}"
    if change.kind == "re-register":
        how = f" (Nomad never changes {', '.join(change.properties)} in place)"
        if change.old_external_id != change.new_external_id:
            how = f" for another access point of {change.new_location}"
        subject = f"{identity} is deregistered and registered again{how}, refused while claimed"
        if _is_re_pointed(change):
            subject = (
                f"{identity} is re-pointed from {_old(change)} to {_new(change)}: deregistered and registered again, "
                "refused while claimed"
            )
        return f"{subject}; {_consequence(change)}"
    return f"{identity} {_doubt(change)}" if change.storage == "unknown" else ""


def refusal_of_other_data(identity: str, change: RegistrationChange) -> errors.RefusedError:
    """Return the refusal where the protected volume *identity* would, or might, get other data by *change*."""
    why = _doubt(change)
    if _is_re_pointed(change):
        why = f"would be re-pointed from {_old(change)} to {_new(change)}: {_consequence(change)}"
    fix = "set protect: false on it for one `up` if that is meant"
    if change.new_location and not change.old_location:
        fix = f"its folder is not recorded yet: after an upgrade run `up` once without this change, or {fix}"
    return errors.RefusedError(f"volume {identity} is protected, and {why}; nothing was changed: {fix}")


def _is_re_pointed(change: RegistrationChange) -> bool:
    return change.storage != "same" and change.old_external_id != change.new_external_id


def _consequence(change: RegistrationChange) -> str:
    """Return the consequences for the data of a volume that is registered again."""
    if not _is_re_pointed(change):
        kept = _kept(change.old_location or change.old_external_id)
        return f"{kept}; the volume id may stand for other data afterwards" if change.storage == "unknown" else kept
    left = change.left_storage
    if left is None or left.access_point:
        return f"the data stays in {_old(change)} and is not copied"
    empty = ", and what is made in its place is empty" if change.new_external_id == properties.UNKNOWN else ""
    return f"{left.container} is deleted with all its data afterwards{empty}"


def _doubt(change: RegistrationChange) -> str:
    changed = " and ".join(f"context.{key}" for key in change.context_keys) or "its plugin"
    verb = "change" if len(change.context_keys) > 1 else "changes"
    return f"may stand for other data afterwards: {changed} {verb}, and {change.old_external_id} stays its external id"


def _old(change: RegistrationChange) -> str:
    return change.old_location or change.old_external_id


def _new(change: RegistrationChange) -> str:
    """Return the new storage of the volume: its location only where the old one is known, too."""
    new = (change.new_location if change.old_location else "") or change.new_external_id
    return "storage that is not known yet" if new == properties.UNKNOWN else new


def _storage(
    changed: frozenset[str], external_id: str, locations: tuple[str, str], context_keys: tuple[str, ...]
) -> Storage:
    before, after = locations
    if "externalId" in changed and not (before and before == after):
        becomes = after if before and after else external_id
        return "unknown" if becomes == properties.UNKNOWN else "other"
    if "pluginId" in changed and not _GLOBAL_ID.fullmatch(external_id):
        return "unknown"
    return "unknown" if context_keys else "same"


def _locating_keys(old_inputs: Mapping[str, Any], news: Mapping[str, Any]) -> Iterator[str]:
    """Yield the changed keys of the context that may identify the data: all but the driver's settings."""
    old, new = old_inputs.get("context", {}), news.get("context", {})
    if properties.UNKNOWN in (old, new):
        yield "*"
        return
    settings = {*_known(old_inputs).get("settings", ()), *_known(news).get("settings", ())}
    for key in sorted((old.keys() | new.keys()) - settings):
        if old.get(key) != new.get(key):
            yield key


def _known(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the program's description of the storage."""
    found = inputs.get("storage")
    return found if isinstance(found, Mapping) else {}


def _location(inputs: Mapping[str, Any]) -> str:
    location: str = _known(inputs).get("location", "")
    return location


def _kept(external_id: str) -> str:
    where = " in AWS" if _GLOBAL_ID.fullmatch(external_id) else ""
    return f"this step leaves {external_id} and its data{where} as they are"
