"""
Nomad's default values: what `Canonicalize` adds to a parsed job, and what the server adds when it stores one.

Part of the Nomad emulator; functions return new objects.
Source: hashicorp/nomad, ``api/jobs.go`` and ``api/tasks.go`` (``Canonicalize``), 2026-08-21.
"""

import copy
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

SECOND_NS = 1_000_000_000
MINUTE_NS = 60 * SECOND_NS
HOUR_NS = 60 * MINUTE_NS

JOB: Json = {
    "AllAtOnce": False,
    "ConsulNamespace": "",
    "CreateIndex": 0,
    "JobModifyIndex": 0,
    "ModifyIndex": 0,
    "Namespace": "default",
    "NodePool": "",
    "NomadTokenID": "",
    "ParentID": "",
    "Priority": 50,
    "Region": "global",
    "Stable": False,
    "Status": "",
    "StatusDescription": "",
    "Stop": False,
    "Type": "service",
    "VaultNamespace": "",
    "Version": 0,
}
UPDATE: Json = {
    "AutoPromote": False,
    "AutoRevert": False,
    "Canary": 0,
    "HealthCheck": "checks",
    "HealthyDeadline": 5 * MINUTE_NS,
    "MaxParallel": 1,
    "MinHealthyTime": 10 * SECOND_NS,
    "ProgressDeadline": 10 * MINUTE_NS,
    "Stagger": 30 * SECOND_NS,
}
_SERVICE_RESTART: Json = {"Attempts": 2, "Delay": 15 * SECOND_NS, "Interval": 30 * MINUTE_NS, "Mode": "fail"}
_BATCH_RESTART: Json = {"Attempts": 3, "Delay": 15 * SECOND_NS, "Interval": 24 * HOUR_NS, "Mode": "fail"}
RESTART: Mapping[str, Json] = {
    "service": _SERVICE_RESTART | {"RenderTemplates": False},
    "system": _SERVICE_RESTART | {"RenderTemplates": False},
    "batch": _BATCH_RESTART | {"RenderTemplates": False},
}
RESCHEDULE: Mapping[str, Json] = {
    "service": {
        "Attempts": 0,
        "Delay": 30 * SECOND_NS,
        "DelayFunction": "exponential",
        "Interval": 0,
        "MaxDelay": HOUR_NS,
        "Unlimited": True,
    },
    "batch": {
        "Attempts": 1,
        "Delay": 5 * SECOND_NS,
        "DelayFunction": "constant",
        "Interval": 24 * HOUR_NS,
        "MaxDelay": 0,
        "Unlimited": False,
    },
}
MIGRATE: Json = {
    "HealthCheck": "checks",
    "HealthyDeadline": 5 * MINUTE_NS,
    "MaxParallel": 1,
    "MinHealthyTime": 10 * SECOND_NS,
}
EPHEMERAL_DISK: Json = {"Migrate": False, "SizeMB": 300, "Sticky": False}
RESOURCES: Json = {"CPU": 100, "Cores": 0, "MemoryMB": 300}
LOGS: Json = {"Disabled": False, "Enabled": None, "MaxFileSizeMB": 10, "MaxFiles": 10}
TEMPLATE: Json = {
    "ChangeMode": "restart",
    "ChangeSignal": "",
    "DestPath": "",
    "EmbeddedTmpl": "",
    "Envvars": False,
    "ErrMissingKey": False,
    "LeftDelim": "{{",
    "Once": False,
    "Perms": "0644",
    "RightDelim": "}}",
    "SourcePath": "",
    "Splay": 5 * SECOND_NS,
    "VaultGrace": 0,
}
VOLUME_MOUNT: Json = {"PropagationMode": "private", "ReadOnly": False, "SELinuxLabel": ""}
PERIODIC: Json = {
    "Enabled": True,
    "ProhibitOverlap": False,
    "Spec": "",
    "SpecType": "cron",
    "Specs": [],
    "TimeZone": "UTC",
}
CSI_PLUGIN: Json = {"MountDir": "/csi", "StagePublishBaseDir": "/local/csi", "HealthTimeout": 30 * SECOND_NS}


def canonical(job: Json) -> Json:
    """Return *job* as ``/v1/jobs/parse`` gives it with ``Canonicalize``."""
    done = _defaulted(job, JOB) | {"Name": job.get("Name") or job.get("ID")}
    if done.get("Update") is not None:
        done["Update"] = _defaulted(done["Update"], UPDATE)
    elif done["Type"] in {"service", "system"}:
        done["Update"] = dict(UPDATE)
    if done.get("Periodic") is not None:
        done["Periodic"] = _defaulted(done["Periodic"], PERIODIC)
    done["TaskGroups"] = [_group(group, done) for group in done.get("TaskGroups") or []] or None
    for name in ("Spreads", "Affinities"):
        done[name] = _weighted(done.get(name))
    return done


def _defaulted(given: Json, values: Json) -> Json:
    """Return *given* where every missing or null field of *values* has its default."""
    return given | {name: copy.deepcopy(value) for name, value in values.items() if given.get(name) is None}


def _merged(*layers: Json | None) -> Json | None:
    """Return the layers over each other, later ones win where they are not null; null when there is none."""
    present = [layer for layer in layers if layer is not None]
    if not present:
        return None
    merged = dict(present[0])
    for layer in present[1:]:
        merged |= {name: value for name, value in layer.items() if value is not None}
    return merged


def _weighted(items: list[Json] | None) -> list[Json] | None:
    return items and [_defaulted(item, {"Weight": 50}) for item in items]


def _group(group: Json, job: Json) -> Json:
    job_type = job["Type"]
    done = _defaulted(group, {"Count": 1, "Name": ""})
    done["EphemeralDisk"] = _defaulted(group.get("EphemeralDisk") or {}, EPHEMERAL_DISK)
    update = _merged(job.get("Update"), group.get("Update"))
    done["Update"] = update and _defaulted(update, UPDATE)
    policy = _merged(RESCHEDULE.get(job_type), job.get("Reschedule"), group.get("ReschedulePolicy"))
    done["ReschedulePolicy"] = policy
    base: Json | None = {} if job_type == "service" else None
    migrate = _merged(base, job.get("Migrate"), group.get("Migrate"))
    done["Migrate"] = migrate if migrate is None else _defaulted(migrate, MIGRATE)
    done["RestartPolicy"] = _merged(RESTART.get(job_type, RESTART["batch"]), group.get("RestartPolicy"))
    done["Tasks"] = [_task(task, done["RestartPolicy"]) for task in group.get("Tasks") or []] or None
    for name in ("Spreads", "Affinities"):
        done[name] = _weighted(done.get(name))
    return done


def _task(task: Json, restart: Json | None) -> Json:
    done = _defaulted(task, {"KillTimeout": 5 * SECOND_NS})
    done["Resources"] = _resources(task.get("Resources"))
    done["LogConfig"] = _defaulted(task.get("LogConfig") or {}, LOGS)
    done["RestartPolicy"] = _merged(restart, task.get("RestartPolicy"))
    done["Affinities"] = _weighted(task.get("Affinities"))
    done["Templates"] = _each(task.get("Templates"), TEMPLATE)
    done["VolumeMounts"] = _each(task.get("VolumeMounts"), VOLUME_MOUNT)
    if task.get("CSIPluginConfig") is not None:
        plugin = {name: value or None for name, value in task["CSIPluginConfig"].items()}
        done["CSIPluginConfig"] = task["CSIPluginConfig"] | _defaulted(plugin, CSI_PLUGIN)
        done["CSIPluginConfig"] |= {name: "" for name in ("ID", "Type") if done["CSIPluginConfig"].get(name) is None}
    return done


def _each(items: list[Json] | None, values: Json) -> list[Json] | None:
    return items and [_defaulted(item, values) for item in items]


def _resources(given: Json | None) -> Json:
    empty = dict.fromkeys(("CPU", "Cores", "Devices", "DiskMB", "IOPS", "MemoryMB", "MemoryMaxMB", "NUMA"))
    asked = empty | dict.fromkeys(("Networks", "SecretsMB")) | (given or {})
    if asked["Cores"]:  # reserved cores decide on the MHz
        return _defaulted(asked, RESOURCES | {"CPU": 0})
    return _defaulted(asked, RESOURCES)
