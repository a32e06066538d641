"""
The note of a repair under way, in a Nomad variable: what it deregistered and did not register again is known by that.

It is written before the deregistration and removed after the registration. It holds no secret: only what tells whether
a registration is that of the volume.
"""

import hashlib
from dataclasses import dataclass
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.nomad import variables

FOLDER = "nomad-csi/repairs"
"""Variables below it, in the volume's namespace; the rights are those of owner records, on ``nomad-csi/*``."""


@dataclass(frozen=True, kw_only=True)
class RepairNote:
    """Which registration a repair took out of Nomad."""

    external_id: str
    plugin_id: str
    begun: str
    """When, in UTC: ``2026-11-22 08:11``."""


def path_of(volume_id: str) -> str:
    """Return the path of the note on *volume_id*: a variable's path has not all characters of an id."""
    return f"{FOLDER}/{hashlib.sha256(volume_id.encode()).hexdigest()[:32]}"


def read(client: nomad.Nomad, namespace: str, volume_id: str) -> RepairNote | None:
    """Return the note on a volume; ``None`` where there is none, and where the token may not read it."""
    try:
        found = variables.get(client, namespace, path_of(volume_id))
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return None
    if found is None:
        return None
    return RepairNote(**{name: found.items.get(name, "") for name in ("external_id", "plugin_id", "begun")})


def write(client: nomad.Nomad, namespace: str, volume_id: str, note: RepairNote) -> bool:
    """
    Write *note*, over one that a repair left; false where the token may not.

    Raises `errors.RefusedError` where another repair writes at the same moment, `errors.NomadApiError`.
    """
    path = path_of(volume_id)
    items = {"volume_id": volume_id, "external_id": note.external_id, "plugin_id": note.plugin_id, "begun": note.begun}
    try:
        left = variables.get(client, namespace, path)
        is_written = variables.put(client, namespace, path, items, index=left.modify_index if left else variables.NEW)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return False
    if not is_written:
        raise errors.RefusedError(f"another repair of volume {namespace}/{volume_id} has begun; nothing was changed")
    return True


def remove(client: nomad.Nomad, namespace: str, volume_id: str) -> None:
    """Remove the note, if there is one that the token may remove. Raises `errors.NomadApiError` where it stays."""
    path = path_of(volume_id)
    try:
        left = variables.get(client, namespace, path)
        if left is not None:
            variables.delete(client, namespace, path, index=left.modify_index)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
