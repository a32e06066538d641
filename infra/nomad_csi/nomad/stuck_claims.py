"""
What Nomad offers against claims that nobody lets go of: collect garbage, detach, deregister by force.

Source: hashicorp/nomad, ``command/agent/csi_endpoint.go``, ``command/agent/system_endpoint.go``,
``nomad/csi_endpoint.go`` (``Unpublish``, ``Deregister``) and ``nomad/core_sched.go`` (``csiVolumeClaimGC``),
2026-08-21; tried on Nomad 2.0.6-dev, 2026-08.
"""

from nomad_csi import errors
from nomad_csi.nomad import volumes
from nomad_csi.nomad.http import request

GC_TIMEOUT_S = 60.0

_CANNOT_DETACH = "Unknown allocation"
"""What a server says that looks for the allocation of a detachment by hand, which has none."""


def collect_garbage(nomad: request.Nomad) -> None:
    """
    Have Nomad collect garbage at once: it tries again to detach and free what ended allocations claim.

    It also forgets every ended job, allocation and evaluation, and every client that is down. It answers before it is
    done. Needs a management token.
    """
    nomad.request("PUT", request.path_of("system", "gc"), timeout_s=GC_TIMEOUT_S)


def detach(nomad: request.Nomad, namespace: str, volume_id: str, node_id: str) -> bool:
    """
    Have Nomad unmount the volume on a client and detach it there; return whether this server can do so at all.

    Raises `errors.NomadApiError` where it can, and did not.
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
    Make Nomad forget the volume together with its claims. Nothing is unmounted or detached. An absent one is no error.

    Nomad refuses it ("volume in use") while an allocation that has not ended claims the volume.
    """
    volumes.send_deregistration(nomad, volume_id, {"namespace": namespace, "force": "true"})
