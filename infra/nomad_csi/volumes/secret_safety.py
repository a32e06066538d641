"""
Protection of secrets from servers that can erase them when a volume is read: ``nomad-erases-secrets``.

The versions are in `nomad.version_gates`.
Listing volumes shows no secrets and erases none, nor does the registration of a new volume.
"""

import weakref
from collections.abc import Mapping

from nomad_csi import errors, nomad
from nomad_csi.findings import registry
from nomad_csi.nomad import nodes, version_gates, volumes
from nomad_csi.plan import versions

_KNOWN: weakref.WeakKeyDictionary[nomad.Nomad, tuple[nodes.Server, ...]] = weakref.WeakKeyDictionary()


ERASES_SECRETS = "nomad-erases-secrets"
"""Code of the fault that affects only volumes with secrets."""


def risk(client: nomad.Nomad) -> str:
    """
    Return a sentence with the servers that can erase the secrets of a volume on a read; empty where none can.

    Read once for each client. Empty also where the servers cannot be listed, which `nomad-csi doctor` reports.
    """
    old = [f"{item.name} with {item.version}" for item in _servers(client) if _is_old(item)]
    fix = registry.codes()[ERASES_SECRETS].fix
    return f"reading a volume can erase its secrets in Nomad ({', '.join(old)}): {fix}" if old else ""


def is_excluded(client: nomad.Nomad) -> bool:
    """Return whether the servers can be listed, and none of them can erase secrets; false for an unknown version."""
    servers = _servers(client)
    return bool(servers) and not any(_is_old(item) or versions.parse(item.version) is None for item in servers)


def _servers(client: nomad.Nomad) -> tuple[nodes.Server, ...]:
    """Return the servers; none where they cannot be listed."""
    if client not in _KNOWN:
        try:
            _KNOWN[client] = nodes.list_servers(client)
        except errors.NomadApiError as error:
            if error.status is None:
                return ()  # the next request reports that Nomad does not answer
            _KNOWN[client] = ()
    return _KNOWN[client]


def _is_old(server: nodes.Server) -> bool:
    return any(fault.code == ERASES_SECRETS for fault in version_gates.met("servers", server.version, {"secrets"}))


def refusal(client: nomad.Nomad, key: volumes.Key, secrets: Mapping[str, str]) -> errors.RefusedError | None:
    """
    Return the refusal to read the volume *key*: it has *secrets*, and a server can erase them.

    Raises `errors.RefusedError` where the connection exposes the secrets.
    """
    if secrets:
        client.connection.refuse_secrets()
    if not is_at_risk(client, secrets):
        return None
    return errors.RefusedError(
        f"volume {'/'.join(key)} has secrets, and {risk(client)}; nothing was read or changed: until then, "
        "`nomad volume register` sends it unread"
    )


def is_at_risk(client: nomad.Nomad, secrets: Mapping[str, str]) -> bool:
    """Return whether reading a volume can erase its *secrets*."""
    return bool(secrets) and bool(risk(client))


def listed(client: nomad.Nomad, namespace: str, volume_id: str) -> volumes.ListedVolume | None:
    """Return the volume from the list, which erases nothing; ``None`` where there is none."""
    candidates = volumes.list_volumes(client, namespace, prefix=volume_id)
    return next((item for item in candidates if (item.namespace, item.volume_id) == (namespace, volume_id)), None)
