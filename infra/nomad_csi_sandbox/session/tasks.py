"""Ending everything that runs on an agent: users of volumes first, then plugins, as their volumes need them to go."""

import time
from typing import Any
from urllib import parse

from nomad_csi import errors, nomad
from nomad_csi.nomad import request

DEADLINE_S = 60.0
INTERVAL_S = 0.1

ENDED = frozenset({"complete", "failed", "lost"})
"""Client statuses of an allocation that runs no more (hashicorp/nomad, ``ClientTerminalStatus``)."""


def end_all(client: nomad.Nomad) -> None:
    """Stop every job, and wait until its tasks have ended. Raises `errors.NomadCsiError` when they do not in time."""
    found = [_job(client, item) for item in _list(client, "jobs")]
    for wanted in (False, True):
        for job in found:
            if _serves_volumes(job) is wanted and not job["Stop"]:
                client.request("DELETE", _path(job["ID"]), query={"namespace": job["Namespace"]})
        _wait(client, {job["ID"] for job in found if _serves_volumes(job) is wanted})


def _list(client: nomad.Nomad, *path: str) -> list[dict[str, Any]]:
    return list(client.request("GET", request.path_of(*path), query={"namespace": "*"}).data or ())


def _job(client: nomad.Nomad, item: dict[str, Any]) -> dict[str, Any]:
    return dict(client.request("GET", _path(item["ID"]), query={"namespace": item["Namespace"]}).data)


def _path(job_id: str) -> str:
    """Return the path of a job; a run of a periodic one, ``verify/periodic-1795284000``, has its id in two parts."""
    return "/".join([request.path_of("job"), *(parse.quote(part, safe="") for part in job_id.split("/"))])


def _serves_volumes(job: dict[str, Any]) -> bool:
    return any(task.get("CSIPluginConfig") for group in job["TaskGroups"] or () for task in group["Tasks"] or ())


def _wait(client: nomad.Nomad, job_ids: set[str]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while running := [item for item in _list(client, "allocations") if _runs(item) and item["JobID"] in job_ids]:
        if time.monotonic() > deadline:
            names = ", ".join(sorted({item["JobID"] for item in running}))
            raise errors.NomadCsiError(f"tasks of these jobs do not end within {DEADLINE_S:g} s: {names}")
        time.sleep(INTERVAL_S)


def _runs(allocation: dict[str, Any]) -> bool:
    return allocation["ClientStatus"] not in ENDED
