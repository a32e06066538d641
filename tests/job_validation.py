"""What Nomad itself finds wrong with a job, for tests of rendered jobs. The product plans a job, which tells more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nomad_csi.nomad import replies, request


@dataclass(frozen=True, kw_only=True)
class JobValidation:
    """What Nomad finds wrong with a job. It does not look into driver ``config``, nor for the driver."""

    problems: tuple[str, ...]
    warnings: str


def validate(nomad: request.Nomad, job: Mapping[str, Any]) -> JobValidation:
    """Return what Nomad finds wrong with *job*, as `jobs.parse` returned it."""
    query = {"namespace": job["Namespace"]} if job.get("Namespace") else None
    path = request.path_of("validate", "job")
    item = replies.checked(nomad.request("POST", path, query=query, body={"Job": job}))
    error = item.text("Error")
    found = item.strings("ValidationErrors") or ((error,) if error else ())
    problems = tuple(" ".join(problem.split()) for problem in found)
    return JobValidation(problems=problems, warnings=item.text("Warnings"))
