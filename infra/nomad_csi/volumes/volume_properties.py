"""The properties of a `VolumeRegistration` and of a `CreatedVolume`."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from nomad_csi import errors
from nomad_csi.csi import placeholders
from nomad_csi.frame import declaration, properties, stack_identity
from nomad_csi.spec import names

_CAPABILITY = properties.record(
    "One way in which allocations may use the volume.",
    type_name="VolumeCapability",
    fields={
        "accessMode": properties.text("One of Nomad's five access modes.", required=True, one_of=names.ACCESS_MODES),
        "attachmentMode": properties.text(
            "`file-system` or `block-device`.", required=True, one_of=names.ATTACHMENT_MODES
        ),
    },
)
TOPOLOGY = properties.record(
    "One place where the volume can be attached.",
    type_name="VolumeTopology",
    fields={
        "segments": properties.mapping(
            "Topology keys as the node plugins report them, and their values.", required=True
        )
    },
)

STORAGE = properties.record(
    "What the program knows of the storage behind the external id; it is not sent to Nomad.",
    compared=False,
    type_name="VolumeStorage",
    fields={
        "location": properties.text(
            "Which data the volume is, where the external id does not show it: the file system and the "
            "folder behind an access point of EFS, such as `fs-1:/shared`."
        ),
        "owned": properties.flag("Whether the same program makes the storage, and deletes it with its data."),
        "part": properties.flag(
            "Whether what is made is a part of a file system that stays without it: an access point."
        ),
        "retained": properties.flag("Whether Pulumi leaves it when it is removed: `retainOnDelete`."),
        "shared": properties.flag(
            "Whether another volume id may stand for it; with access modes for several nodes only."
        ),
        "settings": properties.texts("Those keys of the context that never say which data the volume is."),
    },
)

_REGISTRATION_INPUTS: Mapping[str, properties.Property] = {
    "volumeId": properties.text(
        "Nomad's id of the volume, unique in its namespace.",
        required=True,
        replaces=True,
        pattern=names.VOLUME_ID,
        pattern_says="letters, digits, '.', '_' and '-', optionally with an index such as [0] at the end",
    ),
    "namespace": properties.namespace("Nomad namespace of the volume; `default` when omitted."),
    "name": properties.text("Shown by Nomad; the volume's id when omitted."),
    "externalId": properties.text("The storage provider's id, such as `vol-...` or `fs-...::fsap-...`.", required=True),
    "pluginId": properties.plugin_id("Id of the CSI plugin that serves the volume.", replaces=False),
    "capabilities": properties.items("Ways in which allocations may use the volume.", required=True, item=_CAPABILITY),
    "mountOptions": properties.record(
        "How the file system is mounted; cannot change while the volume is in use.",
        type_name="VolumeMountOptions",
        fields={
            "fsType": properties.text("Such as `ext4`; the driver's own when omitted."),
            "mountFlags": properties.texts("Such as `noatime`. Nomad redacts them on every read."),
        },
    ),
    "requiredTopologies": properties.items(
        "Places where the volume can be attached, as the clients report them; anywhere when omitted.", item=TOPOLOGY
    ),
    "parameters": properties.mapping("Passed to the controller plugin when it validates the volume."),
    "context": properties.mapping("`volume_context` of every CSI call."),
    "secrets": properties.mapping("CSI secrets. Sent with every registration, and never shown.", secret=True),
    "owner": stack_identity.OWNER,
    "ownerId": stack_identity.OWNER_ID,
    "adopt": properties.flag(
        "Take over a registration of this id that differs, where Nomad can change it, or another stack's.",
        compared=False,
        recorded=False,
    ),
    "protect": properties.flag(
        "Refuse every change that would make the volume id refer to other data.", compared=False
    ),
    "storage": STORAGE,
}

FOREIGN_MOUNT_FLAGS = properties.flag(
    "Set where Nomad holds mount flags that this registration does not have.", internal=True
)

DEREGISTERED = "deregistered"

REGISTERED_AGAIN = properties.flag(
    "Set where Nomad does not hold the volume any more: the next update registers it again, with its storage.",
    internal=True,
)

OTHER_STORAGE = "otherStorage"

OF_ANOTHER_HAND = properties.text(
    "External id for which something else registered the volume: the next update is refused.", internal=True
)

OWNERSHIP: Mapping[str, properties.Property] = {
    "cluster": properties.text(
        "Identity of the cluster and region that holds it; empty where it is not known.", internal=True
    ),
    "marked": properties.flag(
        "Whether the owner record is in the cluster; not where the token may not write it.", internal=True
    ),
}
"""Outputs of a volume with an owner."""


OF_REGISTRATION = (DEREGISTERED, OTHER_STORAGE)
"""Outputs by which an update begins although nothing differs."""

REGISTRATION = declaration.Declaration(
    token=names.VOLUME_REGISTRATION_TYPE,
    description="A CSI volume as Nomad holds it. Deleting it deregisters the volume and leaves the storage alone.",
    inputs=_REGISTRATION_INPUTS,
    outputs={
        "controllerRequired": properties.flag(
            "Whether the plugin has a controller that publishes the volume.", required=True
        ),
        "foreignMountFlags": FOREIGN_MOUNT_FLAGS,
        DEREGISTERED: REGISTERED_AGAIN,
        OTHER_STORAGE: OF_ANOTHER_HAND,
        **OWNERSHIP,
        **stack_identity.OUTPUTS,
    },
)


def check(
    declared: Mapping[str, properties.Property], news: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[properties.Failure, ...]]:
    """Return *news* of a volume with default namespace and name, and all failures."""
    values, failures = properties.check(declared, news)
    if "volumeId" in values:
        values.setdefault("name", values["volumeId"])
    return values, failures


def key_of(inputs: Mapping[str, Any]) -> str:
    """Return ``namespace/volume_id`` of the volume of *inputs*."""
    return f"{inputs['namespace']}/{inputs['volumeId']}"


# Those of a `CreatedVolume`: of a registration without the plugin's outputs, and its own.


_AS_REGISTERED = ("volumeId", "namespace", "capabilities", "mountOptions", "secrets", "owner", "ownerId", "adopt")


KEEP, DELETE = "keep", "delete"

_DELETION = properties.record(
    "How the storage is deleted; needed with `onDestroy: delete`.",
    type_name="VolumeDeletion",
    fields={
        "endpoint": properties.text(
            "Where the plugin's controller is reached: a socket's path, `HOST:PORT` or "
            "`ssh://USER@HOST/PATH`, with `{alloc_id}` and `{node_name}` for those of a healthy controller."
        ),
        "awsRegion": properties.text(
            "Where EC2 is asked whether an EBS volume is attached, and asked to delete it where there is "
            "no `endpoint`.",
            pattern=names.AWS_REGION,
            pattern_says="an AWS region such as us-east-1",
        ),
        "acceptUnguarded": properties.flag("Let a plugin delete whose storage does not refuse what is in use."),
        "skipFinalSnapshot": properties.flag("Take no last snapshot of the data before it goes."),
    },
)

_BYTES = properties.Range("a whole number of bytes from 1", 1)

_CREATED_INPUTS: Mapping[str, properties.Property] = {
    **{name: _REGISTRATION_INPUTS[name] for name in _AS_REGISTERED},
    "name": properties.text(
        "The readable beginning of the name that the plugin makes the storage by; a nonce follows it. It "
        "counts when the storage is made; a change later changes nothing. The volume's id when omitted.",
        compared=False,
    ),
    "pluginId": properties.plugin_id("Id of the CSI plugin that makes and serves the volume; with a controller."),
    "requiredTopologies": properties.items(
        "Places where the storage may be, as the clients report them; anywhere when omitted.",
        replaces=True,
        item=TOPOLOGY,
    ),
    "preferredTopologies": properties.items(
        "Those of the required places that are tried first, best first.", replaces=True, item=TOPOLOGY
    ),
    "availabilityZone": properties.text(
        "The zone that the program asks for, where the places follow from it and from the driver's "
        "description. While it stays, other places replace nothing.",
        compared=False,
    ),
    "parameters": properties.mapping("What the driver makes the storage by, such as `type`.", replaces=True),
    "capacityMinBytes": properties.number(
        "At least this large; the driver's own size when both are omitted. More makes it grow.", range=_BYTES
    ),
    "capacityMaxBytes": properties.number(
        "At most this large. A volume never shrinks: less than it has is refused.", range=_BYTES
    ),
    "cloneId": properties.text("External id of the volume to copy. Not together with `snapshotId`.", replaces=True),
    "snapshotId": properties.text("Id of the snapshot to begin from. Not together with `cloneId`.", replaces=True),
    "onDestroy": properties.text(
        "What becomes of the storage when this is removed or replaced: `keep` (when omitted), or `delete` "
        "with all data. What is recorded counts: a change of it is an update of its own.",
        one_of=(KEEP, DELETE),
    ),
    "deletion": _DELETION,
}

OF_DELETION = frozenset({"onDestroy", "deletion"})
"""Properties of the deletion of the storage; they are not sent to Nomad."""

MADE = "madeStorage"
CREATED_NAME = "createdName"


CREATED = declaration.Declaration(
    token=names.CREATED_VOLUME_TYPE,
    description="A CSI volume that its plugin makes. Deleting it deregisters the volume; its storage stays, with its "
    "data, unless `onDestroy` is `delete`.",
    inputs=_CREATED_INPUTS,
    outputs={
        "externalId": properties.text("The storage provider's id of what the plugin made.", required=True),
        "capacityBytes": properties.number("How large the plugin made it; 0 where it does not say.", required=True),
        "context": properties.mapping("`volume_context`, as the plugin answered.", required=True),
        "topologies": properties.items(
            "Places where the volume can be attached, as the plugin answered; empty: anywhere.",
            required=True,
            item=TOPOLOGY,
        ),
        CREATED_NAME: properties.text(
            "The name by which the plugin finds the storage again.",
            internal=True,
        ),
        MADE: properties.text(
            "The external id of what the plugin made for it, the proof that it may be deleted; absent where "
            "the volume was there before.",
            internal=True,
        ),
        DEREGISTERED: REGISTERED_AGAIN,
        OTHER_STORAGE: OF_ANOTHER_HAND,
        "foreignMountFlags": FOREIGN_MOUNT_FLAGS,
        **OWNERSHIP,
        **stack_identity.OUTPUTS,
    },
)

SOURCES = ("cloneId", "snapshotId")
SIZES = ("capacityMinBytes", "capacityMaxBytes")


def wrong_together(values: Mapping[str, Any]) -> Iterator[properties.Failure]:
    """Yield failures of sizes and sources that concern several properties."""
    sizes = {name: values[name] for name in SIZES if values.get(name, properties.UNKNOWN) != properties.UNKNOWN}
    if len(sizes) == len(SIZES) and sizes["capacityMaxBytes"] < sizes["capacityMinBytes"]:
        given = f"{sizes['capacityMaxBytes']} below {sizes['capacityMinBytes']}"
        yield properties.Failure(path="capacityMaxBytes", reason=f"expected capacityMinBytes or more, got {given}")
    if all(name in values for name in SOURCES):
        yield properties.Failure(path="cloneId", reason="expected either cloneId or snapshotId, got both")
    yield from _wrong_of_deletion(values)


def _wrong_of_deletion(values: Mapping[str, Any]) -> Iterator[properties.Failure]:
    how = values.get("deletion", {})
    if how == properties.UNKNOWN:
        return
    if values.get("onDestroy") == DELETE and not {"endpoint", "awsRegion"} & how.keys():
        reason = "expected endpoint or awsRegion with onDestroy: delete, got neither: nothing could delete it"
        yield properties.Failure(path="deletion", reason=reason)
    if how.get("endpoint", properties.UNKNOWN) != properties.UNKNOWN:
        try:
            placeholders.check(how["endpoint"])
        except errors.CsiError as error:
            yield properties.Failure(path="deletion.endpoint", reason=error.message)


def normalize(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return *values* in a normal form: ``onDestroy: keep`` is the default, and left out."""
    return {name: value for name, value in values.items() if (name, value) != ("onDestroy", KEEP)}


def of(source: Literal["existing", "created"]) -> declaration.Declaration:
    """Return the declaration of the resource of a volume whose storage has this *source*."""
    return CREATED if source == "created" else REGISTRATION
