"""What Nomad holds of many volumes: one list for each namespace, then every one that is there, by a few connections."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nomad_csi import nomad
from nomad_csi.compare import difference, volume
from nomad_csi.nomad import volumes
from nomad_csi.plan import registration

Key = tuple[str, str]
"""Namespace and volume id."""

FEW = 200
"""Volumes of a namespace up to which none is listed: a list holds all that are there, and costs as much for each."""


def key_of(document: registration.VolumeRegistration) -> Key:
    """Return namespace and id of *document*."""
    return document.namespace, document.volume_id


def found(client: nomad.Nomad, keys: Iterable[Key]) -> Iterator[tuple[Key, volumes.Volume | None]]:
    """
    Yield what Nomad holds under each of *keys*, namespace by namespace.

    The list shows identity and places, not capabilities, mount options, context and parameters: those need a read each.
    Raises `errors.NomadApiError` where Nomad does not answer, or may not tell.
    """
    for namespace, group in itertools.groupby(sorted(set(keys)), key=lambda key: key[0]):
        ids = [volume_id for _, volume_id in group]
        there = _there(client, namespace, ids)
        yield from (((namespace, volume_id), None) for volume_id in ids if volume_id not in there)
        present = [volume_id for volume_id in ids if volume_id in there]
        for volume_id, held in zip(present, volumes.get_many(client, namespace, present), strict=True):
            yield (namespace, volume_id), held


def comparisons(
    client: nomad.Nomad, documents: Mapping[Key, registration.VolumeRegistration], made_by_plugin: frozenset[Key]
) -> Iterator[tuple[Key, registration.VolumeRegistration, difference.Comparison]]:
    """
    Yield each of *documents* as it is to be sent, compared with Nomad's record.

    Those of *made_by_plugin* were made through Nomad. What Nomad holds is not kept: of ten thousand volumes it is much.
    """
    for key, held in found(client, documents):
        compared = volume.compare_volume(documents[key], held, made_by_plugin=key in made_by_plugin)
        yield key, volume.as_sent(documents[key], held), compared


def _there(client: nomad.Nomad, namespace: str, ids: Sequence[str]) -> frozenset[str]:
    """Return those of *ids* that may be there: of few, all."""
    if len(ids) <= FEW:
        return frozenset(ids)
    return frozenset(item.volume_id for item in volumes.list_volumes(client, namespace))
