"""
Volumes deleted together with their data: deregistered first, and their storage only then. Call `delete`.

Nomad refuses to deregister what is claimed, and decides that in one step; its own *delete* does not, and is never
called. After the deregistration nobody can claim the volume unless somebody registers its storage again. That cannot be
forbidden, so it is looked for right before the end, and the end itself is left to storage that can say no: EC2 refuses
what is attached. What is written before that is in the last snapshot.

Stopped anywhere, a deletion goes on when it is run again: the storage is found by its id, its tag or a stack's state.
"""

import dataclasses
import time
from collections.abc import Iterable, Iterator

from nomad_csi import errors, nomad
from nomad_csi.aws import deletion as aws_deletion
from nomad_csi.csi import presence
from nomad_csi.deletion import (
    deletion_guards,
    deletion_order,
    deletion_outcome,
    deletion_proof,
    deletion_snapshot,
    deletion_target,
    deletion_ways,
)
from nomad_csi.ownership import cluster_identity, mark_upkeep, registration_ownership
from nomad_csi.registration import deregistration


def delete(
    client: nomad.Nomad, orders: Iterable[deletion_order.DeletionRequest], options: deletion_order.DeletionOptions
) -> tuple[deletion_outcome.DeletionOutcome, ...]:
    """
    Delete the volumes of *orders* and their data, one after the other, and return an outcome for each.

    Raises `errors.RefusedError`, before anything is asked or sent, where the user's word for one of them is missing.
    """
    wanted = tuple(orders)
    for order in wanted:
        deletion_guards.refuse_without_word(order.key, (order.word,))
    return tuple(_outcomes(client, wanted, options))


def _outcomes(
    client: nomad.Nomad, orders: Iterable[deletion_order.DeletionRequest], options: deletion_order.DeletionOptions
) -> Iterator[deletion_outcome.DeletionOutcome]:
    """Yield an outcome for each; what one has waited for its claims is not left for the next."""
    left_s = options.wait_s
    for order in orders:
        deletion = _Deletion(client, order, dataclasses.replace(options, wait_s=left_s))
        yield deletion.run()
        left_s = max(left_s - deletion.waited_s, 0.0)


def observe(
    client: nomad.Nomad, order: deletion_order.DeletionRequest, options: deletion_order.DeletionOptions
) -> presence.Presence:
    """
    Return whether the storage of *order* exists, as far as those can observe it that would delete it. Changes nothing.

    Raises `errors.NomadCsiError` where that could not be determined.
    """
    return _Deletion(client, order, options).observe()


class _Deletion:
    """One volume on its way."""

    def __init__(
        self, client: nomad.Nomad, order: deletion_order.DeletionRequest, options: deletion_order.DeletionOptions
    ) -> None:
        self._client = client
        self._order = order
        self._key = (order.namespace, order.volume_id)
        self._options = options
        self._requester = registration_ownership.Requester(owner=options.owner)
        self._external_id = ""
        self._tags: dict[str, str] = {}
        self._snapshot = deletion_snapshot.LastSnapshot()
        self._is_forgotten = False
        self.waited_s = 0.0
        """What its deregistration has taken."""

    def run(self) -> deletion_outcome.DeletionOutcome:
        """Go all steps; return how far it came."""
        try:
            remark = self._go()
        except deletion_outcome.StoppedError as stopped:
            if stopped.status == "gone" and self._is_forgotten:
                self._let_go()
            return self._outcome(stopped.status, str(stopped))
        except errors.RefusedError as refused:
            return self._outcome("kept" if self._is_forgotten else "refused", str(refused))
        except errors.NomadCsiError as error:
            return self._outcome("kept" if self._is_forgotten else "failed", str(error))
        self._let_go()
        return self._outcome("deleted", "; ".join(part for part in (remark, self._registered_meanwhile()) if part))

    def observe(self) -> presence.Presence:
        """Find the storage, and ask whoever would delete it."""
        way = deletion_target.way(self._client, self._find(), self._options)
        way.check(with_snapshot=False)
        return way.observe(self._external_id)

    def _go(self) -> str:
        """Delete; return what to know of what was deleted."""
        target = self._find()
        way = deletion_target.way(self._client, target, self._options)
        self._tags = deletion_target.tags(self._client, target, self._options)
        way.check(with_snapshot=self._with_snapshot)
        self._see_that_it_is_there(way, target)
        self._verify(is_registered=target.is_registered)
        own = self._key if target.is_registered else None
        deletion_guards.refuse_registered(self._client, self._external_id, apart_from=own)
        if target.is_registered:
            self._deregister()
        self._is_forgotten = True
        self._hold()
        if self._with_snapshot:
            timeouts = deletion_snapshot.SnapshotTimeouts(
                wait_s=self._options.snapshot_wait_s, cancelled=self._options.cancelled, tell=self._options.tell
            )
            self._snapshot = way.snapshot(self._external_id, self._tags, timeouts)
        return self._end(way)

    @property
    def _with_snapshot(self) -> bool:
        return self._options.with_snapshot and aws_deletion.kind_of(self._external_id) != "access-point"

    def _find(self) -> deletion_target.Target:
        """Find out which storage is meant, and keep its id for the outcome."""
        target = deletion_target.find(self._client, self._order, self._options)
        self._external_id = target.external_id
        return target

    def _verify(self, *, is_registered: bool) -> None:
        """Raise `errors.RefusedError` unless the storage may go as this volume, of this cluster, for this stack."""
        options = self._options
        seen = deletion_proof.DeletionEvidence(
            key=self._order.key,
            external_id=self._external_id,
            tags=self._tags,
            made=options.made,
            recorded_cluster=options.clusters.get(self._order.key, ""),
            cluster=cluster_identity.of(self._client),
            is_registered=is_registered,
            mark=registration_ownership.of(self._client).labels([self._key]).get(self._key, ""),
        )
        said = deletion_proof.DeletionConfirmation(
            owner=options.owner,
            external_id=self._order.external_id,
            accepts_unregistered=options.accepts_unregistered,
        )
        if why := deletion_proof.objection(seen, said):
            raise errors.RefusedError(f"{why}; nothing was changed")

    def _see_that_it_is_there(self, way: deletion_ways.Way, target: deletion_target.Target) -> None:
        if way.observe(self._external_id) != "absent":
            return
        if target.is_registered:
            place = self._options.endpoint or self._options.aws_region
            deletion_target.say_missing(self._client, target, f"{self._external_id} is not known at {place}")
        raise deletion_outcome.StoppedError("gone", f"not registered, and {self._external_id} is gone")

    def _deregister(self) -> None:
        """Have Nomad forget the volume, which it refuses while one claims it."""
        region = self._options.aws_region
        options = deregistration.DeregistrationOptions(
            wait_s=self._options.wait_s, aws_region=region, requester=self._requester, keeps_marks=True
        )
        began = time.monotonic()
        [done] = deregistration.deregister(
            self._client, [self._key], options, tell=self._options.tell, cancelled=self._options.cancelled
        )
        self.waited_s = time.monotonic() - began
        if not done.is_done:
            reason = "; ".join(part for part in (done.reason, done.storage) if part)
            refusals: dict[str, deletion_outcome.Status] = {"claimed": "claimed", "attached": "attached"}
            broken: deletion_outcome.Status = "refused" if done.status == "refused" else "failed"
            raise deletion_outcome.StoppedError(refusals.get(done.status, broken), reason)

    def _hold(self) -> None:
        """
        Keep the id for its stack until the storage is gone.

        No other stack registers it meanwhile, and a second run knows by the mark that the volume was this cluster's.
        """
        if self._requester.owner:
            taken = registration_ownership.of(self._client).take([self._key], self._requester, self._options.tell)
            if owner := taken.refused.get(self._key):
                raise errors.RefusedError(f"{registration_ownership.sentence(self._key, owner)} by now")

    def _let_go(self) -> None:
        """Remove the mark of what is deleted."""
        if self._requester.owner:
            try:
                mark_upkeep.release(self._client, [self._key], self._requester, self._options.tell)
            except errors.NomadApiError as error:
                self._options.tell(f"{error}; the owner mark of {self._order.key} stays")

    def _end(self, way: deletion_ways.Way) -> str:
        """Look a last time, and delete; return what to know of it."""
        if self._options.cancelled.is_set():
            raise errors.CancelledError("cancelled before the storage was deleted")
        if self._options.aws_region:
            deletion_guards.refuse_attached(self._external_id, self._options.aws_region)
        try:
            way.delete(self._external_id, self._last_look)
        except (errors.AwsError, errors.CsiError) as error:
            said, is_accepted = str(error), False
        else:
            said, is_accepted = "its deletion was accepted", True
        return deletion_ways.confirm_absence(
            way, self._external_id, said, is_accepted=is_accepted, cancelled=self._options.cancelled
        )

    def _last_look(self) -> None:
        """Raise `errors.RefusedError` where somebody has registered the storage again, or Nomad is slow to tell."""
        deletion_guards.refuse_registered_now(self._client, self._external_id)

    def _registered_meanwhile(self) -> str:
        """Return what to know of registrations that came between the last look and the end."""
        try:
            held = deletion_guards.registered_as(self._client, self._external_id)
        except errors.NomadApiError as error:
            return f"could not check whether it was registered again: {error}"
        named = ", ".join("/".join(key) for key in held)
        return f"registered again meanwhile as {named}, without storage: deregister it" if held else ""

    def _outcome(self, status: deletion_outcome.Status, reason: str) -> deletion_outcome.DeletionOutcome:
        return deletion_outcome.DeletionOutcome(
            namespace=self._order.namespace,
            volume_id=self._order.volume_id,
            status=status,
            external_id=self._external_id,
            snapshot_id=self._snapshot.snapshot_id,
            snapshot_evidence=self._snapshot.evidence,
            reason=reason,
        )
