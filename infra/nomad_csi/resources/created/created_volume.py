"""The custom resource `CreatedVolume`: a volume that the plugin itself creates, through Nomad."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.registration import secret_safety
from nomad_csi.resources import (
    stack_identity,
    successor,
    volume_document,
    volume_ownership,
    volume_properties,
    volume_steps,
)
from nomad_csi.resources.created import created_changes, created_deletion, created_properties
from nomad_csi.resources.frame import compare, resource

# Messages about a volume that a plugin creates, in a preview and in a refresh.


def replacement_sentence(identity: str, recorded: Mapping[str, Any], news: Mapping[str, Any]) -> Iterator[str]:
    """Yield the consequences of a replacement: where the data stays, and what the new volume has."""
    storage = recorded.get("externalId", "its storage")
    yield f"deregisters {identity} first; refused while it is claimed"
    if created_deletion.is_wanted(recorded):
        yield f"deletes its storage {storage} then, with all data, as on_destroy says; the new volume has none of it"
        return
    yield f"its storage {storage} stays, with its data, in no volume any more (`existing: {{external_id: {storage}}}`)"
    source = next((f"{name} {news[name]}" for name in created_properties.SOURCES if news.get(name)), "")
    yield f"the plugin makes new storage for it, {f'from {source}' if source else 'which is empty'}"


def size_sentence(old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> Iterator[str]:
    """Yield why the desired size will be refused."""
    why = created_changes.refusal_of_shrinking(old_outputs.get("capacityBytes", 0), news)
    if why:
        yield f"will be refused: {why}"


def another_sentence(made: Mapping[str, Any], recorded: Mapping[str, Any]) -> str:
    """Return a warning that the plugin did not find the storage *recorded* again; empty where it did."""
    now = made["externalId"]
    before = recorded.get(created_properties.MADE, now)
    return "" if now == before else f"the plugin made {now} in place of {before}, which may be left"


# The resource.


class CreatedVolumeResource(resource.Resource):
    """A CSI volume that its plugin creates. Deletion deregisters it; its storage stays but for `onDestroy: delete`."""

    declared = created_properties.DECLARED

    def check(self, news: Mapping[str, Any]) -> tuple[resource.Properties, tuple[resource.Failure, ...]]:
        """Return *news* with default namespace and name, and all failures."""
        values, failures = volume_properties.check(self.declared.inputs, news)
        meant = created_properties.normalize(volume_document.sort_places(values))
        return meant, (*failures, *created_properties.wrong_together(values))

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """
        Compare inputs; parameters of the creation replace the storage, a larger size grows it.

        Raises `errors.RefusedError` for a replacement that would delete storage which the program now keeps.
        """
        hidden = {"foreignMountFlags": "mountOptions.mountFlags", created_properties.DEREGISTERED: "deregistered"}
        also = tuple(path for name, path in hidden.items() if old_outputs.get(name))
        also = (*also, *stack_identity.missing_outputs(old_outputs))
        found = self._difference(old_inputs, old_outputs, news, also)
        if found.replaces:
            created_deletion.refuse_replacement(identity, old_outputs, news)
            return replace(found, notice="; ".join(replacement_sentence(identity, old_outputs, news)))
        notices = (
            *size_sentence(old_outputs, news),
            *created_deletion.describe_change(identity, old_outputs, news),
        )
        return replace(found, notice="; ".join(notices))

    def _difference(
        self,
        old_inputs: Mapping[str, Any],
        old_outputs: Mapping[str, Any],
        news: Mapping[str, Any],
        also: tuple[str, ...] = (),
    ) -> resource.ResourceDiff:
        """Return the diff, without places whose topology key alone changed in the catalogue."""
        wanted = volume_document.keep_recorded_places(old_inputs, news)
        changed = created_changes.changed_properties(old_inputs, old_outputs, wanted)
        return compare.difference(self.declared, old_inputs, wanted, changed=changed, also_updates=also)

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id and the inputs; the plugin's outputs are unknown."""
        unknown = dict.fromkeys(
            ("externalId", "capacityBytes", "context", "topologies", created_properties.CREATED_NAME), resource.UNKNOWN
        )
        unknown |= volume_ownership.unknown(news)
        return resource.identity(news["namespace"], news["volumeId"]), self.declared.recorded(news) | unknown

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Check in a preview the plugin of a replacement; for a new volume, that its plugin is registered."""
        old_inputs = self.declared.inputs_in(old_outputs)
        is_replaced = bool(self._difference(old_inputs, old_outputs, news).replaces)
        if not is_replaced or resource.UNKNOWN in (news["namespace"], news["volumeId"]):
            return
        what = f"volume {volume_properties.key_of(news)}"
        with resource.Previewed(context, what, is_recorded=bool(old_outputs)):
            if old_outputs:
                successor.refuse(context, news, old_outputs, in_preview=True)
            else:
                volume_steps.preview_new(context, news)
            successor.warn_out_of_reach(context, news)

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Create the volume, or take over an equal one. Raises `errors.RefusedError` where it differs."""
        return self.bring(context, news, volume_ownership.next_hold(news, {}))

    def bring(
        self, context: resource.Context, news: Mapping[str, Any], held: volume_ownership.Hold, *, is_ours: bool = False
    ) -> tuple[str, resource.Properties]:
        """
        Do what `create` does. *held* is what to write to the owner record: no nonce without a state that keeps it.

        *is_ours*: change a volume that differs as if it were adopted, unless another owner has it by then.
        """
        found = volume_steps.read_new(context, news)
        if found is None:
            answered = created_changes.make(context, news, held, {})
        else:
            answered = created_changes.take_over(context, found, news, held, is_ours=is_ours)
        answered |= stack_identity.recorded(context, held.nonce)
        if why := created_deletion.objection(volume_properties.key_of(news), {**news, **answered}):
            context.warn(why)
        return volume_properties.key_of(news), _observed(context, news, answered)

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the observed state; redacted parts stay as recorded, and so does all while Nomad is unreachable."""
        recorded = dict(inputs), dict(outputs)

        def live(volume: volumes.Volume) -> volume_ownership.State:
            before = outputs.get("externalId")
            if before != resource.UNKNOWN and (why := volume_steps.stands_for_another(volume, outputs)):
                context.warn(f"{why}: it was registered anew, and {before} may still be there")
            found, shown = _live(volume, inputs)
            return found, shown | _proof(outputs)

        def gone() -> volume_ownership.State | None:
            is_elsewhere = volume_ownership.is_in_other_cluster(context.client, identity, outputs)
            if is_elsewhere or not created_deletion.is_left(context, identity, outputs):
                return None
            return dict(inputs), dict(outputs) | {created_properties.DEREGISTERED: True}

        return volume_steps.read(context, identity, recorded, live=live, gone=gone)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """
        Change the volume in place, and grow the storage to the desired size.

        Never creates storage, but registers the storage that an unfinished deletion left.
        """
        volume_ownership.refuse_other_cluster(context.client, identity, old_outputs)
        volume_ownership.refuse_others(context.client, news, old_outputs)
        secret_safety.refuse(context.client, identity, news)
        found = volumes.get(context.client, news["namespace"], news["volumeId"])
        held = volume_ownership.next_hold(news, old_outputs)
        done = stack_identity.recorded(context, held.nonce)
        if found is None and old_outputs.get(created_properties.DEREGISTERED):
            made = created_changes.make(context, news, held, old_outputs)
            if warning := another_sentence(made, old_outputs):
                context.warn(warning)
            return _observed(context, news, made | done)
        _refuse_another(identity, found, old_outputs)
        volume_ownership.mark(context, news, old_outputs, held)
        if found is not None and created_changes.concerns_nomad(old_outputs, news):
            created_changes.change(context, found, news)
        return _observed(
            context,
            news,
            {name: old_outputs[name] for name in self.declared.outputs if name in old_outputs} | done,
        )

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, and report where its storage stays; or delete that too, with ``onDestroy: delete``.

        Raises `errors.RefusedError` while it is claimed, and what `created_deletion.delete` does.
        """
        if volume_steps.is_taken_over(context, self.declared.token, identity, outputs):
            return
        wanted = context.operation.declared(self.declared.token, context.urn)
        if wanted is not None:
            successor.refuse(context, wanted, outputs)
        if created_deletion.is_wanted(outputs):
            created_deletion.delete(context, identity, outputs)
            return
        volume = volume_steps.deregister(context, identity, outputs)
        storage = outputs.get("externalId", "" if volume is None else volume.external_id)
        if storage:
            context.warn(
                f"volume {identity} is deregistered; its storage {storage} of plugin {outputs.get('pluginId', '')} "
                "stays, with its data: delete it in the storage system when it is not needed any more"
            )


def _refuse_another(identity: str, found: volumes.Volume | None, recorded: Mapping[str, Any]) -> None:
    """Refuse to change a volume that is not registered, or has other storage than *recorded*."""
    if found is None:
        raise errors.RefusedError(
            f"volume {identity} is not registered any more; nothing was made in its place: run `pulumi refresh` and "
            "look, then run again"
        )
    volume_steps.refuse_another(found, recorded, "nothing was changed: run `pulumi refresh` and check")


def _observed(context: resource.Context, news: Mapping[str, Any], answered: Mapping[str, Any]) -> resource.Properties:
    """Return the outputs after a change."""
    recorded = created_properties.DECLARED.recorded(news)
    if secret_safety.is_at_risk(context.client, news):
        return recorded | dict(answered) | volume_ownership.outputs(context.client, news)
    gone = f"made as {answered.get('externalId', 'unknown')}"
    volume = volume_steps.seen_afterwards(context, news, recorded | dict(answered), done="made", gone=gone)
    shown = volume_document.outputs_of(volume) | _proof(answered)
    return recorded | shown | volume_ownership.outputs(context.client, news)


def _proof(recorded: Mapping[str, Any]) -> resource.Properties:
    """Return the *recorded* outputs that Nomad does not have: of the creation of the storage, and of the last step."""
    made = (created_properties.MADE, created_properties.CREATED_NAME)
    return {name: recorded[name] for name in made if name in recorded} | volume_ownership.step_outputs(recorded)


def _live(volume: volumes.Volume, recorded: Mapping[str, Any]) -> tuple[resource.Properties, resource.Properties]:
    """Return inputs and outputs of *volume*; parts that Nomad never shows stay as *recorded*."""
    shown = volume_document.inputs_of_created(volume)
    live, foreign = volume_document.merge_recorded(volume, shown, recorded, made_by_plugin=True)
    return live, created_properties.DECLARED.recorded(live) | volume_document.outputs_of(volume) | foreign
