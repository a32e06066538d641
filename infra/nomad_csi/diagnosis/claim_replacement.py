"""The last step of a repair: deregister a volume together with its claims, and register it again."""

import dataclasses
import hashlib
import json
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from nomad_csi import concurrency, errors, nomad
from nomad_csi.aws import ebs_volumes
from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import claim_status
from nomad_csi.frame import resource
from nomad_csi.nomad import variables, volumes
from nomad_csi.plan import registration
from nomad_csi.volumes import (
    compare,
    decide,
    deregistration,
    facts,
    outcome,
    ownership,
    secret_safety,
    sending,
    sharing,
)

WAIT_S = 30.0
"""How long each step may take to show an effect."""

Status = Literal["free", "registered", "held", "attached", "declined", "refused", "deregistered"]
"""
``free``: no claim is left. ``registered``: registered again, without the claims. ``held``: an allocation that has not
ended claims it. ``attached``: no claim is left, and EC2 still has it on an instance. ``declined``: a step was not
confirmed. ``refused``: a step is not safe, or not possible. ``deregistered``: it is deregistered, and could not be
registered again.
"""

COLLECT = (
    "step 2: have Nomad collect garbage. It tries again to detach and free what ended allocations claim, in the whole "
    "cluster; it also removes all ended jobs and allocations, with their logs and events"
)
DETACH = (
    "step 3: have Nomad unmount {volume} on client {node} and detach it there. A task that still uses it there loses it"
)
FORCE = (
    "step 4: deregister {volume} together with its claims, and register it again from {source}. Nothing is "
    "unmounted or detached by that; from then on any job may claim it. {storage}"
)
RESUME = (
    "step 4, continued: a repair that began at {begun} UTC deregistered {volume} and did not register it again. "
    "Register it from {source}; from then on any job may claim it. {storage}"
)
WITHOUT_DOCUMENT = (
    "without --from the last step, to deregister the volume and register it again, is not taken: nothing else may free "
    "the claims of a client that is lost"
)
NOT_ASKED = (
    "It cannot be checked from here whether its storage {external_id} is still attached or mounted somewhere: make "
    "sure of it"
)


@dataclass(frozen=True, kw_only=True)
class RepairRequest(registration.NamedVolume):
    """The volume to repair, and the options of the repair."""

    document: registration.VolumeRegistration | None = None
    """The registration with secrets and mount flags; ``None``: the last step cannot be taken."""

    source: str = ""
    """The source of the registration."""

    aws_region: str = ""
    """The region in which EC2 is asked; empty: EC2 is not asked."""

    wait_s: float = WAIT_S

    @property
    def again(self) -> str:
        """How this volume is repaired, and an interrupted repair is resumed."""
        typed = shlex.join(["nomad-csi", "claims", "repair", self.key, "--from", self.source or "SPEC|FILE"])
        return f"`{typed}` with the other options of the repair"


class EndError(Exception):
    """The repair is complete."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class MissingError(EndError):
    """The volume does not exist in Nomad."""

    def __init__(self) -> None:
        super().__init__("refused", "Nomad does not have the volume any more; it was deregistered meanwhile")


@dataclass(frozen=True, kw_only=True)
class Repaired(outcome.VolumeOutcome):
    """The outcome of the repair of a volume with stuck claims; its reason is a sentence with the next step."""

    DONE = frozenset({"free", "registered"})
    BROKEN = frozenset({"deregistered"})

    status: Status
    steps: tuple[str, ...]
    """The steps taken, in order: ``wait``, ``gc``, ``detach``, ``force``, ``register``."""


# The note of a repair in progress, in a Nomad variable: it identifies what the repair deregistered and has not
# registered again.
#
# It is written before the deregistration and removed after the registration. It holds no secret: only what identifies
# the volume's registration, and what a registration file cannot contain.


NOTES_FOLDER = "nomad-csi/repairs"
"""Variables below it, in the volume's namespace; the rights are those of owner records, on ``nomad-csi/*``."""


@dataclass(frozen=True, kw_only=True)
class RepairNote:
    """The registration that a repair removed from Nomad."""

    external_id: str = ""
    plugin_id: str = ""
    name: str = ""
    """Its name: a plugin finds what it created by it."""

    begun: str = ""
    """Start time in UTC: ``2026-11-22 08:11``."""

    topologies: str = "[]"
    """Topologies of the registration, as JSON: segments by topology key. A registration file may not have them."""

    context: str = "{}"
    """Its context, as JSON: the plugin's response when it created the volume."""

    def completed(self, document: registration.VolumeRegistration) -> registration.VolumeRegistration:
        """Return *document* with the volume's topologies, and with its context if *document* has none."""
        topologies = tuple(json.loads(self.topologies)) or document.required_topologies
        context = document.context or json.loads(self.context)
        return dataclasses.replace(document, required_topologies=topologies, context=context)


def note_path(volume_id: str) -> str:
    """Return the path of the note on *volume_id*. Not all characters of an id are allowed in a variable's path."""
    return f"{NOTES_FOLDER}/{hashlib.sha256(volume_id.encode()).hexdigest()[:32]}"


# The step itself.

Document = registration.VolumeRegistration


class NotedVolume:
    """The facts about a volume that is registered again as it was, for whoever owns it; implements `facts.Presence`."""

    source: facts.Source = "existing"
    protect = False
    adopt = False
    recorded: facts.Recorded = "same"
    cluster: facts.Cluster = "same"
    claims: facts.Claims = "none"
    fitness: facts.Fitness = "fit"
    dependents: facts.Dependents = "none"

    def __init__(self, client: nomad.Nomad, document: Document) -> None:
        self._client = client
        # What was registered beside other volumes may be so again, where each of them has several clients.
        self._document = dataclasses.replace(document, shares_storage=True)

    @property
    def registration(self) -> facts.Registration:
        """It is not registered when this is asked for, or not in a moment; a read of it may erase its secrets."""
        return "not known" if secret_safety.is_at_risk(self._client, self._document.secrets) else "absent"

    @concurrency.read_once
    def _owners(self) -> ownership.VolumeOwners:
        return ownership.OwnerRecords(self._client).read([volumes.key_of(self._document)])

    @property
    def owner(self) -> ownership.OwnerRecord | None:
        """The owner record; ``None``: there is none, or it may not be read."""
        return self._owners.owners.get(volumes.key_of(self._document))

    @property
    def record(self) -> facts.Record:
        """The owner record: the owner stays, whoever it is."""
        return "not known" if self._owners.unread else "own" if self.owner else "none"

    @property
    def kept_storage(self) -> str:
        """The storage that the owner record keeps, and its plugin finds by a name."""
        return self.owner.external_id if self.owner and self.owner.storage_name else ""

    @property
    def kept(self) -> facts.Kept:
        """The storage that the owner record keeps for the id."""
        if not self.kept_storage:
            return "nothing"
        return "same" if self.kept_storage == self._document.external_id else "other"

    @concurrency.read_once
    def shared_with(self) -> str:
        """Why the storage may not be registered beside that of the other volumes; empty where it may."""
        return sharing.Users(self._client).refusal(self._document)

    @property
    def sharing(self) -> facts.Sharing:
        """Other volumes of the storage."""
        return "refused" if self.shared_with else "none"


def _registration_of_created(
    wanted: registration.VolumeRegistration, volume: volumes.Volume
) -> registration.VolumeRegistration:
    """Return the registration of *volume*, which its plugin created, with the secrets and mount options *wanted*."""
    return dataclasses.replace(volume.registration(), mount_options=wanted.mount_options, secrets=wanted.secrets)


class Replacement:
    """A volume whose registration Nomad is to keep, without its claims. Raises `EndError`."""

    def __init__(self, client: nomad.Nomad, order: RepairRequest) -> None:
        self._client = client
        self._order = order
        self._note = (client, order.namespace, note_path(order.volume_id))

    def read_note(self) -> RepairNote | None:
        """Return the note on the volume; ``None`` if there is none."""
        note = variables.get(*self._note)
        names = {item.name for item in dataclasses.fields(RepairNote)}
        return RepairNote(**{key: value for key, value in note.items.items() if key in names}) if note else None

    def remove_note(self) -> None:
        """Remove the note, if there is one. Raises `errors.NomadApiError` if it remains."""
        left = variables.get(*self._note)
        if left is not None:
            variables.delete(*self._note, index=left.modify_index)

    def _write_note(self, note: RepairNote) -> None:
        """
        Write *note*, replacing one from an earlier repair.

        Raises `errors.RefusedError` on a concurrent repair, `errors.NomadApiError`.
        """
        left = variables.get(*self._note)
        items = {"volume_id": self._order.volume_id} | dataclasses.asdict(note)
        if not variables.put(*self._note, items, index=left.modify_index if left else variables.NEW):
            raise errors.RefusedError(f"another repair of volume {self._order.key} has begun; nothing was changed")

    def checked(self, judged: claim_status.VolumeClaims) -> registration.VolumeRegistration:
        """Return the registration that replaces the present one. Ends the repair if it, or EC2, forbids the step."""
        document = self._order.document
        if document is None:
            raise EndError(
                "refused",
                "what is left is to deregister the volume and register it again, and Nomad shows neither its secrets "
                "nor its mount flags: name a spec or volume file of it with --from",
            )
        unclaimed = dataclasses.replace(judged.volume, claims=())
        if not document.external_id:
            document = _registration_of_created(document, unclaimed)
        self._refuse_unasked(document)
        self._refuse_attached(judged)
        # Nomad deletes the registration first. A first registration takes its topologies from those requested.
        topologies = unclaimed.topologies or document.required_topologies
        return dataclasses.replace(compare.keep_actual_topologies(document, unclaimed), required_topologies=topologies)

    def another(self, volume: volumes.Volume) -> str:
        """Return how *volume* differs from the registration that is to replace it; empty: it does not."""
        document = self._order.document
        if document is None:
            return ""
        unclaimed = dataclasses.replace(volume, claims=())
        compared = compare.compare_volume(document, unclaimed, made_by_plugin=not document.external_id)
        reasons = "; ".join(map(str, compared.differences))
        return f"{self._order.source} is not what Nomad holds: {reasons}" if reasons else ""

    def noted(self, note: RepairNote) -> registration.VolumeRegistration:
        """Return the registration of a volume that an interrupted repair deregistered, as *note* records it."""
        document = self._order.document
        if document is None:
            reason = f"a repair that began at {note.begun} UTC deregistered it and did not register it again"
            raise EndError("deregistered", f"{reason}; {self._order.again} does")
        if not document.external_id:
            document = dataclasses.replace(document, external_id=note.external_id, name=note.name)
        given, noted = (f"{item.external_id} of plugin {item.plugin_id}" for item in (document, note))
        if given != noted:
            reason = f"{self._order.source} is not what Nomad held: it has {given}, the interrupted repair had {noted}"
            raise EndError("refused", reason)
        self._refuse_unasked(document)
        return note.completed(document)

    def _refuse_unasked(self, document: registration.VolumeRegistration) -> None:
        if aws_records.is_ebs(document.external_id) and not self._order.aws_region:
            raise EndError("refused", f"name --aws-region, so that EC2 says where {document.external_id} is attached")

    def _refuse_attached(self, judged: claim_status.VolumeClaims) -> None:
        """End the repair if EC2 has the volume on an instance, or does not know it."""
        ebs = judged.ebs
        if ebs is not None and not ebs.attachments and not ebs.is_free:
            raise EndError("refused", f"{ebs} in {self._order.aws_region}; check what became of it first")
        if ebs is not None and ebs.attachments:
            raise EndError(
                "refused",
                f"{ebs}; make sure that nothing there uses it, detach it with "
                f"`aws ec2 detach-volume --volume-id {ebs.external_id}`, and run this again",
            )

    def question(self, judged: claim_status.VolumeClaims, document: registration.VolumeRegistration) -> str:
        """Return what the step does, and the state of the volume in EC2."""
        storage = f"EC2: {judged.ebs}" if judged.ebs else NOT_ASKED.format(external_id=document.external_id)
        return FORCE.format(volume=self._order.key, source=self._order.source, storage=storage)

    def resumption(self, note: RepairNote, document: registration.VolumeRegistration) -> str:
        """Return what the rest of an interrupted step does."""
        storage = "EC2 is asked first whether it is free"
        if not aws_records.is_ebs(document.external_id):
            storage = NOT_ASKED.format(external_id=document.external_id)
        return RESUME.format(begun=note.begun, volume=self._order.key, source=self._order.source, storage=storage)

    def note(self, document: registration.VolumeRegistration) -> None:
        """Record what is about to be deregistered, and registered as *document*. Ends the repair if that fails."""
        noted = RepairNote(
            external_id=document.external_id,
            plugin_id=document.plugin_id,
            name=document.name,
            begun=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
            topologies=json.dumps([dict(each) for each in document.required_topologies]),
            context=json.dumps(dict(document.context)),
        )
        try:
            self._write_note(noted)
        except (errors.NomadApiError, errors.RefusedError) as error:
            raise EndError("refused", f"the repair could not be noted: {error}") from error

    def forget(self) -> None:
        """Deregister the volume together with its claims. Ends the repair if Nomad refuses, or does not answer."""
        namespace, volume_id = self._order.namespace, self._order.volume_id
        try:
            deregistration.deregister_now(self._client, (namespace, volume_id), is_forced=True)
        except errors.NomadApiError as error:
            if error.kind == "ambiguous":
                reason = f"it may not be registered now: {error}; {self._order.again} registers it where it is not"
                raise EndError("deregistered", reason) from error
            status: Status = "held" if "volume in use" in error.message else "refused"
            raise EndError(status, str(error)) from error

    def _check_detached(self, document: registration.VolumeRegistration) -> None:
        """Check once more that EC2 has the volume detached: from now on any allocation could claim it."""
        if not aws_records.is_ebs(document.external_id):
            return
        try:
            attachments = ebs_volumes.read_attachments([document.external_id], self._order.aws_region)
        except errors.AwsError as error:
            raise self._left(f"EC2 did not say whether it is free: {error}") from error
        ebs = attachments.volumes[document.external_id]
        if not ebs.is_free:
            raise self._left(str(ebs))

    def decide(self, document: registration.VolumeRegistration) -> None:
        """
        End the repair where the volume may not be registered (again) as *document*, whoever owns it.

        Its storage may have been registered under another id meanwhile, and the id be kept for other storage.
        """
        volume = NotedVolume(self._client, document)
        decision = decide.decide_presence(volume)
        match decision.refusal:
            case None:
                return
            case "shared":
                why = volume.shared_with
            case "other storage":
                why = f"its owner record keeps {volume.kept_storage} for it"
            case "unreadable":
                why = f"it has secrets, and {secret_safety.risk(self._client)}"
            case other:
                why = other
        raise EndError("refused", f"{why}; nothing was changed")

    def register(self, document: registration.VolumeRegistration) -> None:
        """
        Register the volume for its owner, if EC2 still has it detached, and compare once more who else has its storage.

        Ends the repair if it is attached, if Nomad refuses, or if another volume had the storage before.
        """
        self._check_detached(document)
        document = dataclasses.replace(document, shares_storage=True)
        owner = NotedVolume(self._client, document).owner or ownership.NO_RECORD
        clock = self._client.clock
        policy = sending.RetryPolicy(deadline=clock.now() + 2 * volumes.REGISTER_TIMEOUT_S, clock=clock)
        requester = ownership.Requester(owner=owner.owner, stack_id=owner.stack_id)
        owned = ownership.VolumeOwner(client=self._client, key=volumes.key_of(document), requester=requester)
        try:
            run = sending.RegistrationRun(resource.Context(connect=lambda: self._client))
            run.register(document, owned, policy, is_new=True)
        except (errors.NomadApiError, errors.RefusedError) as error:
            raise self._left(str(error)) from error

    def _left(self, why: str) -> EndError:
        then = f"when that is settled, {self._order.again} registers it"
        return EndError("deregistered", f"it is NOT registered, as far as is known: {why}; {then}")
