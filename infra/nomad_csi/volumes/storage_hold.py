"""
The custom resource `StorageHold`: a file system that several volumes share is deleted after it, and only then.

The file system itself is not registered, so that no registration goes before it. Programs take its id from the hold: so
what uses it depends on the hold, and is removed before.
"""

from collections.abc import Mapping
from typing import Any

from nomad_csi import errors, side_by_side
from nomad_csi.drivers import storage_identity
from nomad_csi.frame import compare, declaration, properties, resource, stack_identity
from nomad_csi.nomad import cluster_identity
from nomad_csi.volumes import decide, facts, storage_dependents, volume_ownership, volume_properties

DECLARED = declaration.Declaration(
    token="nomad-csi:index:StorageHold",  # noqa: S106  # Pulumi's word for a type's name
    description="Keeps storage that several volumes share: it is not removed while a volume is registered in it.",
    inputs={
        "storageId": properties.text("Id of the storage, such as `fs-...`.", required=True, replaces=True),
        "owner": stack_identity.OWNER,
        "ownerId": stack_identity.OWNER_ID,
    },
    outputs={"cluster": volume_properties.OWNERSHIP["cluster"], "stack": stack_identity.OUTPUTS["stack"]},
)


class _Held:
    """The storage of a hold with the outputs *recorded*; implements `facts.Held`."""

    def __init__(self, context: resource.Context, recorded: Mapping[str, Any]) -> None:
        self._context = context
        self._recorded = recorded
        self.name = str(recorded["storageId"])

    @property
    def is_renamed(self) -> bool:
        """Whether a stack of another name wrote the state."""
        return bool(stack_identity.other_stack(self._context, self._recorded))

    @property
    def cluster(self) -> facts.Cluster:
        """The cluster that the connection leads to."""
        return cluster_identity.compare(self._context.client, self._recorded)

    @side_by_side.read_once
    def found(self) -> storage_dependents.StorageDependents:
        """The volumes in the storage."""
        return self.find()

    def find(self) -> storage_dependents.StorageDependents:
        """Return the volumes that are in the storage now."""
        namespace = self._context.client.connection.namespace or "default"
        return storage_dependents.read(self._context, storage_identity.identify(self.name), namespace)

    @property
    def dependents(self) -> facts.Dependents:
        """Registrations in the storage."""
        return self.found.fact

    def wait(self) -> None:
        """Wait for volumes of this stack that the same run may remove."""
        requester = volume_ownership.requester(self._recorded, self._recorded)
        storage_dependents.wait_for_own(self._context, self.find, requester)

    def refuse(self) -> None:
        """Raise `errors.RefusedError` where the storage may not be deleted."""
        what = f"storage {self.name} is kept"
        match decide.decide_release(self).refusal:
            case None:
                return
            case "renamed stack":
                raise errors.RefusedError(
                    f"storage {self.name} {stack_identity.other_stack(self._context, self._recorded)}"
                )
            case "dependents":
                raise self.found.refusal(what)
            case _:
                raise cluster_identity.refusal(self._context.client, f"storage {self.name}", self._recorded)


class StorageHoldResource(resource.Resource):
    """A hold on storage. Deleting it is refused while a volume is registered in the storage; it deletes nothing."""

    declared = DECLARED

    def diff(
        self, identity: str, old_inputs: Mapping[str, Any], old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.ResourceDiff:
        """Compare the inputs; other storage replaces the hold, which is then deleted before the old storage."""
        del old_outputs
        notice = f"{identity} is deleted with all its data afterwards, unless a volume is registered in it"
        return compare.difference(self.declared, old_inputs, news, notice=notice)

    def preview(self, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Return the id of the storage, and the inputs."""
        unknown = dict.fromkeys(self.declared.outputs, resource.UNKNOWN)
        return news["storageId"], dict(news) | unknown

    def preflight(self, context: resource.Context, old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> None:
        """Refuse in a preview a replacement whose old storage has volumes in it."""
        if not old_outputs or news["storageId"] == old_outputs["storageId"]:
            return
        held = _Held(context, old_outputs)
        with resource.Previewed(context, f"storage {held.name}", is_recorded=True):
            held.refuse()

    def create(self, context: resource.Context, news: Mapping[str, Any]) -> tuple[str, resource.Properties]:
        """Record the storage, and the cluster whose volumes are looked for in it."""
        return news["storageId"], _outputs(context, news)

    def read(
        self, context: resource.Context, identity: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
    ) -> tuple[resource.Properties, resource.Properties] | None:
        """Return the recorded properties, which exist only in the state; an import takes the id that it names."""
        if inputs:
            return dict(inputs), dict(outputs)
        known = {"storageId": identity}
        return known, _outputs(context, known)

    def update(
        self, context: resource.Context, identity: str, old_outputs: Mapping[str, Any], news: Mapping[str, Any]
    ) -> resource.Properties:
        """Record another owner."""
        del identity, old_outputs
        return _outputs(context, news)

    def delete(self, context: resource.Context, identity: str, outputs: Mapping[str, Any]) -> None:
        """
        Permit the engine to delete the storage next; change nothing.

        Volumes of the same stack, which the same run may remove, are waited for. Raises `errors.RefusedError` where a
        volume is registered in it, or that is not known.
        """
        del identity
        held = _Held(context, outputs)
        if decide.decide_release(held).refusal == "dependents":
            held.wait()
        _Held(context, outputs).refuse()


def _outputs(context: resource.Context, inputs: Mapping[str, Any]) -> resource.Properties:
    cluster = {"cluster": cluster_identity.cluster_id(context.client)}
    return dict(inputs) | cluster | ({"stack": context.stack} if context.stack else {})
