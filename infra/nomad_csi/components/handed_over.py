"""
In a preview: a refusal of storage that the program hands to another component, and deletes in the same run.

The engine asks no provider about a removal in a preview. But the state has the resource that made the storage, and the
program the one that registers it now.
"""

from collections.abc import Mapping
from typing import Any

import pulumi

from nomad_csi.components import identity, program, resources
from nomad_csi.pulumi_state import urns
from nomad_csi.spec import names
from nomad_csi.volumes import desired, registration_change, volume_properties


def refuse_in_preview(registration: resources.VolumeRegistration, storage: Mapping[str, pulumi.Input[Any]]) -> None:
    """
    Let a preview fail where `up` would be refused: *registration* needs what another resource deletes.

    *storage* is what the program knows of its storage.
    """
    if not pulumi.runtime.is_dry_run():
        return
    news: dict[str, Any] = {
        "namespace": registration.namespace,
        "volumeId": registration.volume_id,
        "externalId": registration.external_id,
        "storage": storage,
    }
    pulumi.Output.all(registration.urn, identity.state(), news).apply(lambda known: _refuse(*known))


def _refuse(urn: str, state: Mapping[str, Mapping[str, Any]], news: Mapping[str, Any]) -> None:
    volume = _volume(news)
    storage = registration_change.planned_storage(volume)
    for other, recorded in state.items():
        if other == urn or urns.read(other).type != names.VOLUME_REGISTRATION_TYPE:
            continue
        before = _volume(recorded)
        left = registration_change.left_storage(before, volume) if before.key == volume.key else None
        if left is not None and left.contains(storage):
            from nomad_csi.volumes import hold  # noqa: PLC0415  # it loads the client of Nomad

            found = hold.StorageDependents(storage=hold.shown(left), keys=(volume.key,), own=volume.key)
            raise program.ProgramError(str(found.refusal(f"volume {volume.document.key} is not removed")))


def _volume(values: Mapping[str, Any]) -> desired.DesiredVolume:
    """Return the volume with its id and its storage alone: other properties may be encrypted in a state."""
    known = {name: values[name] for name in ("namespace", "volumeId", "externalId", "storage") if name in values}
    return desired.of_properties(volume_properties.REGISTRATION, known)
