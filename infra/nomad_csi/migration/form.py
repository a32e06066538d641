"""
One form for the task of a plugin, whatever its file leaves to Nomad or says in other words.

The import reads a plugin from it, and compares the file with ours in it. Source of Nomad's defaults: hashicorp/nomad,
``api/jobs.go``, ``api/tasks.go``, ``api/resources.go``, ``api/csi.go`` (``Canonicalize``), 2026-08-21.
"""

import re
from collections.abc import Mapping
from typing import Any

from nomad_csi.hcl import job as jobs
from nomad_csi.hcl import values
from nomad_csi.migration import model
from nomad_csi.spec import plugin as plugin_spec

_DEFAULTS: Mapping[str, Any] = {"datacenters": ["*"], "kill_timeout": 5.0, "priority": 50}

_BLOCKS: Mapping[str, Mapping[str, Any]] = {
    "config": {"privileged": False},
    "csi_plugin": {"health_timeout": 30.0, "mount_dir": "/csi"},
    "env": {},
    "resources": {"cpu": 100, "memory": 300},
    "restart": {"attempts": 2, "interval": 1800.0, "delay": 15.0, "mode": "fail"},
    "update": {},
}
"""Blocks of which a task has one, with their defaults."""

_DURATION = re.compile(r"delay|interval|stagger|\w+_(?:deadline|time|timeout)")
"""Names of durations."""

_APART = frozenset({"constraint", "count", "group", "id", "identity", "name", "task", values.LABELS})
"""Names that are not taken as they stand."""

_EMPTY: tuple[Any, ...] = (None, "", [])

_MOUNTS = ("mount", "mounts")
_BIND = frozenset({"type", "source", "target", "readonly"})
"""Keys of a mount of Docker that is the same as an item of its ``volumes``."""

_OPERATORS = {"==": "=", "is": "=", "not": "!="}
"""Other names of operators. Source: hashicorp/nomad, ``scheduler/feasible/feasible.go``, 2026-08-21."""

_SHORT = ("regexp", "version", "semver", "set_contains", "set_contains_any")
"""Operators that may be the key of their value."""


def of(part: model.Part) -> values.Map:
    """
    Return the job, group and task of *part* as one mapping, with Nomad's defaults; durations are seconds.

    ``job id`` is the job's, ``task`` names the tasks beside the plugin. What is empty stands nowhere.
    """
    job, group, task = bodies = (part.job.body, part.group.body, part.task.body)
    merged = values.Map(job.line)
    for name, defaults in _BLOCKS.items():
        merged[name] = _block(name, bodies, group.line if name == "restart" else task.line)
        for key, value in defaults.items():
            merged[name].setdefault(key, value)
    for body in bodies:
        for name in body:
            if name not in _BLOCKS and name not in _APART and body[name] not in _EMPTY:
                merged.put(name, _value(name, body[name]), body.at(name))
    for name, value in (*_DEFAULTS.items(), ("job id", part.job.id), ("type", part.job.type)):
        merged.setdefault(name, value)
    if part.job.type != "system":
        merged.put("count", 1 if part.group.count is None else part.group.count, group.at("count"))
    _read_container(merged["config"], part)
    for name, value in merged["env"].items():
        merged["env"][name] = jobs.as_text(value)
    merged["constraint"] = _constraints(part, merged.get("count", 1))
    merged["task"] = _others(part)
    identities = [block for block in values.blocks(task, "identity") if block.get("env") or block.get("file")]
    if identities:  # any other is the one that Nomad adds: the task gets it neither as a variable nor as a file
        merged.put("identity", identities, task.at("identity"))
    return merged


def _block(name: str, bodies: tuple[values.Map, ...], line: int) -> values.Map:
    """Return all blocks called *name* as one, but only the ``restart`` that is in effect. *line*: where none is."""
    given = [block for body in bodies for block in values.blocks(body, name)]
    if name == "restart":
        given = given[-1:]
    merged = values.Map(given[0].line if given else line)
    for block in given:
        for key in block:
            if key != values.LABELS and (name == "env" or block[key] not in _EMPTY):
                merged[key] = _value(key, block[key]) if name not in {"config", "env"} else block[key]
                merged.lines[key] = block.at(key)
    return merged


def _others(part: model.Part) -> list[str]:
    """Return the names of the tasks beside the plugin."""
    return [task.name for task in part.group.tasks if task.body is not part.task.body and task.plugin is None]


def _value(name: str, value: Any) -> Any:
    seconds = jobs.duration_s(value) if _DURATION.fullmatch(name) else None
    if seconds is not None:
        return seconds
    return list(value) if isinstance(value, list) else value


def _read_container(config: values.Map, part: model.Part) -> None:
    """Put arguments and mounts of the task driver's *config* into one form."""
    arguments: list[str] = []
    command = jobs.text(config, "command")
    if command and part.task.driver in plugin_spec.CONTAINERS:
        # The docker and podman drivers run the image's entrypoint with the command and the arguments behind it.
        arguments.append(command)
        del config["command"]
    config["args"] = [*arguments, *part.arguments]
    config["privileged"] = config.get("privileged") is True
    config.pop("ports", None)  # they say which ports of the group the container has
    binds = values.texts(config, "volumes")
    for name in _MOUNTS:
        others = []
        for block in values.blocks(config, name):
            if block.get("type", "volume") == "bind" and not set(block) - _BIND:
                binds.append(
                    f"{block.get('source')}:{block.get('target')}{':ro' if block.get('readonly') is True else ''}"
                )
            else:
                others.append(block)
        if others:
            config[name] = others
        else:
            config.pop(name, None)
    config.pop("volumes", None)
    if binds:
        config["volumes"] = binds


def _constraints(part: model.Part, count: int) -> list[dict[str, str]]:
    """Return the constraints, each once; ``distinct_hosts`` only where it has an effect."""
    constraints: list[dict[str, str]] = []
    for block in part.constraints:
        if model.is_distinct_hosts(block):
            constraint = {"operator": "distinct_hosts"} if count > 1 else {}
        else:
            constraint = _constraint(block)
        if constraint and constraint not in constraints:
            constraints.append(constraint)
    return constraints


def _constraint(block: values.Map) -> dict[str, str]:
    short = next((name for name in _SHORT if name in block), "")
    operator = short or jobs.text(block, "operator") or "="
    fields = {
        "attribute": jobs.text(block, "attribute"),
        "operator": _OPERATORS.get(operator, operator),
        "value": jobs.text(block, short or "value"),
    }
    return {name: text for name, text in fields.items() if text and (name, text) != ("operator", "=")}
