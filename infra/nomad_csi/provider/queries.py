"""Functions of the package, for programs in any language: a plugin and a volume, as Nomad has them now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pulumi.provider.experimental import util

from nomad_csi import errors, nomad
from nomad_csi.frame import properties
from nomad_csi.nomad import plugins, volumes
from nomad_csi.plan import snippet


@dataclass(frozen=True, kw_only=True)
class Query:
    """A function that reads, and changes nothing."""

    description: str
    inputs: Mapping[str, properties.Property]
    outputs: Mapping[str, properties.Property]
    read: Callable[[nomad.Nomad, Mapping[str, Any]], Mapping[str, Any]]
    """Returns the outputs. Raises `errors.RefusedError` where Nomad has no such object."""


def _read_plugin(client: nomad.Nomad, given: Mapping[str, Any]) -> Mapping[str, Any]:
    found = plugins.get(client, given["pluginId"])
    if found is None:
        raise errors.RefusedError(f"Nomad has no CSI plugin {given['pluginId']}")
    return {
        "provider": found.provider,
        "version": found.version,
        "controllers": len(found.controllers),
        "healthyControllers": sum(item.healthy for item in found.controllers),
        "nodes": len(found.nodes),
        "healthyNodes": sum(item.healthy for item in found.nodes),
    }


def _volume(client: nomad.Nomad, given: Mapping[str, Any]) -> volumes.Volume:
    found = volumes.get(client, given["namespace"], given["volumeId"])
    if found is None:
        raise errors.RefusedError(f"Nomad has no CSI volume {given['namespace']}/{given['volumeId']}")
    return found


def _read_claim(client: nomad.Nomad, given: Mapping[str, Any]) -> Mapping[str, Any]:
    blocks: Mapping[str, Any] = _camel_case(
        snippet.make_snippet([_volume(client, given).registration()], given["volumeId"]).blocks()
    )
    return blocks


def _camel_case(value: Any) -> Any:
    """Return *value* with the names of the schema."""
    is_block = isinstance(value, Mapping)
    return {util.camel_case(name): _camel_case(item) for name, item in value.items()} if is_block else value


def _read_volume(client: nomad.Nomad, given: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _volume(client, given)
    return {
        "pluginId": found.plugin_id,
        "externalId": found.external_id,
        "schedulable": found.schedulable,
        "capacityBytes": found.capacity_bytes,
        "claimedBy": sorted(claim.alloc_id for claim in found.claims),
    }


_OF_VOLUME = {
    "volumeId": properties.text("Nomad's id of the volume.", required=True),
    "namespace": properties.namespace("Nomad namespace of the volume; `default` when omitted.", replaces=False),
}

QUERIES: Mapping[str, Query] = {
    "nomad-csi:index:getClaim": Query(
        description="Return how a job uses a registered CSI volume: the blocks of the job, as data.",
        inputs=_OF_VOLUME,
        outputs={
            "namespace": properties.text("Namespace of the volume; the job must be in the same."),
            "name": properties.text("Name of the `volume` block."),
            "volume": properties.Property(
                kind="record", type_name="VolumeBlock", description="The `volume` block of the job's group."
            ),
            "volumeMount": properties.Property(
                kind="record",
                type_name="VolumeMount",
                description="The `volume_mount` block of each task that uses the volume.",
            ),
        },
        read=_read_claim,
    ),
    "nomad-csi:index:getPlugin": Query(
        description="Read a CSI plugin, as Nomad has it now.",
        inputs={"pluginId": properties.plugin_id("Id of the CSI plugin.")},
        outputs={
            "provider": properties.text("Name that the plugin reported; empty until an instance was healthy."),
            "version": properties.text("Version that the plugin reported."),
            "controllers": properties.number("Controller instances."),
            "healthyControllers": properties.number("Controller instances that are healthy by Nomad's status."),
            "nodes": properties.number("Node instances."),
            "healthyNodes": properties.number("Node instances that are healthy by Nomad's status."),
        },
        read=_read_plugin,
    ),
    "nomad-csi:index:getVolume": Query(
        description="Read a registered CSI volume, as Nomad has it now. Secrets and mount flags are not shown.",
        inputs=_OF_VOLUME,
        outputs={
            "pluginId": properties.text("The plugin that serves it."),
            "externalId": properties.text("The id that the plugin knows the storage by."),
            "schedulable": properties.flag("Whether enough plugin instances are healthy by Nomad's status."),
            "capacityBytes": properties.number("Size that the plugin reported; 0 for a volume that it did not create."),
            "claimedBy": properties.texts("Ids of the allocations that claim it."),
        },
        read=_read_volume,
    ),
}
"""By token."""
