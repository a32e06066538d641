"""
A job as the server keeps it: what it adds to the submitted one, and which fields a new version does not change.

Part of the Nomad emulator. Source: recordings of Nomad 2.0.6-dev (``02-job.json``).
"""

import copy
from typing import Any

from nomad_csi_sandbox.nomad.hcl import schema
from nomad_csi_sandbox.nomad.jobs import defaults

Json = dict[str, Any]

IDENTITY: Json = {
    "Audience": ["nomadproject.io"],
    "ChangeMode": "",
    "ChangeSignal": "",
    "Env": False,
    "ExtraClaims": None,
    "File": False,
    "Filepath": "",
    "Name": "default",
    "ServiceName": "",
    "TTL": 0,
}

SERVER_FIELDS = (
    "CreateIndex",
    "JobModifyIndex",
    "ModifyIndex",
    "NomadTokenID",
    "Stable",
    "Status",
    "StatusDescription",
    "SubmitTime",
    "Version",
)
"""Managed by the server; what a client sends in them is not compared."""


def from_api(job: Json) -> Json:
    """Return the stored form of a submitted *job*; server fields are at their start values."""
    done = defaults.canonical(_complete(job, schema.JOB.empty))
    done.pop("Reschedule", None)
    done.pop("Migrate", None)
    done |= {"DispatchIdempotencyToken": "", "NodePool": done["NodePool"] or "default", "VersionTag": None}
    done["Datacenters"] = done["Datacenters"] or ["*"]
    done["Update"] = _job_update(done["Update"])
    done["TaskGroups"] = done["TaskGroups"] and [_group(group) for group in done["TaskGroups"]]
    return done


def same_spec(one: Json, other: Json) -> bool:
    """Return whether two stored jobs ask for the same, whatever the server noted beside it."""
    return _spec(one) == _spec(other)


def _spec(job: Json) -> Json:
    return {name: value for name, value in job.items() if name not in SERVER_FIELDS}


def _complete(given: Json, empty: Any) -> Json:
    return {name: copy.deepcopy(value) for name, value in empty.items()} | copy.deepcopy(given)


def _job_update(update: Json | None) -> Json:
    """Return what the server keeps of a job's update block: it lives on in the groups."""
    zero = {
        "AutoPromote": False,
        "AutoRevert": False,
        "Canary": 0,
        "HealthCheck": "",
        "HealthyDeadline": 0,
        "MaxParallel": 0,
        "MinHealthyTime": 0,
        "ProgressDeadline": 0,
        "Stagger": 0,
    }
    kept = {name: update[name] for name in ("MaxParallel", "Stagger")} if update else {}
    return zero | kept


def _group(group: Json) -> Json:
    done = _complete(group, schema.GROUP.empty)
    done["PreventRescheduleOnLost"] = bool(done["PreventRescheduleOnLost"])
    volumes = done["Volumes"] or {}
    done["Volumes"] = {
        name: {"MountOptions": None, **_complete(volume, schema.VOLUME.empty)} for name, volume in volumes.items()
    } or None
    done["Tasks"] = done["Tasks"] and [_task(task) for task in done["Tasks"]]
    return done


def _task(task: Json) -> Json:
    done = _complete(task, schema.TASK.empty)
    done["Identity"] = done["Identity"] or copy.deepcopy(IDENTITY)
    done["LogConfig"].pop("Enabled", None)
    zeros = ("DiskMB", "IOPS", "MemoryMaxMB", "SecretsMB")
    done["Resources"] |= {name: done["Resources"].get(name) or 0 for name in zeros}
    return done
