"""What an operator is told of a volume that a plugin makes, before it changes and when it is looked at. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi.deploy import created_changes, created_deletion, created_properties, paths, resource
from nomad_csi.nomad import volumes

_SHAPE = frozenset({"requiredTopologies", "preferredTopologies", "parameters", *created_properties.SOURCES})
"""Properties that the storage was made by."""


def of_replacement(
    identity: str, recorded: Mapping[str, Any], found: resource.Difference, news: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what a replacement entails, and why the name counts in it."""
    changed = {paths.top(path) for path in found.replaces}
    storage = recorded.get("externalId", "its storage")
    yield f"deregisters {identity} first; refused while it is claimed"
    if created_deletion.is_wanted(recorded):
        yield f"deletes its storage {storage} then, with all data, as on_destroy says; the new volume has none of it"
        return
    yield f"its storage {storage} stays, with its data"
    if changed & {"name", "pluginId"}:
        yield "the new volume is empty, unless the plugin has storage of that name already"
    elif changed & _SHAPE:
        fixed = ", ".join(sorted(changed & _SHAPE))
        yield (
            f"{fixed} cannot change in storage that is there, and the plugin finds that by the name "
            f"{news['name']}: write another name as well, or it refuses, or hands out the old storage"
        )
    else:
        yield f"the plugin finds it again by the name {news['name']}"


def of_size(old_outputs: Mapping[str, Any], news: Mapping[str, Any]) -> Iterator[str]:
    """Yield why the size that is wanted will be refused."""
    why = created_changes.refusal_of_shrinking(old_outputs.get("capacityBytes", 0), news)
    if why:
        yield f"will be refused: {why}"


def of_volume(
    identity: str, volume: volumes.Volume, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what *volume*, as Nomad holds it, is unlike what is recorded of it, and what Nomad does not show."""
    if volume.has_mount_flags and not inputs:
        yield (
            f"Nomad does not show the mount flags of {identity}, nor whether it has secrets: "
            "write them into the program, or the next update drops them"
        )
    recorded = outputs.get("externalId", volume.external_id)
    if recorded not in (volume.external_id, resource.UNKNOWN):
        yield (
            f"volume {identity} stands for {volume.external_id} now, not for {recorded} as recorded: somebody "
            f"registered it anew, and {recorded} may still be there"
        )


def of_another(made: volumes.Volume, recorded: Mapping[str, Any]) -> str:
    """Return that the plugin did not find the storage *recorded* again; empty where it did."""
    before = recorded.get(created_properties.MADE, made.external_id)
    return (
        ""
        if made.external_id == before
        else f"the plugin made {made.external_id} in place of {before}, which may be left"
    )
