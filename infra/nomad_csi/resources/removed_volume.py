"""The facts about a volume whose resource is deleted, and the sentences of its refusals."""

from collections.abc import Mapping
from typing import Any, Literal

from nomad_csi import errors, side_by_side
from nomad_csi.plan import dependents
from nomad_csi.resources import (
    replacement,
    sharing_refusal,
    stack_identity,
    volume_facts,
    volume_ownership,
    volume_properties,
    wanted_volume,
)
from nomad_csi.resources.created import created_changes, created_deletion, created_properties
from nomad_csi.resources.frame import declaration, resource
from nomad_csi.volume import decide, facts

_TOKENS = (volume_properties.DECLARED.token, created_properties.DECLARED.token)


class RemovedVolume(volume_facts.VolumeFacts):
    """A volume whose resource, with the outputs *recorded*, is deleted; implements `facts.Removal`."""

    def __init__(
        self,
        context: resource.Context,
        declared: declaration.Declaration,
        recorded: Mapping[str, Any],
        *,
        replaced_by: Mapping[str, Any] | None = None,
        in_preview: bool = False,
    ) -> None:
        """*replaced_by* are the inputs of what replaces it; ``None``: what the program declares for its URN."""
        super().__init__(context, recorded, recorded, in_preview=in_preview)
        self._replaced_by = replaced_by
        self._wanted = replaced_by or context.operation.declared(declared.token, context.urn)
        self._declared = declared

    def again(self) -> "RemovedVolume":
        """Return the same volume, with nothing read yet."""
        return RemovedVolume(
            self._context, self._declared, self._recorded, replaced_by=self._replaced_by, in_preview=self._in_preview
        )

    @property
    def is_replaced(self) -> bool:
        """Whether the program still declares the resource."""
        return self._wanted is not None

    @property
    def is_held_elsewhere(self) -> bool:
        """Whether another resource of the program declares the id, or has it since this run."""
        operation = self._context.operation
        if any(operation.was_created(token, self.name) for token in _TOKENS):
            return True
        others = (item for token in _TOKENS for item in operation.declared_elsewhere(token, self._context.urn))
        return any((item.get("namespace"), item.get("volumeId")) == self.key for item in others)

    @property
    def is_renamed(self) -> bool:
        """Whether a stack of another name wrote the state."""
        return bool(stack_identity.other_stack(self._context, self._recorded))

    @property
    def protect(self) -> bool:
        """As recorded."""
        return bool(self._recorded.get("protect"))

    @property
    def ends(self) -> facts.Ends:
        """What becomes of the storage."""
        if created_deletion.is_wanted(self._recorded):
            return "deleted here"
        is_owned = self._recorded.get("storage", {}).get("owned")
        return "deleted after" if is_owned and not self.is_replaced else "kept"

    @property
    def is_proven(self) -> bool:
        """Whether the state proves that the storage was created for this volume."""
        return not created_deletion.objection(self.name, self._recorded)

    @property
    def registration(self) -> Literal["absent", "same", "other-storage"]:
        """Nomad's registration, compared with the recorded storage."""
        if self.found is None:
            return "absent"
        return "other-storage" if volume_facts.stands_for_another(self.found, self._recorded) else "same"

    @side_by_side.read_once
    def _dependents(self) -> tuple[str, ...]:
        declared = self._context.operation.all_declared(volume_properties.DECLARED.token)
        return sharing_refusal.volumes_in_storage_of(self._context, self.name, self._recorded, declared)

    @property
    def dependents(self) -> Literal["none", "some", "not known"]:
        """Volumes of others that are registered in the storage."""
        return "some" if self._dependents else "none"

    @side_by_side.read_once
    def _problems(self) -> tuple[str, ...]:
        assert self._wanted is not None  # noqa: S101  # only a replacement is asked for
        found = replacement.problems(
            self._context,
            self._wanted,
            self._recorded,
            self.unchecked,
            is_created=volume_properties.is_created(self._declared),
            in_preview=self._in_preview,
        )
        if volume_properties.key_of(self._wanted) == self.name:
            return found
        new = wanted_volume.WantedVolume(self._context, self._declared, self._wanted, None, replaced=self.key)
        refusal = new.decision().refusal
        return (*found, str(new.refused(refusal))) if refusal is not None else found

    def decision(self) -> decide.Decision:
        """Return what is done, or why nothing is."""
        return decide.decide_removal(self)

    def _sentences(self) -> volume_facts.Refusals:
        return {
            "other cluster": self._of_cluster,
            "lost cluster": self._of_cluster,
            "foreign": self._of_owner,
            "claimed": self._of_claims,
            "changed meanwhile": self._of_another,
            "renamed stack": self._of_renamed,
            "stale state": self._of_stale_state,
            "protected": self._of_protection,
            "unproven": lambda: errors.RefusedError(
                f"{created_deletion.objection(self.name, self._recorded)}; nothing was changed"
            ),
            "dependents": self._of_dependents,
            "unfit": self._of_fitness,
        }

    @property
    def keeps_storage(self) -> bool:
        """Whether the owner record stays, as the plugin created storage for the id that is not deleted."""
        is_replaced = self._wanted is not None and volume_properties.key_of(self._wanted) == self.name
        return volume_properties.is_created(self._declared) and self.ends == "kept" and not is_replaced

    def keep_storage(self) -> None:
        """Complete the owner record that stays, by what the state knows of the storage."""
        nonce = str(self._recorded.get("nonce", ""))
        token = volume_ownership.OwnerToken(recorded=nonce, nonce=nonce, leaves_stack=True)
        token = created_changes.token_of(token, self._recorded, self._recorded)
        volume_ownership.keep(self._context, self._recorded, token)

    def _of_renamed(self) -> errors.RefusedError:
        return errors.RefusedError(f"volume {self.name} {stack_identity.other_stack(self._context, self._recorded)}")

    def _of_stale_state(self) -> errors.RefusedError:
        return errors.RefusedError(
            f"volume {self.name} is held by another resource of this stack, or by a newer state of it, and the program "
            "declares no other one: this state may be an older checkpoint; nothing was changed: run `pulumi up` with "
            "the volume in the program first, which takes it over, and remove it then"
        )

    def _of_protection(self) -> errors.RefusedError:
        return errors.RefusedError(
            f"volume {self.name} is protected, and its storage {self._recorded.get('externalId', '')} would be deleted "
            "after its registration; nothing was changed: set protect: false, run `pulumi up`, and remove it then"
        )

    def _of_dependents(self) -> errors.RefusedError:
        where = dependents.container(str(self._recorded.get("externalId", "")))
        return errors.RefusedError(
            f"volume {self.name} is not removed: {where} goes with it, and {', '.join(self._dependents)} would lose "
            f"their data in it; keep {self.name}, or move that data first; nothing was changed"
        )
