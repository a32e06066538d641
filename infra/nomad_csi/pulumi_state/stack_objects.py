"""What Nomad has of the jobs and volumes that a program declares: the ids that Pulumi imports them by. Reads only."""

from collections.abc import Mapping
from typing import Any

from nomad_csi import nomad
from nomad_csi.nomad import jobs, volumes
from nomad_csi.pulumi_state import stack_import
from nomad_csi.resources.frame import resource

_UNKNOWN_ID = "its id follows from something that is not made yet"


def look(client: nomad.Nomad, kind: str, inputs: Mapping[str, Any]) -> stack_import.ImportableObject:
    """Return what Nomad has of the resource of type *kind* with *inputs*. Raises `errors.NomadApiError`."""
    name = "jobId" if kind == stack_import.JOB else "volumeId"
    key = inputs.get("namespace", "default"), inputs.get(name, "")
    if resource.UNKNOWN in key or not all(isinstance(part, str) and part for part in key):
        return stack_import.ImportableObject(reason=_UNKNOWN_ID)
    return _job(client, *key) if kind == stack_import.JOB else _volume(client, *key)


def _job(client: nomad.Nomad, namespace: str, job_id: str) -> stack_import.ImportableObject:
    found = jobs.get(client, namespace, job_id)
    if found is None or found.stopped:
        return stack_import.ImportableObject(reason="Nomad does not run it; `pulumi up` does")
    if jobs.source(client, namespace, job_id, found.version) is None:
        return stack_import.ImportableObject(
            reason="Nomad does not hold its source; `pulumi up` takes it over if it is equal"
        )
    return stack_import.ImportableObject(id=f"{namespace}/{job_id}")


def _volume(client: nomad.Nomad, namespace: str, volume_id: str) -> stack_import.ImportableObject:
    found = volumes.get(client, namespace, volume_id)
    if found is None:
        return stack_import.ImportableObject(reason="Nomad does not have it; `pulumi up` registers it")
    return stack_import.ImportableObject(id=f"{namespace}/{volume_id}", external_id=found.external_id)
