"""What an operator is told of a volume that a plugin makes, before it changes and when it is checked. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi.nomad import volumes
from nomad_csi.resources.created import created_changes, created_deletion, created_properties
from nomad_csi.resources.frame import resource


def of_replacement(identity: str, recorded: Mapping[str, Any], news: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a replacement entails: where the data stays, and what the new volume has."""
    storage = recorded.get("externalId", "its storage")
    yield f"deregisters {identity} first; refused while it is claimed"
    if created_deletion.is_wanted(recorded):
        yield f"deletes its storage {storage} then, with all data, as on_destroy says; the new volume has none of it"
        return
    yield f"its storage {storage} stays, with its data, in no volume any more (`existing: {{external_id: {storage}}}`)"
    source = next((f"{name} {news[name]}" for name in created_properties.SOURCES if news.get(name)), "")
    yield f"the plugin makes new storage for it, {f'from {source}' if source else 'which is empty'}"


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
            f"volume {identity} stands for {volume.external_id} now, not for {recorded} as recorded: it was "
            f"registered anew, and {recorded} may still be there"
        )


def of_another(made: Mapping[str, Any], recorded: Mapping[str, Any]) -> str:
    """Return that the plugin did not find the storage *recorded* again; empty where it did."""
    now = made["externalId"]
    before = recorded.get(created_properties.MADE, now)
    return "" if now == before else f"the plugin made {now} in place of {before}, which may be left"
