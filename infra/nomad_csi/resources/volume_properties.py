"""The properties of a `VolumeRegistration`."""

from collections.abc import Mapping
from typing import Any

from nomad_csi.resources import stack_identity
from nomad_csi.resources.frame import named_properties, properties
from nomad_csi.spec import access, names

_CAPABILITY = properties.Property(
    kind="record",
    type_name="VolumeCapability",
    description="One way in which allocations may use the volume.",
    fields={
        "accessMode": properties.Property(
            kind="text", required=True, one_of=access.ACCESS_MODES, description="One of Nomad's five access modes."
        ),
        "attachmentMode": properties.Property(
            kind="text",
            required=True,
            one_of=access.ATTACHMENT_MODES,
            description="`file-system` or `block-device`.",
        ),
    },
)
TOPOLOGY = properties.Property(
    kind="record",
    type_name="VolumeTopology",
    description="One place where the volume can be attached.",
    fields={
        "segments": properties.Property(
            kind="map", required=True, description="Topology keys as the node plugins report them, and their values."
        )
    },
)

STORAGE = properties.Property(
    kind="record",
    compared=False,
    type_name="VolumeStorage",
    description="What the program knows of the storage behind the external id; it is not sent to Nomad.",
    fields={
        "location": properties.Property(
            kind="text",
            description="Which data the volume is, where the external id does not show it: the file system and the "
            "folder behind an access point of EFS, such as `fs-1:/shared`.",
        ),
        "owned": properties.Property(
            kind="flag", description="Whether the same program makes the storage, and deletes it with its data."
        ),
        "part": properties.Property(
            kind="flag",
            description="Whether what is made is a part of a file system that stays without it: an access point.",
        ),
        "shared": properties.Property(
            kind="flag",
            description="Whether another volume id may stand for it; with access modes for several nodes only.",
        ),
        "settings": properties.Property(
            kind="list",
            item=properties.Property(kind="text"),
            description="Those keys of the context that never say which data the volume is.",
        ),
    },
)

INPUTS: Mapping[str, properties.Property] = {
    "volumeId": properties.Property(
        kind="text",
        required=True,
        replaces=True,
        pattern=names.VOLUME_ID,
        pattern_says="letters, digits, '.', '_' and '-', optionally with an index such as [0] at the end",
        description="Nomad's id of the volume, unique in its namespace.",
    ),
    "namespace": named_properties.namespace("Nomad namespace of the volume; `default` when omitted."),
    "name": properties.Property(kind="text", description="Shown by Nomad; the volume's id when omitted."),
    "externalId": properties.Property(
        kind="text",
        required=True,
        description="The storage provider's id, such as `vol-...` or `fs-...::fsap-...`.",
    ),
    "pluginId": named_properties.plugin_id("Id of the CSI plugin that serves the volume.", replaces=False),
    "capabilities": properties.Property(
        kind="list", required=True, item=_CAPABILITY, description="Ways in which allocations may use the volume."
    ),
    "mountOptions": properties.Property(
        kind="record",
        type_name="VolumeMountOptions",
        description="How the file system is mounted; cannot change while the volume is in use.",
        fields={
            "fsType": properties.Property(kind="text", description="Such as `ext4`; the driver's own when omitted."),
            "mountFlags": properties.Property(
                kind="list",
                item=properties.Property(kind="text"),
                description="Such as `noatime`. Nomad redacts them on every read.",
            ),
        },
    ),
    "requiredTopologies": properties.Property(
        kind="list",
        item=TOPOLOGY,
        description="Places where the volume can be attached, as the clients report them; anywhere when omitted.",
    ),
    "parameters": properties.Property(
        kind="map", description="Passed to the controller plugin when it validates the volume."
    ),
    "context": properties.Property(kind="map", description="`volume_context` of every CSI call."),
    "secrets": properties.Property(
        kind="map", secret=True, description="CSI secrets. Sent with every registration, and never shown."
    ),
    "owner": stack_identity.OWNER,
    "ownerId": stack_identity.OWNER_ID,
    "adopt": properties.Property(
        compared=False,
        recorded=False,
        kind="flag",
        description="Take over a registration of this id that differs, where Nomad can change it, or another stack's.",
    ),
    "protect": properties.Property(
        compared=False,
        kind="flag",
        description="Refuse every change that would make the volume id refer to other data.",
    ),
    "storage": STORAGE,
}

FOREIGN_MOUNT_FLAGS = properties.Property(
    kind="flag", description="Set where Nomad holds mount flags that this registration does not have."
)

OWNERSHIP: Mapping[str, properties.Property] = {
    "cluster": properties.Property(
        kind="text", description="Identity of the cluster and region that holds it; empty where it is not known."
    ),
    "marked": properties.Property(
        kind="flag", description="Whether the owner record is in the cluster; not where the token may not write it."
    ),
}
"""Outputs of a volume with an owner."""

OUTPUTS: Mapping[str, properties.Property] = {
    "controllerRequired": properties.Property(
        kind="flag", required=True, description="Whether the plugin has a controller that publishes the volume."
    ),
    "foreignMountFlags": FOREIGN_MOUNT_FLAGS,
    **OWNERSHIP,
    **stack_identity.OUTPUTS,
}


def check(
    declared: Mapping[str, properties.Property], news: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[properties.Failure, ...]]:
    """Return *news* of a volume with namespace and name filled in, and everything that is wrong with it."""
    values, failures = properties.check(declared, news)
    if "volumeId" in values:
        values.setdefault("name", values["volumeId"])
    return values, failures
