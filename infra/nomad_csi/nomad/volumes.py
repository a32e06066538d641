"""
CSI volumes: register, read, list, deregister. There is no *delete* here, and never will be.

Source: hashicorp/nomad, ``api/csi.go`` (``CSIVolume``) and ``command/agent/csi_endpoint.go``, 2026-08-21.
"""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nomad_csi import errors
from nomad_csi.nomad import volume_replies
from nomad_csi.nomad.http import replies, request
from nomad_csi.nomad.records import volumes as records
from nomad_csi.plan import registration, volume_forms

REGISTER_TIMEOUT_S = 150.0
"""Longer than the two minutes that Nomad gives a controller, so that Nomad's own answer arrives."""

ABSENT = "volume not found"

Claim = records.Claim
ListedVolume = records.ListedVolume
Volume = records.Volume


def payload(document: registration.VolumeRegistration) -> dict[str, Any]:
    """
    Return the ``CSIVolume`` object of *document*.

    Always with ``MountOptions``: without it, a volume in use cannot be registered again even if it never had any.
    Without the fields that the server manages: it would store them, and could neither show nor drop the volume again.
    """
    return {"MountOptions": {}} | volume_forms.write(document, "api")


def register(
    nomad: request.Nomad,
    registrations: Sequence[registration.VolumeRegistration],
    *,
    timeout_s: float = REGISTER_TIMEOUT_S,
) -> tuple[str, ...]:
    """
    Register or update volumes, one request for each namespace; return Nomad's warnings.

    Each request is atomic: one bad volume, and none of that namespace is stored; Nomad's sentence seldom says which.
    A plugin with a controller validates one volume after the other (about 50 ms each): send it 25 at a time, and
    others 1000 (above 1 MiB Nomad complains). Secrets that are left out are erased.
    After an ``ambiguous`` `errors.NomadApiError` the volumes may still appear: the server does not stop.
    """
    by_namespace = itertools.groupby(sorted(registrations, key=_namespace), key=_namespace)
    return tuple(
        warning for namespace, group in by_namespace for warning in _register(nomad, namespace, tuple(group), timeout_s)
    )


def path_of(volume_id: str) -> str:
    """Return the path of one volume's record."""
    return request.path_of("volume", "csi", volume_id)


def get(nomad: request.Nomad, namespace: str, volume_id: str) -> Volume | None:
    """Return the volume; ``None`` where there is none."""
    path = path_of(volume_id)
    item = replies.one(nomad, path, absent=ABSENT, query={"namespace": namespace})
    return None if item is None else volume_replies.volume(item)


def get_many(nomad: request.Nomad, namespace: str, volume_ids: Iterable[str]) -> Iterator[Volume | None]:
    """Yield what `get` returns for each of *volume_ids*, in order."""
    return request.read_many(functools.partial(get, nomad, namespace, volume_id) for volume_id in volume_ids)


def list_volumes(nomad: request.Nomad, namespace: str, *, prefix: str = "") -> tuple[ListedVolume, ...]:
    """
    Return the CSI volumes of *namespace* whose ids begin with *prefix*; ``*`` means all that the token may see.

    Not by plugin: together with ``*``, Nomad answers that question with an empty list.
    """
    query = {"type": "csi", "namespace": namespace} | ({"prefix": prefix} if prefix else {})
    return tuple(volume_replies.listed(item) for item in replies.many(nomad, request.path_of("volumes"), query=query))


def deregister(nomad: request.Nomad, namespace: str, volume_id: str) -> None:
    """
    Make Nomad forget the volume; its storage is not touched. A volume that is not there is no error.

    Never forced: a claimed volume raises `errors.NomadApiError` ("volume in use").
    """
    path = path_of(volume_id)
    try:
        nomad.request("DELETE", path, query={"namespace": namespace})
    except errors.NomadApiError as error:
        if f"volume not found: {volume_id}" not in error.message:
            raise


def _register(
    nomad: request.Nomad, namespace: str, group: tuple[registration.VolumeRegistration, ...], timeout_s: float
) -> Iterator[str]:
    """Send one group. A single volume goes by its own path, so that an error names it; Nomad reads the body only."""
    path = path_of(group[0].volume_id) if len(group) == 1 else request.path_of("volumes")
    body = {"Volumes": [payload(document) for document in group]}
    secrets = [secret for document in group for secret in document.secrets.values()]
    reply = nomad.request("PUT", path, query={"namespace": namespace}, body=body, timeout_s=timeout_s, secrets=secrets)
    # Nomad before 1.10.5 answers with an empty body.
    if reply.data is not None and (warnings := replies.text(replies.checked(reply), "Warnings")):
        yield warnings


def _namespace(document: registration.VolumeRegistration) -> str:
    return document.namespace
