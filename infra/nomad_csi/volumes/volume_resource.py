"""What the custom resources of a volume share: they translate properties, decide, and have the steps carried out."""

import abc
from collections.abc import Mapping
from typing import Any

from nomad_csi.frame import resource
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.nomad.records import volumes as volume_records
from nomad_csi.volumes import (
    compare,
    desired,
    explain,
    fitness,
    removal,
    secret_safety,
    steps,
    volume_ownership,
    volume_properties,
    wanted_volume,
)

State = volume_ownership.State


class VolumeResource(resource.Resource):
    """A volume of a program."""

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id and the inputs; the outputs of Nomad and of the plugin are unknown."""
        required = (name for name, item in self.declared.outputs.items() if item.is_required())
        unknown = dict.fromkeys(required, resource.UNKNOWN) | volume_ownership.unknown(news)
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

    @abc.abstractmethod
    def _is_replaced(self, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> bool:
        """Return whether *news* need another object."""

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
        return self._observed(context, wanted, self.declared.recorded({**news, **without_remarks(done)}))

    @abc.abstractmethod
    def _observed(
        self, context: resource.Context, wanted: wanted_volume.WantedVolume, outputs: resource.Properties
    ) -> resource.Properties:
        """Return the outputs after a change, completed by what Nomad shows now."""

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
                and not self._has_created(context, outputs, volume)
            ):
                context.warn(f"{why}: something else registered it, and `up` will be refused")
                return recorded[0], without_remarks(outputs) | {volume_properties.OTHER_STORAGE: volume.external_id}
            if volume.has_mount_flags and not inputs:
                context.warn(
                    f"Nomad does not show the mount flags of {identity}, nor whether it has secrets: "
                    "write them into the program, or the next update drops them"
                )
            return volume_ownership.read_owner(context, identity, outputs, self._live(volume, inputs, outputs))
        return recorded

    def _not_registered(self, context: resource.Context, identity: str, recorded: State) -> State | None:
        inputs, outputs = recorded
        if not inputs:
            return None
        storage = outputs.get("externalId", "")
        if why := cluster_identity.sentence(context.client, f"volume {identity}", outputs):
            context.warn(why)
        elif self._is_gone(context, outputs):
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

    def _is_gone(self, context: resource.Context, outputs: Mapping[str, Any]) -> bool:
        """Return whether the storage is known to be gone."""
        del context, outputs
        return False

    def _has_created(self, context: resource.Context, outputs: Mapping[str, Any], volume: volumes.Volume) -> bool:
        """Return whether this stack had the plugin create the storage of *volume*, which the state does not know."""
        del context, outputs, volume
        return False

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
        volume_ownership.warn_unless_owned(context, wanted.desired, wanted.refused(decision.refusal))
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


def _preview_update(context: resource.Context, wanted: wanted_volume.WantedVolume) -> None:
    """Refuse in a preview an update that an `up` would refuse; claims may be gone by then."""
    decision = wanted.decision()
    if decision.refusal == "claimed":
        holders = volume_records.holders(wanted.registered)
        context.warn(f"volume {wanted.name} is claimed now, and `up` refuses this change while it is: {holders}")
    elif decision.refusal is not None:
        raise wanted.refused(decision.refusal)
    if "new and empty" in decision.remarks:
        context.warn(explain.new_and_empty(wanted.name, wanted.recorded_outputs))
    wanted.warn_unchecked()


def without_remarks(outputs: Mapping[str, Any]) -> resource.Properties:
    """Return *outputs* without what a refresh has remarked of the registration."""
    return {name: value for name, value in outputs.items() if name not in volume_properties.OF_REGISTRATION}
