"""The custom resource `VolumeRegistration`: the registration of existing storage with Nomad."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nomad_csi.frame import changes, resource, stack_identity
from nomad_csi.nomad import volumes
from nomad_csi.volumes import (
    desired,
    registration_change,
    removal,
    steps,
    volume_ownership,
    volume_properties,
    volume_resource,
    wanted_volume,
)


class VolumeRegistrationResource(volume_resource.VolumeResource):
    """A CSI volume registered with Nomad. Deleting it deregisters the volume and keeps the storage."""

    declared = volume_properties.REGISTRATION

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """
        Compare inputs; a change that Nomad does not make in place registers it again, and only another id replaces.

        Refuses nothing: the engine calls it in a refresh, too, to show drift.
        """
        before, after = self._of(old_inputs), self._of(news)
        change = registration_change.classify(before, after)
        hidden = ("mountOptions.mountFlags",) if old_outputs.get("foreignMountFlags") else ()
        missing = tuple(name for name in volume_properties.OF_REGISTRATION if old_outputs.get(name))
        fate = ("storage",) if registration_change.has_other_fate(before, after) else ()
        also = (*hidden, *missing, *fate, *stack_identity.missing_outputs(old_outputs))
        found = changes.difference(self.declared, old_inputs, news, changed=change.changed, also_updates=also)
        manner = "deregistered and registered again" if change.kind == "re-register" else found.manner
        return replace(found, notice=registration_change.sentence(identity, change), manner=manner)

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Refuse what is protected, whatever the cluster has; then as every volume."""
        volume = self._of(news)
        change = registration_change.classify(self._of(old_outputs), volume)
        if volume.protect and change.kind != "replace" and change.storage != "same":
            raise registration_change.refusal_of_other_data(volume.document.key, change)
        super().preflight(context, old_outputs, news)

    def _is_replaced(self, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> bool:
        return bool(old_outputs) and volume_properties.key_of(old_outputs) != volume_properties.key_of(news)

    def _is_checked(self, old_outputs: Mapping[str, Any], volume: desired.DesiredVolume) -> bool:
        change = registration_change.classify(self._of(old_outputs), volume)
        return change.kind == "re-register" or change.left_storage is not None

    def _observed(
        self, context: resource.Context, wanted: wanted_volume.WantedVolume, outputs: resource.Properties
    ) -> resource.Properties:
        known = outputs | {"controllerRequired": False}
        found = steps.seen_afterwards(context, wanted, known, done="registered", gone="registered")
        return (
            known
            | {"controllerRequired": found.controller_required}
            | volume_ownership.outputs(context.client, outputs)
        )

    def _live(
        self, volume: volumes.Volume, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> volume_ownership.State:
        del outputs
        whole = desired.write_inputs(volume.registration())
        shown = {name: value for name, value in whole.items() if name in self.declared.inputs}
        live, foreign = self._merged(volume, shown, inputs)
        if inputs.get("storage") and live["externalId"] != inputs.get("externalId"):
            live["storage"] = {name: value for name, value in live["storage"].items() if name != "location"}
        return live, self.declared.recorded(live) | {"controllerRequired": volume.controller_required} | foreign

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, then remove its owner record; no-op where another resource of the stack took it over.

        Raises `errors.RefusedError` with the reason of the decision where nothing is done.
        """
        del identity
        removal.remove(context, removal.RemovedVolume(context, self.declared, outputs), outputs)
