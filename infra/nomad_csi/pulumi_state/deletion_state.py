"""
Read from a stack's state what storage it had plugins create.

The state is the output of ``pulumi stack export``: ``deployment.resources``, each with its type and outputs. A volume
that a `CreatedVolume` took over, because it was registered already, does not count as created (`madeStorage`). Source:
pulumi/pulumi, ``sdk/go/common/apitype/core.go`` (``DeploymentV3``, ``ResourceV3``), 2026-08.
"""

import json
from collections.abc import Mapping

from nomad_csi import errors
from nomad_csi.volumes import volume_properties
from nomad_csi.volumes.deletion_proof import MadeStorage


def created_storage(text: str, source: str) -> dict[str, MadeStorage]:
    """
    Return the storage that plugins created according to the state in *text*, by ``namespace/volume_id``.

    Raises `errors.SpecError` if *text* is not a state.
    """
    try:
        resources = json.loads(text)["deployment"]["resources"]
    except (ValueError, LookupError, TypeError):
        resources = None
    if not isinstance(resources, list):
        problem = errors.Problem(path="", got="something else", allowed="the JSON of `pulumi stack export`")
        raise errors.SpecError((problem,), source)
    by_key = {}
    for item in resources:
        if not isinstance(item, Mapping) or item.get("type") != volume_properties.CREATED.token:
            continue
        outputs = item.get("outputs") or {}
        external_id, cluster = outputs.get(volume_properties.MADE), outputs.get("cluster")
        if isinstance(external_id, str):
            key = f"{outputs.get('namespace', '')}/{outputs.get('volumeId', '')}"
            by_key[key] = MadeStorage(external_id=external_id, cluster=cluster if isinstance(cluster, str) else "")
    return by_key


def merge(known: Mapping[str, MadeStorage], further: Mapping[str, MadeStorage], source: str) -> dict[str, MadeStorage]:
    """
    Return *known* with *further*, the storage of a further state, of the file *source*.

    An older state has no clusters: it takes none away. Raises `errors.SpecError` for a volume of which two states name
    other storage, or another cluster.
    """
    merged, problems = dict(known), []
    for key, item in further.items():
        before = known.get(key, item)
        clusters = {before.cluster, item.cluster} - {""}
        if before.external_id != item.external_id or len(clusters) > 1:
            got = f"{item.external_id} {item.cluster}".strip()
            allowed = f"{before.external_id} {before.cluster}".strip() + ", as in a state given before"
            problems.append(errors.Problem(path=key, got=got, allowed=allowed, fix="give only the state that has it"))
        merged[key] = MadeStorage(external_id=item.external_id, cluster=next(iter(clusters), ""))
    if problems:
        raise errors.SpecError(tuple(problems), source)
    return merged
