"""
The facts about the volume of a custom resource (`volume.facts`), read when a decision needs them, and its refusals.

No rule stands here: which facts lead to what is `volume.decide`. Each fact sends its requests once.
"""

import abc
from collections.abc import Callable, Mapping
from typing import Any, Literal

from nomad_csi import errors, side_by_side
from nomad_csi.compare import difference, volume
from nomad_csi.nomad import volumes
from nomad_csi.ownership import cluster_identity, owner_record_upkeep, registration_ownership
from nomad_csi.plan import dependents
from nomad_csi.registration import deregistration, secret_safety
from nomad_csi.resources import (
    registration_change,
    replacement,
    sharing_refusal,
    stack_identity,
    volume_changes,
    volume_document,
    volume_ownership,
    volume_properties,
)
from nomad_csi.resources.created import created_changes, created_deletion, created_properties
from nomad_csi.resources.frame import declaration, properties, resource
from nomad_csi.volume import decide, facts

_OF_USE = frozenset({"external_id", "capability"})
"""Fields that say which storage a volume uses, and how."""

_Refusals = Mapping[decide.Refusal, Callable[[], errors.RefusedError]]


class _Volume(abc.ABC):
    """The facts that a wanted and a removed volume share."""

    def __init__(
        self,
        context: resource.Context,
        inputs: Mapping[str, Any],
        recorded: Mapping[str, Any] | None,
        *,
        in_preview: bool,
    ) -> None:
        self._context = context
        self._inputs = inputs
        self._in_preview = in_preview
        self._is_new = recorded is None
        self._recorded: Mapping[str, Any] = recorded or {}
        self.name = volume_properties.key_of(inputs)
        self.unchecked: list[str] = []
        """The checks of `fitness` that could not be made."""

    @side_by_side.read_once
    def cluster(self) -> facts.Cluster:
        """The cluster that the connection leads to."""
        return cluster_identity.compare(self._context.client, self._recorded_cluster)

    @property
    def _recorded_cluster(self) -> Mapping[str, Any]:
        """The cluster of the volume; of a new one, that of the other objects of the state."""
        return self._context.operation.recorded_cluster() if self._is_new else self._recorded

    def _of_cluster(self) -> errors.RefusedError:
        return cluster_identity.refusal(self._context.client, f"volume {self.name}", self._recorded_cluster)

    @side_by_side.read_once
    def owners(self) -> registration_ownership.VolumeOwners:
        records = registration_ownership.owner_records_of(self._context.client)
        return records.read_cached(self.key) if self._in_preview else records.read([self.key])

    @property
    def key(self) -> volumes.Key:
        """Namespace and id."""
        return self._inputs["namespace"], self._inputs["volumeId"]

    @property
    def record(self) -> facts.Record:
        """The owner record of the id."""
        return volume_ownership.compare_record(self.owner, self._requester, self._recorded, self.owners.unread)

    @property
    def has_owner(self) -> bool:
        """Whether an owner record is written for it."""
        return bool(self._requester.owner)

    @property
    def _requester(self) -> registration_ownership.Requester:
        return volume_ownership.requester(self._inputs, self._recorded)

    @side_by_side.read_once
    def found(self) -> volumes.Volume | None:
        """Nomad's registration; ``None``: there is none."""
        return volumes.get(self._context.client, *self.key)

    @property
    def owner(self) -> registration_ownership.OwnerRecord | None:
        """The owner record, as read; ``None``: there is none, or it may not be read."""
        return self.owners.owners.get(self.key)

    @property
    def claims(self) -> facts.Claims:
        """The claims on the registration."""
        if self.found is None or not self.found.claims:
            return "none"
        return "ending" if deregistration.is_ending(self.found) else "held"

    def _of_claims(self) -> errors.RefusedError:
        assert self.found is not None  # noqa: S101  # the decision has seen its claims
        return deregistration.claimed(self.found)

    def _of_another(self) -> errors.RefusedError:
        assert self.found is not None  # noqa: S101  # the decision has compared it
        why = stands_for_another(self.found, self._recorded)
        return errors.RefusedError(f"{why}; nothing was changed: run `pulumi refresh` and check")

    def _of_owner(self) -> errors.RefusedError:
        return owner_record_upkeep.refusal(self.key, self.owners.owners[self.key], self._requester)

    def _of_fitness(self) -> errors.RefusedError:
        reasons = "; ".join(self._problems)
        return errors.RefusedError(f"{self.name} stays as it is, because its replacement would not work: {reasons}")

    @property
    @abc.abstractmethod
    def _problems(self) -> tuple[str, ...]:
        """Why the desired registration, or the replacement, would not work; fills `unchecked`."""

    @property
    def fitness(self) -> facts.Fitness:
        """Whether the desired registration, or the replacement, would work."""
        if self._problems:
            return "unfit"
        return "not known" if self.unchecked else "fit"

    @abc.abstractmethod
    def decision(self) -> decide.Decision:
        """Return what is done, or why nothing is."""

    def permitted(self) -> decide.Decision:
        """Return what is done. Raises `errors.RefusedError` with the reason where nothing is."""
        decision = self.decision()
        if decision.refusal is not None:
            raise self.refused(decision.refusal)
        return decision

    def refused(self, reason: decide.Refusal) -> errors.RefusedError:
        """Return the error for *reason*, with the values and the way out."""
        return self._sentences()[reason]()

    @abc.abstractmethod
    def _sentences(self) -> _Refusals:
        """Return the error of each reason."""


class WantedVolume(_Volume):
    """A volume that the program declares with checked inputs *news*; implements `facts.Presence`."""

    def __init__(
        self,
        context: resource.Context,
        declared: declaration.Declaration,
        news: Mapping[str, Any],
        recorded: Mapping[str, Any] | None,
        *,
        in_preview: bool = False,
        is_label_enough: bool = False,
        replaced: volumes.Key | None = None,
        known: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Create it; *recorded* are the previous outputs, ``None`` where the volume is new to the state.

        *is_label_enough*: no state keeps a nonce, so that the owner's label identifies the requester. *replaced*: the
        id that it replaces, which is deregistered before. *known*: ``found`` and ``owners``, where many were
        read at once.
        """
        super().__init__(context, news, recorded, in_preview=in_preview)
        vars(self).update(known or {})
        self._declared = declared
        self._is_label_enough = is_label_enough
        self._replaced = replaced
        self.hold = volume_ownership.Hold() if is_label_enough else volume_ownership.next_hold(news, self._recorded)

    @property
    def source(self) -> facts.Source:
        """Where its storage comes from."""
        return "created" if volume_properties.is_created(self._declared) else "existing"

    @property
    def protect(self) -> bool:
        """Whether the id keeps its data."""
        return bool(self._inputs.get("protect"))

    @property
    def adopt(self) -> bool:
        """Whether to take over a registration that differs, or another stack's."""
        return bool(self._inputs.get("adopt"))

    @side_by_side.read_once
    def change(self) -> registration_change.RegistrationChange:
        """The change from the recorded inputs."""
        return registration_change.classify(self._declared.inputs_in(self._recorded), self._inputs)

    @property
    def recorded(self) -> facts.Recorded:
        """The storage in the state, compared with the desired one."""
        if self._is_new:
            return "nothing"
        if self.source == "created":
            return "same"
        compared: Mapping[registration_change.Storage, facts.Recorded] = {
            "same": "same",
            "other": "other",
            "unknown": "doubtful",
        }
        return "same" if self.change.kind == "replace" else compared[self.change.storage]

    @property
    def record(self) -> facts.Record:
        """The owner record of the id."""
        found = super().record
        return "own" if found == "sibling" and self._is_label_enough else found

    @property
    def is_proven(self) -> bool:
        """Whether the storage of the registration was created for this stack: its owner record has the nonce in it."""
        owner = self.owner
        if self.found is None or owner is None or not owner.origin:
            return False
        return self._requester.is_same_stack(owner) and self.found.name.endswith(f"-{owner.origin}")

    @property
    def origin(self) -> facts.Origin:
        """Whether a creation was started."""
        owner = self.owner
        return "begun" if owner is not None and owner.origin and self._requester.is_same_stack(owner) else "none"

    @side_by_side.read_once
    def compared(self) -> difference.Comparison:
        """The desired registration compared with Nomad's; of known values only."""
        known = {
            name: value
            for name, value in self._inputs.items()
            if name not in volume_document.COMPARED or not properties.has_unknown(value)
        }
        document = volume_document.parse_inputs(self._inputs if known == self._inputs else known)
        return volume.compare_volume(document, self.found, made_by_plugin=self.source == "created")

    @side_by_side.read_once
    def registration(self) -> facts.Registration:
        """Nomad's registration, compared with the desired one."""
        if secret_safety.refusal(self._context.client, self.name, self._with_secrets) is not None:
            return "not known"
        if self.found is None:
            return "absent"
        if self._is_new_storage:
            is_drifted = bool(self._recorded and stands_for_another(self.found, self._recorded))
            return "drifted" if is_drifted else self._compared_storage
        if self.source == "created" and not self._is_new:
            return self._compared_creation(self.found)
        return self._compared_registration()

    def _compared_creation(self, found: volumes.Volume) -> facts.Registration:
        """Compare with the state alone: what a plugin answered is not compared with what was requested."""
        if stands_for_another(found, self._recorded):
            return "drifted"
        if created_changes.refusal_of_shrinking(found.capacity_bytes, self._inputs):
            return "refused"
        return "in-place" if created_changes.concerns_nomad(self._recorded, self._inputs) else "equal"

    def _compared_registration(self) -> facts.Registration:
        fixed = [item for item in self.compared.differences if item.needs_new_registration]
        if fixed and self._drift:
            return "drifted"
        if any(item.field == "external_id" for item in fixed):
            return self._compared_storage
        if fixed:
            return "re-register"
        if self.compared.differences_of_kind("refused") and not self._is_only_owner:
            return "refused"
        if self.compared.differences and not self._is_only_owner:
            return "in-place"
        return "unseen" if self._has_unseen_parts else "equal"

    @property
    def _compared_storage(self) -> Literal["re-register", "other-storage"]:
        """Compare by the data: another access point of one folder has the same."""
        return "re-register" if self.recorded == "same" else "other-storage"

    @side_by_side.read_once
    def _drift(self) -> tuple[difference.Difference, ...]:
        """What Nomad has otherwise than recorded, of what it never changes."""
        if not self._recorded:
            return ()
        found = volume_changes.compare(self.found, self._recorded, is_created=self.source == "created").differences
        return tuple(item for item in found if item.needs_new_registration)

    @property
    def _with_secrets(self) -> Mapping[str, Any]:
        return {**self._recorded, **self._inputs}

    @property
    def _is_new_storage(self) -> bool:
        """Whether the program has yet to create the storage."""
        is_owned = self._inputs.get("storage", {}).get("owned")
        return self._inputs.get("externalId") == resource.UNKNOWN and bool(is_owned)

    @property
    def _is_only_owner(self) -> bool:
        return stack_identity.is_all_that_differs(self._recorded, self._inputs, self._declared)

    @property
    def _has_unseen_parts(self) -> bool:
        """Whether Nomad may lack parts that it does not show: also after a failed update."""
        return not self._is_only_owner and bool(self.compared.hidden or not self._is_new)

    @property
    def storage(self) -> facts.Storage:
        """Whether the storage exists: what a plugin created, as far as it shows that; else in a preview."""
        if self.source == "created":
            return created_deletion.presence(self._context, self._recorded)
        if not (self._in_preview and self._is_new):
            return "there"
        problems, unchecked = self._storage_problems
        if problems:
            return "gone"
        return "not known" if unchecked else "there"

    @side_by_side.read_once
    def _storage_problems(self) -> tuple[tuple[errors.Problem, ...], list[str]]:
        return replacement.problems_of_owned_storage(self._context, self._inputs)

    @side_by_side.read_once
    def _sharing(self) -> str:
        is_new = self._in_preview and self._is_new
        return sharing_refusal.reason(self._context, self._inputs, accepts_present=is_new, replaced=self._replaced)

    @property
    def sharing(self) -> facts.Sharing:
        """Other volumes of the desired storage; compared where the use of the storage changes."""
        is_other_use = self.found is None or any(item.field in _OF_USE for item in self.compared.differences)
        return "refused" if self.source == "existing" and is_other_use and self._sharing else "none"

    @side_by_side.read_once
    def _problems(self) -> tuple[str, ...]:
        hidden = replacement.hidden_flags(self.found, self._recorded) if self.found is not None else ""
        found = replacement.problems(
            self._context,
            self._inputs,
            self._recorded,
            self.unchecked,
            is_created=self.source == "created",
            in_preview=self._in_preview,
        )
        return (*((hidden,) if hidden else ()), *found)

    def decision(self) -> decide.Decision:
        """Return what is done, or why nothing is."""
        return decide.decide_presence(self)

    def _sentences(self) -> _Refusals:
        return {
            "other cluster": self._of_cluster,
            "lost cluster": self._of_cluster,
            "foreign": self._of_owner,
            "unreadable": self._of_secrets,
            "protected": lambda: registration_change.refusal_of_other_data(self.name, self.change),
            "shared": lambda: errors.RefusedError(f"volume {self.name} was not registered: {self._sharing}"),
            "storage gone": self._of_storage,
            "unfit": self._of_fitness,
            "claimed": self._of_claims,
            "taken": self._of_taken,
            "never in place": self._of_taken,
            "changed meanwhile": self._of_drift,
            "impossible": self._of_impossible,
        }

    def _of_secrets(self) -> errors.RefusedError:
        found = secret_safety.refusal(self._context.client, self.name, self._with_secrets)
        assert found is not None  # noqa: S101  # the decision has read it
        return found

    def _of_storage(self) -> errors.RefusedError:
        reasons = "; ".join(map(str, self._storage_problems[0]))
        return errors.RefusedError(f"volume {self.name} would be registered for unusable storage: {reasons}")

    def _of_taken(self) -> errors.RefusedError:
        assert self.found is not None  # noqa: S101  # the decision has compared it
        if self._is_new_storage:
            return errors.RefusedError(
                f"volume {self.name} is registered already, for {self.found.external_id}, and this resource would make "
                "new storage for it: add an alias where the resource was renamed or moved in the program, or choose "
                "another id"
            )
        return volume_document.refusal_of_foreign(self.found, self._inputs, self.compared)

    def _of_drift(self) -> errors.RefusedError:
        if self.source == "created":
            return self._of_another()
        changed = "; ".join(
            f"{volume_document.property_path(item.field)} is {item.actual!r} in Nomad, {item.desired!r} in the state"
            for item in self._drift
        )
        return errors.RefusedError(
            f"volume {self.name} is not as recorded any more; nothing was changed: {changed}; run `pulumi refresh`, "
            "check, and run again"
        )

    def _of_impossible(self) -> errors.RefusedError:
        if self.source == "created" and self.found is not None and not self._is_new:
            return errors.RefusedError(created_changes.refusal_of_shrinking(self.found.capacity_bytes, self._inputs))
        if self._is_new and not self.adopt:
            return self._of_taken()
        return volume_changes.refusal_of_impossible(self.compared, self._inputs)

    @property
    def unchecked_storage(self) -> tuple[str, ...]:
        """The checks of new storage that could not be made."""
        return tuple(self._storage_problems[1])


_TOKENS = (volume_properties.DECLARED.token, created_properties.DECLARED.token)


class RemovedVolume(_Volume):
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
        return "other-storage" if stands_for_another(self.found, self._recorded) else "same"

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
        new = WantedVolume(self._context, self._declared, self._wanted, None, replaced=self.key)
        refusal = new.decision().refusal
        return (*found, str(new.refused(refusal))) if refusal is not None else found

    def decision(self) -> decide.Decision:
        """Return what is done, or why nothing is."""
        return decide.decide_removal(self)

    def _sentences(self) -> _Refusals:
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


def stands_for_another(volume: volumes.Volume, recorded: Mapping[str, Any]) -> str:
    """Return a sentence that *volume* in Nomad has other storage than *recorded*; empty where it has not."""
    external_id = recorded.get("externalId", volume.external_id)
    if external_id == volume.external_id:
        return ""
    return f"volume {volume.key}: external id is {volume.external_id} in Nomad, {external_id} in the state"
