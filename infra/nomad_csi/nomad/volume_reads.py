"""
Volumes out of a list, read one by one: the list shows more than a token may read.

Nomad's list over all namespaces is open to a token with a right in one of them, and names the volumes of all; the read
of a volume wants ``csi-read-volume`` in its own. Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``CSIVolume.List``
filters by no rights, ``Get`` asks for them), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-08.
"""

import itertools
from collections.abc import Iterable
from http import HTTPStatus

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.nomad.http import request
from nomad_csi.nomad.records import volume_reads as records

SHOWN = records.SHOWN
Unread = records.Unread
Read = records.Read


def read(nomad: request.Nomad, keys: Iterable[tuple[str, str]]) -> Read:
    """
    Return the volumes of *keys*, namespace and id, by namespace and id.

    Raises `errors.NomadApiError` where Nomad does not answer; a namespace that the token may not read is no error.
    """
    found: list[volumes.Volume] = []
    unread: list[Unread] = []
    for namespace, group in itertools.groupby(sorted(set(keys)), key=lambda key: key[0]):
        ids = tuple(volume_id for _, volume_id in group)
        try:
            found += [volume for volume in volumes.get_many(nomad, namespace, ids) if volume is not None]
        except errors.NomadApiError as error:
            if error.status != HTTPStatus.FORBIDDEN:
                raise
            unread.append(Unread(namespace=namespace, volume_ids=ids, reason=str(error)))
    return Read(volumes=tuple(found), unread=tuple(unread))
