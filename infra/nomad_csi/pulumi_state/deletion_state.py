"""
What a stack had plugins make, out of its state.

The state is what ``pulumi stack export`` prints: ``deployment.resources``, each with its type and outputs. A volume
that a `CreatedVolume` took over, because it was registered already, is not one that it made (`madeStorage`).
Source: pulumi/pulumi, ``sdk/go/common/apitype/core.go`` (``DeploymentV3``, ``ResourceV3``), 2026-08.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nomad_csi import errors
from nomad_csi.resources.created import created_properties


def made(document: object, source: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """
    Return what the external ids of the volumes in *document* are by ``namespace/volume_id``, and their clusters.

    The second has those of which that is recorded. Raises `errors.SpecError` for something that is no state.
    """
    found = dict(_made(_resources(document, source)))
    clusters = {key: outputs.get("cluster") for key, outputs in found.items()}
    return (
        {key: outputs[created_properties.MADE] for key, outputs in found.items()},
        {key: cluster for key, cluster in clusters.items() if isinstance(cluster, str) and cluster},
    )


def _resources(document: object, source: str) -> list[Any]:
    deployment = document.get("deployment") if isinstance(document, Mapping) else None
    resources = deployment.get("resources") if isinstance(deployment, Mapping) else None
    if not isinstance(resources, list):
        problem = errors.Problem(path="", got="something else", allowed="the JSON of `pulumi stack export`")
        raise errors.SpecError((problem,), source)
    return resources


def _made(resources: list[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the key and the outputs of each volume that was made."""
    for item in resources:
        if not isinstance(item, Mapping) or item.get("type") != created_properties.DECLARED.token:
            continue
        outputs = item.get("outputs") or {}
        key = f"{outputs.get('namespace', '')}/{outputs.get('volumeId', '')}"
        if isinstance(outputs.get(created_properties.MADE), str):
            yield key, outputs
