"""The custom resource `VolumeRegistration`: the registration of existing storage with Nomad."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nomad_csi.nomad import volumes
from nomad_csi.registration import secret_safety
from nomad_csi.resources import (
    registration_anew,
    registration_change,
    sharing_refusal,
    stack_identity,
    successor,
    volume_changes,
    volume_document,
    volume_ownership,
    volume_properties,
    volume_steps,
)
from nomad_csi.resources.frame import compare, resource


class VolumeRegistrationResource(resource.Resource):
    """A CSI volume registered with Nomad. Deleting it deregisters the volume and keeps the storage."""

    declared = volume_properties.DECLARED

    def check(self, news: Mapping[str, Any]) -> tuple[resource.Properties, tuple[resource.Failure, ...]]:
        """Return *news* with default namespace and name, and all failures."""
        return volume_properties.check(self.declared.inputs, news)

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """
        Compare inputs; a change that Nomad does not make in place registers anew, and only another id replaces.

        Refuses nothing: the engine calls it in a refresh, too, to show drift.
        """
        change = registration_change.classify(old_inputs, news)
        hidden = ("mountOptions.mountFlags",) if old_outputs.get("foreignMountFlags") else ()
        also = (*hidden, *stack_identity.missing_outputs(old_outputs))
        found = compare.difference(self.declared, old_inputs, news, changed=change.changed, also_updates=also)
        return replace(found, notice=registration_change.sentence(identity, change))

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id and the inputs; Nomad's outputs are unknown."""
        unknown = {"controllerRequired": resource.UNKNOWN} | volume_ownership.unknown(news)
        return resource.identity(news["namespace"], news["volumeId"]), self.declared.recorded(news) | unknown

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Check in a preview the replacement of a registration; for a new volume, that its plugin is registered."""
        change = registration_change.classify(self.declared.inputs_in(old_outputs), news)
        if news.get("protect"):
            registration_change.refuse_other_data(volume_properties.key_of(news), change)
        matters = not old_outputs or change.kind in {"register-anew", "replace"}
        if not matters or resource.UNKNOWN in (news["namespace"], news["volumeId"]):
            return
        what = f"volume {volume_properties.key_of(news)}"
        with resource.Previewed(context, what, is_recorded=bool(old_outputs)):
            if not old_outputs:
                volume_steps.preview_new(context, news)
                successor.refuse_missing_storage(context, news)
                sharing_refusal.refuse_new(context, news)
            elif change.kind == "register-anew":
                if change.old_external_id != change.new_external_id:
                    sharing_refusal.refuse(context, news)
                registration_anew.preview(context, old_outputs, news)
            elif change.kind == "replace":
                successor.refuse(context, news, old_outputs, in_preview=True)
            successor.warn_out_of_reach(context, news)

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """
        Register the volume, or take over an equal registration.

        Raises `errors.RefusedError` where it differs, and where another stack owns it.
        """
        found, held = volume_steps.read_new(context, news), volume_ownership.next_hold(news, {})
        if found is None:
            sharing_refusal.refuse(context, news)
            volume_changes.register(context, news, held, is_new=True)
        else:
            volume_changes.take_over(context, found, news, held)
        return volume_properties.key_of(news), _observed(context, news, stack_identity.recorded(context, held.nonce))

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the observed state; redacted parts stay as recorded, and so does all while Nomad is unreachable."""
        recorded = dict(inputs), dict(outputs)
        return volume_steps.read(context, identity, recorded, live=lambda volume: _live(volume, inputs))

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """
        Register the volume again with its changes; anew, where Nomad does not change them in place.

        Raises `errors.RefusedError` where Nomad would refuse it, where the volume is protected and its id would get
        other data, and what `registration_anew.register` does.
        """
        if news.get("protect"):
            change = registration_change.classify(self.declared.inputs_in(old_outputs), news)
            registration_change.refuse_other_data(identity, change)
        volume_ownership.refuse_other_cluster(context.client, identity, old_outputs)
        volume_ownership.refuse_others(context.client, news, old_outputs)
        secret_safety.refuse(context.client, identity, {**old_outputs, **news})
        found = volumes.get(context.client, news["namespace"], news["volumeId"])
        held = volume_ownership.next_hold(news, old_outputs)
        if any(old_outputs.get(name) != news[name] for name in ("externalId", "capabilities")):
            sharing_refusal.refuse(context, news)
        if found is not None and stack_identity.is_all_that_differs(old_outputs, news, self.declared):
            volume_ownership.mark(context, news, old_outputs, held)
        elif found is not None and registration_anew.is_needed(found, news):
            registration_anew.register(context, found, old_outputs, news, held)
        else:
            volume_changes.refuse_impossible(volume_changes.compare(found, news), news)
            volume_changes.register(context, news, held, is_new=found is None, found=found, recorded=old_outputs)
        return _observed(context, news, stack_identity.recorded(context, held.nonce))

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, then remove its owner record; no-op where another resource of the stack took it over.

        Raises `errors.RefusedError` while it is claimed, where its storage changed, or where another stack owns it.
        """
        if volume_steps.is_taken_over(context, self.declared.token, identity, outputs):
            return
        wanted = context.operation.declared(self.declared.token, context.urn)
        if wanted is not None:
            successor.refuse(context, wanted, outputs)
        else:
            declared = context.operation.all_declared(self.declared.token)
            sharing_refusal.refuse_with_guests(context, identity, outputs, declared)
        volume_steps.deregister(context, identity, outputs)


def _observed(context: resource.Context, news: Mapping[str, Any], done: Mapping[str, Any]) -> resource.Properties:
    """Return the outputs after a registration, with its results *done*."""
    news = {**news, **done}
    found: volumes.Volume | volumes.ListedVolume | None
    if secret_safety.is_at_risk(context.client, news):
        found = secret_safety.listed(context.client, news["namespace"], news["volumeId"])
    else:
        found = volume_steps.seen_afterwards(context, news, _outputs(news, None), done="registered", gone="registered")
    return _outputs(news, found) | volume_ownership.outputs(context.client, news)


def _outputs(inputs: Mapping[str, Any], volume: volumes.Volume | volumes.ListedVolume | None) -> resource.Properties:
    recorded = volume_properties.DECLARED.recorded(inputs)
    return recorded | {"controllerRequired": volume is not None and volume.controller_required}


def _live(volume: volumes.Volume, recorded: Mapping[str, Any]) -> tuple[resource.Properties, resource.Properties]:
    """Return inputs and outputs of *volume*; parts that Nomad never shows stay as *recorded*."""
    whole = volume_document.write_inputs(volume.registration())
    shown = {name: value for name, value in whole.items() if name in volume_properties.INPUTS}
    live, foreign = volume_document.merge_recorded(volume, shown, recorded)
    if recorded.get("storage") and live["externalId"] != recorded.get("externalId"):
        live["storage"] = {name: value for name, value in live["storage"].items() if name != "location"}
    return live, _outputs(live, volume) | foreign
