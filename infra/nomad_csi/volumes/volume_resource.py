"""
The custom resources of a volume: `VolumeRegistration` of existing storage, `CreatedVolume` that its plugin creates.

They translate properties, decide, and have the steps carried out.
"""

import abc
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from nomad_csi import errors, nomad
from nomad_csi.frame import resource, stack_identity
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import (
    compare,
    desired,
    explain,
    fitness,
    hold,
    observe,
    ownership,
    secret_safety,
    steps,
    volume_properties,
)

Values = Mapping[str, Any]
"""Inputs or outputs."""

State = tuple[resource.Properties, resource.Properties]
"""Inputs and outputs."""


class VolumeResource(resource.Resource):
    """A volume of a program."""

    unseen: ClassVar[resource.Properties] = {}
    """Required outputs where Nomad does not show the volume after a step."""

    def preview(self, new_inputs: Values) -> tuple[str, resource.Properties]:
        """Return the id and the inputs; the outputs of Nomad and of the plugin are unknown."""
        required = (name for name, item in self.declared.outputs.items() if item.is_required())
        owned = volume_properties.OWNERSHIP if new_inputs.get("owner") else ()
        unknown = dict.fromkeys((*required, *owned, *stack_identity.OUTPUTS), resource.UNKNOWN)
        return resource.identity(new_inputs["namespace"], new_inputs["volumeId"]), self.declared.recorded(
            new_inputs
        ) | unknown

    def preflight(self, context: resource.Context, old_outputs: Values, new_inputs: Values) -> None:
        """Make in a preview the decision of `create`, `update` or a replacement, and say what it means."""
        volume = self._of(new_inputs)
        is_replaced = self._is_replaced(old_outputs, new_inputs)
        is_missing = any(old_outputs.get(name) for name in volume_properties.OF_REGISTRATION)
        matters = not old_outputs or is_missing or is_replaced or _is_checked(self._of(old_outputs), volume)
        if not matters or resource.UNKNOWN in volume.key:
            return
        with resource.Previewed(context, f"volume {volume.document.key}", is_recorded=bool(old_outputs)):
            if old_outputs and is_replaced:
                self._preview_replacement(context, old_outputs, new_inputs)
            else:
                _preview(context, observe.WantedVolume(context, volume, old_outputs or None, in_preview=True))
            if not old_outputs:
                fitness.warn_in_preview(context, volume)

    def _is_replaced(self, old_outputs: Values, new_inputs: Values) -> bool:
        """Return whether *new_inputs* need another object than the recorded one."""
        diff = self.diff(
            volume_properties.key_of(new_inputs), self.declared.inputs_in(old_outputs), old_outputs, new_inputs
        )
        return bool(old_outputs) and bool(diff.replaces)

    def _preview_replacement(self, context: resource.Context, recorded: Values, new_inputs: Values) -> None:
        """Refuse in a preview a replacement of the volume *recorded* by *new_inputs* that an `up` would refuse."""
        volume, before = self._of(new_inputs), self._of(recorded)
        if volume.key != before.key:
            new = observe.WantedVolume(context, volume, None, in_preview=True, replaced=before.key)
            new.permitted()
        removed = observe.RemovedVolume(context, self.declared, recorded, replaced_by=new_inputs, in_preview=True)
        if removed.fitness == "unfit":
            raise removed.refused("unfit")

    def _of(self, values: Values) -> desired.DesiredVolume:
        """Return the volume of inputs, or of outputs."""
        return desired.of_properties(self.declared, values)

    def create(self, context: resource.Context, new_inputs: Values) -> tuple[str, resource.Properties]:
        """
        Register the volume, or have its plugin create it; or take over an equal one.

        Raises `errors.RefusedError` with the reason of the decision where nothing is done, and what `steps.carry_out`
        does.
        """
        return volume_properties.key_of(new_inputs), self._bring(context, new_inputs, None)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Values, new_inputs: Values
    ) -> resource.Properties:
        """
        Change the volume in place; or deregister it first, where Nomad does not change it in place.

        A volume that is not registered any more gets its storage again. Raises as `create` does.
        """
        del identity
        return self._bring(context, new_inputs, old_outputs)

    def _bring(self, context: resource.Context, new_inputs: Values, old_outputs: Values | None) -> resource.Properties:
        """Decide, carry out the steps, and return the outputs."""
        wanted = observe.WantedVolume(context, self._of(new_inputs), old_outputs)
        done = steps.carry_out(context, wanted, wanted.permitted())
        outputs = self.declared.recorded({**new_inputs, **without_remarks(done)})
        if old_outputs is None and (why := explain.deletion_objection(wanted.name, outputs)):
            context.warn(why)
        volume = steps.seen_afterwards(context, wanted, self.unseen | outputs)
        return outputs | self._of_nomad(volume) | _owner_outputs(context.client, outputs)

    @abc.abstractmethod
    def _of_nomad(self, volume: volumes.Volume) -> resource.Properties:
        """Return the outputs that Nomad has of *volume*."""

    def read(self, context: resource.Context, identity: str, inputs: Values, outputs: Values) -> State | None:
        """
        Return the observed inputs and outputs; all as recorded while Nomad is unreachable.

        Redacted parts stay as recorded. A recorded volume that is not registered stays in the state: it knows the
        storage, which Nomad does not any more. So does one that something else registered for other storage.
        """
        namespace, volume_id = resource.split_identity(identity, "namespace/volume_id")
        recorded = dict(inputs), dict(outputs)
        with resource.KeptIfUnreachable(context, f"volume {identity}", is_recorded=bool(inputs)):
            if secret_safety.is_at_risk(context.client, inputs.get("secrets", {})):
                why = secret_safety.risk(context.client)
                context.warn(f"volume {identity} was not compared: it has secrets, and {why}")
                return recorded
            volume = volumes.get(context.client, namespace, volume_id)
            if volume is None:
                return self._not_registered(context, identity, recorded)
            why = explain.stands_for_another(volume, outputs) if inputs else ""
            if why and self.declared is volume_properties.CREATED:
                who = ownership.requester(outputs, outputs)
                why = "" if ownership.has_created(_owner_record(context, outputs), who, volume) else why
            if why:
                context.warn(f"{why}: something else registered it, and `up` will be refused")
                return recorded[0], without_remarks(outputs) | {volume_properties.OTHER_STORAGE: volume.external_id}
            if volume.has_mount_flags and not inputs:
                context.warn(
                    f"Nomad does not show the mount flags of {identity}, nor whether it has secrets: "
                    "write them into the program, or the next update drops them"
                )
            return _read_owner(context, identity, outputs, self._live(volume, inputs, outputs))
        return recorded

    def _not_registered(self, context: resource.Context, identity: str, recorded: State) -> State | None:
        inputs, outputs = recorded
        if not inputs:
            return None
        storage = outputs.get("externalId", "")
        if why := cluster_identity.sentence(context.client, f"volume {identity}", outputs):
            context.warn(why)
        elif not outputs.get(volume_properties.DEREGISTERED):
            context.warn(
                f"volume {identity} is not registered in Nomad any more: `up` registers it again, with its storage "
                f"{storage}"
            )
        return inputs, without_remarks(outputs) | {volume_properties.DEREGISTERED: True}

    @abc.abstractmethod
    def _live(self, volume: volumes.Volume, inputs: Values, outputs: Values) -> State:
        """Return inputs and outputs of *volume*; parts that Nomad never shows stay as recorded."""

    def _merged(
        self, actual: volumes.Volume, live: Values, recorded: Values
    ) -> tuple[resource.Properties, resource.Properties]:
        """
        Return the inputs *recorded*, with those of *live* that differ, and the output that records foreign flags.

        *live* are the inputs that describe Nomad's view of *actual*; returned whole where nothing is *recorded*, for an
        import.
        """
        if not recorded:
            return dict(live), {}
        before = self._of(recorded)
        compared = compare.compare_volume(before.document, actual, made_by_plugin=before.is_created)
        differing = desired.property_names(compared.differences)
        whole = {name: value for name, value in recorded.items() if name not in differing}
        whole |= {name: live[name] for name in differing if name in live}
        flags = list(before.document.mount_options.mount_flags)
        if "mountOptions" in differing and actual.has_mount_flags and flags:
            whole["mountOptions"] = whole.get("mountOptions", {}) | {"mountFlags": flags}
        return whole, {"foreignMountFlags": True} if actual.has_mount_flags and not flags else {}


def _is_checked(before: desired.DesiredVolume, after: desired.DesiredVolume) -> bool:
    """Return whether an update of what is registered is decided about in a preview, too."""
    if after.is_created:
        return False
    change = desired.classify(before, after)
    return change.kind != "none" or change.left_storage is not None


def _preview(context: resource.Context, wanted: observe.WantedVolume) -> None:
    """Refuse in a preview what an `up` would refuse, and warn of what it does."""
    decision, name = wanted.decision(), wanted.name
    if decision.refusal in {"taken", "impossible"} and wanted.recorded == "nothing":
        _refuse_unless_imported(context, wanted, wanted.refused(decision.refusal))
    elif decision.refusal is not None:
        raise wanted.refused(decision.refusal)
    elif "moved" in decision.remarks:
        context.warn(
            f"moved: volume {name} is this stack's already, and this resource takes it over; where another resource of "
            "the program had it, its removal leaves the volume as it is"
        )
    elif "registered again" in decision.remarks and wanted.recorded == "nothing":
        context.warn(f"volume {name} gets the storage {wanted.kept_storage} again, which is kept for it")


def _refuse_unless_imported(
    context: resource.Context, wanted: observe.WantedVolume, refusal: errors.RefusedError
) -> None:
    """
    Raise the *refusal* of a new volume; a preview for an import warns of it where this stack does not own the volume.

    The stack's id decides that: its state then has, or had, another resource for the volume.
    """
    owner = wanted.owner
    is_ours = owner is not None and owner.stack_id and owner.stack_id == wanted.desired.owner_id
    if not context.imports or is_ours:
        raise refusal
    context.warn(
        f"{refusal}; `up` is refused, unless the volume is imported first; after `nomad-csi eject`, remove it from the "
        "program"
    )


def seen_differences(outputs: Values) -> tuple[str, ...]:
    """Return the paths that differ although no input does: what a refresh has seen, and outputs that are missing."""
    paths = {"foreignMountFlags": "mountOptions.mountFlags"} | {
        each: each for each in volume_properties.OF_REGISTRATION
    }
    observed = (path for name, path in paths.items() if outputs.get(name))
    return (*observed, *stack_identity.missing_outputs(outputs))


def without_remarks(outputs: Values) -> resource.Properties:
    """Return *outputs* without what a refresh has remarked of the registration."""
    return {name: value for name, value in outputs.items() if name not in volume_properties.OF_REGISTRATION}


# The owner of a volume in its outputs.


def _owner_record(context: resource.Context, inputs: Values) -> ownership.OwnerRecord | None:
    """Return the owner record of the volume of *inputs*; ``None``: the token may not read it."""
    return ownership.OwnerRecords(context.client).cached(_key(inputs), context.warn)


def _owner_outputs(client: nomad.Nomad, new_inputs: Values) -> dict[str, Any]:
    """Return the outputs of a volume with an owner: its cluster, and whether it has an owner record."""
    if not new_inputs.get("owner"):
        return {}
    record = ownership.OwnerRecords(client).cached(_key(new_inputs))
    has_record = record is not None and record.owner == new_inputs["owner"]
    return {"cluster": cluster_identity.cluster_id(client), "marked": has_record}


def _read_owner(context: resource.Context, identity: str, recorded: Values, state: State) -> State:
    """
    Return the inputs and outputs of *state*, with the owner from its record; *recorded* are the old outputs.

    A lost record removes the owner from the inputs, so that it is set again. Another stack's record is a warning. Where
    another resource of the stack owns the volume, the nonce is left out: if the program still declares this one, as
    after the rollback of an interrupted move, its update acquires the volume again before the other one's delete.
    Raises `errors.RefusedError` where the volume was recorded in another cluster, and this one has one of that id too.
    """
    inputs, live = state
    live |= stack_identity.step_outputs(recorded)
    # Where the record is lost, the state still knows whose the volume is, and in which cluster.
    known = {
        name: recorded[name] for name in recorded.keys() & {*volume_properties.OWNERSHIP, *stack_identity.OF_OWNER}
    }
    if recorded and "owner" not in inputs:
        return inputs, live | known
    cluster_identity.refuse_other(context.client, f"volume {identity}", recorded)
    record = _owner_record(context, inputs)
    if record is not None and not recorded:
        owner = {"owner": record.owner, "ownerId": record.stack_id}
        inputs |= {name: value for name, value in owner.items() if value}
    elif record is not None and record.owner and record.owner != inputs["owner"]:
        sentence = ownership.sentence(_key(inputs), record)
        context.warn(f"{sentence} now, not to {inputs['owner']} as recorded")
    elif record is not None and not record.owner and recorded.get("marked"):
        inputs = {name: value for name, value in inputs.items() if name not in stack_identity.OF_OWNER}
    if ownership.is_another_resources(record, recorded):
        live.pop("nonce", None)
    owned = {name: inputs[name] for name in stack_identity.OF_OWNER if name in inputs}
    return inputs, live | known | owned | _owner_outputs(context.client, inputs)


def _key(inputs: Values) -> volumes.Key:
    return inputs["namespace"], inputs["volumeId"]


# Existing storage.


class VolumeRegistrationResource(VolumeResource):
    """A CSI volume registered with Nomad. Deleting it deregisters the volume and keeps the storage."""

    declared = volume_properties.REGISTRATION
    unseen: ClassVar[resource.Properties] = {"controllerRequired": False}

    def diff(self, identity: str, old_inputs: Values, old_outputs: Values, new_inputs: Values) -> resource.ResourceDiff:
        """
        Compare inputs; a change that Nomad does not make in place registers it again, and only another id replaces.

        Refuses nothing: the engine calls it in a refresh, too, to show drift.
        """
        before, after = self._of(old_inputs), self._of(new_inputs)
        change = desired.classify(before, after)
        fate = ("storage",) if desired.has_other_fate(before, after) else ()
        also = (*seen_differences(old_outputs), *fate)
        diff = resource.difference(self.declared, old_inputs, new_inputs, changed=change.changed, also_updates=also)
        return replace(diff, notice=desired.sentence(identity, change))

    def _of_nomad(self, volume: volumes.Volume) -> resource.Properties:
        return {"controllerRequired": volume.controller_required}

    def _live(self, volume: volumes.Volume, inputs: Values, outputs: Values) -> State:
        del outputs
        whole = desired.write_inputs(volume.registration())
        shown = {name: value for name, value in whole.items() if name in self.declared.inputs}
        live, foreign = self._merged(volume, shown, inputs)
        if inputs.get("storage") and live["externalId"] != inputs.get("externalId"):
            live["storage"] = {name: value for name, value in live["storage"].items() if name != "location"}
        return live, self.declared.recorded(live) | self._of_nomad(volume) | foreign

    def delete(self, context: resource.Context, identity: str, outputs: Values) -> None:
        """
        Deregister the volume, then remove its owner record; no-op where another resource of the stack took it over.

        Raises `errors.RefusedError` with the reason of the decision where nothing is done.
        """
        del identity
        steps.remove(context, observe.RemovedVolume(context, self.declared, outputs))


# Storage that a plugin creates.


_PLACES = ("requiredTopologies", "preferredTopologies")


class CreatedVolumeResource(VolumeResource):
    """A CSI volume that its plugin creates. Deletion deregisters it; its storage stays but for `onDestroy: delete`."""

    declared = volume_properties.CREATED

    def diff(self, identity: str, old_inputs: Values, old_outputs: Values, new_inputs: Values) -> resource.ResourceDiff:
        """
        Compare inputs; parameters of the creation replace the storage, a larger size grows it.

        Raises `errors.RefusedError` for a replacement that would delete storage which the program now keeps.
        """
        wanted = _with_recorded_topologies(old_inputs, new_inputs)
        before, after = self._of(old_inputs), self._of(wanted)
        changed = desired.differing(before, after)
        if before.key == after.key:
            changed = desired.changed(before, after, desired.compare_states(before, after, old_outputs))
        observed = seen_differences(old_outputs)
        diff = resource.difference(self.declared, old_inputs, wanted, changed=changed, also_updates=observed)
        document = self._of(new_inputs).document
        if diff.replaces:
            explain.refuse_replacement(identity, old_outputs, new_inputs)
            return replace(diff, notice="; ".join(explain.replacement(identity, old_outputs, document)))
        return replace(diff, notice=explain.change_of_deletion(identity, old_outputs, new_inputs))

    def preflight(self, context: resource.Context, old_outputs: Values, new_inputs: Values) -> None:
        """Refuse a smaller size, whatever the cluster has; then as every volume."""
        volume = self._of(new_inputs)
        is_same = bool(old_outputs) and not self._is_replaced(old_outputs, new_inputs)
        if is_same:
            requested, size = self._of(old_outputs).document.capacity_min_bytes, old_outputs.get("capacityBytes", 0)
            if shrinks := explain.shrinking(volume.document, size, requested):
                raise errors.RefusedError(shrinks)
        super().preflight(context, old_outputs, new_inputs)

    def _of_nomad(self, volume: volumes.Volume) -> resource.Properties:
        return steps.created_outputs(volume)

    def _live(self, volume: volumes.Volume, inputs: Values, outputs: Values) -> State:
        whole = desired.write_inputs(volume.registration()) | {"name": registration.readable_part(volume.name)}
        shown = volume_properties.sort_topologies(
            {name: value for name, value in whole.items() if name in self.declared.inputs}
        )
        live, foreign = self._merged(volume, shown, inputs)
        live_outputs = self.declared.recorded(live) | self._of_nomad(volume) | foreign
        return live, live_outputs | {volume_properties.CREATED_NAME: volume.name} | _proof(outputs)

    def delete(self, context: resource.Context, identity: str, outputs: Values) -> None:
        """
        Deregister the volume, and report where its storage stays; or delete that too, with ``onDestroy: delete``.

        Raises `errors.RefusedError` where nothing is done, and what `steps.delete_storage` does.
        """
        removed = observe.RemovedVolume(context, self.declared, outputs)
        if not steps.remove(context, removed):
            return
        if volume_properties.deletes_storage(outputs):
            with hold.removing(context, removed.key):
                steps.delete_storage(context, removed)
            return
        storage = outputs.get("externalId", "" if removed.actual is None else removed.actual.external_id)
        if storage:
            context.warn(
                f"volume {identity} is deregistered; its storage {storage} of plugin {outputs.get('pluginId', '')} "
                f"stays, with its data{_kept(removed, outputs, storage)}"
            )


def _kept(removed: observe.RemovedVolume, recorded: Values, storage: str) -> str:
    """Return whether the owner record keeps *storage* for the id, as the end of a sentence."""
    owner = str(recorded.get("owner", ""))
    if not (removed.keeps_storage and owner) or removed.record == "not known":
        return ": delete it in the storage system when it is not needed any more"
    command = ownership.way_to_give_up(removed.key, storage, owner)
    return f", and is kept for {removed.name}: to give it up, {command}"


def _proof(recorded: Values) -> resource.Properties:
    """Return the *recorded* outputs that Nomad does not have: of the creation of the storage, and of the last step."""
    names = (volume_properties.MADE, volume_properties.CREATED_NAME)
    return {name: recorded[name] for name in names if name in recorded} | stack_identity.step_outputs(recorded)


def _with_recorded_topologies(recorded: Values, new_inputs: Values) -> resource.Properties:
    """
    Return *new_inputs* with the topologies *recorded*, where the program asks for the same zone as before.

    Existing storage does not move. A topology is the zone under the catalogue's topology key: a replacement because
    of a changed catalogue alone would lose the data.
    """
    zone = new_inputs.get("availabilityZone")
    if zone is None or zone != recorded.get("availabilityZone"):
        return dict(new_inputs)
    kept = {name: recorded[name] for name in _PLACES if name in recorded}
    return {name: value for name, value in new_inputs.items() if name not in _PLACES} | kept
