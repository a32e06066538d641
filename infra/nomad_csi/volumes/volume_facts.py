"""
The facts about the volume of a custom resource (`volumes.facts`), read when a decision needs them, and its refusals.

No rule stands here: which facts lead to what is `volumes.decide`. Each fact sends its requests once.
"""

import abc
from collections.abc import Callable, Mapping
from typing import Any

from nomad_csi import errors, side_by_side
from nomad_csi.frame import resource
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.volumes import (
    decide,
    deregistration,
    facts,
    registration_ownership,
    volume_ownership,
    volume_properties,
)

Refusals = Mapping[decide.Refusal, Callable[[], errors.RefusedError]]
"""The error of each reason, with the values and the way out."""


class VolumeFacts(abc.ABC):
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
        """The owner record of the id, or that it may not be read."""
        records = registration_ownership.owner_records_of(self._context.client)
        return records.read([self.key], max_age_s=registration_ownership.SEEN_S if self._in_preview else 0.0)

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
        return refusal_of_another(self.found, self._recorded)

    def _of_owner(self) -> errors.RefusedError:
        return registration_ownership.refusal(self.key, self.owners.owners[self.key], self._requester)

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

    def warn_unchecked(self) -> None:
        """Warn of the checks of `fitness` that could not be made."""
        if self.unchecked:
            self._context.warn(f"not checked before {self.name} is deregistered: {'; '.join(self.unchecked)}")

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
    def _sentences(self) -> Refusals:
        """Return the error of each reason."""


def refusal_of_another(volume: volumes.Volume, recorded: Mapping[str, Any]) -> errors.RefusedError:
    """Return the refusal to change *volume*, which something else registered for other storage than *recorded*."""
    return errors.RefusedError(
        f"{stands_for_another(volume, recorded)}; nothing was changed: something else registered it; deregister it "
        f"there, and `pulumi up` registers {recorded.get('externalId')} again, or give it up here with `pulumi state "
        "delete`"
    )


def stands_for_another(volume: volumes.Volume, recorded: Mapping[str, Any]) -> str:
    """Return a sentence that *volume* in Nomad has other storage than *recorded*; empty where it has not."""
    external_id = recorded.get("externalId", volume.external_id)
    if external_id == volume.external_id:
        return ""
    return f"volume {volume.key}: external id is {volume.external_id} in Nomad, {external_id} in the state"
