"""
Repair the stuck claims of one volume, step by step: wait, collect garbage, detach, deregister and register again.

The repair takes a step only if the previous step did not help, and confirms each step that can do harm. It reads the
volume again after each confirmation and leaves a volume that was registered again meanwhile unchanged. A repair that
was interrupted between deregistration and registration is found by its note and resumed. The repair forces nothing
while an allocation that has not ended claims the volume, while EC2 reports the volume as attached, or without a
registration to replace the one that Nomad deletes: Nomad shows neither its secrets nor its mount flags.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import NoReturn

from nomad_csi import errors, nomad
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import claim_replacement, claim_status, facts, read_claims
from nomad_csi.diagnosis.claim_replacement import EndError, MissingError, Repaired, RepairRequest
from nomad_csi.diagnosis.rules import volumes as volume_rules
from nomad_csi.nomad import plugins, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import decide, deregistration
from nomad_csi.volumes import facts as volume_facts


def repair(
    client: nomad.Nomad, order: RepairRequest, *, ask: Callable[[str], bool], report: Callable[[str], None]
) -> Repaired:
    """
    Repair the volume until nothing claims it, and return the steps taken and the outcome.

    Args:
        client: the cluster. Garbage is collected with a management token only.
        order: the volume.
        ask: receives what a step does; returns whether the user confirms it.
        report: receives what is done, and why a step cannot be taken.

    Raises:
        errors.NomadApiError: Nomad did not answer, or denied access. Nothing was forced.
        errors.AwsError: EC2 did not answer, or denied access. Nothing was forced.
    """
    ladder = _Ladder(client, order, ask, report, claim_replacement.Replacement(client, order))
    try:
        ladder.climb()
    except EndError as end:
        ladder.clean_up(end.status)
        return Repaired(
            namespace=order.namespace,
            volume_id=order.volume_id,
            status=end.status,
            reason=end.reason,
            steps=tuple(ladder.steps),
        )


def preview(client: nomad.Nomad, order: RepairRequest) -> tuple[str, ...]:
    """
    Return what `repair` would do, one step after the other as long as claims stay. Only reads.

    Raises what `repair` raises, and `errors.RefusedError` where it would do nothing.
    """
    ladder = _Ladder(client, order, lambda _: False, lambda _: None, claim_replacement.Replacement(client, order))
    try:
        return tuple(ladder.foresee())
    except EndError as end:
        raise errors.RefusedError(f"{order.key}: {end.reason}") from None


@dataclass
class _Ladder:
    """One repair. A step returns if it did not help, and raises `EndError` if the repair is complete."""

    _client: nomad.Nomad
    _order: RepairRequest
    _ask: Callable[[str], bool]
    _report: Callable[[str], None]
    _replacement: claim_replacement.Replacement
    _registered: tuple[str, str, int] | None = None
    """External id, plugin and index of the registration to repair."""

    steps: list[str] = field(default_factory=list)

    def climb(self) -> NoReturn:
        """Take the steps in order."""
        try:
            self._judged()
        except MissingError:
            self._resume()
        if self._order.document is None:
            self._report(claim_replacement.WITHOUT_DOCUMENT)
        self._wait("wait", f"step 1: waiting up to {self._order.wait_s:g} s for the claims to go")
        self._collect()
        self._detach()
        self._replace()

    def foresee(self) -> Iterator[str]:
        """Yield what `climb` would do."""
        try:
            judged = self._judged()
        except MissingError:
            note, document = self._noted()
            self._replacement.decide(document)
            yield self._replacement.resumption(note, document)
            return
        yield f"step 1: wait up to {self._order.wait_s:g} s for the claims to go"
        yield claim_replacement.COLLECT
        yield from (claim_replacement.DETACH.format(volume=self._order.key, node=name) for _, name in _nodes(judged))
        try:
            document = self._replacement.checked(judged)
            self._replacement.decide(document)
            yield self._replacement.question(judged, document)
        except EndError as end:
            yield f"step 4 is not taken: {end.reason}"

    def _judged(self) -> claim_status.VolumeClaims:
        """Return the current status of the volume. Ends the repair if nothing is to be done, or nothing is safe."""
        volume = volumes.get(self._client, self._order.namespace, self._order.volume_id)
        if volume is None:
            raise MissingError
        judged = read_claims.read_volume_claims(self._client, volume, aws_region=self._order.aws_region)
        self._decide(judged)
        if not volume.claims:
            raise self._freed(judged)
        plugin = plugins.get(self._client, volume.plugin_id)
        for finding in volume_rules.without_controller(facts.examined(volume, None), plugin):
            raise EndError("refused", f"{finding.found}; {finding.advice}")
        return judged

    def _decide(self, judged: claim_status.VolumeClaims) -> None:
        """End the repair where the volume may not be deregistered to be registered again."""
        another = self._another(judged.volume)
        if not another and judged.volume.claims:  # one that is free stays as it is
            another = self._replacement.another(judged.volume)
        decision = decide.decide_removal(
            volume_facts.GivenRemoval(
                record="own",  # the owner stays, whoever it is
                registration="other-storage" if another else "same",
                claims="held" if judged.is_held else "ending",
                is_replaced=True,
            )
        )
        if decision.refusal == "claimed":
            raise EndError("held", f"it is in use: {_running(judged)}; stop these jobs first")
        if decision.refusal is not None:
            raise EndError("refused", another)

    def _another(self, volume: volumes.Volume) -> str:
        """Return how *volume* differs from the one that the repair began with; empty: it does not."""
        now = volume.external_id, volume.plugin_id, volume.create_index
        if self._registered is None:
            self._registered = now
        if now == self._registered:
            return ""
        registered = f"{volume.external_id} of plugin {volume.plugin_id}"
        return f"it was registered again meanwhile, as {registered}; check it, and run this again if it is needed"

    def _freed(self, judged: claim_status.VolumeClaims) -> EndError:
        """Return the successful end, or ``attached`` if EC2 still has the volume on an instance."""
        if judged.ebs is not None and judged.ebs.attachments:
            return EndError("attached", f"nothing claims it, but {judged.ebs}; detach it before anything claims it")
        asked = f"; {judged.ebs}" if judged.ebs else ""
        if not asked and aws_records.is_ebs(judged.volume.external_id):
            asked = "; EC2 was not asked whether it is detached (--aws-region)"
        return EndError("free", f"nothing claims it{asked}")

    def _wait(self, step: str, message: str) -> None:
        """Wait until the claims are released."""
        self._report(message)
        self.steps.append(step)
        volume = self._judged().volume
        deregistration.wait_until_free(self._client, volume, wait_s=self._order.wait_s, cancelled=threading.Event())
        self._judged()

    def _collect(self) -> None:
        self._agree(claim_replacement.COLLECT)
        try:
            volumes.collect_garbage(self._client)
        except errors.NomadApiError as error:
            if error.kind == "retry":
                raise
            self._report(f"garbage was not collected, as far as is known: {error}")
            if error.kind == "refused":
                return
        self._wait("gc", "waiting for what the collection frees")

    def _detach(self) -> None:
        for node_id, name in _nodes(self._judged()):
            self._agree(claim_replacement.DETACH.format(volume=self._order.key, node=name))
            try:
                volumes.detach(self._client, self._order.namespace, self._order.volume_id, node_id)
            except errors.NomadApiError as error:
                self._report(f"not detached from {name}: {error}")
                continue
            self._wait("detach", f"waiting for {name} to release its claims")

    def _replace(self) -> NoReturn:
        """Deregister the volume and register it again, unless two writers could result."""
        replacement = self._replacement
        judged = self._judged()
        document = replacement.checked(self._agree(replacement.question(judged, replacement.checked(judged))))
        replacement.decide(document)
        replacement.note(document)
        with self._interruptible():
            replacement.forget()
            self.steps.append("force")
            replacement.register(document)
            self.steps.append("register")
        raise EndError("registered", f"registered again from {self._order.source}, without the claims")

    def _resume(self) -> NoReturn:
        """Register a volume that an interrupted repair deregistered. Ends the repair if none was interrupted."""
        order, replacement = self._order, self._replacement
        note, document = self._noted()
        self._confirm(replacement.resumption(note, document))
        if volumes.get(self._client, order.namespace, order.volume_id) is not None:
            raise EndError("refused", "it was registered meanwhile; run this again if it is needed")
        replacement.decide(document)
        with self._interruptible():
            replacement.register(document)
            self.steps.append("register")
        reason = f"registered again from {order.source}, which an interrupted repair had not done"
        raise EndError("registered", reason)

    def _noted(self) -> tuple[claim_replacement.RepairNote, registration.VolumeRegistration]:
        """Return the note of an interrupted repair and what it has to register. Ends the repair if there is none."""
        order = self._order
        note = self._replacement.read_note()
        if note is None:
            reason = "Nomad has no such volume, and no repair of it was interrupted, by its note"
            typed = f"`nomad-csi apply {order.source or 'SPEC|FILE'}`"
            raise EndError("refused", f"{reason}; {typed} registers it, if it is to be there")
        return note, self._replacement.noted(note)

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Report the command that registers the volume if the block is interrupted, and re-raise the interrupt."""
        try:
            yield
        except KeyboardInterrupt:
            self._report(f"{self._order.key} may not be registered now: {self._order.again} registers it again")
            raise

    def clean_up(self, status: claim_replacement.Status) -> None:
        """Remove the note of this or an earlier repair if the volume is healthy."""
        if status not in {"free", "registered"}:
            return
        try:
            self._replacement.remove_note()
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:  # a token that may not read it has written none
                self._report(f"the note of the repair stays: {error}")

    def _agree(self, question: str) -> claim_status.VolumeClaims:
        """Confirm, and return the status afterwards: the volume may have been registered again meanwhile."""
        self._confirm(question)
        return self._judged()

    def _confirm(self, question: str) -> None:
        if not self._ask(question):
            raise EndError("declined", f"not wanted: {question.partition('.')[0]}")


def _running(judged: claim_status.VolumeClaims) -> str:
    return "; ".join(volumes.holder(item.claim) for item in judged.claims if not item.has_ended)


def _nodes(judged: claim_status.VolumeClaims) -> Iterator[tuple[str, str]]:
    """Yield id and name of each client that is up and has a claim; the client of a vanished allocation is unknown."""
    up = {item.claim.node_id: item.claim.node_name for item in judged.claims if item.status == "ended"}
    yield from sorted(up.items())
