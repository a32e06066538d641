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


@dataclass(frozen=True, kw_only=True)
class _Validated(replies.Record):
    validation_errors: replies.Strings = ()
    error: str = ""
    warnings: str = ""


def validate(nomad: request.Nomad, job: Mapping[str, Any]) -> JobValidation:
    """Return what Nomad finds wrong with *job*, as `jobs.parse` returned it."""
    query = {"namespace": job["Namespace"]} if job.get("Namespace") else None
    path = request.path_of("validate", "job")
    item = replies.read(nomad.request("POST", path, query=query, body={"Job": job}), _Validated)
    found = item.validation_errors or ((item.error,) if item.error else ())
    return JobValidation(problems=tuple(" ".join(problem.split()) for problem in found), warnings=item.warnings)
