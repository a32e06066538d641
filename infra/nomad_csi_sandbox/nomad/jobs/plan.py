"""
``POST /v1/job/:id/plan``: the difference with what it makes the scheduler do. Pure. Part of the Nomad emulator.

Source: hashicorp/nomad, ``scheduler/annotate.go``, 2026-08-21; recordings of a 2.0.6-dev agent (``06-plan-*.json``).
"""

from typing import Any

from nomad_csi_sandbox.nomad.jobs import diff, scheduler

Json = dict[str, Any]

_UPDATES = {
    "Ignore": "ignore",
    "Place": "create",
    "Stop": "destroy",
    "InPlaceUpdate": "in-place update",
    "DestructiveUpdate": "create/destroy update",
}
_IN_PLACE_OBJECTS = frozenset({"Service", "Constraint", "Affinity", "Spread"})


def reply(old: Json | None, new: Json, decision: scheduler.Decision, *, with_diff: bool) -> Json:
    """Return the body for the planned job *new*; *old* is the stored one."""
    updates = {name: updates_of(group) for name, group in decision.groups.items()}
    failed = {name: group.failure for name, group in decision.groups.items() if group.failure is not None}
    index = old["JobModifyIndex"] if old else 0
    return {
        "Annotations": {"DesiredTGUpdates": updates, "PreemptedAllocs": None},
        "CreatedEvals": None,
        "Diff": _annotated(diff.job_diff(old, new), updates) if with_diff else None,
        "FailedTGAllocs": failed or None,
        "Index": index,
        "JobModifyIndex": index,
        "NextPeriodicLaunch": None,
        "Warnings": "",
    }


def updates_of(group: scheduler.GroupDecision) -> Json:
    """Return ``DesiredTGUpdates`` of one group."""
    counted = {
        "DestructiveUpdate": len(group.replace),
        "Ignore": len(group.keep),
        "InPlaceUpdate": len(group.update),
        "Place": group.announced_places,
        "Stop": len(group.stop),
    }
    rest = ("Canary", "Disconnect", "Migrate", "Preemptions", "Reconnect", "RescheduleLater", "RescheduleNow")
    return dict.fromkeys(rest, 0) | counted


def _annotated(tree: Json, updates: dict[str, Json]) -> Json:
    for group in tree["TaskGroups"] or []:
        numbers = updates.get(group["Name"])
        if numbers is not None:
            group["Updates"] = {word: numbers[name] for name, word in _UPDATES.items() if numbers[name]}
        for field in group["Fields"] or []:
            if field["Name"] == "Count":
                field["Annotations"] = _count_words(int(field["Old"] or 0), int(field["New"] or 0))
        for task in group["Tasks"] or []:
            task["Annotations"] = _task_words(task, group)
    return tree


def _count_words(old: int, new: int) -> list[str] | None:
    if old == new:
        return None
    return ["forces create" if old < new else "forces destroy"]


def _task_words(task: Json, group: Json) -> list[str] | None:
    if task["Type"] == diff.NONE:
        return None
    whole = {diff.ADDED: "forces create", diff.DELETED: "forces destroy"}
    if group["Type"] in whole and task["Type"] in whole:
        return [whole[task["Type"]]]
    return ["forces create/destroy update" if _is_destructive(task) else "forces in-place update"]


def _is_destructive(task: Json) -> bool:
    if any(field["Name"] != "KillTimeout" for field in task["Fields"] or []):
        return True
    return any(_object_is_destructive(item) for item in task["Objects"] or [])


def _object_is_destructive(item: Json) -> bool:
    if item["Name"] == "LogConfig":
        return any(field["Name"] == "Disabled" for field in item["Fields"] or [])
    return item["Name"] not in _IN_PLACE_OBJECTS
