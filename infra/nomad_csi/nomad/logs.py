"""
The last lines of a task's log, read on its client through any agent.

Source: hashicorp/nomad, ``command/agent/fs_endpoint.go`` (``Logs``), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.
"""

from typing import Literal

from nomad_csi.nomad.http import request

Stream = Literal["stdout", "stderr"]


def tail(
    nomad: request.Nomad,
    namespace: str,
    alloc_id: str,
    task: str,
    *,
    stream: Stream = "stderr",
    length: int = 4096,
    timeout_s: float | None = None,
) -> str:
    """
    Return the last *length* bytes of the log, of an allocation that ended too; the first line may be a part of one.

    Raises `errors.NomadApiError`: 403 where the token has no ``read-logs``, 404 where the allocation or its client is
    not known any more. What is read is a driver's own text: show it masked.
    """
    query = {
        "namespace": namespace,
        "task": task,
        "type": stream,
        "plain": "true",
        "origin": "end",
        "offset": str(length),
    }
    path = request.path_of("client", "fs", "logs", alloc_id)
    return nomad.request("GET", path, query=query, timeout_s=timeout_s, plain=True).text
