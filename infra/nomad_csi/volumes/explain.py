"""The sentences about a volume: why nothing is done, with the values and what to do."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nomad_csi import errors
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import (
    compare,
    decide,
    deregistration,
    desired,
    ownership,
    volume_properties,
)

if TYPE_CHECKING:
    from nomad_csi.volumes import deletion_proof, observe


def refusal(volume: "observe.VolumeFacts", reason: decide.Refusal) -> errors.RefusedError:
    """Return the error for the *reason* why nothing is done with the *volume*, with the values and what to do."""
    own: Mapping[decide.Refusal, _Sentence] = _OF_WANTED if hasattr(volume, "source") else _OF_REMOVED
    sentence: _Sentence = own.get(reason) or _OF_BOTH.get(reason) or _taken
    return sentence(volume)


def _changed_meanwhile(wanted: "observe.WantedVolume") -> errors.RefusedError:
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


def _impossible(wanted: "observe.WantedVolume") -> errors.RefusedError:
    """Return the refusal of what Nomad would refuse: all reasons at once, and before that."""
    if wanted.source == "created" and wanted.recorded != "nothing":
        return errors.RefusedError(wanted.shrinking or "")
    if wanted.recorded == "nothing" and not wanted.adopt:
        return _taken(wanted)
    reasons = "; ".join(compare.sentences(wanted.compared.differences_of_kind("refused")))
    return errors.RefusedError(f"volume {wanted.name} cannot be changed: {reasons}")


def _other_storage(wanted: "observe.WantedVolume") -> errors.RefusedError:
    owner, document = wanted.owner, wanted.desired.document
    assert owner is not None  # noqa: S101  # the decision has compared it
    gets = wanted.known_storage[0] or document.external_id
    gets = gets if gets not in {"", desired.UNKNOWN} else f"storage of plugin {document.plugin_id}"
    plugin = f" of plugin {owner.plugin_id}" if owner.plugin_id else ""
    fix = ownership.way_to_give_up(wanted.key, owner.external_id or owner.storage_name, owner.owner)
    return errors.RefusedError(
        f"the owner record of volume {wanted.name} keeps storage {owner.storage}{plugin} for it, and it would get "
        f"{gets}; nothing was changed: to give the first one up, {fix}"
    )


def _taken(wanted: "observe.WantedVolume") -> errors.RefusedError:
    """Return the refusal to take over what is registered, and is not as wanted."""
    name, actual = wanted.name, wanted.registered
    if wanted.is_new_storage:
        return errors.RefusedError(
            f"volume {name} is registered already, for {actual.external_id}, and this resource would make new storage "
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
        f"{text}; deregister it first, when nothing uses it: nomad volume deregister -namespace {actual.namespace} "
        f"{actual.volume_id}"
    )


def _property_paths(differences: Iterable[compare.Difference]) -> tuple[compare.Difference, ...]:
    """Return the differences by the paths of their properties."""
    return tuple(dataclasses.replace(item, field=desired.property_path(item.field)) for item in differences)


def unrecorded(key: volumes.Key) -> errors.RefusedError:
    """Return the refusal to create storage for *key* that no owner record would keep for it."""
    rights = ownership.RIGHTS.format(namespace=key[0])
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


# Of a volume that its plugin creates.


def shrinking(document: registration.VolumeRegistration, capacity_bytes: int, requested_bytes: int) -> str | None:
    """Return why *document* would shrink a volume, as `compare.shrinking` finds it; ``None`` where it does not."""
    field = compare.shrinking(document, capacity_bytes, requested_bytes)
    if field is None:
        return None
    sizes = {"capacity_max": document.capacity_max_bytes, "capacity_min": document.capacity_min_bytes}
    bounds = {"capacity_max": capacity_bytes, "capacity_min": min(capacity_bytes, requested_bytes)}
    problem = errors.Problem(
        path=desired.property_path(field),
        got=str(sizes[field]),
        allowed=f"{bounds[field]} or more, which volume {document.key} has",
        fix="a volume never shrinks: make a smaller one under another id, and copy the data",
    )
    return str(problem)


def replacement(identity: str, recorded: Mapping[str, Any], document: registration.VolumeRegistration) -> Iterator[str]:
    """Yield the consequences of a replacement by *document*: where the data stays, and what the new volume has."""
    storage = recorded.get("externalId", "its storage")
    yield f"deregisters {identity} first; refused while it is claimed"
    if volume_properties.deletes_storage(recorded):
        yield f"deletes its storage {storage} then, with all data (on_destroy: delete); the new volume has none of it"
        return
    yield f"its storage {storage} stays, with its data, in no volume any more (`existing: {{external_id: {storage}}}`)"
    is_copy = bool(document.clone_id or document.snapshot_id)
    yield f"the plugin makes new storage for it{'' if is_copy else ', which is empty'}"


def created_other_storage(new: volumes.Volume, known: str, owner: str) -> errors.RefusedError:
    """Return the refusal of the *new* volume, where the storage *known* of its id was to be found again."""
    return errors.RefusedError(
        f"volume {new.key} has storage {known}, and plugin {new.plugin_id} answered {new.external_id} to its name: "
        f"{new.key} was deregistered again, and nothing deleted; restore {known}, or give it up: "
        f"{ownership.way_to_give_up(volumes.key_of(new), known, owner)}, after `pulumi state delete` where a stack "
        "has it"
    )


def created_shared_storage(new: volumes.Volume, others: Iterable[volumes.Key]) -> errors.RefusedError:
    """Return the refusal of the *new* volume, whose storage the volumes *others* have, too."""
    return errors.RefusedError(
        f"plugin {new.plugin_id} answered storage {new.external_id} for the new volume {new.key}, and that is "
        f"registered as {', '.join(map('/'.join, others))}: the two would write into one storage; {new.key} was "
        "deregistered again, and nothing deleted: check why the plugin does not distinguish storage by its name"
    )


# Of the deletion of storage that a plugin created.


def deletion_objection(identity: str, recorded: Mapping[str, Any]) -> str:
    """Return why the storage of *recorded* must not be deleted although that is requested; empty where it may be."""
    created_id, storage = recorded.get(volume_properties.MADE), recorded.get("externalId", "its storage")
    if not volume_properties.deletes_storage(recorded) or (created_id is not None and created_id == storage):
        return ""
    origin = "was there before" if created_id is None else f"is not {created_id}, which was made for it"
    return (
        f"volume {identity} has on_destroy: delete, and its storage {storage} {origin}: what this stack did not have "
        "made is not deleted; set on_destroy: keep, and delete it where it was made"
    )


def change_of_deletion(identity: str, recorded: Mapping[str, Any], new_inputs: Mapping[str, Any]) -> str:
    """Return the consequence where *new_inputs* have another ``onDestroy`` than *recorded*; empty: they have not."""
    if volume_properties.deletes_storage(new_inputs) == volume_properties.deletes_storage(recorded):
        return ""
    what = f"from now on, removing or replacing {identity} {{}} its storage {recorded.get('externalId', '')}"
    if not volume_properties.deletes_storage(new_inputs):
        return what.format("keeps")
    objection = deletion_objection(identity, {**recorded, "onDestroy": volume_properties.DELETE})
    return objection or f"{what.format('deletes')} with all data"


def refuse_replacement(identity: str, recorded: Mapping[str, Any], new_inputs: Mapping[str, Any]) -> None:
    """Raise `errors.RefusedError` for a replacement that withdraws the confirmation: it would come too late."""
    if volume_properties.deletes_storage(recorded) and not volume_properties.deletes_storage(new_inputs):
        raise errors.RefusedError(
            f"volume {identity} would be replaced, and its storage deleted as recorded, although on_destroy is keep "
            "now; nothing was changed: set on_destroy: keep alone, run `up`, and change the rest then"
        )


_DELETION: Mapping[str, str] = {
    "deleted": "is deleted with its storage {0}",
    "gone": "was gone already",
    "kept": "is deregistered, and its storage {0} is not deleted",
    "unknown": "is deregistered; could not determine whether its storage {0} is deleted",
}


def deletion_outcome(outcome: "deletion_proof.DeletionOutcome") -> str:
    """Return *outcome* as a sentence with what is left."""
    what = _DELETION.get(outcome.status, f"and its storage {{0}} are as they were ({outcome.status})")
    snapshot = f"last snapshot {outcome.snapshot_id}" if outcome.snapshot_id else ""
    remarks = "; ".join(filter(None, [outcome.reason, snapshot]))
    return f"volume {outcome.key} {what.format(outcome.external_id)}: {remarks or 'done'}"


# Of a volume that is removed.


def unknown_owner(removed: "observe.RemovedVolume", what: str) -> str:
    """Return that the owner record could not be read, so that the volume *what*, and what to do."""
    namespace, volume_id = removed.key
    return (
        f"volume {removed.name} {what}: without an owner record it is not known whether another resource has taken it "
        f"over; where none has, run `nomad volume deregister -namespace={namespace} {volume_id}`; owner records need "
        f"{ownership.RIGHTS.format(namespace=namespace)}"
    )


_Sentence = Callable[[Any], errors.RefusedError]

_OF_BOTH: Mapping[decide.Refusal, _Sentence] = {
    "other cluster": lambda it: cluster_identity.refusal(it.context.client, f"volume {it.name}", it.recorded_cluster),
    "foreign": lambda it: ownership.refusal(it.key, it.owner),
    "claimed": lambda it: deregistration.claimed(it.registered),
    "unfit": lambda it: errors.RefusedError(
        f"{it.name} stays as it is, because its replacement would not work: {'; '.join(it.problems)}"
    ),
}
_OF_WANTED: Mapping[decide.Refusal, _Sentence] = {
    "dependents": lambda it: it.storage_dependents.refusal(f"volume {it.name} stays as it is", it.key),
    "unreadable": lambda it: it.unread,
    "protected": lambda it: desired.refusal_of_other_data(it.name, it.change),
    "shared": lambda it: errors.RefusedError(f"volume {it.name} was not registered: {it.sharing_problem}"),
    "changed meanwhile": _changed_meanwhile,
    "impossible": _impossible,
    "other storage": _other_storage,
    "unrecorded": lambda it: unrecorded(it.key),
}
_OF_REMOVED: Mapping[decide.Refusal, _Sentence] = {
    "dependents": lambda it: it.storage_dependents.refusal(f"volume {it.name} is not removed", it.key),
    "changed meanwhile": lambda it: of_another_hand(it.registered, it.recorded_outputs),
    "renamed stack": lambda it: errors.RefusedError(f"volume {it.name} {it.other_stack}"),
    "owner not known": lambda it: errors.RefusedError(f"{unknown_owner(it, 'is not removed')}; run again then"),
    "protected": lambda it: errors.RefusedError(
        f"volume {it.name} is protected, and its storage {it.recorded_outputs.get('externalId', '')} would be deleted "
        "after its registration; nothing was changed: set protect: false, run `pulumi up`, and remove it then"
    ),
    "unproven": lambda it: errors.RefusedError(
        f"{deletion_objection(it.name, it.recorded_outputs)}; nothing was changed"
    ),
}
