"""The custom resource `CreatedVolume`: a volume that the plugin itself creates, through Nomad."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nomad_csi import errors
from nomad_csi.frame import changes, resource, stack_identity
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import (
    created_deletion,
    desired,
    explain,
    hold,
    registration_ownership,
    removal,
    steps,
    volume_properties,
    volume_resource,
)

_PLACES = ("requiredTopologies", "preferredTopologies")


class CreatedVolumeResource(volume_resource.VolumeResource):
    """A CSI volume that its plugin creates. Deletion deregisters it; its storage stays but for `onDestroy: delete`."""

    declared = volume_properties.CREATED

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """
        Compare inputs; parameters of the creation replace the storage, a larger size grows it.

        Raises `errors.RefusedError` for a replacement that would delete storage which the program now keeps.
        """
        wanted = _with_recorded_places(old_inputs, news)
        before, after = self._of(old_inputs), self._of(wanted)
        changed = desired.differing(before, after)
        if before.key == after.key:
            changed = desired.changed(before, after, desired.compare_states(before, after, old_outputs))
        seen = volume_resource.seen_differences(old_outputs)
        found = changes.difference(self.declared, old_inputs, wanted, changed=changed, also_updates=seen)
        document = self._of(news).document
        if found.replaces:
            created_deletion.refuse_replacement(identity, old_outputs, news)
            return replace(found, notice="; ".join(explain.replacement(identity, old_outputs, document)))
        return replace(found, notice="; ".join(created_deletion.describe_change(identity, old_outputs, news)))

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Refuse a smaller size, whatever the cluster has; then as every volume."""
        volume = self._of(news)
        is_same = bool(old_outputs) and not self._is_replaced(old_outputs, news)
        if is_same and (shrinks := explain.shrinking(old_outputs.get("capacityBytes", 0), volume.document)):
            raise errors.RefusedError(shrinks)
        super().preflight(context, old_outputs, news)

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id and the inputs; the plugin's outputs are unknown."""
        identity, outputs = super().preview(news)
        return identity, outputs | {volume_properties.CREATED_NAME: resource.UNKNOWN}

    def _of_nomad(self, volume: volumes.Volume) -> resource.Properties:
        return steps.created_outputs(volume)

    def _live(
        self, volume: volumes.Volume, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> volume_resource.State:
        whole = desired.write_inputs(volume.registration()) | {"name": registration.readable_part(volume.name)}
        shown = volume_properties.sort_places(
            {name: value for name, value in whole.items() if name in self.declared.inputs}
        )
        live, foreign = self._merged(volume, shown, inputs)
        seen = self.declared.recorded(live) | self._of_nomad(volume) | foreign
        return live, seen | {volume_properties.CREATED_NAME: volume.name} | _proof(outputs)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, and report where its storage stays; or delete that too, with ``onDestroy: delete``.

        Raises `errors.RefusedError` where nothing is done, and what `created_deletion.delete` does.
        """
        removed = removal.RemovedVolume(context, self.declared, outputs)
        if not removal.remove(context, removed):
            return
        if created_deletion.is_wanted(outputs):
            with hold.removing(context, removed.key):
                created_deletion.delete(context, removed, outputs)
            return
        storage = outputs.get("externalId", "" if removed.found is None else removed.found.external_id)
        if storage:
            context.warn(
                f"volume {identity} is deregistered; its storage {storage} of plugin {outputs.get('pluginId', '')} "
                f"stays, with its data{_kept(removed, outputs, storage)}"
            )


def _kept(removed: removal.RemovedVolume, recorded: Mapping[str, Any], storage: str) -> str:
    """Return whether the owner record keeps *storage* for the id, as the end of a sentence."""
    owner = str(recorded.get("owner", ""))
    if not (removed.keeps_storage and owner) or removed.record == "not known":
        return ": delete it in the storage system when it is not needed any more"
    command = registration_ownership.way_to_give_up(removed.key, storage, owner)
    return f", and is kept for {removed.name}: to give it up, {command}"


def _proof(recorded: Mapping[str, Any]) -> resource.Properties:
    """Return the *recorded* outputs that Nomad does not have: of the creation of the storage, and of the last step."""
    made = (volume_properties.MADE, volume_properties.CREATED_NAME)
    return {name: recorded[name] for name in made if name in recorded} | stack_identity.step_outputs(recorded)


def _with_recorded_places(recorded: Mapping[str, Any], news: Mapping[str, Any]) -> resource.Properties:
    """
    Return *news* with the places *recorded*, where the program asks for the same zone as before.

    Existing storage does not move. A place is the zone under the catalogue's topology key: a replacement because of a
    changed catalogue alone would lose the data.
    """
    zone = news.get("availabilityZone")
    if zone is None or zone != recorded.get("availabilityZone"):
        return dict(news)
    kept = {name: recorded[name] for name in _PLACES if name in recorded}
    return {name: value for name, value in news.items() if name not in _PLACES} | kept
