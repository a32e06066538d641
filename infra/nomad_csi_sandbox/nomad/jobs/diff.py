"""
What changed between two stored jobs, as the tree that `Job.Diff` makes. Pure. Part of the Nomad emulator.

Source: hashicorp/nomad, ``nomad/structs/diff.go`` and ``helper/flatmap``, 2026-08-21. As there, a changed
``csi_plugin`` or task ``restart`` block makes its task "Edited" without a line that names it.
"""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

NONE, ADDED, DELETED, EDITED = "None", "Added", "Deleted", "Edited"

_JOB_HIDDEN = frozenset(
    {
        *("ID", "Status", "StatusDescription", "Version", "Stable", "CreateIndex", "ModifyIndex", "JobModifyIndex"),
        *("SubmitTime", "NomadTokenID", "VaultToken"),
    }
)
_GROUP_OBJECTS = ("RestartPolicy", "Migrate", "ReschedulePolicy", "EphemeralDisk", "Update")
_GROUP_NAMED = (("Constraints", "Constraint"), ("Affinities", "Affinity"))


def job_diff(old: Json | None, new: Json) -> Json:
    """Return the difference; *old* is null for a job that does not exist."""
    before = old or {}
    fields = _fields(_scalars(old, _JOB_HIDDEN), _scalars(new, _JOB_HIDDEN), contextual=False)
    objects = _datacenters(before.get("Datacenters") or [], new.get("Datacenters") or [])
    for name, title in _GROUP_NAMED:
        objects += _set_diff(before.get(name) or [], new.get(name) or [], title)
    groups = [_group_diff(*pair) for pair in _by_name(before.get("TaskGroups"), new.get("TaskGroups"))]
    kind = ADDED if old is None else _edited([*fields, *objects, *groups])
    return {
        "Fields": fields or None,
        "ID": new["ID"],
        "Objects": objects or None,
        "TaskGroups": groups or None,
        "Type": kind,
    }


def _edited(parts: list[Json]) -> str:
    return EDITED if any(part["Type"] != NONE for part in parts) else NONE


def _kind(old: Any, new: Any) -> str:
    if old is None:
        return ADDED
    if new is None:
        return DELETED
    return NONE if old == new else EDITED


def _by_name(old: list[Json] | None, new: list[Json] | None) -> list[tuple[Json | None, Json | None]]:
    before = {item["Name"]: item for item in old or []}
    after = {item["Name"]: item for item in new or []}
    return [(before.get(name), after.get(name)) for name in sorted({*before, *after})]


def _named(before: Json, after: Json) -> list[Json]:
    """Return the differences of what a group and a task have alike."""
    found: list[Json] = []
    for name, title in _GROUP_NAMED:
        found += _set_diff(before.get(name) or [], after.get(name) or [], title)
    return found


def _group_diff(old: Json | None, new: Json | None) -> Json:
    before, after = old or {}, new or {}
    objects = _named(before, after)
    for name in _GROUP_OBJECTS:
        hidden = frozenset({"Stagger"}) if name == "Update" else frozenset()
        objects += _object_diff(before.get(name), after.get(name), name, hidden)
    objects += _volumes(before.get("Volumes") or {}, after.get("Volumes") or {})
    tasks = [_task_diff(*pair) for pair in _by_name(before.get("Tasks"), after.get("Tasks"))]
    return {
        "Fields": _fields(_scalars(old, {"Name"}), _scalars(new, {"Name"}), contextual=False) or None,
        "Name": (new or before)["Name"],
        "Objects": objects or None,
        "Tasks": tasks or None,
        "Type": _kind(old, new),
        "Updates": None,
    }


def _task_diff(old: Json | None, new: Json | None) -> Json:
    before, after = old or {}, new or {}
    objects = _named(before, after)
    objects += _object_diff(_config(before), _config(after), "Config")
    for name in ("Resources", "LogConfig"):
        objects += _object_diff(before.get(name), after.get(name), name)
    objects += _set_diff(before.get("Templates") or [], after.get("Templates") or [], "Template")
    objects += _identity(before.get("Identity"), after.get("Identity"))
    objects += _set_diff(before.get("VolumeMounts") or [], after.get("VolumeMounts") or [], "VolumeMount")
    hidden = {"Name", "Config"}
    return {
        "Annotations": None,
        "Fields": _fields(_scalars(old, hidden), _scalars(new, hidden), contextual=False) or None,
        "Name": (new or before)["Name"],
        "Objects": objects or None,
        "Type": _kind(old, new),
    }


def _config(task: Json) -> Json | None:
    return flatten(task["Config"]) if task.get("Config") else None


def flatten(value: Any, prefix: str = "") -> dict[str, Any]:
    """Return nested values under flat names: ``{"args": ["a"]}`` is ``{"args[0]": "a"}``."""
    if isinstance(value, dict):
        pairs = [(f"{prefix}[{key}]" if prefix else str(key), item) for key, item in value.items()]
    elif isinstance(value, list):
        pairs = [(f"{prefix}[{index}]", item) for index, item in enumerate(value)]
    else:
        return {prefix: value}
    return {name: leaf for key, item in pairs for name, leaf in flatten(item, key).items()}


def _scalars(item: Json | None, hidden: frozenset[str] | set[str]) -> dict[str, str]:
    """Return the texts of the plain fields and of the maps of texts; lists and objects are not here."""
    found: dict[str, str] = {}
    for name, value in (item or {}).items():
        if name in {"Env", "Meta"} and value:
            found |= {f"{name}[{key}]": _text(inner) for key, inner in value.items()}
        elif name not in hidden and value is not None and not isinstance(value, dict | list):
            found[name] = _text(value)
    return found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fields(old: Mapping[str, str], new: Mapping[str, str], *, contextual: bool) -> list[Json]:
    fields = [_field(name, old.get(name, ""), new.get(name, "")) for name in sorted({*old, *new})]
    return [item for item in fields if contextual or item["Type"] != NONE]


def _field(name: str, old: str, new: str) -> Json:
    kind = NONE if old == new else ADDED if not old else DELETED if not new else EDITED
    return {"Annotations": None, "Name": name, "New": new, "Old": old, "Type": kind}


def _object(name: str, kind: str, fields: list[Json], objects: list[Json] | None = None) -> Json:
    return {"Fields": fields or None, "Name": name, "Objects": objects or None, "Type": kind}


def _object_diff(old: Json | None, new: Json | None, name: str, hidden: frozenset[str] = frozenset()) -> list[Json]:
    if old == new:
        return []
    fields = _fields(_scalars(old, hidden), _scalars(new, hidden), contextual=True)
    return [_object(name, _kind(old, new), fields)]


def _set_diff(old: list[Json], new: list[Json], name: str) -> list[Json]:
    """Return one added or deleted object for each member that only one side has."""
    gone = [_object_diff(item, None, name)[0] for item in old if item not in new]
    came = [_object_diff(None, item, name)[0] for item in new if item not in old]
    return came + gone


def _datacenters(old: list[str], new: list[str]) -> list[Json]:
    if set(old) == set(new):
        return []
    came = [_field("Datacenters", "", name) for name in sorted(set(new) - set(old))]
    gone = [_field("Datacenters", name, "") for name in sorted(set(old) - set(new))]
    kind = EDITED if came and gone else ADDED if came else DELETED
    return [_object("Datacenters", kind, came + gone)]


def _volumes(old: Json, new: Json) -> list[Json]:
    found = []
    for label in sorted({*old, *new}):
        before, after = old.get(label), new.get(label)
        if before != after:
            fields = _fields(_scalars(before, frozenset()), _scalars(after, frozenset()), contextual=True)
            options = _object_diff(
                (before or {}).get("MountOptions"), (after or {}).get("MountOptions"), "MountOptions"
            )
            found.append(_object("Volume", _kind(before, after), fields, options))
    return found


def _identity(old: Json | None, new: Json | None) -> list[Json]:
    found = _object_diff(old, new, "Identity")
    for item in found:
        audience = [("", name) for name in (new or {}).get("Audience") or []]
        fields = [_field("Audience", *pair) for pair in audience]
        item["Objects"] = [_object("Audience", ADDED, fields)] if fields else None
    return found
