"""
The facts about a volume (`volumes.facts`), read when a decision needs them. Each fact sends its requests once.

No rule stands here: which facts lead to what is `volumes.decide`. The sentences of the refusals are `volumes.explain`.
"""

import abc
import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from nomad_csi import concurrency, errors
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import properties, resource, stack_identity
from nomad_csi.nomad import cluster_identity, token_rights, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import (
    compare,
    decide,
    deregistration,
    desired,
    explain,
    facts,
    fitness,
    hold,
    ownership,
    secret_safety,
    sharing,
    volume_properties,
)

if TYPE_CHECKING:
    from nomad_csi.volumes import deletion_proof

_OF_USE = frozenset({"external_id", "capability"})
"""Fields that say which storage a volume uses, and how."""


class VolumeFacts(abc.ABC):
    """The facts that a wanted and a removed volume share."""

    def __init__(
        self,
        context: resource.Context,
        volume: desired.DesiredVolume,
        recorded: Mapping[str, Any] | None,
        *,
        in_preview: bool,
    ) -> None:
        self.context = context
        self.desired = volume
        self._in_preview = in_preview
        self._is_new = recorded is None
        self.recorded_outputs: Mapping[str, Any] = recorded or {}
        self.key, self.name = volume.key, volume.document.key
        self.requester = ownership.requester(volume.owned, self.recorded_outputs)
        self.has_owner = bool(self.requester.owner)
        """Whether an owner record is written for it."""

    @concurrency.read_once
    def cluster(self) -> facts.Cluster:
        """The cluster that the connection leads to."""
        return cluster_identity.compare(self.context.client, self.recorded_cluster)

    @property
    def recorded_cluster(self) -> Mapping[str, Any]:
        """The cluster of the volume; of a new one, that of the other objects of the state."""
        return self.context.operation.recorded_cluster() if self._is_new else self.recorded_outputs

    @concurrency.read_once
    def owners(self) -> ownership.VolumeOwners:
        """The owner record of the id, or that it may not be read."""
        records = ownership.OwnerRecords(self.context.client)
        return records.read([self.key], max_age_s=ownership.SEEN_S if self._in_preview else 0.0)

    def owned(self, token: ownership.OwnerToken) -> ownership.VolumeOwner:
        """Return its owner record, to be changed with *token*."""
        context = self.context
        return ownership.VolumeOwner(
            client=context.client, key=self.key, token=token, requester=self.requester, report=context.warn
        )

    @property
    def owner(self) -> ownership.OwnerRecord | None:
        """The owner record, as read; ``None``: there is none, or it may not be read."""
        return self.owners.owners.get(self.key)

    @property
    def record(self) -> facts.Record:
        """The owner record of the id."""
        is_unread = self.key in self.owners.unread
        return ownership.compare_record(self.owner, self.requester, self.recorded_outputs, is_unread=is_unread)

    @concurrency.read_once
    def actual(self) -> volumes.Volume | None:
        """Nomad's registration; ``None``: there is none."""
        return volumes.get(self.context.client, *self.key)

    @property
    def registered(self) -> volumes.Volume:
        """Nomad's registration, where a decision has seen that there is one."""
        assert self.actual is not None  # noqa: S101  # the decision has seen it
        return self.actual

    @property
    def is_of_another_hand(self) -> bool:
        """Whether Nomad's registration has other storage than the state."""
        return self.actual is not None and bool(explain.stands_for_another(self.actual, self.recorded_outputs))

    @property
    def claims(self) -> facts.Claims:
        """The claims on the registration."""
        if self.actual is None or not self.actual.claims:
            return "none"
        return "ending" if deregistration.is_ending(self.actual) else "held"

    def wait_until_free(self) -> volumes.Volume | None:
        """
        Return the registration once it is unclaimed, ``None`` where it was deregistered meanwhile; sends no change.

        Waits for claims of terminating allocations. Raises `errors.RefusedError` for other claims, with their
        allocations, and where it has other storage than recorded by then.
        """
        current: volumes.Volume | None = self.registered
        if self.claims == "ending":
            self.context.status("waiting for terminating allocations to release their claims")
            current = deregistration.wait_until_free(
                self.context.client,
                self.registered,
                wait_s=deregistration.ENDING_WAIT_S,
                cancelled=self.context.cancelled,
                should_wait=deregistration.is_ending,
            )
        if current is not None:
            if explain.stands_for_another(current, self.recorded_outputs):
                raise explain.of_another_hand(current, self.recorded_outputs)
            if current.claims:
                raise deregistration.claimed(current)
        return current

    left: concurrency.read_once[storage_identity.StorageIdentity | None]
    """What the program deletes of the storage in the state afterwards; ``None``: nothing."""

    storage_dependents: concurrency.read_once[hold.StorageDependents]
    """What needs that storage by then."""

    @property
    def dependents(self) -> facts.Dependents:
        """Registrations in that storage."""
        return "none" if self.left is None else self.storage_dependents.fact

    problems: concurrency.read_once[tuple[str, ...]]
    """Why the desired registration, or the replacement, would not work."""

    @property
    def fitness(self) -> facts.Fitness:
        """Whether the desired registration, or the replacement, would work."""
        return "unfit" if self.problems else "fit"

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
        """Return the error for *reason*, with the values and what to do."""
        return explain.refusal(self, reason)


class WantedVolume(VolumeFacts):
    """A volume that is *desired*; implements `facts.Presence`."""

    def __init__(
        self,
        context: resource.Context,
        volume: desired.DesiredVolume,
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
        id that it replaces, which is deregistered before. *known*: ``actual`` and ``owners``, where many were
        read at once.
        """
        super().__init__(context, volume, recorded, in_preview=in_preview)
        vars(self).update(known or {})
        self.source, self.protect, self.adopt = volume.source, volume.protect, volume.adopt
        self.before = desired.of_properties(volume_properties.of(volume.source), self.recorded_outputs)
        self._differing = desired.differing(self.before, volume)
        """The properties that differ from the state by their values."""

        self._is_label_enough = is_label_enough
        self._replaced = replaced
        token = ownership.NO_TOKEN
        if not is_label_enough:
            is_same = not self._differing & {*stack_identity.OF_OWNER, "onDestroy"}
            token = ownership.next_token(str(self.recorded_outputs.get("nonce", "")), is_same=is_same)
        self.token = token if volume.is_created else ownership.naming(token, volume.document)

    @concurrency.read_once
    def change(self) -> desired.RegistrationChange:
        """The change from the recorded inputs."""
        return desired.classify(self.before, self.desired)

    @property
    def recorded(self) -> facts.Recorded:
        """The storage in the state, compared with the desired one."""
        if self._is_new:
            return "nothing"
        if self.source == "created" or self.change.kind == "replace":
            return "same"
        return "doubtful" if self.change.storage == "unknown" else self.change.storage

    @property
    def record(self) -> facts.Record:
        """The owner record of the id."""
        record = super().record
        if record != "foreign" and self._lacks_a_record:
            return "not known"
        return "own" if record == "sibling" and self._is_label_enough else record

    @property
    def _lacks_a_record(self) -> bool:
        """Whether its plugin is to create it, and the token may not write the record that keeps the storage for it."""
        if not (self.source == "created" and self.has_owner and self.registration == "absent"):
            return False
        client = self.context.client
        token = self.context.operation.once("rights of the token", lambda: token_rights.readable(client))
        return token is not None and not ownership.may_write(token, self.key)

    @property
    def is_proven(self) -> bool:
        """Whether the storage of the registration was created for this stack, by its owner record."""
        return self.actual is not None and ownership.has_created(self.owner, self.requester, self.actual)

    @property
    def kept(self) -> facts.Kept:
        """The storage that the owner record keeps for the id."""
        owner, document = self.owner, self.desired.document
        if owner is None or not (owner.storage_name or owner.external_id):
            return "nothing"
        if self.source == "existing":
            if not owner.storage_name:
                return "nothing"  # whoever registers storage that exists names it
            return "same" if owner.external_id == document.external_id else "other"
        storage, name = self.known_storage
        if not owner.storage_name:  # no plugin finds it
            return "same" if owner.external_id == storage else "other"
        if owner.plugin_id not in {"", document.plugin_id}:
            return "other"
        if owner.external_id and storage:
            return "same" if owner.external_id == storage else "other"
        if name not in {"", owner.storage_name}:
            return "other"
        return "same" if owner.external_id else "begun"

    @property
    def known_storage(self) -> tuple[str, str]:
        """External id and name of the storage in the state, or in Nomad; empty: not known."""
        if self.actual is not None and (self._is_new or self.is_proven):
            return self.actual.external_id, self.actual.name
        recorded = self.recorded_outputs
        return str(recorded.get("externalId", "")), str(recorded.get(volume_properties.CREATED_NAME, ""))

    @property
    def kept_storage(self) -> str:
        """The storage that the owner record keeps, for messages."""
        return "" if self.owner is None else self.owner.storage

    @concurrency.read_once
    def compared(self) -> compare.Comparison:
        """The desired registration compared with Nomad's; of known values only."""
        return compare.compare_volume(self.desired.known, self.actual, made_by_plugin=self.source == "created")

    @concurrency.read_once
    def unread(self) -> errors.RefusedError | None:
        """The refusal to read the volume, which has secrets that a read would erase; ``None``: it may be read."""
        secrets = self.desired.document.secrets or self.before.document.secrets
        return secret_safety.refusal(self.context.client, self.key, secrets)

    @concurrency.read_once
    def registration(self) -> facts.Registration:
        """Nomad's registration, compared with the desired one."""
        if self.unread is not None:
            return "not known"
        if self.actual is None:
            return "absent"
        if self.is_new_storage:
            return "drifted" if self.recorded_outputs and self.is_of_another_hand else self._compared_storage
        if self.source == "created" and not self._is_new:
            return self._compared_creation()
        return self._compared_registration()

    def _compared_creation(self) -> facts.Registration:
        """Compare with the state alone: what a plugin answered is not compared with what was requested."""
        if self.is_of_another_hand and not self.is_proven:
            return "drifted"
        if self.shrinking:
            return "refused"
        # What is not sent to Nomad is no change. Where nothing differs, a failed update is retried.
        is_sent = self._differing - volume_properties.OF_DELETION - stack_identity.OF_OWNER or not self._differing
        return "in-place" if is_sent or self.recorded_outputs.get("foreignMountFlags") else "equal"

    @property
    def shrinking(self) -> str | None:
        """Why the desired size would shrink the volume that its plugin created; ``None`` where it does not."""
        registered = self.registered
        return explain.shrinking(self.desired.document, registered.capacity_bytes, registered.capacity_min_bytes)

    def _compared_registration(self) -> facts.Registration:
        fixed = [item for item in self.compared.differences if item.needs_new_registration]
        if fixed and self.drift:
            return "drifted"
        if any(item.field == "external_id" for item in fixed):
            return self._compared_storage
        if fixed:
            return "re-register"
        if self.compared.differences_of_kind("refused"):
            return "refused"
        if self.compared.differences:
            return "in-place"
        # Nomad may lack parts that it does not show: also after a failed update.
        return "unseen" if self.compared.hidden or not self._is_new else "equal"

    @property
    def _compared_storage(self) -> Literal["re-register", "other-storage"]:
        """Compare by the data: another access point of one folder has the same."""
        return "re-register" if self.recorded == "same" else "other-storage"

    @concurrency.read_once
    def drift(self) -> tuple[compare.Difference, ...]:
        """What Nomad has otherwise than recorded, of what it never changes."""
        if not self.recorded_outputs:
            return ()
        differences = compare.compare_volume(
            self.before.document, self.actual, made_by_plugin=self.source == "created"
        ).differences
        return tuple(item for item in differences if item.needs_new_registration)

    @property
    def is_new_storage(self) -> bool:
        """Whether the program has yet to create the storage."""
        return self.desired.document.external_id == desired.UNKNOWN and self.desired.storage.owned

    @concurrency.read_once
    def sharing_problem(self) -> str:
        """Why the storage may not be registered beside that of the other volumes; empty where it may."""
        return sharing.reason(self.context, self.desired.document, self._replaced)

    @property
    def sharing(self) -> facts.Sharing:
        """Other volumes of the desired storage; compared where the use of the storage changes."""
        is_other_use = self.actual is None or any(item.field in _OF_USE for item in self.compared.differences)
        return "refused" if self.source == "existing" and is_other_use and self.sharing_problem else "none"

    @concurrency.read_once
    def left(self) -> storage_identity.StorageIdentity | None:
        """What the program deletes once the desired registration is there."""
        return None if self._is_new or self.source == "created" else self.change.left_storage

    @concurrency.read_once
    def storage_dependents(self) -> hold.StorageDependents:
        """The other volumes in that storage, and this one where it is registered for it by then."""
        assert self.left is not None  # noqa: S101  # see `dependents`
        dependents = hold.read(self.context, self.left, self.key[0], but=[self.key])
        own = (self.key,) if self.left.contains(desired.planned_storage(self.desired)) else ()
        return dataclasses.replace(dependents, keys=(*own, *dependents.keys))

    @concurrency.read_once
    def problems(self) -> tuple[str, ...]:
        """Why the desired registration would not work."""
        return fitness.problems(self.context, self.desired, in_preview=self._in_preview)

    def decision(self) -> decide.Decision:
        """Return what is done, or why nothing is."""
        return decide.decide_presence(self)


def created_token(
    token: ownership.OwnerToken,
    document: registration.VolumeRegistration,
    recorded: Mapping[str, Any],
) -> ownership.OwnerToken:
    """
    Return *token* with the storage of the *recorded* outputs, for the owner record; without any, with a new name.

    The name of storage proves that it was created for the volume only with `volume_properties.MADE`.
    """
    external_id = str(recorded.get("externalId", ""))
    kept = dataclasses.replace(token, external_id=external_id, plugin_id=document.plugin_id)
    if not recorded:
        new = registration.creation_name(document.name, ownership.new_nonce())
        return dataclasses.replace(kept, created_name=new)
    # Storage that was registered without a recorded name has its own.
    name = str(recorded.get(volume_properties.CREATED_NAME, document.name))
    if recorded.get(volume_properties.MADE):
        return dataclasses.replace(kept, created_name=name)
    return dataclasses.replace(kept, registered_name=name)


def deletion_order(
    context: resource.Context, recorded: Mapping[str, Any]
) -> "tuple[deletion_proof.DeletionRequest, deletion_proof.DeletionOptions]":
    """
    Return the request to delete the volume *recorded*, which its ``onDestroy`` confirms, and the options.

    The custom timeout of the step is the timeout of a last snapshot.
    """
    from nomad_csi.volumes import deletion_proof  # noqa: PLC0415  # few volumes are deleted, and all would pay for it

    namespace, volume_id, cluster = recorded["namespace"], recorded["volumeId"], str(recorded.get("cluster", ""))
    how, key = recorded.get("deletion", {}), f"{namespace}/{volume_id}"
    request = deletion_proof.DeletionRequest(
        namespace=namespace,
        volume_id=volume_id,
        confirmation=key if volume_properties.deletes_storage(recorded) else "",
        plugin_id=str(recorded.get("pluginId", "")),
    )
    return request, deletion_proof.DeletionOptions(
        wait_s=deregistration.ENDING_WAIT_S,
        aws_region=how.get("awsRegion", ""),
        endpoint=how.get("endpoint", ""),
        secrets={key: recorded.get("secrets", {})},
        with_snapshot=not how.get("skipFinalSnapshot", False),
        snapshot_wait_s=context.timeout_s or deletion_proof.SNAPSHOT_WAIT_S,
        owner=str(recorded.get("owner", "")),
        created={key: deletion_proof.MadeStorage(external_id=recorded[volume_properties.MADE], cluster=cluster)},
        # The token may not read the cluster's id, so the state has none: only the provider's address identifies it.
        accepts_unregistered=not cluster,
        accepts_unguarded=bool(how.get("acceptUnguarded", False)),
        report=context.status,
        cancelled=context.cancelled,
    )


# A volume that is removed.


_TOKENS = (volume_properties.REGISTRATION.token, volume_properties.CREATED.token)


class RemovedVolume(VolumeFacts):
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
        wanted = replaced_by or context.operation.declared(declared.token, context.urn)
        self._wanted = None if wanted is None else desired.of_properties(declared, wanted)
        self._declared = declared
        self.is_replaced = self._wanted is not None
        self.other_stack = stack_identity.other_stack(context, recorded)
        self.is_renamed = bool(self.other_stack)
        self.protect = self.desired.protect
        self.is_proven = not explain.deletion_objection(self.name, recorded)
        self.ends: facts.Ends = "kept" if self.left is None else "deleted after"
        if volume_properties.deletes_storage(recorded):
            self.ends = "deleted here"
        is_same_id = self._wanted is not None and self._wanted.key == self.key
        self.keeps_storage = self.desired.is_created and self.ends == "kept" and not is_same_id
        """Whether the owner record stays, as the plugin created storage for the id that is not deleted."""

    def again(self) -> "RemovedVolume":
        """Return the same volume, with nothing read yet."""
        return RemovedVolume(self.context, self._declared, self.recorded_outputs)

    @property
    def record(self) -> facts.Record:
        """
        The owner record of the id.

        A resource without an owner has none: that another one took it over is known only where this process did that.
        """
        if self.owner is None and not self.has_owner:
            is_taken_over = any(self.context.operation.was_created(token, self.name) for token in _TOKENS)
            return "sibling" if is_taken_over else "none"
        record = super().record
        # A token that may not write records leaves none, whichever resource has the volume.
        return "not known" if record == "none" and not self.recorded_outputs.get("marked") else record

    @property
    def registration(self) -> Literal["absent", "same", "other-storage"]:
        """Nomad's registration, compared with the recorded storage."""
        if self.actual is None:
            return "absent"
        return "other-storage" if self.is_of_another_hand else "same"

    @concurrency.read_once
    def left(self) -> storage_identity.StorageIdentity | None:
        """What the program deletes afterwards."""
        if self._wanted is None:
            return desired.storage_of_program(self.desired)
        return desired.left_storage(self.desired, self._wanted)

    @concurrency.read_once
    def storage_dependents(self) -> hold.StorageDependents:
        """
        The volumes in that storage, but this one where the removal deregisters it, and releases its owner record.

        What is registered for another resource by now is not counted here: `decide` refuses that by the owner record.
        """
        assert self.left is not None  # noqa: S101  # see `dependents`
        is_removed = self.registration == "same" or (self.registration == "absent" and self.record == "own")
        return hold.read(self.context, self.left, self.key[0], but=[self.key] if is_removed else [])

    @concurrency.read_once
    def problems(self) -> tuple[str, ...]:
        """Why the replacement would not work."""
        assert self._wanted is not None  # noqa: S101  # only a replacement is asked for
        problems = fitness.problems(self.context, self._wanted, in_preview=self._in_preview)
        if self._wanted.key == self.key:
            return problems
        new = WantedVolume(self.context, self._wanted, None, replaced=self.key)
        refusal = new.decision().refusal
        return (*problems, str(new.refused(refusal))) if refusal is not None else problems

    def decision(self) -> decide.Decision:
        """Return what is done, or why nothing is."""
        return decide.decide_removal(self)

    def keep_storage(self) -> None:
        """Complete the owner record that stays, with what the state knows of the storage."""
        nonce = str(self.recorded_outputs.get("nonce", ""))
        token = ownership.OwnerToken(nonce=nonce, leaves_stack=True)
        token = created_token(token, self.desired.document, self.recorded_outputs)
        if self.has_owner:
            ownership.OwnerRecords(self.context.client).acquire(self.key, token, self.requester, self.context.warn)

    def release_record(self) -> None:
        """Remove the owner record, unless the volume is registered again, or another owner has it."""
        if self.has_owner:
            token = ownership.OwnerToken(recorded=str(self.recorded_outputs.get("nonce", "")))
            self.owned(token).release()
