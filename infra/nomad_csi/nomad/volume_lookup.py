"""Volumes by namespace and id, however many: one list for each namespace, then every one that is there."""

import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from nomad_csi.nomad import volumes
from nomad_csi.nomad.http import request
from nomad_csi.plan import registration
from nomad_csi.text import listing

Key = tuple[str, str]
"""Namespace and volume id."""


FEW = 200
"""Volumes of a namespace up to which none is listed: a list holds all that are there, and costs as much for each."""


SHOWN = 20
"""Volumes of a set that a sentence names."""

_INDEX = re.compile(r"[0-9]+\]")
"""What follows the bracket in the id of a volume of a set."""


def key_of(document: registration.VolumeRegistration) -> Key:
    """Return namespace and id of *document*."""
    return document.namespace, document.volume_id


def found(client: request.Nomad, keys: Iterable[Key]) -> Iterator[tuple[Key, volumes.Volume | None]]:
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


def listed(client: request.Nomad, namespaces: Iterable[str]) -> frozenset[Key]:
    """
    Return the volumes of *namespaces*, by a list of each, which shows and erases no secret.

    Raises `errors.NomadApiError` where Nomad does not answer, or may not tell.
    """
    return frozenset(
        (item.namespace, item.volume_id)
        for namespace in sorted(set(namespaces))
        for item in volumes.list_volumes(client, namespace)
    )


def members(client: request.Nomad, namespace: str, volume_id: str) -> str:
    """
    Return which volumes are registered of the set *volume_id*, as the end of a sentence; empty where it is no set.

    For a volume that is not registered. A set is never taken for its id: that of a volume which is gone may be the id
    of a set by now. Raises `errors.NomadApiError` where Nomad does not answer, or may not tell.
    """
    prefix = f"{volume_id}["
    there = [item.volume_id.removeprefix(prefix) for item in volumes.list_volumes(client, namespace, prefix=prefix)]
    indexes = sorted(int(rest[:-1]) for rest in there if _INDEX.fullmatch(rest))
    names = [shlex.quote(f"{namespace}/{prefix}{index}]") for index in indexes]
    return f"{volume_id} is a set: name each of its volumes: {listing.shortened(names, SHOWN)}" if names else ""


def _there(client: request.Nomad, namespace: str, ids: Sequence[str]) -> frozenset[str]:
    """Return those of *ids* that may be there: of few, all."""
    if len(ids) <= FEW:
        return frozenset(ids)
    return frozenset(item.volume_id for item in volumes.list_volumes(client, namespace))
