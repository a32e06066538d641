"""
What must hold before the data of a volume may be deleted. Call `refuse_unless_free`; it raises, or it returns.

Whoever has storage deleted, by a plugin or by a cloud, calls `deletion_guards.refuse_unless_free` right before: it
refuses without the user's word, while Nomad holds the storage under whatever id in whatever namespace, and while EC2
has it on an instance. A whole deletion, with its deregistration, its proof and its final snapshot, is
`deletion.delete`.
"""

import time
from collections.abc import Iterable

from nomad_csi import errors, nomad
from nomad_csi.aws import attachments
from nomad_csi.nomad import volumes
from nomad_csi.plan import shared_storage

EVERYWHERE = "*"

FRESH_S = 1.0
"""
How old the last answer of Nomad may be when the storage is ordered to go. Shorter than it takes to place an allocation,
attach an EBS volume, mount it, write, unmount and detach it again: only that would escape both Nomad's answer and EC2.
"""

LAST_LOOKS = 3
"""Times that Nomad is asked for an answer as fresh as that."""


def refuse_unless_free(client: nomad.Nomad, external_id: str, *, word: str, aws_region: str = "") -> None:
    """
    Raise `errors.RefusedError` where the storage *external_id* must not be deleted.

    Args:
        client: the cluster. A token that may list the volumes of one namespace is shown those of all.
        external_id: the storage provider's id of the volume.
        word: what the user typed, or gave with ``--yes-delete-data``: the external id once more.
        aws_region: where EC2 is asked whether an EBS volume is attached; empty: it is not.

    Raises:
        errors.RefusedError: no word, registered in Nomad, or attached.
        errors.NomadApiError: Nomad could not be asked. Nothing may be deleted then.
        errors.AwsError: EC2 could not be asked. Nothing may be deleted then.

    """
    refuse_without_word(external_id, (word,))
    refuse_registered(client, external_id)
    if aws_region:
        refuse_attached(external_id, aws_region)


def refuse_without_word(subject: str, words: Iterable[str]) -> None:
    """Raise `errors.RefusedError` unless *subject* is among *words*, letter by letter."""
    if subject not in set(words):
        raise errors.RefusedError(
            f"deletion of the data of {subject} was not confirmed; nothing was deleted: confirm with --yes-delete-data "
            f"{subject}, or type it at a terminal"
        )


def refuse_registered(client: nomad.Nomad, external_id: str, *, apart_from: tuple[str, str] | None = None) -> None:
    """Raise `errors.RefusedError` while Nomad holds *external_id* as another volume than *apart_from*."""
    held = [key for key in registered_as(client, external_id) if key != apart_from]
    if held:
        named = ", ".join("/".join(key) for key in held)
        raise errors.RefusedError(
            f"{external_id} is registered as {named}; nothing was deleted: deregister that first, if it is not needed"
        )


def refuse_registered_now(client: nomad.Nomad, external_id: str) -> None:
    """Raise `errors.RefusedError` while Nomad holds *external_id*, or where its answer takes longer than `FRESH_S`."""
    for _ in range(LAST_LOOKS):
        began = time.monotonic()
        refuse_registered(client, external_id)
        if time.monotonic() - began <= FRESH_S:
            return
    raise errors.RefusedError(f"Nomad takes more than {FRESH_S:g} s to list what is registered")


def registered_as(client: nomad.Nomad, external_id: str) -> tuple[tuple[str, str], ...]:
    """
    Return namespace and id of every volume that Nomad holds with this storage, whatever its plugin.

    Nomad shows the volumes of all namespaces to whoever may list those of one, and refuses others. Source:
    hashicorp/nomad, ``nomad/csi_endpoint.go`` (``CSIVolume.List``), 2026-08-21.
    """
    listed = volumes.list_volumes(client, EVERYWHERE)
    return tuple(
        (item.namespace, item.volume_id) for item in listed if shared_storage.is_same(item.external_id, external_id)
    )


def refuse_attached(external_id: str, aws_region: str) -> None:
    """Raise `errors.RefusedError` while EC2 has the EBS volume on an instance. Other storage is not asked for."""
    seen = attachments.look((external_id,), aws_region).volumes.get(external_id)
    if seen is not None and seen.attachments:
        raise errors.RefusedError(f"{seen}; nothing was deleted: see that nothing there has it mounted, and detach it")
