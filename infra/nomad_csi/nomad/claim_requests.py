"""
Nomad's operations on claims that are not released: garbage collection, detach, forced deregistration.

Source: hashicorp/nomad, ``command/agent/csi_endpoint.go``, ``command/agent/system_endpoint.go``,
``nomad/csi_endpoint.go`` (``Unpublish``, ``Deregister``) and ``nomad/core_sched.go`` (``csiVolumeClaimGC``),
2026-08-21; tried on Nomad 2.0.6-dev, 2026-08.
"""

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.nomad.http import request

GC_TIMEOUT_S = 60.0

_CANNOT_DETACH = "Unknown allocation"
"""Error of a server that requires an allocation for a detach, which a manual one does not have."""


def collect_garbage(nomad: request.Nomad) -> None:
    """
    Run Nomad's garbage collection now: it retries to detach volumes and release claims of ended allocations.

    It also removes every ended job, allocation and evaluation, and every client that is down. It returns before it is
    done. Needs a management token.
    """
    nomad.request("PUT", request.path_of("system", "gc"), timeout_s=GC_TIMEOUT_S)


def detach(nomad: request.Nomad, namespace: str, volume_id: str, node_id: str) -> bool:
    """
    Have Nomad unmount and detach the volume on a client; return whether this server supports that.

    Raises `errors.NomadApiError` if it does, and the detach failed.
    """
    path = request.path_of("volume", "csi", volume_id, "detach")
    query = {"namespace": namespace, "node": node_id}
    try:
        nomad.request("DELETE", path, query=query, timeout_s=request.PLUGIN_TIMEOUT_S)
    except errors.NomadApiError as error:
        if _CANNOT_DETACH in error.message:
            return False
        raise
    return True


def deregister_by_force(nomad: request.Nomad, namespace: str, volume_id: str) -> None:
    """
    Deregister the volume together with its claims. Nothing is unmounted or detached. An absent volume is no error.

    Nomad refuses it ("volume in use") while an allocation that has not ended claims the volume.
    """
    volumes.send_deregistration(nomad, volume_id, {"namespace": namespace, "force": "true"})
