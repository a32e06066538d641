"""
The rules that the server has for a job. Pure. Part of the Nomad emulator.

As in Nomad, the options of a driver and whether any node has it are not looked at.
Source: hashicorp/nomad, ``nomad/structs/structs.go`` (``Job.Validate``), ``nomad/structs/volumes.go``, 2026-08-21.
"""

import pathlib
from collections import Counter
from typing import Any

Json = dict[str, Any]

_MAX_PRIORITY = 100
"""A server's ``job_max_priority``."""

_TYPES = frozenset({"service", "batch", "system", "sysbatch", "_core"})
_PLUGIN_TYPES = frozenset({"node", "controller", "monolith"})
_LONE_MODES = frozenset({"single-node-reader-only", "single-node-writer"})
_READ_MODES = frozenset({"single-node-reader-only", "multi-node-reader-only"})


def problems(job: Json) -> list[str]:
    """Return every problem of a stored job, as the server words them."""
    found = [] if job["ID"] else ["Missing job ID"]
    found += ["Job ID contains a space"] if " " in (job["ID"] or "") else []
    if job["Type"] not in _TYPES:
        found.append(f'Invalid job type: "{job["Type"]}"')
    found += [] if job["Name"] else ["Missing job name"]
    if not 1 <= job["Priority"] <= _MAX_PRIORITY:
        found.append(f"job priority must be between [1, {_MAX_PRIORITY}]")
    if not job["TaskGroups"]:
        found.append("Missing job task groups")
    if job["Type"] == "system":
        found += _system_problems(job)
    for group in job["TaskGroups"] or []:
        inner = _group_problems(group, job)
        found += [f"Task group {group['Name']} validation failed: {multi_error(inner)}"] if inner else []
    return found


def multi_error(errors: list[str]) -> str:
    r"""Return the text of Go's multierror: ``1 error occurred:\n\t* missing\n\n``."""
    head = "1 error occurred:" if len(errors) == 1 else f"{len(errors)} errors occurred:"
    return head + "\n" + "".join(f"\t* {error}\n" for error in errors) + "\n"


def _system_problems(job: Json) -> list[str]:
    found = ["System jobs may not have an affinity block"] if job["Affinities"] else []
    found += ["System jobs may not have a spread block"] if job["Spreads"] else []
    for group in job["TaskGroups"] or []:
        if group["Count"] > 1:
            text = f"Job task group {group['Name']} has count {group['Count']}."
            found.append(f"{text} Count cannot exceed 1 with system scheduler")
    return found


def _group_problems(group: Json, job: Json) -> list[str]:
    found = [] if group["Tasks"] else ["Missing tasks for task group"]
    if group["Count"] < 0:
        found.append("Task group count can't be negative")
    if job["Type"] in {"system", "sysbatch"} and group["ReschedulePolicy"]:
        found.append("System or sysbatch jobs should not have a reschedule policy")
    for name, volume in (group["Volumes"] or {}).items():
        inner = _volume_problems(volume, job["Type"], group["Count"])
        found += [f"Task group volume validation for {name} failed: {multi_error(inner)}"] if inner else []
    twice = [name for name, times in Counter(task["Name"] for task in group["Tasks"] or []).items() if times > 1]
    found += [f"Task {name} redefined" for name in twice]
    for task in group["Tasks"] or []:
        inner = _task_problems(task, group)
        found += [f"Task {task['Name']} validation failed: {multi_error(inner)}"] if inner else []
    return found


def _volume_problems(volume: Json, job_type: str, count: int) -> list[str]:
    if volume["Type"] not in {"host", "csi"}:
        return [f"volume has unrecognized type {volume['Type']}"]
    found = [] if volume["Source"] else ["volume has an empty source"]
    if volume["PerAlloc"] and job_type in {"system", "sysbatch"}:
        found.append("volume cannot be per_alloc for system or sysbatch jobs")
    return found + (_csi_volume_problems(volume, count) if volume["Type"] == "csi" else [])


def _csi_volume_problems(volume: Json, count: int) -> list[str]:
    mode = volume["AccessMode"]
    found = [] if volume["AttachmentMode"] else ["CSI volumes must have an attachment mode"]
    if volume["AttachmentMode"] == "block-device" and volume["MountOptions"]:
        found.append("block devices cannot have mount options")
    found += [] if mode else ["CSI volumes must have an access mode"]
    if mode in _READ_MODES and not volume["ReadOnly"]:
        found.append(f"{mode} volumes must be read-only")
    many = count > 1 and not volume["PerAlloc"]
    if many and mode in _LONE_MODES:
        who = "reader" if mode in _READ_MODES else "reader or writer"
        found.append(f"volume with {mode} access mode allows only one {who}")
    if many and mode == "multi-node-single-writer" and not volume["ReadOnly"]:
        found.append(f"volume with {mode} access mode allows only one writer")
    return found


def _task_problems(task: Json, group: Json) -> list[str]:
    found = [] if task["Driver"] else ["Missing task driver"]
    for number, mount in enumerate(task["VolumeMounts"] or []):
        text = f"Volume Mount ({number}) references undefined volume {mount['Volume']}"
        found += [] if mount["Volume"] in (group["Volumes"] or {}) else [text]
    return found + (_plugin_problems(task["CSIPluginConfig"]) if task["CSIPluginConfig"] else [])


def _plugin_problems(plugin: Json) -> list[str]:
    found = [] if plugin["ID"] else ["CSIPluginConfig must have a non-empty PluginID"]
    if plugin["Type"] not in _PLUGIN_TYPES:
        must = "CSIPluginConfig PluginType must be one of 'node', 'controller', or 'monolith'"
        found.append(f'{must}, got: "{plugin["Type"]}"')
    mount, base = plugin["MountDir"], plugin["StagePublishBaseDir"]
    if mount and base and pathlib.PurePosixPath(base).is_relative_to(mount):
        must = "CSIPluginConfig StagePublishBaseDir must not be a subdirectory of MountDir"
        found.append(f'{must}, got: StagePublishBaseDir="{base}" MountDir="{mount}"')
    return found
