"""The properties of a `CreatedVolume`: those of a registration, without what the plugin answers, and what it needs."""

from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.probing import controller_endpoint
from nomad_csi.resources import stack_identity, volume_properties
from nomad_csi.resources.frame import named_properties, properties
from nomad_csi.spec import names

_REGISTERED = volume_properties.INPUTS


def _bytes(description: str) -> properties.Property:
    return properties.Property(kind="number", description=description)


KEEP, DELETE = "keep", "delete"

_DELETION = properties.Property(
    kind="record",
    type_name="VolumeDeletion",
    description="How the storage is deleted; needed with `onDestroy: delete`.",
    fields={
        "endpoint": properties.Property(
            kind="text",
            description="Where the plugin's controller is reached: a socket's path, `HOST:PORT` or "
            "`ssh://USER@HOST/PATH`, with `{alloc_id}` and `{node_name}` for those of a healthy controller.",
        ),
        "awsRegion": properties.Property(
            kind="text",
            pattern=names.AWS_REGION,
            pattern_says="an AWS region such as us-east-1",
            description="Where EC2 is asked whether an EBS volume is attached, and asked to delete it where there is "
            "no `endpoint`.",
        ),
        "acceptUnguarded": properties.Property(
            kind="flag", description="Let a plugin delete whose storage does not refuse what is in use."
        ),
        "skipFinalSnapshot": properties.Property(
            kind="flag", description="Take no last snapshot of the data before it goes."
        ),
    },
)

INPUTS: Mapping[str, properties.Property] = {
    "volumeId": _REGISTERED["volumeId"],
    "namespace": _REGISTERED["namespace"],
    "name": properties.Property(
        compared=False,
        kind="text",
        description="The readable beginning of the name that the plugin makes the storage by; a nonce follows it. It "
        "counts when the storage is made; a change later changes nothing. The volume's id when omitted.",
    ),
    "pluginId": named_properties.plugin_id("Id of the CSI plugin that makes and serves the volume; with a controller."),
    "capabilities": _REGISTERED["capabilities"],
    "mountOptions": _REGISTERED["mountOptions"],
    "requiredTopologies": properties.Property(
        kind="list",
        replaces=True,
        item=volume_properties.TOPOLOGY,
        description="Places where the storage may be, as the clients report them; anywhere when omitted.",
    ),
    "preferredTopologies": properties.Property(
        kind="list",
        replaces=True,
        item=volume_properties.TOPOLOGY,
        description="Those of the required places that are tried first, best first.",
    ),
    "availabilityZone": properties.Property(
        compared=False,
        kind="text",
        description="The zone that the program asks for, where the places follow from it and from the driver's "
        "description. While it stays, other places replace nothing.",
    ),
    "parameters": properties.Property(
        kind="map", replaces=True, description="What the driver makes the storage by, such as `type`."
    ),
    "secrets": _REGISTERED["secrets"],
    "capacityMinBytes": _bytes("At least this large; the driver's own size when both are omitted. More makes it grow."),
    "capacityMaxBytes": _bytes("At most this large. A volume never shrinks: less than it has is refused."),
    "cloneId": properties.Property(
        kind="text", replaces=True, description="External id of the volume to copy. Not together with `snapshotId`."
    ),
    "snapshotId": properties.Property(
        kind="text", replaces=True, description="Id of the snapshot to begin from. Not together with `cloneId`."
    ),
    "onDestroy": properties.Property(
        kind="text",
        one_of=(KEEP, DELETE),
        description="What becomes of the storage when this is removed or replaced: `keep` (when omitted), or `delete` "
        "with all data. What is recorded counts: a change of it is an update of its own.",
    ),
    "deletion": _DELETION,
    "owner": _REGISTERED["owner"],
    "ownerId": _REGISTERED["ownerId"],
    "adopt": _REGISTERED["adopt"],
}

OF_DELETION = frozenset({"onDestroy", "deletion"})
"""Properties that say what becomes of the storage; Nomad knows nothing of them."""

MADE = "madeStorage"
CREATED_NAME = "createdName"
DEREGISTERED = "deregistered"

OUTPUTS: Mapping[str, properties.Property] = {
    "externalId": properties.Property(
        kind="text", required=True, description="The storage provider's id of what the plugin made."
    ),
    "capacityBytes": properties.Property(
        kind="number", required=True, description="How large the plugin made it; 0 where it does not say."
    ),
    "context": properties.Property(kind="map", required=True, description="`volume_context`, as the plugin answered."),
    "topologies": properties.Property(
        kind="list",
        required=True,
        item=volume_properties.TOPOLOGY,
        description="Places where the volume can be attached, as the plugin answered; empty: anywhere.",
    ),
    CREATED_NAME: properties.Property(
        kind="text",
        description="The name that the plugin made the storage by; absent where it was there before, or an older "
        "release had it made by `name` alone.",
    ),
    MADE: properties.Property(
        kind="text",
        description="The external id of what the plugin made for it, the proof that it may be deleted; absent where "
        "the volume was there before.",
    ),
    DEREGISTERED: properties.Property(
        kind="flag",
        description="Set where Nomad does not hold it any more, and its storage is left: to be deleted, or to be "
        "registered again.",
    ),
    "foreignMountFlags": volume_properties.FOREIGN_MOUNT_FLAGS,
    **volume_properties.OWNERSHIP,
    **stack_identity.OUTPUTS,
}

SOURCES = ("cloneId", "snapshotId")
SIZES = ("capacityMinBytes", "capacityMaxBytes")


def wrong_together(values: Mapping[str, Any]) -> Iterator[properties.Failure]:
    """Yield what is wrong with sizes and sources, which the kinds of the properties do not say."""
    sizes = {name: values[name] for name in SIZES if values.get(name, properties.UNKNOWN) != properties.UNKNOWN}
    for name, size in sizes.items():
        if size < 1 or size != int(size):
            yield properties.Failure(path=name, reason=f"expected a whole number of bytes from 1, got {size}")
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
            controller_endpoint.check(how["endpoint"])
        except errors.CsiError as error:
            yield properties.Failure(path="deletion.endpoint", reason=error.message)


def as_meant(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return *values* in one shape for one meaning: to keep the storage is what nothing means."""
    return {name: value for name, value in values.items() if (name, value) != ("onDestroy", KEEP)}
