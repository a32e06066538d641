"""The sentences about a wanted volume: why nothing is done, with the values and the way out; and what is to come."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import (
    compare,
    created_deletion,
    decide,
    desired,
    registration_change,
    registration_ownership,
)

if TYPE_CHECKING:
    from nomad_csi.volumes.wanted_volume import WantedVolume

UNKNOWN = desired.UNKNOWN

foreign = registration_ownership.refusal


def refusal(wanted: "WantedVolume", reason: decide.Refusal) -> errors.RefusedError:
    """Return the error for the *reason* why nothing is done with the *wanted* volume."""
    name = wanted.name
    match reason:
        case "dependents":
            return wanted.dependents.refusal(f"volume {name} stays as it is")
        case "unreadable":
            assert wanted.unread is not None  # noqa: S101  # the decision has read it
            return wanted.unread
        case "protected":
            return registration_change.refusal_of_other_data(name, wanted.change)
        case "shared":
            return errors.RefusedError(f"volume {name} was not registered: {wanted.sharing_problem}")
        case "storage gone":
            reasons = "; ".join(map(str, wanted.storage_problems[0]))
            return errors.RefusedError(f"volume {name} would be registered for unusable storage: {reasons}")
        case "changed meanwhile":
            return _changed_meanwhile(wanted)
        case "impossible":
            return _impossible(wanted)
        case "other storage":
            return _other_storage(wanted)
        case "unrecorded":
            return unrecorded(wanted.key)
        case _:
            return _taken(wanted)


def _changed_meanwhile(wanted: "WantedVolume") -> errors.RefusedError:
    if wanted.source == "created":
        return of_another_hand(wanted.registered, wanted.recorded_outputs)
    changed = "; ".join(
        f"{desired.property_path(item.field)} is {item.actual!r} in Nomad, {item.desired!r} in the state"
        for item in wanted.drift
    )
    return errors.RefusedError(
        f"volume {wanted.name} is not as recorded any more; nothing was changed: {changed}; run `pulumi refresh`, "
        "check, and run again"
    )


def _impossible(wanted: "WantedVolume") -> errors.RefusedError:
    if wanted.source == "created" and wanted.recorded != "nothing":
        return errors.RefusedError(shrinking(wanted.registered.capacity_bytes, wanted.desired.document))
    if wanted.recorded == "nothing" and not wanted.adopt:
        return _taken(wanted)
    return impossible(wanted.name, wanted.compared)


def impossible(name: str, compared: compare.Comparison) -> errors.RefusedError:
    """
    Return the refusal of what Nomad would refuse of *compared*: all reasons at once, before anything is sent.

    Nomad's own message has no values, and does not name the volume.
    """
    reasons = "; ".join(compare.sentences(compared.differences_of_kind("refused")))
    return errors.RefusedError(f"volume {name} cannot be changed: {reasons}")


def _other_storage(wanted: "WantedVolume") -> errors.RefusedError:
    owner, document = wanted.owner, wanted.desired.document
    assert owner is not None  # noqa: S101  # the decision has compared it
    gets = wanted.known_storage[0] or document.external_id
    gets = gets if gets not in {"", UNKNOWN} else f"storage of plugin {document.plugin_id}"
    plugin = f" of plugin {owner.plugin_id}" if owner.plugin_id else ""
    way_out = registration_ownership.way_to_give_up(wanted.key, owner.external_id or owner.storage_name, owner.owner)
    return errors.RefusedError(
        f"the owner record of volume {wanted.name} keeps storage {owner.storage}{plugin} for it, and it would get "
        f"{gets}; nothing was changed: to give the first one up, {way_out}"
    )


def _taken(wanted: "WantedVolume") -> errors.RefusedError:
    """Return the refusal to take over what is registered, and is not as wanted."""
    name, found = wanted.name, wanted.registered
    if wanted.is_new_storage:
        return errors.RefusedError(
            f"volume {name} is registered already, for {found.external_id}, and this resource would make new storage "
            "for it: add an alias where the resource was renamed or moved in the program, or choose another id"
        )
    text = "; ".join(map(str, _property_paths(wanted.compared.differences)))
    if not wanted.adopt:
        return errors.RefusedError(
            f"volume {name} is registered already, and not by this stack as it is now: {text}; "
            "set adopt: true to take it over, import it, or choose another id"
        )
    fixed = _property_paths(item for item in wanted.compared.differences if item.needs_new_registration)
    return errors.RefusedError(
        f"volume {name} cannot be adopted, because Nomad never changes {', '.join(item.field for item in fixed)}: "
        f"{text}; deregister it first, when nothing uses it: nomad volume deregister -namespace {found.namespace} "
        f"{found.volume_id}"
    )


def _property_paths(differences: Iterable[compare.Difference]) -> tuple[compare.Difference, ...]:
    """Return the differences by the paths of their properties."""
    return tuple(dataclasses.replace(item, field=desired.property_path(item.field)) for item in differences)


def unfit(name: str, problems: Iterable[str]) -> errors.RefusedError:
    """Return the refusal of a replacement that has *problems*."""
    reasons = "; ".join(problems)
    return errors.RefusedError(f"{name} stays as it is, because its replacement would not work: {reasons}")


def unrecorded(key: volumes.Key) -> errors.RefusedError:
    """Return the refusal to create storage for *key* that no owner record would keep for it."""
    rights = registration_ownership.RIGHTS.format(namespace=key[0])
    return errors.RefusedError(
        f"volume {'/'.join(key)} was not created: its storage is kept for it by an owner record, and the token lacks "
        f"{rights}; give it these rights, or create the storage elsewhere and register it by its external id"
    )


def stands_for_another(volume: volumes.Volume, recorded: Mapping[str, Any]) -> str:
    """Return a sentence that *volume* in Nomad has other storage than *recorded*; empty where it has not."""
    external_id = recorded.get("externalId", volume.external_id)
    if external_id == volume.external_id:
        return ""
    return f"volume {volume.key}: external id is {volume.external_id} in Nomad, {external_id} in the state"


def of_another_hand(volume: volumes.Volume, recorded: Mapping[str, Any]) -> errors.RefusedError:
    """Return the refusal to change *volume*, which something else registered for other storage than *recorded*."""
    return errors.RefusedError(
        f"{stands_for_another(volume, recorded)}; nothing was changed: something else registered it; deregister it "
        f"there, and `pulumi up` registers {recorded.get('externalId')} again, or give it up here with `pulumi state "
        "delete`"
    )


def hidden_flags(found: volumes.Volume | None, before: registration.VolumeRegistration) -> str:
    """Return why *found* could not be put back: its mount flags are not known; empty where it could."""
    if found is None or not found.has_mount_flags or before.mount_options.mount_flags:
        return ""
    return (
        "Nomad holds mount flags of it that the state does not have and Nomad does not show, so that it could not be "
        "put back if its replacement failed; write them into the program, or change them there, in an `up` of its own "
        "first"
    )


# Of a volume that its plugin creates.


def shrinking(capacity_bytes: int, document: registration.VolumeRegistration) -> str:
    """Return why *document* would shrink a volume of *capacity_bytes*; empty where it does not."""
    most = document.capacity_max_bytes
    if most <= 0 or not isinstance(capacity_bytes, int) or most >= capacity_bytes:
        return ""
    problem = errors.Problem(
        path="capacityMaxBytes",
        got=str(most),
        allowed=f"{capacity_bytes} or more, which volume {document.key} has",
        fix="a volume never shrinks: make a smaller one under another id, and copy the data",
    )
    return str(problem)


def replacement(identity: str, recorded: Mapping[str, Any], document: registration.VolumeRegistration) -> Iterator[str]:
    """Yield the consequences of a replacement by *document*: where the data stays, and what the new volume has."""
    storage = recorded.get("externalId", "its storage")
    yield f"deregisters {identity} first; refused while it is claimed"
    if created_deletion.is_wanted(recorded):
        yield f"deletes its storage {storage} then, with all data, as on_destroy says; the new volume has none of it"
        return
    yield f"its storage {storage} stays, with its data, in no volume any more (`existing: {{external_id: {storage}}}`)"
    sources = {"cloneId": document.clone_id, "snapshotId": document.snapshot_id}
    source = next((f"{name} {value}" for name, value in sources.items() if value), "")
    yield f"the plugin makes new storage for it, {f'from {source}' if source else 'which is empty'}"


def new_and_empty(identity: str, recorded: Mapping[str, Any]) -> str:
    """Return that the storage *recorded* is gone, and the volume gets new storage."""
    return (
        f"the storage {recorded.get('externalId', '')} of volume {identity} is gone: its plugin creates new storage, "
        "which is empty"
    )
