"""The properties of a `VolumeRegistration`."""

from collections.abc import Mapping
from typing import Any

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

INPUTS: Mapping[str, properties.Property] = {
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

OUTPUTS: Mapping[str, properties.Property] = {
    "controllerRequired": properties.flag(
        "Whether the plugin has a controller that publishes the volume.", required=True
    ),
    "foreignMountFlags": FOREIGN_MOUNT_FLAGS,
    DEREGISTERED: REGISTERED_AGAIN,
    OTHER_STORAGE: OF_ANOTHER_HAND,
    **OWNERSHIP,
    **stack_identity.OUTPUTS,
}

OF_REGISTRATION = (DEREGISTERED, OTHER_STORAGE)
"""Outputs by which an update begins although nothing differs."""

DECLARED = declaration.Declaration(
    token=names.VOLUME_REGISTRATION_TYPE,
    description="A CSI volume as Nomad holds it. Deleting it deregisters the volume and leaves the storage alone.",
    inputs=INPUTS,
    outputs=OUTPUTS,
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


def is_created(declared: declaration.Declaration) -> bool:
    """Return whether the plugin creates the storage of a volume of this type: its inputs have no external id."""
    return "externalId" not in declared.inputs
