"""Functions of the package, for programs in any language: a plugin and a volume, as Nomad has them now."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.frame import properties
from nomad_csi.nomad import plugins, volumes
from nomad_csi.plan import snippet
from nomad_csi.provider import wire
from nomad_csi.spec import base


@dataclass(frozen=True, kw_only=True)
class Query:
    """A function that reads, and changes nothing."""

    description: str
    inputs: type[properties.Properties]
    outputs: type[properties.Properties]
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
    made = snippet.make_snippet([_volume(client, given).registration()], given["volumeId"])
    return dict(wire.camel_case(made.blocks()))


def _read_volume(client: nomad.Nomad, given: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _volume(client, given)
    return {
        "pluginId": found.plugin_id,
        "externalId": found.external_id,
        "schedulable": found.schedulable,
        "capacityBytes": found.capacity_bytes,
        "claimedBy": sorted(claim.alloc_id for claim in found.claims),
    }


class OfPlugin(properties.Properties):
    """Inputs of `getPlugin`."""

    plugin_id: base.PluginId
    """Id of the CSI plugin."""


class PluginAnswer(properties.Properties):
    """Outputs of `getPlugin`."""

    provider: str
    """Name that the plugin reported; empty until an instance was healthy."""

    version: str
    """Version that the plugin reported."""

    controllers: int
    """Controller instances."""

    healthy_controllers: int
    """Controller instances that are healthy by Nomad's status."""

    nodes: int
    """Node instances."""

    healthy_nodes: int
    """Node instances that are healthy by Nomad's status."""


class OfVolume(properties.Properties):
    """Inputs of `getVolume` and of `getClaim`."""

    volume_id: base.Word
    """Nomad's id of the volume."""

    namespace: base.Namespace = "default"
    """Nomad namespace of the volume; `default` when omitted."""


class VolumeAnswer(properties.Properties):
    """Outputs of `getVolume`."""

    plugin_id: str
    """The plugin that serves it."""

    external_id: str
    """The id that the plugin knows the storage by."""

    schedulable: bool
    """Whether enough plugin instances are healthy by Nomad's status."""

    capacity_bytes: int
    """Size that the plugin reported; 0 for a volume that it did not create."""

    claimed_by: list[str]
    """Ids of the allocations that claim it."""


class VolumeBlockOfComponent(properties.Properties, title="VolumeBlock"):
    """The type of a component."""


class VolumeMountOfComponent(properties.Properties, title="VolumeMount"):
    """The type of a component."""


class ClaimAnswer(properties.Properties):
    """Outputs of `getClaim`."""

    namespace: str
    """Namespace of the volume; the job must be in the same."""

    name: str
    """Name of the `volume` block."""

    volume: VolumeBlockOfComponent
    """The `volume` block of the job's group."""

    volume_mount: VolumeMountOfComponent
    """The `volume_mount` block of each task that uses the volume."""


QUERIES: Mapping[str, Query] = {
    "nomad-csi:index:getClaim": Query(
        description="Return how a job uses a registered CSI volume: the blocks of the job, as data.",
        inputs=OfVolume,
        outputs=ClaimAnswer,
        read=_read_claim,
    ),
    "nomad-csi:index:getPlugin": Query(
        description="Read a CSI plugin, as Nomad has it now.", inputs=OfPlugin, outputs=PluginAnswer, read=_read_plugin
    ),
    "nomad-csi:index:getVolume": Query(
        description="Read a registered CSI volume, as Nomad has it now. Secrets and mount flags are not shown.",
        inputs=OfVolume,
        outputs=VolumeAnswer,
        read=_read_volume,
    ),
}
"""By token."""
