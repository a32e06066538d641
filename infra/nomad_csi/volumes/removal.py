"""Removal of a volume whose resource is deleted: the facts, the sentences of its refusals, and the steps."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from nomad_csi import concurrency, errors
from nomad_csi.frame import properties, resource, stack_identity
from nomad_csi.volumes import (
    created_deletion,
    decide,
    deregistration,
    desired,
    explain,
    facts,
    fitness,
    hold,
    owner_records,
    registration_change,
    registration_ownership,
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
        self.is_replaced = self._wanted is not None
        self.is_renamed = bool(stack_identity.other_stack(context, recorded))
        self.protect = self.desired.protect
        self.is_proven = not created_deletion.objection(self.name, recorded)
        self._storage = (
            registration_change.storage_of_program(self.desired)
            if self._wanted is None
            else registration_change.left_storage(self.desired, self._wanted)
        )
        """What the program deletes afterwards."""

        self.ends: facts.Ends = "kept" if self._storage is None else "deleted after"
        if created_deletion.is_wanted(recorded):
            self.ends = "deleted here"
        is_same_id = self._wanted is not None and self._wanted.key == self.key
        self.keeps_storage = self.desired.is_created and self.ends == "kept" and not is_same_id
        """Whether the owner record stays, as the plugin created storage for the id that is not deleted."""

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
    def registration(self) -> Literal["absent", "same", "other-storage"]:
        """Nomad's registration, compared with the recorded storage."""
        if self.found is None:
            return "absent"
        return "other-storage" if self.is_of_another_hand else "same"

    @concurrency.read_once
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

    @concurrency.read_once
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
                storage = self.recorded_outputs.get("externalId", "")
                return errors.RefusedError(
                    f"volume {self.name} is protected, and its storage {storage} would be deleted after its "
                    "registration; nothing was changed: set protect: false, run `pulumi up`, and remove it then"
                )
            case "unproven":
                why = created_deletion.objection(self.name, self.recorded_outputs)
                return errors.RefusedError(f"{why}; nothing was changed")
            case _:
                return self._dependents.refusal(f"volume {self.name} is not removed")

    def keep_storage(self) -> None:
        """Complete the owner record that stays, by what the state knows of the storage."""
        nonce = str(self.recorded_outputs.get("nonce", ""))
        token = owner_records.OwnerToken(recorded=nonce, nonce=nonce, leaves_stack=True)
        token = wanted_volume.created_token(token, self.desired.document, self.recorded_outputs)
        records = registration_ownership.owner_records_of(self._context.client)
        if self.has_owner and records.acquire(self.key, token, self.requester).is_unrecorded:
            rights = registration_ownership.RIGHTS.format(namespace=self.key[0])
            self._context.warn(
                f"the owner record of volume {self.name} keeps the id of this stack, so that a later one of the same "
                f"name has to adopt the volume: the token lacks {rights}"
            )

    def release_record(self) -> None:
        """Remove the owner record, unless the volume is registered again, or another owner has it."""
        if self.has_owner:
            token = owner_records.OwnerToken(recorded=str(self.recorded_outputs.get("nonce", "")))
            registration_ownership.release(self._context.client, self.key, token, self.requester, self._context.warn)

    def unknown_owner(self, what: str) -> str:
        """Return that the owner record could not be read, so that the volume *what*, and what to do."""
        rights = registration_ownership.RIGHTS.format(namespace=self.key[0])
        return (
            f"volume {self.name} {what}: without an owner record it is not known whether another resource has taken it "
            f"over; where none has, run `nomad volume deregister -namespace={self.key[0]} {self.key[1]}`; owner "
            f"records need {rights}"
        )


def remove(context: resource.Context, removed: RemovedVolume) -> bool:
    """
    Deregister the volume, if it is there, never by force; then remove its owner record. Return whether it was removed.

    The record of a volume that its plugin created stays, with the storage, unless the volume is replaced. After a wait
    for claims, or for other volumes in its storage, it is decided again. ``False``: another resource holds it, or may
    hold it, and nothing was changed. Raises `errors.RefusedError` where the decision is that nothing is done, and what
    `RemovedVolume.wait_until_free` does.
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
        removed.wait_until_free()
        return remove(context, removed.again())  # the owner may be another one after the wait
    if "delete storage" in decision.steps:
        return True
    with hold.removing(context, removed.key):
        if removed.keeps_storage:
            removed.keep_storage()
        if found is not None:
            deregistration.deregister_free(context.client, found)
        if not removed.keeps_storage:
            removed.release_record()
    return True
