"""The custom resource `CreatedVolume`: a volume that the plugin itself creates, through Nomad."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nomad_csi.frame import compare, resource, stack_identity
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.volumes import (
    created_changes,
    created_deletion,
    created_properties,
    registration_ownership,
    removal,
    replacement,
    secret_safety,
    volume_document,
    volume_ownership,
    volume_properties,
    volume_steps,
    wanted_volume,
)

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


def empty_sentence(identity: str, recorded: Mapping[str, Any]) -> str:
    """Return that the storage *recorded* is gone, and the volume gets new storage."""
    return (
        f"the storage {recorded.get('externalId', '')} of volume {identity} is gone: its plugin creates new storage, "
        "which is empty"
    )


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
        hidden = {"foreignMountFlags": "mountOptions.mountFlags"} | {
            name: name for name in volume_properties.OF_REGISTRATION
        }
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
        """Make in a preview the decision of `create`, `update` or a replacement, and say what it means."""
        old_inputs = self.declared.inputs_in(old_outputs)
        is_replaced = bool(self._difference(old_inputs, old_outputs, news).replaces)
        is_missing = any(old_outputs.get(name) for name in volume_properties.OF_REGISTRATION)
        if not (is_replaced or is_missing) or resource.UNKNOWN in (news["namespace"], news["volumeId"]):
            return
        what = f"volume {volume_properties.key_of(news)}"
        with resource.Previewed(context, what, is_recorded=bool(old_outputs)):
            if old_outputs and is_replaced:
                volume_steps.preview_replacement(context, self.declared, old_outputs, news)
            else:
                wanted = wanted_volume.WantedVolume(context, self.declared, news, old_outputs or None, in_preview=True)
                self._preview(context, wanted, old_outputs, news)
            replacement.warn_out_of_reach(context, news)

    def _preview(
        self,
        context: resource.Context,
        wanted: wanted_volume.WantedVolume,
        old_outputs: Mapping[str, Any],
        news: Mapping[str, Any],
    ) -> None:
        if not old_outputs:
            volume_steps.preview_new(context, wanted, news)
        elif "new and empty" in wanted.permitted().remarks:
            context.warn(empty_sentence(wanted.name, old_outputs))

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Create the volume, or take over an equal one. Raises `errors.RefusedError` where nothing is done."""
        return self.bring(context, wanted_volume.WantedVolume(context, self.declared, news, None), news)

    def bring(
        self, context: resource.Context, wanted: wanted_volume.WantedVolume, news: Mapping[str, Any]
    ) -> tuple[str, resource.Properties]:
        """Do what `create` does with the volume *wanted*, which has the inputs *news* and is new to the state."""
        answered = self._carry_out(context, wanted, news, {})
        if why := created_deletion.objection(wanted.name, {**news, **answered}):
            context.warn(why)
        return wanted.name, _observed(context, news, answered)

    def _carry_out(
        self,
        context: resource.Context,
        wanted: wanted_volume.WantedVolume,
        news: Mapping[str, Any],
        recorded: Mapping[str, Any],
    ) -> resource.Properties:
        """Decide, carry out the steps, and return the outputs that they give; *recorded* are the previous ones."""
        decision = wanted.permitted()
        if "owner" in news:
            cluster_identity.cluster_id(context.client, make=True)
        done = stack_identity.recorded(context, wanted.token.nonce)
        if {"create", "create again"} & set(decision.steps):
            if "new and empty" in decision.remarks:
                context.warn(empty_sentence(wanted.name, recorded))
            is_new = "create" in decision.steps
            return created_changes.make(context, news, wanted.token, recorded, is_new=is_new) | done
        kept: Mapping[str, Any] = {name: recorded[name] for name in self.declared.outputs if name in recorded}
        if wanted.found is not None and (not recorded or wanted.is_proven):
            kept = {**kept, **volume_document.outputs_of(wanted.found), **_found(wanted, wanted.found)}
        volume_ownership.acquire(context, news, recorded, created_changes.token_of(wanted.token, news, kept))
        if "change" in decision.steps and wanted.found is not None:
            created_changes.change(context, wanted.found, news)
        return {**kept, **done}

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the observed state; redacted parts stay as recorded, and so does all while Nomad is unreachable."""

        def live(volume: volumes.Volume) -> volume_ownership.State:
            found, shown = _live(volume, inputs)
            return found, shown | {created_properties.CREATED_NAME: volume.name} | _proof(outputs)

        def is_ours(volume: volumes.Volume) -> bool:
            return volume_ownership.has_created_for(context, outputs, volume)

        def is_gone() -> bool:
            return created_deletion.presence(context, outputs) == "gone"

        recorded = dict(inputs), dict(outputs)
        return volume_steps.read(context, identity, recorded, live=live, is_gone=is_gone, is_ours=is_ours)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """
        Change the volume in place, and grow the storage to the desired size.

        A volume that is not registered any more gets its storage again, which the plugin finds by its name. Raises
        `errors.RefusedError` where nothing is done.
        """
        del identity
        wanted = wanted_volume.WantedVolume(context, self.declared, news, old_outputs)
        answered = self._carry_out(context, wanted, news, old_outputs)
        done = {name: value for name, value in answered.items() if name not in volume_properties.OF_REGISTRATION}
        return _observed(context, news, done)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Deregister the volume, and report where its storage stays; or delete that too, with ``onDestroy: delete``.

        Raises `errors.RefusedError` where nothing is done, and what `created_deletion.delete` does.
        """
        removed = removal.RemovedVolume(context, self.declared, outputs)
        if not removal.remove(context, removed, outputs):
            return
        if created_deletion.is_wanted(outputs):
            created_deletion.delete(context, outputs)
            return
        storage = outputs.get("externalId", "" if removed.found is None else removed.found.external_id)
        if storage:
            context.warn(
                f"volume {identity} is deregistered; its storage {storage} of plugin {outputs.get('pluginId', '')} "
                f"stays, with its data{_kept(removed, outputs, storage)}"
            )


def _observed(context: resource.Context, news: Mapping[str, Any], answered: Mapping[str, Any]) -> resource.Properties:
    """Return the outputs after a change."""
    recorded = created_properties.DECLARED.recorded(news)
    if secret_safety.is_at_risk(context.client, news):
        return recorded | dict(answered) | volume_ownership.outputs(context.client, news)
    gone = f"made as {answered.get('externalId', 'unknown')}"
    volume = volume_steps.seen_afterwards(context, news, recorded | dict(answered), done="made", gone=gone)
    shown = volume_document.outputs_of(volume) | _proof(answered)
    return recorded | shown | volume_ownership.outputs(context.client, news)


def _kept(removed: removal.RemovedVolume, recorded: Mapping[str, Any], storage: str) -> str:
    """Return whether the owner record keeps *storage* for the id, as the end of a sentence."""
    owner = str(recorded.get("owner", ""))
    if not (removed.keeps_storage and owner) or removed.record == "not known":
        return ": delete it in the storage system when it is not needed any more"
    command = registration_ownership.way_to_give_up(removed.key, storage, owner)
    return f", and is kept for {removed.name}: to give it up, {command}"


def _found(wanted: wanted_volume.WantedVolume, found: volumes.Volume) -> resource.Properties:
    """Return the name of the storage of *found*, which is taken over, and a proof that it was created here."""
    proof = {created_properties.MADE: found.external_id} if wanted.is_proven else {}
    return {created_properties.CREATED_NAME: found.name} | proof


def _proof(recorded: Mapping[str, Any]) -> resource.Properties:
    """Return the *recorded* outputs that Nomad does not have: of the creation of the storage, and of the last step."""
    made = (created_properties.MADE, created_properties.CREATED_NAME)
    return {name: recorded[name] for name in made if name in recorded} | volume_ownership.step_outputs(recorded)


def _live(volume: volumes.Volume, recorded: Mapping[str, Any]) -> tuple[resource.Properties, resource.Properties]:
    """Return inputs and outputs of *volume*; parts that Nomad never shows stay as *recorded*."""
    shown = volume_document.inputs_of_created(volume)
    live, foreign = volume_document.merge_recorded(volume, shown, recorded, made_by_plugin=True)
    return live, created_properties.DECLARED.recorded(live) | volume_document.outputs_of(volume) | foreign
