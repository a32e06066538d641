"""
The volumes that need storage which a program deletes: whoever owns them, and whatever the program declares.

The engine deletes EBS volumes, file systems and access points itself, after the resource that depends on them. So that
resource looks for these volumes right before, in the cluster that it is connected to.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from nomad_csi import errors
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import resource
from nomad_csi.nomad import volumes
from nomad_csi.volumes import deregistration, facts, registration_ownership, storage_sharing

WAIT_S = 20.0
"""
How long volumes of the same stack are waited for, in seconds: a run may remove them at the same time, without an order
where the program names the storage by its id.
"""


@dataclass(frozen=True, kw_only=True)
class StorageDependents:
    """The volumes that are registered in storage."""

    storage: str
    """Id of the storage, as in a message."""

    keys: tuple[volumes.Key, ...] = ()
    unlisted: bool = False
    """Whether the token may not list volumes, so that they are not known."""

    own: volumes.Key | None = None
    """The id that is registered for the storage itself by then, where it is that of the volume in question."""

    @property
    def fact(self) -> facts.Dependents:
        """The fact for a decision."""
        if self.unlisted:
            return "not known"
        return "some" if self.keys else "none"

    def refusal(self, what: str) -> errors.RefusedError:
        """Return the refusal of *what* would delete the storage, with the ways out."""
        kept = (
            f"to keep {self.storage} instead, set the option retainOnDelete on the component that makes it, run "
            "`pulumi up`, and change the program then"
        )
        if self.unlisted:
            return errors.RefusedError(
                f"{what}: {self.storage} would be deleted with its data, and the volumes in it are not known, because "
                f"the token lacks csi-list-volume; nothing was changed: give the token that right; {kept}"
            )
        others = ", ".join("/".join(key) for key in self.keys if key != self.own)
        if not others:
            return errors.RefusedError(
                f"{what}: {self.storage} would be deleted with its data, and the id stays registered for it or a part "
                f"of it; nothing was changed: {kept}"
            )
        return errors.RefusedError(
            f"{what}: {self.storage} would be deleted with its data, which {others} needs: registered for it or a part "
            f"of it; nothing was changed: remove {others} first, in a run of its own; {kept}"
        )


def read(
    context: resource.Context,
    storage: storage_identity.StorageIdentity,
    namespace: str,
    *,
    but: Collection[volumes.Key] = (),
) -> StorageDependents:
    """
    Return the volumes that are registered for *storage* or a part of it now, in all namespaces, without those of *but*.

    The list of volumes begins after the call; concurrent callers share one. Raises `errors.NomadApiError` where Nomad
    does not answer.
    """
    latest = context.operation.once("latest users", lambda: storage_sharing.LatestUsers(context.client))
    users = latest.read(namespace)
    found = tuple(key for key in users.within(storage) if key not in but)
    return StorageDependents(storage=shown(storage), keys=found, unlisted=bool(users.unlisted))


def shown(storage: storage_identity.StorageIdentity) -> str:
    """Return the id of *storage* as AWS has it: of an access point that alone."""
    return storage.access_point or storage.container


def wait_for_own(
    context: resource.Context,
    find: Callable[[], StorageDependents],
    requester: registration_ownership.Requester,
) -> StorageDependents:
    """
    Return the volumes that *find* returns, once none of them is one of the stack of *requester*, or after `WAIT_S`.

    Raises `errors.CancelledError` where the run is cancelled meanwhile.
    """
    clock = context.client.clock
    deadline = clock.now() + WAIT_S
    while True:
        found = find()
        owners = registration_ownership.owner_records_of(context.client).read(found.keys).owners
        own = [key for key in found.keys if key in owners and requester.is_same_stack(owners[key])]
        if not own or found.own or len(own) < len(found.keys) or clock.now() >= deadline:
            return found
        context.status(f"waiting for {', '.join(map('/'.join, own))}, which may be removed in this run, too")
        if clock.wait(context.cancelled, deregistration.INTERVAL_S):
            raise errors.CancelledError(f"cancelled while volumes were registered in {found.storage}")
