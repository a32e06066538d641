"""What is refused while it holds: storage without a confirmation, registered in Nomad, or attached to an instance."""

import time
from collections.abc import Iterable

from nomad_csi import errors, nomad
from nomad_csi.drivers import storage_identity
from nomad_csi.nomad import volumes

FRESH_S = 1.0
"""
Maximum age of Nomad's last response when the deletion of the storage is requested. Shorter than it takes to place an
allocation, attach an EBS volume, mount it, write, unmount and detach it again: only that would escape both Nomad's
response and EC2.
"""

LAST_LOOKS = 3
"""How often Nomad is queried for a response as fresh as that."""


def refuse_unconfirmed(subject: str, confirmation: str) -> None:
    """Raise `errors.RefusedError` unless *confirmation* is exactly *subject*: data is never deleted by mistake."""
    if confirmation != subject:
        raise errors.RefusedError(
            f"deletion of the data of {subject} was not confirmed; nothing was deleted: confirm it with --confirm "
            f"{subject}, or type it at a terminal"
        )


def refuse_set(client: nomad.Nomad, namespace: str, volume_id: str) -> None:
    """Raise `errors.RefusedError` if this id is not that of a volume, but of a set."""
    members = volumes.members(client, namespace, volume_id)
    if members and volumes.get(client, namespace, volume_id) is None:
        raise errors.RefusedError(f"{members}; nothing was changed")


def refuse_registered(client: nomad.Nomad, external_id: str) -> None:
    """Raise `errors.RefusedError` while *external_id* is registered as any volume."""
    if held := registered_as(client, external_id):
        raise registered_refusal(external_id, held)


def registered_refusal(external_id: str, held: Iterable[tuple[str, str]]) -> errors.RefusedError:
    """Return the refusal to delete storage that is registered as *held*, namespace and id of each."""
    named = ", ".join("/".join(key) for key in held)
    return errors.RefusedError(
        f"{external_id} is registered as {named}; nothing was deleted: deregister that first, if it is not needed"
    )


def registered_as(client: nomad.Nomad, external_id: str) -> tuple[tuple[str, str], ...]:
    """
    Return namespace and id of every volume that is registered with this storage or a part of it, whatever its plugin.

    In all namespaces: a token that may list the volumes of one is shown those of all. Raises `errors.NomadApiError`.
    """
    identity = storage_identity.identify(external_id)
    listed = volumes.list_volumes(client, "*")
    return tuple(
        (item.namespace, item.volume_id)
        for item in listed
        if identity.contains(storage_identity.identify(item.external_id))
    )


def refuse_attached(external_id: str, aws_region: str) -> None:
    """Raise `errors.RefusedError` while EC2 has the EBS volume on an instance. Other storage is not checked."""
    from nomad_csi.aws import ebs_volumes  # noqa: PLC0415  # registrations never query EC2 here

    seen = ebs_volumes.read_attachments((external_id,), aws_region).volumes.get(external_id)
    if seen is not None and seen.attachments:
        raise errors.RefusedError(f"{seen}; nothing was deleted: see that nothing there has it mounted, and detach it")


def refuse_unless_free(client: nomad.Nomad, external_id: str, *, confirmation: str, aws_region: str = "") -> None:
    """
    Raise `errors.RefusedError` if *external_id* must not be deleted; for programs that delete by other means.

    Args:
        client: the cluster.
        external_id: the storage provider's id of the volume.
        confirmation: the external id once more, as the user typed it.
        aws_region: the region in which EC2 is asked whether an EBS volume is attached; empty: EC2 is not asked.

    Raises:
        errors.RefusedError: not confirmed, registered in Nomad, or attached.
        errors.NomadApiError: Nomad could not be asked. Nothing may be deleted then.
        errors.AwsError: EC2 could not be asked. Nothing may be deleted then.
    """
    refuse_unconfirmed(external_id, confirmation)
    refuse_registered(client, external_id)
    if aws_region:
        refuse_attached(external_id, aws_region)


def refuse_registered_now(client: nomad.Nomad, external_id: str) -> None:
    """
    Raise `errors.RefusedError` while *external_id* is registered, or if Nomad answers later than `FRESH_S`.

    The last check: the storage may have been registered again meanwhile, and claimed.
    """
    for _ in range(LAST_LOOKS):
        began = time.monotonic()
        refuse_registered(client, external_id)
        if time.monotonic() - began <= FRESH_S:
            return
    raise errors.RefusedError(f"Nomad takes more than {FRESH_S:g} s to list what is registered")
