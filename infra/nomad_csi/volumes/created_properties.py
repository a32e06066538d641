"""The properties of a `CreatedVolume`: those of a registration without the plugin's outputs, and its own."""

from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.csi import placeholders
from nomad_csi.frame import declaration, properties, stack_identity
from nomad_csi.spec import names
from nomad_csi.volumes import volume_properties

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

INPUTS: Mapping[str, properties.Property] = {
    **{name: volume_properties.INPUTS[name] for name in _AS_REGISTERED},
    "name": properties.text(
        "The readable beginning of the name that the plugin makes the storage by; a nonce follows it. It "
        "counts when the storage is made; a change later changes nothing. The volume's id when omitted.",
        compared=False,
    ),
    "pluginId": properties.plugin_id("Id of the CSI plugin that makes and serves the volume; with a controller."),
    "requiredTopologies": properties.items(
        "Places where the storage may be, as the clients report them; anywhere when omitted.",
        replaces=True,
        item=volume_properties.TOPOLOGY,
    ),
    "preferredTopologies": properties.items(
        "Those of the required places that are tried first, best first.", replaces=True, item=volume_properties.TOPOLOGY
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

OUTPUTS: Mapping[str, properties.Property] = {
    "externalId": properties.text("The storage provider's id of what the plugin made.", required=True),
    "capacityBytes": properties.number("How large the plugin made it; 0 where it does not say.", required=True),
    "context": properties.mapping("`volume_context`, as the plugin answered.", required=True),
    "topologies": properties.items(
        "Places where the volume can be attached, as the plugin answered; empty: anywhere.",
        required=True,
        item=volume_properties.TOPOLOGY,
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
    volume_properties.DEREGISTERED: volume_properties.REGISTERED_AGAIN,
    volume_properties.OTHER_STORAGE: volume_properties.OF_ANOTHER_HAND,
    "foreignMountFlags": volume_properties.FOREIGN_MOUNT_FLAGS,
    **volume_properties.OWNERSHIP,
    **stack_identity.OUTPUTS,
}

DECLARED = declaration.Declaration(
    token=names.CREATED_VOLUME_TYPE,
    description="A CSI volume that its plugin makes. Deleting it deregisters the volume; its storage stays, with its "
    "data, unless `onDestroy` is `delete`.",
    inputs=INPUTS,
    outputs=OUTPUTS,
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
