"""What the custom resources of a volume share: they translate properties, decide, and have the steps carried out."""

import abc
from collections.abc import Mapping
from typing import Any, ClassVar

from nomad_csi import errors, nomad
from nomad_csi.frame import resource, stack_identity
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.volumes import (
    compare,
    created_deletion,
    desired,
    explain,
    fitness,
    owner_records,
    registration_ownership,
    removal,
    secret_safety,
    steps,
    volume_properties,
    wanted_volume,
)

State = tuple[resource.Properties, resource.Properties]
"""Inputs and outputs."""


class VolumeResource(resource.Resource):
    """A volume of a program."""

    unseen: ClassVar[resource.Properties] = {}
    """Required outputs where Nomad does not show the volume after a step."""

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id and the inputs; the outputs of Nomad and of the plugin are unknown."""
        required = (name for name, item in self.declared.outputs.items() if item.is_required())
        owned = volume_properties.OWNERSHIP if news.get("owner") else ()
        unknown = dict.fromkeys((*required, *owned, *stack_identity.OUTPUTS), resource.UNKNOWN)
        return resource.identity(news["namespace"], news["volumeId"]), self.declared.recorded(news) | unknown

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Make in a preview the decision of `create`, `update` or a replacement, and say what it means."""
        volume = self._of(news)
        is_replaced = self._is_replaced(old_outputs, news)
        is_missing = any(old_outputs.get(name) for name in volume_properties.OF_REGISTRATION)
        matters = not old_outputs or is_missing or is_replaced or self._is_checked(old_outputs, volume)
        if not matters or resource.UNKNOWN in volume.key:
            return
        with resource.Previewed(context, f"volume {volume.document.key}", is_recorded=bool(old_outputs)):
            if old_outputs and is_replaced:
                self._preview_replacement(context, old_outputs, news)
            else:
                wanted = wanted_volume.WantedVolume(context, volume, old_outputs or None, in_preview=True)
                (_preview_update if old_outputs else _preview_new)(context, wanted)
            fitness.warn_in_preview(context, volume, is_new=not old_outputs)

    def _is_replaced(self, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> bool:
        """Return whether *news* need another object than the recorded one."""
        found = self.diff(volume_properties.key_of(news), self.declared.inputs_in(old_outputs), old_outputs, news)
        return bool(old_outputs) and bool(found.replaces)

    def _is_checked(self, old_outputs: Mapping[str, Any], volume: desired.DesiredVolume) -> bool:
        """Return whether an update of what is registered is decided about in a preview, too."""
        del old_outputs, volume
        return False

    def _preview_replacement(
        self, context: resource.Context, recorded: Mapping[str, Any], news: Mapping[str, Any]
    ) -> None:
        """Refuse in a preview a replacement of the volume *recorded* by *news* that an `up` would refuse."""
        volume, before = self._of(news), self._of(recorded)
        if volume.key != before.key:
            new = wanted_volume.WantedVolume(context, volume, None, in_preview=True, replaced=before.key)
            new.permitted()
        removed = removal.RemovedVolume(context, self.declared, recorded, replaced_by=news, in_preview=True)
        if removed.fitness == "unfit":
            raise removed.refused("unfit")
        removed.warn_unchecked()

    def _of(self, values: Mapping[str, Any]) -> desired.DesiredVolume:
        """Return the volume of inputs, or of outputs."""
        return desired.of_properties(self.declared, values)

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """
        Register the volume, or have its plugin create it; or take over an equal one.

        Raises `errors.RefusedError` with the reason of the decision where nothing is done, and what `steps.carry_out`
        does.
        """
        return volume_properties.key_of(news), self._bring(context, news, None)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """
        Change the volume in place; or deregister it first, where Nomad does not change it in place.

        A volume that is not registered any more gets its storage again. Raises as `create` does.
        """
        del identity
        return self._bring(context, news, old_outputs)

    def _bring(
        self, context: resource.Context, news: Mapping[str, Any], old_outputs: Mapping[str, Any] | None
    ) -> resource.Properties:
        """Decide, carry out the steps, and return the outputs."""
        wanted = wanted_volume.WantedVolume(context, self._of(news), old_outputs)
        done = steps.carry_out(context, wanted, wanted.permitted())
        outputs = self.declared.recorded({**news, **without_remarks(done)})
        if old_outputs is None and (why := created_deletion.objection(wanted.name, outputs)):
            context.warn(why)
        seen = steps.seen_afterwards(context, wanted, self.unseen | outputs)
        return outputs | self._of_nomad(seen) | _owner_outputs(context.client, outputs)

    @abc.abstractmethod
    def _of_nomad(self, volume: volumes.Volume) -> resource.Properties:
        """Return the outputs that Nomad has of *volume*."""

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> State | None:
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
            if (
                inputs
                and (why := explain.stands_for_another(volume, outputs))
                and not (self.declared is volume_properties.CREATED and _has_created(context, outputs, volume))
            ):
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
        elif created_deletion.presence(context, outputs) == "gone":
            context.warn(f"volume {identity} is not registered in Nomad any more, and its storage {storage} is gone")
            return None
        elif not outputs.get(volume_properties.DEREGISTERED):
            context.warn(
                f"volume {identity} is not registered in Nomad any more: `up` registers it again, with its storage "
                f"{storage}"
            )
        return inputs, without_remarks(outputs) | {volume_properties.DEREGISTERED: True}

    @abc.abstractmethod
    def _live(self, volume: volumes.Volume, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> State:
        """Return inputs and outputs of *volume*; parts that Nomad never shows stay as recorded."""

    def _merged(
        self, actual: volumes.Volume, live: Mapping[str, Any], recorded: Mapping[str, Any]
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


def _preview_new(context: resource.Context, wanted: wanted_volume.WantedVolume) -> None:
    """Refuse in a preview a new volume that a create would refuse."""
    decision = wanted.decision()
    if decision.refusal in {"taken", "impossible"}:
        _refuse_unless_imported(context, wanted, wanted.refused(decision.refusal))
    elif decision.refusal is not None:
        raise wanted.refused(decision.refusal)
    elif "moved" in decision.remarks:
        context.warn(
            f"moved: volume {wanted.name} is this stack's already, and this resource takes it over; where another "
            "resource of the program had it, its removal leaves the volume as it is"
        )
    elif "registered again" in decision.remarks:
        context.warn(f"volume {wanted.name} gets the storage {wanted.kept_storage} again, which is kept for it")
    if "storage not checked" in decision.remarks:
        context.warn(
            f"volume {wanted.name} would be registered for storage that was not found: "
            f"{'; '.join(wanted.storage_problems[1])}; where it was deleted, run `pulumi refresh` first"
        )


def _refuse_unless_imported(
    context: resource.Context, wanted: wanted_volume.WantedVolume, refusal: errors.RefusedError
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


def _preview_update(context: resource.Context, wanted: wanted_volume.WantedVolume) -> None:
    """Refuse in a preview an update that an `up` would refuse."""
    decision = wanted.decision()
    if decision.refusal is not None:
        raise wanted.refused(decision.refusal)
    if "new and empty" in decision.remarks:
        context.warn(explain.new_and_empty(wanted.name, wanted.recorded_outputs))
    wanted.warn_unchecked()


def seen_differences(outputs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the paths that differ although no input does: what a refresh has seen, and outputs that are missing."""
    paths = {"foreignMountFlags": "mountOptions.mountFlags"} | {
        each: each for each in volume_properties.OF_REGISTRATION
    }
    seen = (path for name, path in paths.items() if outputs.get(name))
    return (*seen, *stack_identity.missing_outputs(outputs))


def without_remarks(outputs: Mapping[str, Any]) -> resource.Properties:
    """Return *outputs* without what a refresh has remarked of the registration."""
    return {name: value for name, value in outputs.items() if name not in volume_properties.OF_REGISTRATION}


# The owner of a volume in its outputs.


def _owner_record(context: resource.Context, inputs: Mapping[str, Any]) -> owner_records.OwnerRecord | None:
    """Return the owner record of the volume of *inputs*; ``None``: the token may not read it."""
    return registration_ownership.owner_records_of(context.client).cached(_key(inputs), context.warn)


def _has_created(context: resource.Context, outputs: Mapping[str, Any], volume: volumes.Volume) -> bool:
    """Return whether this stack had the plugin create the storage of *volume*, which the state does not know."""
    who = owner_records.requester(outputs, outputs)
    return owner_records.has_created(_owner_record(context, outputs), who, volume)


def _owner_outputs(client: nomad.Nomad, news: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs of a volume with an owner: its cluster, and whether it has an owner record."""
    if not news.get("owner"):
        return {}
    record = registration_ownership.owner_records_of(client).cached(_key(news))
    has_record = record is not None and record.owner == news["owner"]
    return {"cluster": cluster_identity.cluster_id(client), "marked": has_record}


def _read_owner(context: resource.Context, identity: str, recorded: Mapping[str, Any], found: State) -> State:
    """
    Return the inputs and outputs *found*, with the owner from its record; *recorded* are the old outputs.

    A lost record removes the owner from the inputs, so that it is set again. Another stack's record is a warning. Where
    another resource of the stack owns the volume, the nonce is left out: if the program still declares this one, as
    after the rollback of an interrupted move, its update acquires the volume again before the other one's delete.
    Raises `errors.RefusedError` where the volume was recorded in another cluster, and this one has one of that id too.
    """
    inputs, live = found
    live |= stack_identity.step_outputs(recorded)
    # Where the record is lost, the state still knows whose the volume is, and in which cluster.
    known = {
        name: recorded[name] for name in recorded.keys() & {*volume_properties.OWNERSHIP, *stack_identity.OF_OWNER}
    }
    if recorded and "owner" not in inputs:
        return inputs, live | known
    cluster_identity.refuse_other(context.client, f"volume {identity}", recorded)
    record = _owner_record(context, inputs)
    now = _merge_owner(context, inputs, recorded, record)
    lost = {"nonce"} if owner_records.is_another_resources(record, recorded) else set()
    shown = {name: value for name, value in live.items() if name not in lost} | known
    return now, shown | {name: now[name] for name in stack_identity.OF_OWNER if name in now} | _owner_outputs(
        context.client, now
    )


def _merge_owner(
    context: resource.Context,
    inputs: resource.Properties,
    recorded: Mapping[str, Any],
    record: owner_records.OwnerRecord | None,
) -> resource.Properties:
    """Return *inputs* with the owner of *record*; an unknown record, or another owner's, changes nothing."""
    if record is None:
        return inputs
    if not recorded:
        found = {"owner": record.owner, "ownerId": record.stack_id}
        return inputs | {name: value for name, value in found.items() if value}
    if record.owner and record.owner != inputs["owner"]:
        sentence = registration_ownership.sentence(_key(inputs), record)
        context.warn(f"{sentence} now, not to {inputs['owner']} as recorded")
    if not record.owner and recorded.get("marked"):
        return {name: value for name, value in inputs.items() if name not in stack_identity.OF_OWNER}
    return inputs


def _key(inputs: Mapping[str, Any]) -> volumes.Key:
    return inputs["namespace"], inputs["volumeId"]
