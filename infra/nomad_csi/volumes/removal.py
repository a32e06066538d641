"""Removal of a volume whose resource is deleted: the facts, the sentences of its refusals, and the steps."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from nomad_csi import errors, side_by_side
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import properties, resource, stack_identity
from nomad_csi.nomad import volumes
from nomad_csi.volumes import (
    created_changes,
    created_deletion,
    decide,
    deregistration,
    desired,
    explain,
    facts,
    fitness,
    hold,
    registration_change,
    registration_ownership,
    volume_ownership,
    volume_properties,
    wanted_volume,
)

_TOKENS = (volume_properties.REGISTRATION.token, volume_properties.CREATED.token)


class RemovedVolume(wanted_volume.VolumeFacts):
    """A volume whose resource, with the outputs *recorded*, is deleted; implements `facts.Removal`."""

    def __init__(
        self,
        context: resource.Context,
        declared: properties.Declaration,
        recorded: Mapping[str, Any],
        *,
        replaced_by: Mapping[str, Any] | None = None,
        in_preview: bool = False,
    ) -> None:
        """*replaced_by* are the inputs of what replaces it; ``None``: what the program declares for its URN."""
        super().__init__(context, desired.of_properties(declared, recorded), recorded, in_preview=in_preview)
        self._replaced_by = replaced_by
        wanted = replaced_by or context.operation.declared(declared.token, context.urn)
        self._wanted = None if wanted is None else desired.of_properties(declared, wanted)
        self._declared = declared

    def again(self) -> "RemovedVolume":
        """Return the same volume, with nothing read yet."""
        return RemovedVolume(
            self._context,
            self._declared,
            self.recorded_outputs,
            replaced_by=self._replaced_by,
            in_preview=self._in_preview,
        )

    @property
    def is_replaced(self) -> bool:
        """Whether the program still declares the resource."""
        return self._wanted is not None

    @property
    def record(self) -> facts.Record:
        """
        The owner record of the id.

        A resource without an owner has none: that another one took it over is known only where this process did that.
        """
        if self.owner is None and not self.has_owner:
            is_taken_over = any(self._context.operation.was_created(token, self.name) for token in _TOKENS)
            return "sibling" if is_taken_over else "none"
        found = super().record
        # A token that may not write records leaves none, whichever resource has the volume.
        return "not known" if found == "none" and not self.recorded_outputs.get("marked") else found

    @property
    def is_renamed(self) -> bool:
        """Whether a stack of another name wrote the state."""
        return bool(stack_identity.other_stack(self._context, self.recorded_outputs))

    @property
    def protect(self) -> bool:
        """As recorded."""
        return self.desired.protect

    @property
    def ends(self) -> facts.Ends:
        """What becomes of the storage."""
        if created_deletion.is_wanted(self.recorded_outputs):
            return "deleted here"
        return "kept" if self._storage is None else "deleted after"

    @property
    def _storage(self) -> storage_identity.StorageIdentity | None:
        """What the program deletes afterwards."""
        if self._wanted is not None:
            return registration_change.left_storage(self.desired, self._wanted)
        return registration_change.storage_of_program(self.desired)

    @property
    def is_proven(self) -> bool:
        """Whether the state proves that the storage was created for this volume."""
        return not created_deletion.objection(self.name, self.recorded_outputs)

    @property
    def registration(self) -> Literal["absent", "same", "other-storage"]:
        """Nomad's registration, compared with the recorded storage."""
        if self.found is None:
            return "absent"
        return "other-storage" if self.is_of_another_hand else "same"

    @side_by_side.read_once
    def _dependents(self) -> hold.StorageDependents:
        """The volumes in that storage, but this one where the removal deregisters it, and releases its owner record."""
        assert self._storage is not None  # noqa: S101  # see `dependents`
        goes = {"same": self.record != "sibling", "absent": self.record == "own"}
        is_removed = goes.get(self.registration, False)
        found = hold.read(self._context, self._storage, self.key[0], but=[self.key] if is_removed else [])
        return dataclasses.replace(found, own=self.key if self.key in found.keys else None)

    @property
    def dependents(self) -> facts.Dependents:
        """Registrations in the storage."""
        return "none" if self._storage is None else self._dependents.fact

    def wait_for_dependents(self) -> None:
        """Wait for volumes of this stack in the storage, which the same run may remove; see `hold`."""
        hold.wait_for_own(self._context, lambda: self.again()._dependents, self.requester)  # noqa: SLF001  # of its own class

    @side_by_side.read_once
    def problems(self) -> tuple[str, ...]:
        """Why the replacement would not work."""
        assert self._wanted is not None  # noqa: S101  # only a replacement is asked for
        found = fitness.problems(
            self._context, self._wanted, self.recorded_outputs, self.unchecked, in_preview=self._in_preview
        )
        if self._wanted.key == self.key:
            return found
        new = wanted_volume.WantedVolume(self._context, self._wanted, None, replaced=self.key)
        refusal = new.decision().refusal
        return (*found, str(new.refused(refusal))) if refusal is not None else found

    def decision(self) -> decide.Decision:
        """Return what is done, or why nothing is."""
        return decide.decide_removal(self)

    def _refused(self, reason: decide.Refusal) -> errors.RefusedError:
        match reason:
            case "changed meanwhile":
                return explain.of_another_hand(self.registered, self.recorded_outputs)
            case "renamed stack":
                other = stack_identity.other_stack(self._context, self.recorded_outputs)
                return errors.RefusedError(f"volume {self.name} {other}")
            case "owner not known":
                return errors.RefusedError(f"{self.unknown_owner('is not removed')}; run again then")
            case "protected":
                return self._of_protection()
            case "unproven":
                why = created_deletion.objection(self.name, self.recorded_outputs)
                return errors.RefusedError(f"{why}; nothing was changed")
            case _:
                return self._dependents.refusal(f"volume {self.name} is not removed")

    @property
    def keeps_storage(self) -> bool:
        """Whether the owner record stays, as the plugin created storage for the id that is not deleted."""
        is_replaced = self._wanted is not None and self._wanted.key == self.key
        return self.desired.is_created and self.ends == "kept" and not is_replaced

    def keep_storage(self) -> None:
        """Complete the owner record that stays, by what the state knows of the storage."""
        nonce = str(self.recorded_outputs.get("nonce", ""))
        token = volume_ownership.OwnerToken(recorded=nonce, nonce=nonce, leaves_stack=True)
        token = created_changes.token_of(token, self.desired.document, self.recorded_outputs)
        volume_ownership.keep(self._context, self.recorded_outputs, token)

    def unknown_owner(self, what: str) -> str:
        """Return that the owner record could not be read, so that the volume *what*, and what to do."""
        rights = registration_ownership.RIGHTS.format(namespace=self.key[0])
        return (
            f"volume {self.name} {what}: without an owner record it is not known whether another resource has taken it "
            f"over; where none has, run `nomad volume deregister -namespace={self.key[0]} {self.key[1]}`; owner "
            f"records need {rights}"
        )

    def _of_protection(self) -> errors.RefusedError:
        storage = self.recorded_outputs.get("externalId", "")
        return errors.RefusedError(
            f"volume {self.name} is protected, and its storage {storage} would be deleted "
            "after its registration; nothing was changed: set protect: false, run `pulumi up`, and remove it then"
        )


# Its steps.


def wait_until_free(
    context: resource.Context, volume: volumes.Volume, recorded: Mapping[str, Any]
) -> volumes.Volume | None:
    """
    Return *volume* once it is unclaimed, ``None`` where it was deregistered meanwhile; sends no change.

    Waits for claims of terminating allocations. Raises `errors.RefusedError` for other claims, with their allocations,
    and where the volume has other storage than *recorded* by then.
    """
    found: volumes.Volume | None = volume
    if volume.claims and deregistration.is_ending(volume):
        context.status("waiting for terminating allocations to release their claims")
        found = deregistration.wait_until_free(
            context.client,
            volume,
            wait_s=deregistration.ENDING_WAIT_S,
            cancelled=context.cancelled,
            should_wait=deregistration.is_ending,
        )
    if found is not None:
        if explain.stands_for_another(found, recorded):
            raise explain.of_another_hand(found, recorded)
        if found.claims:
            raise deregistration.claimed(found)
    return found


def remove(context: resource.Context, removed: RemovedVolume, recorded: Mapping[str, Any]) -> bool:
    """
    Deregister the volume, if it is there, never by force; then remove its owner record. Return whether it was removed.

    The record of a volume that its plugin created stays, with the storage, unless the volume is replaced. After a wait
    for claims, or for other volumes in its storage, it is decided again. ``False``: another resource holds it, or may
    hold it, and nothing was changed. Raises `errors.RefusedError` where the decision is that nothing is done, and what
    `wait_until_free` does.
    """
    if removed.decision().refusal == "dependents":
        removed.wait_for_dependents()
        removed = removed.again()
    decision = removed.permitted()
    if "held elsewhere" in decision.remarks:
        context.warn(
            f"volume {removed.name} stays registered: another resource of this stack has taken it over, or a newer "
            "state of this one"
        )
        return False
    if "owner not known" in decision.remarks:
        context.warn(removed.unknown_owner("stays registered"))
        return False
    removed.warn_unchecked()
    found = removed.found if "deregister" in decision.steps else None
    if found is not None and removed.claims == "ending":
        wait_until_free(context, found, recorded)
        return remove(context, removed.again(), recorded)  # the owner may be another one after the wait
    if "delete storage" in decision.steps:
        return True
    with hold.removing(context, removed.key):
        if removed.keeps_storage:
            removed.keep_storage()
        if found is not None:
            deregistration.deregister_free(context.client, found)
        if not removed.keeps_storage:
            volume_ownership.release(context, recorded)
    return True
