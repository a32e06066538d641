"""
Volumes out of a list, read one by one: the list shows more than a token may read.

Nomad's list over all namespaces is open to a token with a right in one of them, and names the volumes of all; the read
of a volume wants ``csi-read-volume`` in its own. Source: hashicorp/nomad, ``nomad/csi_endpoint.go`` (``CSIVolume.List``
filters by no rights, ``Get`` asks for them), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-08.
"""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from http import HTTPStatus

from nomad_csi import errors
from nomad_csi.nomad import request, volume_records, volumes

SHOWN = 5
"""Volumes that a sentence names."""


@dataclass(frozen=True, kw_only=True)
class Unread:
    """Volumes of one namespace that the token may not read."""

    namespace: str
    volume_ids: tuple[str, ...]
    reason: str
    """Nomad's answer, and the capability that lacks."""

    @property
    def what(self) -> str:
        """Return which they are: ``2 volumes of namespace secret (a, b)``."""
        count = len(self.volume_ids)
        more = f" and {count - SHOWN} more" if count > SHOWN else ""
        named = f"{', '.join(self.volume_ids[:SHOWN])}{more}"
        return f"{count} {'volume' if count == 1 else 'volumes'} of namespace {self.namespace} ({named})"

    def __str__(self) -> str:
        """Return which they are, and why they were not read."""
        return f"{self.what}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Read:
    """What was read, and what was not."""

    volumes: tuple[volume_records.Volume, ...] = ()
    """Without those that went away between the list and the look."""

    unread: tuple[Unread, ...] = ()


def read(nomad: request.Nomad, keys: Iterable[tuple[str, str]]) -> Read:
    """
    Return the volumes of *keys*, namespace and id, by namespace and id.

    Raises `errors.NomadApiError` where Nomad does not answer; a namespace that the token may not read is no error.
    """
    found: list[volume_records.Volume] = []
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
