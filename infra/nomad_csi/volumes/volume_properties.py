"""The properties of a `VolumeRegistration` and of a `CreatedVolume`."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import pydantic

from nomad_csi import errors
from nomad_csi.csi import forward
from nomad_csi.frame import properties, stack_identity
from nomad_csi.frame.properties import Mark
from nomad_csi.spec import base, names


class AllowedUse(properties.Properties, title="VolumeCapability"):
    """One way in which allocations may use the volume."""

    access_mode: names.AccessMode
    """One of Nomad's five access modes."""

    attachment_mode: names.AttachmentMode
    """`file-system` or `block-device`."""


class VolumeMountOptions(properties.Properties):
    """How the file system is mounted; cannot change while the volume is in use."""

    fs_type: str = ""
    """Such as `ext4`; the driver's own when omitted."""

    mount_flags: list[base.Word] = []
    """Such as `noatime`. Nomad redacts them on every read."""


class VolumeTopology(properties.Properties):
    """One topology in which the volume can be attached."""

    segments: Annotated[dict[str, str], pydantic.Field(min_length=1)]
    """Topology keys as the node plugins report them, and their values."""


class VolumeStorage(properties.Properties):
    """What the program knows of the storage behind the external id; it is not sent to Nomad."""

    location: str = ""
    """
    Which data the volume is, where the external id does not show it: the file system and the folder behind an access
    point of EFS, such as `fs-1:/shared`.
    """

    owned: bool = False
    """Whether the same program makes the storage, and deletes it with its data."""

    part: bool = False
    """Whether what is made is a part of a file system that stays without it: an access point."""

    retained: bool = False
    """Whether Pulumi leaves it when it is removed: `retainOnDelete`."""

    shared: bool = False
    """Whether another volume id may stand for it; with access modes for several nodes only."""

    settings: list[base.Word] = []
    """Those keys of the context that never say which data the volume is."""


class _VolumeInputs(stack_identity.Owned):
    volume_id: Annotated[base.VolumeId, Mark.REPLACES]
    """Nomad's id of the volume, unique in its namespace."""

    namespace: Annotated[base.Namespace, Mark.REPLACES] = "default"
    """Nomad namespace of the volume; `default` when omitted."""

    capabilities: Annotated[list[AllowedUse], pydantic.Field(min_length=1)]
    """Ways in which allocations may use the volume."""

    mount_options: VolumeMountOptions | None = None
    """How the file system is mounted; cannot change while the volume is in use."""

    secrets: Annotated[dict[str, str], Mark.SECRET] = {}
    """CSI secrets. Sent with every registration, and never shown."""

    adopt: Annotated[bool, Mark.NOT_COMPARED, Mark.NOT_RECORDED] = False
    """Take over a registration of this id that differs, where Nomad can change it, or another stack's."""

    def plain(self) -> dict[str, Any]:
        """Return the properties as JSON values; the name is the id where there is none."""
        return {"name": self.volume_id} | super().plain()


class VolumeRegistrationInputs(_VolumeInputs):
    """A CSI volume as Nomad holds it. Deleting it deregisters the volume and leaves the storage alone."""

    name: str = ""
    """Shown by Nomad; the volume's id when omitted."""

    external_id: base.Word
    """The storage provider's id, such as `vol-...` or `fs-...::fsap-...`."""

    plugin_id: base.PluginId
    """Id of the CSI plugin that serves the volume."""

    required_topologies: list[VolumeTopology] = []
    """Places where the volume can be attached, as the clients report them; anywhere when omitted."""

    parameters: dict[str, str] = {}
    """Passed to the controller plugin when it validates the volume."""

    context: dict[str, str] = {}
    """`volume_context` of every CSI call."""

    protect: Annotated[bool, Mark.NOT_COMPARED] = False
    """Refuse every change that would make the volume id refer to other data."""

    storage: Annotated[VolumeStorage | None, Mark.NOT_COMPARED] = None
    """What the program knows of the storage behind the external id; it is not sent to Nomad."""


class _VolumeOutputs(stack_identity.MadeByStack, stack_identity.InCluster):
    foreign_mount_flags: Annotated[bool, Mark.INTERNAL] = False
    """Set where Nomad holds mount flags that this registration does not have."""

    deregistered: Annotated[bool, Mark.INTERNAL] = False
    """Set where Nomad does not hold the volume any more: the next update registers it again, with its storage."""

    other_storage: Annotated[str, Mark.INTERNAL] = ""
    """External id for which something else registered the volume: the next update is refused."""

    marked: Annotated[bool, Mark.INTERNAL] = False
    """Whether the owner record is in the cluster; not where the token may not write it."""


class VolumeRegistrationOutputs(_VolumeOutputs):
    """Outputs of a `VolumeRegistration`."""

    controller_required: bool
    """Whether the plugin has a controller that publishes the volume."""


DEREGISTERED = "deregistered"
OTHER_STORAGE = "otherStorage"

OF_REGISTRATION = (DEREGISTERED, OTHER_STORAGE)
"""Outputs by which an update begins although nothing differs."""

OWNERSHIP = ("cluster", "marked")
"""Outputs of a volume with an owner."""

REGISTRATION = properties.Declaration(
    token=names.VOLUME_REGISTRATION_TYPE, input_model=VolumeRegistrationInputs, output_model=VolumeRegistrationOutputs
)


def key_of(inputs: Mapping[str, Any]) -> str:
    """Return ``namespace/volume_id`` of the volume of *inputs*."""
    return f"{inputs['namespace']}/{inputs['volumeId']}"


KEEP, DELETE = "keep", "delete"

Bytes = Annotated[int, pydantic.Field(ge=1)]


class VolumeDeletion(properties.Properties):
    """How the storage is deleted; needed with `onDestroy: delete`."""

    endpoint: str = ""
    """
    Where the plugin's controller is reached: a socket's path, `HOST:PORT` or `ssh://USER@HOST/PATH`, with `{alloc_id}`
    and `{node_name}` for those of a healthy controller.
    """

    aws_region: base.Region = ""
    """
    Where EC2 is asked whether an EBS volume is attached, and asked to delete it where there is no `endpoint`.
    """

    accept_unguarded: bool = False
    """Let a plugin delete whose storage does not refuse what is in use."""

    skip_final_snapshot: bool = False
    """Take no last snapshot of the data before it goes."""

    def contradictions(self) -> Iterator[errors.Problem]:
        """Yield a placeholder in the endpoint that nothing fills in."""
        if self.endpoint not in {"", names.UNKNOWN}:
            try:
                forward.check_written(self.endpoint)
            except errors.CsiError as error:
                yield errors.Problem(path="deletion.endpoint", got=error.message, allowed="")


class CreatedVolumeInputs(_VolumeInputs):
    """
    A CSI volume that its plugin makes.

    Deleting it deregisters the volume; its storage stays, with its data, unless `onDestroy` is `delete`.
    """

    name: Annotated[str, Mark.NOT_COMPARED] = ""
    """
    The readable beginning of the name that the plugin makes the storage by; a nonce follows it. It counts when the
    storage is made; a change later changes nothing. The volume's id when omitted.
    """

    plugin_id: Annotated[base.PluginId, Mark.REPLACES]
    """Id of the CSI plugin that makes and serves the volume; with a controller."""

    required_topologies: Annotated[list[VolumeTopology], Mark.REPLACES] = []
    """Places where the storage may be, as the clients report them; anywhere when omitted."""

    preferred_topologies: Annotated[list[VolumeTopology], Mark.REPLACES] = []
    """Those of the required topologies that are tried first, best first."""

    availability_zone: Annotated[str, Mark.NOT_COMPARED] = ""
    """
    The zone that the program asks for, where the topologies follow from it and from the driver's description. While it
    stays, other topologies replace nothing.
    """

    parameters: Annotated[dict[str, str], Mark.REPLACES] = {}
    """What the driver makes the storage by, such as `type`."""

    capacity_min_bytes: Bytes | None = None
    """At least this large; the driver's own size when both are omitted. More makes it grow."""

    capacity_max_bytes: Bytes | None = None
    """At most this large. A volume never shrinks: less than it has is refused."""

    clone_id: Annotated[str, Mark.REPLACES] = ""
    """External id of the volume to copy. Not together with `snapshotId`."""

    snapshot_id: Annotated[str, Mark.REPLACES] = ""
    """Id of the snapshot to begin from. Not together with `cloneId`."""

    on_destroy: Literal["keep", "delete"] | None = None
    """
    What becomes of the storage when this is removed or replaced: `keep` (when omitted), or `delete` with all data. What
    is recorded counts: a change of it is an update of its own.
    """

    deletion: VolumeDeletion | None = None
    """How the storage is deleted; needed with `onDestroy: delete`."""

    def plain(self) -> dict[str, Any]:
        """Return the properties as JSON values: topologies sorted, and without ``onDestroy: keep``, the default."""
        values = {name: value for name, value in super().plain().items() if (name, value) != ("onDestroy", KEEP)}
        return sort_topologies(values)

    def contradictions(self) -> Iterator[errors.Problem]:
        """Yield the problems of sizes and sources, and of the deletion."""
        least, most = self.capacity_min_bytes, self.capacity_max_bytes
        if isinstance(least, int) and isinstance(most, int) and most < least:
            yield errors.Problem(
                path="capacityMaxBytes", got=f"{most} below {least}", allowed="capacityMinBytes or more"
            )
        if self.clone_id and self.snapshot_id:
            yield errors.Problem(path="cloneId", got="both", allowed="either cloneId or snapshotId")
        how: Any = self.deletion or VolumeDeletion.model_construct()
        if how == names.UNKNOWN:
            return
        if self.on_destroy == DELETE and not (how.endpoint or how.aws_region):
            allowed = "endpoint or awsRegion with onDestroy: delete"
            yield errors.Problem(path="deletion", got="neither: nothing could delete it", allowed=allowed)
        yield from how.contradictions()


def sort_topologies(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return *values* with sorted required topologies: a plugin ignores the order, Nomad permits no change of it."""
    topologies = values.get("requiredTopologies")
    if not isinstance(topologies, list):
        return dict(values)
    return {**values, "requiredTopologies": sorted(topologies, key=lambda each: json.dumps(each, sort_keys=True))}


OF_DELETION = frozenset({"onDestroy", "deletion"})
"""Properties of the deletion of the storage; they are not sent to Nomad."""

MADE = "madeStorage"
CREATED_NAME = "createdName"


class CreatedVolumeOutputs(_VolumeOutputs):
    """Outputs of a `CreatedVolume`."""

    external_id: str
    """The storage provider's id of what the plugin made."""

    capacity_bytes: int
    """How large the plugin made it; 0 where it does not say."""

    context: dict[str, str]
    """`volume_context`, as the plugin answered."""

    topologies: list[VolumeTopology]
    """Places where the volume can be attached, as the plugin answered; empty: anywhere."""

    created_name: Annotated[str, Mark.INTERNAL] = ""
    """The name by which the plugin finds the storage again."""

    made_storage: Annotated[str, Mark.INTERNAL] = ""
    """
    The external id of what the plugin made for it, the proof that it may be deleted; absent where the volume was there
    before.
    """


CREATED = properties.Declaration(
    token=names.CREATED_VOLUME_TYPE, input_model=CreatedVolumeInputs, output_model=CreatedVolumeOutputs
)


def of(source: Literal["existing", "created"]) -> properties.Declaration:
    """Return the declaration of the resource of a volume whose storage has this *source*."""
    return CREATED if source == "created" else REGISTRATION


def deletes_storage(recorded: Mapping[str, Any]) -> bool:
    """Return whether the storage is deleted when the volume *recorded* is removed."""
    return recorded.get("onDestroy") == DELETE
