"""
Storage that a program deletes, and what still needs it: whoever owns that, and whatever the program declares.

The engine deletes EBS volumes, file systems and access points itself, after the resource that depends on them. So that
resource looks for these volumes right before, in the cluster that it is connected to: the registration of the storage,
or a `StorageHold` of a file system that several volumes share. The file system itself is not registered; programs take
its id from the hold, so what uses it is removed before.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from nomad_csi import errors, nomad
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import changes, properties, resource, stack_identity
from nomad_csi.nomad import cluster_identity, volumes
from nomad_csi.spec import base
from nomad_csi.volumes import (
    decide,
    deregistration,
    facts,
    owner_records,
    ownership,
    sharing,
)

Values = Mapping[str, Any]
"""Inputs or outputs."""

WAIT_S = 20.0
"""
How long volumes of the same stack are waited for, in seconds: a run may remove them at the same time, without an order
where the program names the storage by its id.
"""

_Kept = Mapping[volumes.Key, owner_records.OwnerRecord]


@dataclass(frozen=True, kw_only=True)
class StorageDependents:
    """What needs storage: volumes that are registered in it, and ids whose owner records keep a part of it."""

    storage: str
    """Id of the storage, as in a message."""

    keys: tuple[volumes.Key, ...] = ()
    """The registered volumes."""

    kept: tuple[str, ...] = ()
    """The commands that give up what owner records keep."""

    unknown: str = ""
    """What the token lacks, so that they are not known."""

    own: volumes.Key | None = None
    """The id that is registered for the storage itself by then, where it is that of the volume in question."""

    @property
    def fact(self) -> facts.Dependents:
        """The fact for a decision."""
        return "not known" if self.unknown else "some" if self.keys or self.kept else "none"

    def refusal(self, what: str) -> errors.RefusedError:
        """Return the refusal of *what* would delete the storage, with what to do."""
        others = ", ".join("/".join(key) for key in self.keys if key != self.own)
        if self.unknown:
            why = f", and what needs it is not known, because the token lacks {self.unknown}"
            fix = "give the token that right"
        elif others:
            why = f", which {others} needs: registered for it or a part of it"
            fix = f"remove {others} first, in a run of its own"
        elif self.kept:
            why = ", a part of which an owner record keeps for its id"
            fix = f"to give that up, {'; '.join(self.kept)}"
        else:
            why, fix = ", and the id stays registered for it or a part of it", ""
        return errors.RefusedError(
            f"{what}: {self.storage} would be deleted with its data{why}; nothing was changed: "
            f"{f'{fix}; ' if fix else ''}to keep {self.storage} instead, set the option retainOnDelete on the "
            "component that makes it, run `pulumi up`, and change the program then"
        )


def read(
    context: resource.Context,
    storage: storage_identity.StorageIdentity,
    namespace: str,
    *,
    but: Collection[volumes.Key] = (),
) -> StorageDependents:
    """
    Return what needs *storage* or a part of it now, in all namespaces, without the volumes *but*.

    Both lists begin after the call. Owner records of volumes that this operation removes do not count. Raises
    `errors.NomadApiError` where Nomad does not answer.
    """
    client, once = context.client, context.operation.once
    users = once("latest users", lambda: sharing.LatestUsers(client)).read(storage)
    records = once(f"latest records by {namespace}", lambda: sharing.Latest(lambda: _read_kept(client, namespace)))
    found = tuple(key for key in users.within(storage) if key not in but)
    kept = records.read()
    rights = ownership.RIGHTS.format(namespace=namespace)
    return StorageDependents(
        storage=shown(storage),
        keys=found,
        kept=tuple(
            ownership.way_to_give_up(key, record.external_id, record.owner)
            for key, record in sorted((kept or {}).items())
            if key not in {*found, *but, *_removed(context)}
            and storage.contains(storage_identity.identify(record.external_id))
        ),
        unknown="csi-list-volume" if users.unlisted else rights if kept is None else "",
    )


def _read_kept(client: nomad.Nomad, namespace: str) -> _Kept | None:
    """Return the owner records that keep storage; ``None`` where the token may not read those of *namespace*."""
    try:
        found = ownership.OwnerRecords(client).list_all(namespace, everywhere=True)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return None
    return {key: record for key, record in found.items() if record.external_id}


def _removed(context: resource.Context) -> set[volumes.Key]:
    removed: set[volumes.Key] = context.operation.once("removed volumes", set)
    return removed


@contextlib.contextmanager
def removing(context: resource.Context, key: volumes.Key) -> Iterator[None]:
    """Note that this operation removes the volume *key*, unless that fails: what its record keeps may go, too."""
    _removed(context).add(key)
    try:
        yield
    except BaseException:
        _removed(context).discard(key)
        raise


def shown(storage: storage_identity.StorageIdentity) -> str:
    """Return the id of *storage* as AWS has it: of an access point that alone."""
    return storage.access_point or storage.container


def wait_for_own(
    context: resource.Context, find: Callable[[], StorageDependents], requester: owner_records.Requester
) -> None:
    """
    Wait while all that *find* returns are volumes of the stack of *requester*, for at most `WAIT_S`.

    Raises `errors.CancelledError` where the run is cancelled meanwhile.
    """
    clock = context.client.clock
    deadline = clock.now() + WAIT_S
    while True:
        found = find()
        owners = ownership.OwnerRecords(context.client).read(found.keys).owners
        own = [key for key in found.keys if key in owners and requester.is_same_stack(owners[key])]
        if not own or found.own or found.kept or len(own) < len(found.keys) or clock.now() >= deadline:
            return
        context.status(f"waiting for {', '.join(map('/'.join, own))}, which may be removed in this run, too")
        if clock.wait(context.cancelled, deregistration.INTERVAL_S):
            raise errors.CancelledError(f"cancelled while volumes were registered in {found.storage}")


# The custom resource `StorageHold`.


class StorageHoldInputs(stack_identity.Owned):
    """Keeps storage that several volumes share: it is not removed while a volume is registered in it."""

    storage_id: Annotated[base.Word, properties.Mark.REPLACES]
    """Id of the storage, such as `fs-...`."""


class StorageHoldOutputs(stack_identity.InCluster):
    """Outputs of a `StorageHold`."""

    stack: Annotated[str, properties.Mark.INTERNAL] = ""
    """The stack, as `project/stack`, whose `up` made it or took it over last."""


DECLARED = properties.Declaration(
    token="nomad-csi:index:StorageHold",  # noqa: S106  # Pulumi's word for a type's name
    input_model=StorageHoldInputs,
    output_model=StorageHoldOutputs,
)


@dataclass(frozen=True, kw_only=True)
class _Held:
    """The facts about the storage of a hold; implements `facts.Held`."""

    is_renamed: bool
    cluster: facts.Cluster
    dependents: facts.Dependents


def _permit(context: resource.Context, recorded: Values, *, waits: bool = False) -> None:
    """
    Raise `errors.RefusedError` where the storage of the hold with the outputs *recorded* may not be deleted.

    *waits*: for volumes of this stack that the same run may remove.
    """
    client, name = context.client, str(recorded["storageId"])
    storage, namespace = storage_identity.identify(name), client.connection.namespace or "default"
    other_stack = stack_identity.other_stack(context, recorded)
    cluster, found = cluster_identity.compare(client, recorded), read(context, storage, namespace)
    held = _Held(is_renamed=bool(other_stack), cluster=cluster, dependents=found.fact)
    refusal = decide.decide_release(held).refusal
    if waits and refusal == "dependents":
        who = owner_records.requester(recorded, recorded)
        wait_for_own(context, lambda: read(context, storage, namespace), who)
        _permit(context, recorded)
    elif refusal == "dependents":
        raise found.refusal(f"storage {name} is kept")
    elif refusal == "renamed stack":
        raise errors.RefusedError(f"storage {name} {other_stack}")
    elif refusal is not None:
        raise cluster_identity.refusal(client, f"storage {name}", recorded)


class StorageHoldResource(resource.Resource):
    """A hold on storage. Deleting it is refused while anything needs the storage; it deletes nothing."""

    declared = DECLARED

    def diff(self, identity: str, old_inputs: Values, old_outputs: Values, news: Values) -> resource.ResourceDiff:
        """Compare the inputs; other storage replaces the hold, which is then deleted before the old storage."""
        del old_outputs
        notice = f"{identity} is deleted with all its data afterwards, unless a volume is registered in it"
        return changes.difference(self.declared, old_inputs, news, notice=notice)

    def preview(self, news: Values) -> tuple[str, resource.Properties]:
        """Return the id of the storage, and the inputs."""
        return news["storageId"], dict(news) | dict.fromkeys(self.declared.outputs, resource.UNKNOWN)

    def preflight(self, context: resource.Context, old_outputs: Values, news: Values) -> None:
        """Refuse in a preview a replacement whose old storage is needed."""
        if not old_outputs or news["storageId"] == old_outputs["storageId"]:
            return
        with resource.Previewed(context, f"storage {old_outputs['storageId']}", is_recorded=True):
            _permit(context, old_outputs)

    def create(self, context: resource.Context, news: Values) -> tuple[str, resource.Properties]:
        """Record the storage, and the cluster whose volumes are looked for in it."""
        return news["storageId"], _outputs(context, news)

    def read(
        self, context: resource.Context, identity: str, inputs: Values, outputs: Values
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the recorded properties, which exist only in the state; an import takes the id that it names."""
        if inputs:
            return dict(inputs), dict(outputs)
        known = {"storageId": identity}
        return known, _outputs(context, known)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Values, news: Values
    ) -> resource.Properties:
        """Record another owner."""
        del identity, old_outputs
        return _outputs(context, news)

    def delete(self, context: resource.Context, identity: str, outputs: Values) -> None:
        """
        Permit the engine to delete the storage next; change nothing.

        Volumes of the same stack, which the same run may remove, are waited for. Raises `errors.RefusedError` where
        something needs the storage, or that is not known.
        """
        del identity
        _permit(context, outputs, waits=True)


def _outputs(context: resource.Context, inputs: Values) -> resource.Properties:
    cluster = {"cluster": cluster_identity.cluster_id(context.client)}
    return dict(inputs) | cluster | ({"stack": context.stack} if context.stack else {})
