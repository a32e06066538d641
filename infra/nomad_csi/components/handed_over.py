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
from nomad_csi.volumes import registration_change


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
    storage = registration_change.planned_storage(news)
    for other, recorded in state.items():
        if other == urn or urns.read(other).type != names.VOLUME_REGISTRATION_TYPE:
            continue
        is_same_id = all(recorded.get(name) == news[name] for name in ("namespace", "volumeId"))
        left = registration_change.left_storage(recorded, news) if is_same_id else None
        if left is not None and left.contains(storage):
            from nomad_csi.volumes import hold  # noqa: PLC0415  # it loads the client of Nomad

            key = news["namespace"], news["volumeId"]
            found = hold.StorageDependents(storage=hold.shown(left), keys=(key,), own=key)
            raise program.ProgramError(str(found.refusal(f"volume {'/'.join(key)} is not removed")))
