"""
Storage that a program deletes, and what still needs it: whoever owns that, and whatever the program declares.

The engine deletes EBS volumes, file systems and access points itself, after the resource that depends on them. So that
resource looks for these volumes right before, in the cluster that it is connected to: the registration of the storage,
or a `StorageHold` of a file system that several volumes share. The file system itself is not registered; programs take
its id from the hold, so what uses it is removed before.
"""

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from nomad_csi import errors, nomad
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import properties, resource, stack_identity
from nomad_csi.nomad import cluster_identity, token_rights, volumes
from nomad_csi.spec import base
from nomad_csi.volumes import decide, facts, ownership, sharing

Values = Mapping[str, Any]
"""Inputs or outputs."""

_Kept = Mapping[volumes.Key, ownership.OwnerRecord]


@dataclass(frozen=True, kw_only=True)
class StorageDependents:
    """What needs storage: volumes that are registered in it, and ids whose owner records keep a part of it."""

    storage: storage_identity.StorageIdentity

    keys: tuple[volumes.Key, ...] = ()
    """The registered volumes."""

    kept: tuple[str, ...] = ()
    """The commands that give up what owner records keep."""

    unknown: str = ""
    """What the token lacks, so that they are not known."""

    @property
    def fact(self) -> facts.Dependents:
        """The fact for a decision."""
        return "not known" if self.unknown else "some" if self.keys or self.kept else "none"

    def refusal(self, what: str, own: volumes.Key | None = None) -> errors.RefusedError:
        """Return the refusal of *what* would delete the storage, with what to do; *own*: the volume in question."""
        storage = self.storage.access_point or self.storage.container
        others = ", ".join("/".join(key) for key in self.keys if key != own)
        why = ", and the id stays registered for it or a part of it"
        if self.unknown:
            why = f", and what needs it is not known: give the token {self.unknown}"
        elif others:
            why = f", which {others} needs: registered for it or a part of it; remove that first, in a run of its own"
        elif self.kept:
            why = f", a part of which an owner record keeps for its id: to give that up, {'; '.join(self.kept)}"
        return errors.RefusedError(
            f"{what}: {storage} would be deleted with its data{why}; nothing was changed; to keep {storage} instead, "
            "set the option retainOnDelete on the component that makes it, run `pulumi up`, and change the program then"
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
    users = sharing.users_now(context, storage)
    records = once(f"latest records by {namespace}", lambda: sharing.Latest(lambda: _read_kept(client, namespace)))
    others = tuple(key for key in users.within(storage) if key not in but)
    kept = records.read()
    rights = ownership.RIGHTS.format(namespace=namespace)
    return StorageDependents(
        storage=storage,
        keys=others,
        kept=tuple(
            ownership.way_to_give_up(key, record.external_id, record.owner)
            for key, record in sorted((kept or {}).items())
            if key not in {*others, *but, *_removed(context)}
            and storage.contains(storage_identity.identify(record.external_id))
        ),
        unknown="csi-list-volume" if users.unlisted else rights if kept is None else "",
    )


def _read_kept(client: nomad.Nomad, namespace: str) -> _Kept | None:
    """Return the owner records; ``None`` where the token may not read one of *namespace*."""
    token = token_rights.readable(client)
    if token is not None and ownership.is_any_denied(token):
        return None
    try:
        return ownership.OwnerRecords(client).list_all(namespace, everywhere=True)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return None


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


def _permit(context: resource.Context, recorded: Values) -> None:
    """Raise `errors.RefusedError` where the storage of the hold with the outputs *recorded* may not be deleted."""
    client, name = context.client, str(recorded["storageId"])
    other_stack = stack_identity.other_stack(context, recorded)
    dependents = read(context, storage_identity.identify(name), client.connection.namespace or "default")
    known = facts.GivenRemoval(
        record="none",
        registration="absent",  # several volumes share it, and it is none of them
        ends="deleted after",
        is_renamed=bool(other_stack),
        cluster=cluster_identity.compare(client, recorded),
        dependents=dependents.fact,
    )
    refusal = decide.decide_removal(known).refusal
    if refusal == "dependents":
        raise dependents.refusal(f"storage {name} is kept")
    if refusal == "renamed stack":
        raise errors.RefusedError(f"storage {name} {other_stack}")
    if refusal is not None:
        raise cluster_identity.refusal(client, f"storage {name}", recorded)


class StorageHoldResource(resource.Resource):
    """A hold on storage. Deleting it is refused while anything needs the storage; it deletes nothing."""

    declared = DECLARED

    def diff(self, identity: str, old_inputs: Values, old_outputs: Values, new_inputs: Values) -> resource.ResourceDiff:
        """Compare the inputs; other storage replaces the hold, which is then deleted before the old storage."""
        del old_outputs
        notice = f"{identity} is deleted with all its data afterwards, unless a volume is registered in it"
        return resource.difference(self.declared, old_inputs, new_inputs, notice=notice)

    def preview(self, new_inputs: Values) -> tuple[str, resource.Properties]:
        """Return the id of the storage, and the inputs."""
        return new_inputs["storageId"], dict(new_inputs) | dict.fromkeys(self.declared.outputs, resource.UNKNOWN)

    def preflight(self, context: resource.Context, old_outputs: Values, new_inputs: Values) -> None:
        """Refuse in a preview a replacement whose old storage is needed."""
        if not old_outputs or new_inputs["storageId"] == old_outputs["storageId"]:
            return
        with resource.Previewed(context, f"storage {old_outputs['storageId']}", is_recorded=True):
            _permit(context, old_outputs)

    def create(self, context: resource.Context, new_inputs: Values) -> tuple[str, resource.Properties]:
        """Record the storage, and the cluster whose volumes are looked for in it."""
        return new_inputs["storageId"], _outputs(context, new_inputs)

    def read(
        self, context: resource.Context, identity: str, inputs: Values, outputs: Values
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the recorded properties, which exist only in the state; an import takes the id that it names."""
        if inputs:
            return dict(inputs), dict(outputs)
        known = {"storageId": identity}
        return known, _outputs(context, known)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Values, new_inputs: Values
    ) -> resource.Properties:
        """Record another owner."""
        del identity, old_outputs
        return _outputs(context, new_inputs)

    def delete(self, context: resource.Context, identity: str, outputs: Values) -> None:
        """
        Permit the engine to delete the storage next; change nothing.

        Raises `errors.RefusedError` where something needs the storage, or that is not known.
        """
        del identity
        _permit(context, outputs)


def _outputs(context: resource.Context, inputs: Values) -> resource.Properties:
    cluster = {"cluster": cluster_identity.cluster_id(context.client)}
    return dict(inputs) | cluster | ({"stack": context.stack} if context.stack else {})
