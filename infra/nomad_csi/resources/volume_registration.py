"""The custom resource `VolumeRegistration`: a volume that exists already, as Nomad is to hold it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.ownership import cluster_identity
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
    volume_removal,
)
from nomad_csi.resources.frame import compare, properties, resource
from nomad_csi.spec import names


class VolumeRegistrationResource:
    """A CSI volume as Nomad holds it. Deleting it deregisters the volume and leaves the storage alone."""

    token = names.VOLUME_REGISTRATION_TYPE
    description = "A CSI volume as Nomad holds it. Deleting it deregisters the volume and leaves the storage alone."
    inputs = volume_properties.INPUTS
    outputs = volume_properties.OUTPUTS
    secret_properties = properties.secret_names(inputs)

    def check(self, news: Mapping[str, Any]) -> tuple[resource.Properties, tuple[resource.Failure, ...]]:
        """Return *news* with namespace and name filled in, and everything that is wrong with it."""
        return volume_properties.check(self.inputs, news)

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """
        Compare inputs; what Nomad never changes in place is registered anew, and only another id replaces it.

        Refuses nothing: the engine asks in a refresh, too, for what is to be drift there.
        """
        change = registration_change.classify(old_inputs, news)
        hidden = ("mountOptions.mountFlags",) if old_outputs.get("foreignMountFlags") else ()
        also = (*hidden, *stack_identity.brought_forward(old_outputs))
        found = compare.difference(self.inputs, old_inputs, news, changed=change.changed, also_updates=also)
        return replace(found, notice=registration_change.sentence(identity, change))

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id, and the inputs; what Nomad will say of the volume is not known."""
        unknown = {"controllerRequired": resource.UNKNOWN} | volume_ownership.unknown(news)
        return resource.identity(news["namespace"], news["volumeId"]), _recorded(news) | unknown

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Check in a preview what follows a registration that works; of a new one, that its plugin is there."""
        change = registration_change.classify(_inputs(old_outputs), news)
        if news.get("protect"):
            registration_change.refuse_other_data(volume_properties.key_of(news), change)
        matters = not old_outputs or change.kind in {"register-anew", "replace"}
        if not matters or resource.UNKNOWN in (news["namespace"], news["volumeId"]):
            return
        client = context.connect()
        what = f"volume {volume_properties.key_of(news)}"
        with resource.Previewed(context, client, what, is_recorded=bool(old_outputs)):
            if not old_outputs:
                volume_ownership.refuse_others(client, news, {})
                with volume_ownership.refused_where_held(context, client, news):
                    volume_changes.refuse_taken(client, news)
                    volume_ownership.say_take_over(context, client, news)
                successor.warn_of_missing_plugin(context, client, news)
                successor.refuse_gone_storage(context, client, news)
                sharing_refusal.refuse_new(context, client, news)
            elif change.kind == "register-anew":
                if change.old_external_id != change.new_external_id:
                    sharing_refusal.refuse(context, client, news)
                registration_anew.preview(context, client, old_outputs, news)
            elif change.kind == "replace":
                wanted = successor.Successor(news=news, recorded=old_outputs)
                successor.refuse(context, client, wanted, in_preview=True)
            successor.warn_out_of_reach(context, client, news)

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """
        Register the volume, or take over an equal registration.

        Raises `errors.RefusedError` where it differs, and where it is another stack's.
        """
        client = context.connect()
        secret_safety.refuse(client, volume_properties.key_of(news), news)
        if "owner" in news:
            cluster_identity.of(client, make=True)
        held = volume_ownership.hold(news, {})
        found = volumes.get(client, news["namespace"], news["volumeId"])
        if found is None:
            sharing_refusal.refuse(context, client, news)
            volume_changes.register(context, client, news, held, is_new=True)
        else:
            volume_changes.take_over(context, client, found, news, held)
        return volume_properties.key_of(news), _observed(client, news, stack_identity.recorded(context, held.nonce))

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return what Nomad holds; redacted parts stay as recorded, and so does all when Nomad is out of reach."""
        namespace, volume_id = resource.split_identity(identity, "namespace/volume_id")
        client = context.connect()
        with resource.KeptIfUnreachable(context, client, f"volume {identity}", is_recorded=bool(inputs)):
            if secret_safety.is_at_risk(client, inputs):
                context.warn(f"volume {identity} was not compared: it has secrets, and {secret_safety.risk(client)}")
                return dict(inputs), dict(outputs)
            volume = volumes.get(client, namespace, volume_id)
            if volume is not None and volume.has_mount_flags and not inputs:
                context.warn(
                    f"Nomad does not show the mount flags of {identity}, nor whether it has secrets: "
                    "write them into the program, or the next update drops them"
                )
            found = None if volume is None else _live(volume, inputs)
            return volume_ownership.seen(context, client, identity, outputs, found)
        return dict(inputs), dict(outputs)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """
        Register the volume again with what changed; anew, where Nomad does not change that in place.

        Raises `errors.RefusedError` where Nomad would not take it, where the volume is protected and its id would stand
        for other data, and what `registration_anew.register` does.
        """
        if news.get("protect"):
            change = registration_change.classify(_inputs(old_outputs), news)
            registration_change.refuse_other_data(identity, change)
        client = context.connect()
        volume_ownership.refuse_other_cluster(client, identity, old_outputs)
        volume_ownership.refuse_others(client, news, old_outputs)
        secret_safety.refuse(client, identity, {**old_outputs, **news})
        found = volumes.get(client, news["namespace"], news["volumeId"])
        held = volume_ownership.hold(news, old_outputs)
        if any(old_outputs.get(name) != news[name] for name in ("externalId", "capabilities")):
            sharing_refusal.refuse(context, client, news)
        if found is not None and stack_identity.is_all_that_differs(old_outputs, news, self.inputs):
            volume_ownership.mark(context, client, news, old_outputs, held)
        elif found is not None and registration_anew.is_needed(found, news):
            registration_anew.register(context, client, found, old_outputs, news, held)
        else:
            volume_changes.refuse_impossible(volume_changes.compare(found, news), news)
            volume_changes.register(
                context, client, news, held, is_new=found is None, found=found, recorded=old_outputs
            )
        return _observed(client, news, stack_identity.recorded(context, held.nonce))

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, then remove its owner record; nothing where another resource of the stack took it over.

        Raises `errors.RefusedError` while it is claimed, when it is another one by now, or another stack's.
        """
        namespace, volume_id = resource.split_identity(identity, "namespace/volume_id")
        stack_identity.refuse_other_stack(context, f"volume {identity}", outputs)
        client = context.connect()
        volume_ownership.refuse_other_cluster(client, identity, outputs)
        if context.operation.was_created(self.token, identity) or volume_ownership.is_moved(client, outputs):
            volume_ownership.say_moved(context, identity)
            return
        wanted = context.operation.declared(self.token, context.urn)
        if wanted is not None:
            successor.refuse(context, client, successor.Successor(news=wanted, recorded=outputs))
        else:
            sharing_refusal.refuse_with_guests(identity, outputs, context.operation.all_declared(self.token))
        volume = volumes.get(client, namespace, volume_id)
        if volume is not None:
            volume_ownership.refuse_others(client, outputs, outputs)
            volume_removal.remove(context, client, volume, outputs)
        volume_ownership.unmark(context, client, outputs)


def _recorded(news: Mapping[str, Any]) -> resource.Properties:
    """Return the part of *news* that describes the object."""
    return properties.recorded(volume_properties.INPUTS, news)


def _inputs(outputs: Mapping[str, Any]) -> resource.Properties:
    """Return the inputs that are recorded in *outputs*."""
    return {name: value for name, value in outputs.items() if name in volume_properties.INPUTS}


def _observed(client: nomad.Nomad, news: Mapping[str, Any], done: Mapping[str, Any]) -> resource.Properties:
    """Return the outputs after a registration, with what it has *done*; what follows it must not lose the id."""
    news = {**news, **done}
    if secret_safety.is_at_risk(client, news):
        listed = secret_safety.listed(client, news["namespace"], news["volumeId"])
        return _outputs(news, listed) | volume_ownership.outputs(client, news)
    try:
        volume = volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError as error:
        reason = f"registered, but not seen afterwards: {error}"
        raise resource.InitFailedError(volume_properties.key_of(news), _outputs(news, None), (reason,)) from error
    if volume is None:
        reason = "registered, but gone again: something else deregisters it"
        raise resource.InitFailedError(volume_properties.key_of(news), _outputs(news, None), (reason,))
    return _outputs(news, volume) | volume_ownership.outputs(client, news)


def _outputs(inputs: Mapping[str, Any], volume: volumes.Volume | volumes.ListedVolume | None) -> resource.Properties:
    return _recorded(inputs) | {"controllerRequired": volume is not None and volume.controller_required}


def _live(volume: volumes.Volume, recorded: Mapping[str, Any]) -> tuple[resource.Properties, resource.Properties]:
    """Return inputs and outputs of *volume*, with the parts that Nomad never shows as *recorded*."""
    whole = volume_document.to_inputs(volume.registration())
    shown = {name: value for name, value in whole.items() if name in volume_properties.INPUTS}
    live, foreign = volume_document.as_recorded(volume, shown, recorded)
    if recorded.get("storage") and live["externalId"] != recorded.get("externalId"):
        live["storage"] = {name: value for name, value in live["storage"].items() if name != "location"}
    return live, _outputs(live, volume) | foreign
