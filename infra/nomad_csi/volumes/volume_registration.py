"""The custom resource `VolumeRegistration`: the registration of existing storage with Nomad."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nomad_csi.frame import compare, resource, stack_identity
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.nomad.records import volumes as volume_records
from nomad_csi.volumes import (
    re_registration,
    registration_change,
    removal,
    replacement,
    secret_safety,
    volume_changes,
    volume_document,
    volume_ownership,
    volume_properties,
    volume_steps,
    wanted_volume,
)


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
        Compare inputs; a change that Nomad does not make in place registers it again, and only another id replaces.

        Refuses nothing: the engine calls it in a refresh, too, to show drift.
        """
        change = registration_change.classify(old_inputs, news)
        hidden = ("mountOptions.mountFlags",) if old_outputs.get("foreignMountFlags") else ()
        missing = tuple(name for name in volume_properties.OF_REGISTRATION if old_outputs.get(name))
        fate = ("storage",) if registration_change.has_other_fate(old_inputs, news) else ()
        also = (*hidden, *missing, *fate, *stack_identity.missing_outputs(old_outputs))
        found = compare.difference(self.declared, old_inputs, news, changed=change.changed, also_updates=also)
        manner = "deregistered and registered again" if change.kind == "re-register" else found.manner
        return replace(found, notice=registration_change.sentence(identity, change), manner=manner)

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id and the inputs; Nomad's outputs are unknown."""
        unknown = {"controllerRequired": resource.UNKNOWN} | volume_ownership.unknown(news)
        return resource.identity(news["namespace"], news["volumeId"]), self.declared.recorded(news) | unknown

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Make in a preview the decision of `create`, `update` or a replacement, and say what it means."""
        change = registration_change.classify(self.declared.inputs_in(old_outputs), news)
        if news.get("protect") and change.kind != "replace" and change.storage != "same":
            raise registration_change.refusal_of_other_data(volume_properties.key_of(news), change)
        is_missing = any(old_outputs.get(name) for name in volume_properties.OF_REGISTRATION)
        matters = not old_outputs or is_missing or change.left_storage or change.kind in {"re-register", "replace"}
        if not matters or resource.UNKNOWN in (news["namespace"], news["volumeId"]):
            return
        what = f"volume {volume_properties.key_of(news)}"
        with resource.Previewed(context, what, is_recorded=bool(old_outputs)):
            self._preview(context, old_outputs, news, change.kind)
            replacement.warn_out_of_reach(context, news)

    def _preview(
        self,
        context: resource.Context,
        old_outputs: Mapping[str, Any],
        news: Mapping[str, Any],
        kind: registration_change.Kind,
    ) -> None:
        if kind == "replace" and old_outputs:
            volume_steps.preview_replacement(context, self.declared, old_outputs, news)
            return
        wanted = wanted_volume.WantedVolume(context, self.declared, news, old_outputs or None, in_preview=True)
        if not old_outputs:
            volume_steps.preview_new(context, wanted, news)
            return
        decision = wanted.decision()
        if decision.refusal == "claimed":
            assert wanted.found is not None  # noqa: S101  # it is claimed
            holders = volume_records.holders(wanted.found)
            context.warn(f"volume {wanted.name} is claimed now, and `up` refuses this change while it is: {holders}")
        elif decision.refusal is not None:
            raise wanted.refused(decision.refusal)
        wanted.warn_unchecked()

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """
        Register the volume, or take over an equal registration.

        Raises `errors.RefusedError` with the reason of the decision where nothing is done.
        """
        return volume_properties.key_of(news), self._bring(context, news, None)

    def _bring(
        self, context: resource.Context, news: Mapping[str, Any], old_outputs: Mapping[str, Any] | None
    ) -> resource.Properties:
        """Decide, carry out the steps, and return the outputs."""
        wanted, recorded = wanted_volume.WantedVolume(context, self.declared, news, old_outputs), old_outputs or {}
        decision = wanted.permitted()
        if "owner" in news:
            cluster_identity.cluster_id(context.client, make=True)
        wanted.warn_unchecked()
        if "deregister" in decision.steps and wanted.found is not None:
            re_registration.register(context, wanted.found, recorded, news, wanted.token)
        elif "register" in decision.steps:
            volume_changes.register(context, news, wanted.token, found=wanted.found, recorded=recorded)
        else:
            volume_ownership.acquire(context, news, recorded, wanted.token)
        return _observed(context, news, stack_identity.recorded(context, wanted.token.nonce))

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
        Register the volume again with its changes; deregister it first, where Nomad does not change them in place.

        Raises `errors.RefusedError` with the reason of the decision where nothing is done, and what
        `re_registration.register` does.
        """
        del identity
        return self._bring(context, news, old_outputs)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, then remove its owner record; no-op where another resource of the stack took it over.

        Raises `errors.RefusedError` with the reason of the decision where nothing is done.
        """
        del identity
        removed = removal.RemovedVolume(context, self.declared, outputs)
        removal.remove(context, removed, outputs)


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
