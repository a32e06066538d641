"""The custom resource `CreatedVolume`: a volume that the plugin itself makes, through Nomad."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.nomad import volumes
from nomad_csi.ownership import cluster_identity
from nomad_csi.registration import secret_safety
from nomad_csi.resources import (
    stack_identity,
    successor,
    volume_document,
    volume_ownership,
    volume_properties,
    volume_removal,
)
from nomad_csi.resources.created import created_changes, created_deletion, created_document, created_properties
from nomad_csi.resources.frame import compare, properties, resource
from nomad_csi.spec import names

# What an operator is told of a volume that a plugin makes, before it changes and when it is checked.


def replacement_sentence(identity: str, recorded: Mapping[str, Any], news: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a replacement entails: where the data stays, and what the new volume has."""
    storage = recorded.get("externalId", "its storage")
    yield f"deregisters {identity} first; refused while it is claimed"
    if created_deletion.is_wanted(recorded):
        yield f"deletes its storage {storage} then, with all data, as on_destroy says; the new volume has none of it"
        return
    yield f"its storage {storage} stays, with its data, in no volume any more (`existing: {{external_id: {storage}}}`)"
    source = next((f"{name} {news[name]}" for name in created_properties.SOURCES if news.get(name)), "")
    yield f"the plugin makes new storage for it, {f'from {source}' if source else 'which is empty'}"


def size_sentence(old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> Iterator[str]:
    """Yield why the size that is wanted will be refused."""
    why = created_changes.refusal_of_shrinking(old_outputs.get("capacityBytes", 0), news)
    if why:
        yield f"will be refused: {why}"


def volume_sentence(
    identity: str, volume: volumes.Volume, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what *volume*, as Nomad holds it, is unlike what is recorded of it, and what Nomad does not show."""
    if volume.has_mount_flags and not inputs:
        yield (
            f"Nomad does not show the mount flags of {identity}, nor whether it has secrets: "
            "write them into the program, or the next update drops them"
        )
    recorded = outputs.get("externalId", volume.external_id)
    if recorded not in (volume.external_id, resource.UNKNOWN):
        yield (
            f"volume {identity} stands for {volume.external_id} now, not for {recorded} as recorded: it was "
            f"registered anew, and {recorded} may still be there"
        )


def another_sentence(made: Mapping[str, Any], recorded: Mapping[str, Any]) -> str:
    """Return that the plugin did not find the storage *recorded* again; empty where it did."""
    now = made["externalId"]
    before = recorded.get(created_properties.MADE, now)
    return "" if now == before else f"the plugin made {now} in place of {before}, which may be left"


# The resource.


class CreatedVolumeResource:
    """A CSI volume that its plugin makes. Deleting it deregisters it; its storage stays unless told otherwise."""

    token = names.CREATED_VOLUME_TYPE
    description = (
        "A CSI volume that its plugin makes. Deleting it deregisters the volume; its storage stays, with its data, "
        "unless `onDestroy` is `delete`."
    )
    inputs = created_properties.INPUTS
    outputs = created_properties.OUTPUTS
    secret_properties = properties.secret_names(inputs)

    def check(self, news: Mapping[str, Any]) -> tuple[resource.Properties, tuple[resource.Failure, ...]]:
        """Return *news* with namespace and name filled in, and everything that is wrong with it."""
        values, failures = volume_properties.check(self.inputs, news)
        meant = created_properties.as_meant(created_document.in_order(values))
        return meant, (*failures, *created_properties.wrong_together(values))

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """
        Compare inputs; what the storage was made by replaces it, a larger size makes it grow.

        Raises `errors.RefusedError` for a replacement that would delete storage which is to be kept by now.
        """
        hidden = {"foreignMountFlags": "mountOptions.mountFlags", created_properties.DEREGISTERED: "deregistered"}
        also = tuple(path for name, path in hidden.items() if old_outputs.get(name))
        also = (*also, *stack_identity.brought_forward(old_outputs))
        found = self._difference(old_inputs, old_outputs, news, also)
        if found.replaces:
            created_deletion.refuse_replacement(identity, old_outputs, news)
            return replace(found, notice="; ".join(replacement_sentence(identity, old_outputs, news)))
        told = (
            *size_sentence(old_outputs, news),
            *created_deletion.told_of_change(identity, old_outputs, news),
        )
        return replace(found, notice="; ".join(told))

    def _difference(
        self,
        old_inputs: Mapping[str, Any],
        old_outputs: Mapping[str, Any],
        news: Mapping[str, Any],
        also: tuple[str, ...] = (),
    ) -> resource.ResourceDiff:
        """Return what differs; places that only the catalogue names otherwise do not."""
        wanted = created_document.with_recorded_places(old_inputs, news)
        changed = created_changes.changed_properties(old_inputs, old_outputs, wanted)
        return compare.difference(self.inputs, old_inputs, wanted, changed=changed, also_updates=also)

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id, and the inputs; what the plugin will answer is not known."""
        unknown = dict.fromkeys(
            ("externalId", "capacityBytes", "context", "topologies", created_properties.CREATED_NAME), resource.UNKNOWN
        )
        unknown |= volume_ownership.unknown(news)
        return resource.identity(news["namespace"], news["volumeId"]), _recorded(news) | unknown

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Check in a preview the plugin of what replaces a volume; of a new one, that its plugin is there."""
        old_inputs = {name: value for name, value in old_outputs.items() if name in self.inputs}
        is_replaced = bool(self._difference(old_inputs, old_outputs, news).replaces)
        if not is_replaced or resource.UNKNOWN in (news["namespace"], news["volumeId"]):
            return
        client = context.connect()
        what = f"volume {volume_properties.key_of(news)}"
        with resource.Previewed(context, client, what, is_recorded=bool(old_outputs)):
            if old_outputs:
                successor.refuse(context, client, _successor(news, old_outputs), in_preview=True)
            else:
                volume_ownership.refuse_others(client, news, {})
                with volume_ownership.refused_where_held(context, client, news):
                    created_changes.refuse_taken(client, news)
                    volume_ownership.say_take_over(context, client, news)
                successor.warn_of_missing_plugin(context, client, news)
            successor.warn_out_of_reach(context, client, news)

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Have the volume made, or take over an equal one. Raises `errors.RefusedError` where it differs."""
        return self.bring(context, news, volume_ownership.hold(news, {}))

    def bring(
        self, context: resource.Context, news: Mapping[str, Any], held: volume_ownership.Hold, *, is_ours: bool = False
    ) -> tuple[str, resource.Properties]:
        """
        Do what `create` does. *held* is what the owner record gets: without a state that keeps a nonce, none.

        *is_ours*: one that differs is changed as if it were adopted, unless it is another owner's by then.
        """
        client = context.connect()
        secret_safety.refuse(client, volume_properties.key_of(news), news)
        if "owner" in news:
            cluster_identity.of(client, make=True)
        found = volumes.get(client, news["namespace"], news["volumeId"])
        if found is None:
            answered = created_changes.make(context, client, news, held, {})
        else:
            answered = created_changes.take_over(context, client, found, news, held, is_ours=is_ours)
        answered |= stack_identity.recorded(context, held.nonce)
        if why := created_deletion.objection(volume_properties.key_of(news), {**news, **answered}):
            context.warn(why)
        return volume_properties.key_of(news), _observed(client, news, answered)

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
            if volume is None:
                is_elsewhere = volume_ownership.is_in_other_cluster(client, identity, outputs)
                if not is_elsewhere and created_deletion.is_left(context, client, identity, outputs):
                    return dict(inputs), dict(outputs) | {created_properties.DEREGISTERED: True}
                return volume_ownership.seen(context, client, identity, outputs, None)
            for line in volume_sentence(identity, volume, inputs, outputs):
                context.warn(line)
            live, shown = _live(volume, inputs)
            return volume_ownership.seen(context, client, identity, outputs, (live, shown | _proof(outputs)))
        return dict(inputs), dict(outputs)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """
        Change what Nomad holds, and grow the storage where more is wanted.

        Never makes storage, but registers what is left of a deletion that was not finished.
        """
        client = context.connect()
        volume_ownership.refuse_other_cluster(client, identity, old_outputs)
        volume_ownership.refuse_others(client, news, old_outputs)
        secret_safety.refuse(client, identity, news)
        found = volumes.get(client, news["namespace"], news["volumeId"])
        held = volume_ownership.hold(news, old_outputs)
        done = stack_identity.recorded(context, held.nonce)
        if found is None and old_outputs.get(created_properties.DEREGISTERED):
            made = created_changes.make(context, client, news, held, old_outputs)
            if told := another_sentence(made, old_outputs):
                context.warn(told)
            return _observed(client, news, made | done)
        _refuse_another(identity, found, old_outputs)
        volume_ownership.mark(context, client, news, old_outputs, held)
        if found is not None and created_changes.concerns_nomad(old_outputs, news):
            created_changes.change(context, client, found, news)
        return _observed(client, news, {name: old_outputs[name] for name in self.outputs if name in old_outputs} | done)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, and say where its storage stays; or delete that too, where it is recorded to go.

        Raises `errors.RefusedError` while it is claimed, and what `created_deletion.delete` does.
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
            successor.refuse(context, client, _successor(wanted, outputs))
        if created_deletion.is_wanted(outputs):
            created_deletion.delete(context, client, identity, outputs)
            return
        volume = volumes.get(client, namespace, volume_id)
        if volume is not None:
            volume_ownership.refuse_others(client, outputs, outputs)
            volume_removal.remove(context, client, volume, outputs)
        volume_ownership.unmark(context, client, outputs)
        storage = outputs.get("externalId", "" if volume is None else volume.external_id)
        if storage:
            context.warn(
                f"volume {identity} is deregistered; its storage {storage} of plugin {outputs.get('pluginId', '')} "
                "stays, with its data: delete it in the storage system when it is not needed any more"
            )


def _successor(news: Mapping[str, Any], recorded: Mapping[str, Any]) -> successor.Successor:
    return successor.Successor(news=news, recorded=recorded, is_created=True)


def _recorded(news: Mapping[str, Any]) -> resource.Properties:
    """Return the part of *news* that describes the object."""
    return properties.recorded(created_properties.INPUTS, news)


def _refuse_another(identity: str, found: volumes.Volume | None, recorded: Mapping[str, Any]) -> None:
    """Refuse to change what is gone, or stands for other storage than *recorded*."""
    if found is None:
        raise errors.RefusedError(
            f"volume {identity} is not registered any more; nothing was made in its place: run `pulumi refresh` and "
            "look, then run again"
        )
    storage = recorded.get("externalId", found.external_id)
    if found.external_id != storage:
        raise errors.RefusedError(
            f"volume {identity} stands for {found.external_id} now, not for {storage} as recorded; nothing was "
            "changed: run `pulumi refresh` and check"
        )


def _observed(client: nomad.Nomad, news: Mapping[str, Any], answered: Mapping[str, Any]) -> resource.Properties:
    """Return the outputs after a change; what follows it must not lose the id, nor where the storage is."""
    if secret_safety.is_at_risk(client, news):
        return _recorded(news) | dict(answered) | volume_ownership.outputs(client, news)
    try:
        volume = volumes.get(client, news["namespace"], news["volumeId"])
    except errors.NomadApiError as error:
        reason = f"made, but not seen afterwards: {error}"
        identity = volume_properties.key_of(news)
        raise resource.InitFailedError(identity, _recorded(news) | dict(answered), (reason,)) from error
    if volume is None:
        reason = f"made as {answered.get('externalId', 'unknown')}, but gone again: something else deregisters it"
        raise resource.InitFailedError(volume_properties.key_of(news), _recorded(news) | dict(answered), (reason,))
    shown = created_document.outputs_of(volume) | _proof(answered)
    return _recorded(news) | shown | volume_ownership.outputs(client, news)


def _proof(recorded: Mapping[str, Any]) -> resource.Properties:
    """Return what of *recorded* outputs Nomad does not know: how the plugin made the storage, and whose step it was."""
    made = (created_properties.MADE, created_properties.CREATED_NAME)
    return {name: recorded[name] for name in made if name in recorded} | volume_ownership.of_step(recorded)


def _live(volume: volumes.Volume, recorded: Mapping[str, Any]) -> tuple[resource.Properties, resource.Properties]:
    """Return inputs and outputs of *volume*, with the parts that Nomad never shows as *recorded*."""
    shown = created_document.of_volume(volume)
    live, foreign = volume_document.as_recorded(volume, shown, recorded, made_by_plugin=True)
    return live, _recorded(live) | created_document.outputs_of(volume) | foreign
