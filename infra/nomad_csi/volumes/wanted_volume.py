"""The facts about a volume that the program declares, and the sentences of its refusals."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from nomad_csi import errors, side_by_side
from nomad_csi.frame import declaration, properties, resource, stack_identity
from nomad_csi.nomad import tokens, volumes
from nomad_csi.volumes import (
    compare,
    created_changes,
    created_deletion,
    created_properties,
    decide,
    difference,
    facts,
    hold,
    registration_change,
    registration_ownership,
    replacement,
    secret_safety,
    sharing,
    volume_changes,
    volume_document,
    volume_facts,
    volume_ownership,
    volume_properties,
)

_OF_USE = frozenset({"external_id", "capability"})
"""Fields that say which storage a volume uses, and how."""


class WantedVolume(volume_facts.VolumeFacts):
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
        self.token = (
            volume_ownership.OwnerToken() if is_label_enough else volume_ownership.next_token(news, self._recorded)
        )

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
        if found != "foreign" and self._lacks_a_record:
            return "not known"
        return "own" if found == "sibling" and self._is_label_enough else found

    @property
    def _lacks_a_record(self) -> bool:
        """Whether its plugin is to create it, and the token may not write the record that keeps the storage for it."""
        if not (self.source == "created" and self.has_owner and self.registration == "absent"):
            return False
        client = self._context.client
        token = self._context.operation.once("rights of the token", lambda: tokens.readable(client))
        return token is not None and not registration_ownership.may_write(token, self.key)

    @property
    def is_proven(self) -> bool:
        """Whether the storage of the registration was created for this stack, as its owner record says."""
        return self.found is not None and volume_ownership.has_created(self.owner, self._requester, self.found)

    @property
    def kept(self) -> facts.Kept:
        """The storage that the owner record keeps for the id."""
        owner = self.owner
        if owner is None or not (owner.storage_name or owner.external_id):
            return "nothing"
        if self.source == "existing":
            return "same" if owner.external_id == self._inputs.get("externalId") else "other"
        if owner.plugin_id not in {"", self._inputs.get("pluginId")}:
            return "other"
        storage, name = self._known_storage
        if owner.external_id and storage:
            return "same" if owner.external_id == storage else "other"
        if name not in {"", owner.storage_name}:
            return "other"
        return "same" if owner.external_id else "begun"

    @property
    def _known_storage(self) -> tuple[str, str]:
        """External id and name of the storage in the state, or in Nomad; empty: not known."""
        if self.found is not None and (self._is_new or self.is_proven):
            return self.found.external_id, self.found.name
        return (
            str(self._recorded.get("externalId", "")),
            str(self._recorded.get(created_properties.CREATED_NAME, "")),
        )

    @property
    def kept_storage(self) -> str:
        """The storage that the owner record keeps, for messages."""
        return "" if self.owner is None else self.owner.storage

    @side_by_side.read_once
    def compared(self) -> difference.Comparison:
        """The desired registration compared with Nomad's; of known values only."""
        known = {
            name: value
            for name, value in self._inputs.items()
            if name not in volume_document.COMPARED or not properties.has_unknown(value)
        }
        document = volume_document.parse_inputs(self._inputs if known == self._inputs else known)
        return compare.compare_volume(document, self.found, made_by_plugin=self.source == "created")

    @side_by_side.read_once
    def registration(self) -> facts.Registration:
        """Nomad's registration, compared with the desired one."""
        if secret_safety.refusal(self._context.client, self.name, self._with_secrets) is not None:
            return "not known"
        if self.found is None:
            return "absent"
        if self._is_new_storage:
            is_drifted = bool(self._recorded and volume_facts.stands_for_another(self.found, self._recorded))
            return "drifted" if is_drifted else self._compared_storage
        if self.source == "created" and not self._is_new:
            return self._compared_creation(self.found)
        return self._compared_registration()

    def _compared_creation(self, found: volumes.Volume) -> facts.Registration:
        """Compare with the state alone: what a plugin answered is not compared with what was requested."""
        if volume_facts.stands_for_another(found, self._recorded) and not self.is_proven:
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
        found = volume_changes.compare_inputs(
            self.found, self._recorded, is_created=self.source == "created"
        ).differences
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
        return sharing.reason(self._context, self._inputs, accepts_present=is_new, replaced=self._replaced)

    @property
    def sharing(self) -> facts.Sharing:
        """Other volumes of the desired storage; compared where the use of the storage changes."""
        is_other_use = self.found is None or any(item.field in _OF_USE for item in self.compared.differences)
        return "refused" if self.source == "existing" and is_other_use and self._sharing else "none"

    @side_by_side.read_once
    def _dependents(self) -> hold.StorageDependents:
        """The volumes in the storage that the program deletes afterwards; this one, where it is registered for it."""
        left = self.change.left_storage
        assert left is not None  # noqa: S101  # see `left_storage`
        found = hold.read(self._context, left, self.key[0], but=[self.key])
        own = self.key if left.contains(registration_change.planned_storage(self._inputs)) else None
        return dataclasses.replace(found, keys=(*([own] if own else []), *found.keys), own=own)

    @property
    def left_storage(self) -> facts.LeftStorage:
        """What becomes of the storage in the state."""
        if self._is_new or self.source == "created" or self.change.left_storage is None:
            return "kept"
        left: Mapping[facts.Dependents, facts.LeftStorage] = {"none": "unneeded", "some": "needed"}
        return left.get(self._dependents.fact, "not known")

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

    def _sentences(self) -> volume_facts.Refusals:
        return {
            "other cluster": self._of_cluster,
            "lost cluster": self._of_cluster,
            "foreign": self._of_owner,
            "dependents": lambda: self._dependents.refusal(f"volume {self.name} stays as it is"),
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
            "other storage": self._of_other_storage,
            "unrecorded": lambda: created_changes.refusal_without_record(self.key),
        }

    def _of_other_storage(self) -> errors.RefusedError:
        assert self.owner is not None  # noqa: S101  # the decision has compared it
        storage, _ = self._known_storage
        wanted = storage or str(self._inputs.get("externalId", ""))
        gets = wanted if wanted not in {"", resource.UNKNOWN} else f"storage of plugin {self._inputs['pluginId']}"
        plugin = f" of plugin {self.owner.plugin_id}" if self.owner.plugin_id else ""
        way_out = registration_ownership.way_to_give_up(
            self.key, self.owner.external_id or self.owner.storage_name, self.owner.owner
        )
        return errors.RefusedError(
            f"the owner record of volume {self.name} keeps storage {self.owner.storage}{plugin} for it, and it would "
            f"get {gets}; nothing was changed: to give the first one up, {way_out}"
        )

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
