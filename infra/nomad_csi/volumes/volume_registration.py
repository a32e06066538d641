"""The custom resource `VolumeRegistration`: the registration of existing storage with Nomad."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from nomad_csi.frame import changes, resource
from nomad_csi.nomad import volumes
from nomad_csi.volumes import (
    desired,
    registration_change,
    removal,
    volume_properties,
    volume_resource,
)


class VolumeRegistrationResource(volume_resource.VolumeResource):
    """A CSI volume registered with Nomad. Deleting it deregisters the volume and keeps the storage."""

    declared = volume_properties.REGISTRATION
    unseen: ClassVar[resource.Properties] = {"controllerRequired": False}

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """
        Compare inputs; a change that Nomad does not make in place registers it again, and only another id replaces.

        Refuses nothing: the engine calls it in a refresh, too, to show drift.
        """
        before, after = self._of(old_inputs), self._of(news)
        change = registration_change.classify(before, after)
        fate = ("storage",) if registration_change.has_other_fate(before, after) else ()
        also = (*volume_resource.seen_differences(old_outputs), *fate)
        found = changes.difference(self.declared, old_inputs, news, changed=change.changed, also_updates=also)
        manner = "deregistered and registered again" if change.kind == "re-register" else found.manner
        return replace(found, notice=registration_change.sentence(identity, change), manner=manner)

    def _is_checked(self, old_outputs: Mapping[str, Any], volume: desired.DesiredVolume) -> bool:
        change = registration_change.classify(self._of(old_outputs), volume)
        return change.kind == "re-register" or change.storage != "same" or change.left_storage is not None

    def _of_nomad(self, volume: volumes.Volume) -> resource.Properties:
        return {"controllerRequired": volume.controller_required}

    def _live(
        self, volume: volumes.Volume, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> volume_resource.State:
        del outputs
        whole = desired.write_inputs(volume.registration())
        shown = {name: value for name, value in whole.items() if name in self.declared.inputs}
        live, foreign = self._merged(volume, shown, inputs)
        if inputs.get("storage") and live["externalId"] != inputs.get("externalId"):
            live["storage"] = {name: value for name, value in live["storage"].items() if name != "location"}
        return live, self.declared.recorded(live) | self._of_nomad(volume) | foreign

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, then remove its owner record; no-op where another resource of the stack took it over.

        Raises `errors.RefusedError` with the reason of the decision where nothing is done.
        """
        del identity
        removal.remove(context, removal.RemovedVolume(context, self.declared, outputs))
