"""
A job file as the parts that matter to CSI: plugins, the volumes that groups ask for, drivers and their configuration.

Read are HCL2, HCL in JSON (``{"job": {"name": {...}}}``) and the JSON of Nomad's API (``{"Job": {...}}``), which
`api` brings into the shape of the others. What has no field of its own here stays in the ``body`` of its part.

Source: hashicorp/nomad, ``jobspec2/types.config.go``, ``api/jobs.go``, ``api/tasks.go``, 2026-08-21.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nomad_csi.hcl import api, values

_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class CsiPluginBlock:
    """The ``csi_plugin`` block of a task."""

    id: str
    type: str
    """``controller``, ``node`` or ``monolith``, if the file is right."""

    mount_dir: str
    """Empty: Nomad's default, ``/csi``."""

    stage_publish_base_dir: str
    health_timeout_s: float | None
    """``None``: Nomad's default, 30 seconds."""

    body: values.Map


@dataclass(frozen=True, kw_only=True)
class TaskBlock:
    """A task: what is run, and as what."""

    name: str
    driver: str
    config: values.Map
    """Of the task driver; Nomad's validation does not check it."""

    env: values.Map
    plugin: CsiPluginBlock | None
    body: values.Map

    @property
    def image(self) -> str:
        """The container image; empty where the task driver knows none."""
        return text(self.config, "image")

    @property
    def arguments(self) -> list[str]:
        """The arguments of the command."""
        found = self.config.get("args", [])
        return [str(item) for item in found] if isinstance(found, list) else []

    def line_of_argument(self, index: int) -> int:
        """Return the line of one of the `arguments`."""
        return values.line_of(self.config.get("args"), index, self.config.at("args"))


@dataclass(frozen=True, kw_only=True)
class VolumeRequest:
    """The ``volume`` block of a group, of type ``csi``."""

    name: str
    source: str
    read_only: bool
    access_mode: str
    attachment_mode: str
    per_alloc: bool
    body: values.Map


@dataclass(frozen=True, kw_only=True)
class GroupBlock:
    """A group of tasks that run on one client."""

    name: str
    count: int | None
    """``None``: not said, which is one."""

    volumes: tuple[VolumeRequest, ...]
    tasks: tuple[TaskBlock, ...]
    body: values.Map


@dataclass(frozen=True, kw_only=True)
class JobFile:
    """A job."""

    id: str
    type: str
    namespace: str
    """Empty: not said, so it is the caller's."""

    groups: tuple[GroupBlock, ...]
    body: values.Map

    def plugins(self) -> Iterator[tuple[GroupBlock, TaskBlock, CsiPluginBlock]]:
        """Yield each CSI plugin with its group and task."""
        for group in self.groups:
            for task in group.tasks:
                if task.plugin is not None:
                    yield group, task, task.plugin


def jobs(content: values.Map) -> tuple[JobFile, ...]:
    """Return the jobs of a file that `read` gave the content of; none where it is no job file."""
    found = api.job(content)
    return tuple(_job(block) for block in ([found] if found is not None else labelled(content, "job")))


def labelled(body: values.Map, name: str) -> list[values.Map]:
    """Return the blocks called *name*, each with its label; JSON writes the label as a key around the block."""
    found = []
    for block in values.blocks(body, name):
        if block.labels:
            found.append(block)
            continue
        for label in block:
            for inner in values.blocks(block, label):
                inner[values.LABELS] = [label]
                found.append(inner)
    return found


def text(body: values.Map, name: str) -> str:
    """Return the text at *name*; empty where there is none."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def duration_s(value: Any) -> float | None:
    """Return seconds: ``"1m30s"`` is 90, a number is nanoseconds as in the API; ``None`` for what is neither."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value / _NANOSECONDS
    parts = _DURATION.findall(value) if isinstance(value, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != value:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _name(block: values.Map) -> str:
    return block.labels[0] if block.labels else ""


def _job(block: values.Map) -> JobFile:
    return JobFile(
        id=text(block, "id") or _name(block),
        type=text(block, "type") or "service",
        namespace=text(block, "namespace"),
        groups=tuple(map(_group, labelled(block, "group"))),
        body=block,
    )


def _group(block: values.Map) -> GroupBlock:
    count = block.get("count")
    requests = (_volume_request(item) for item in labelled(block, "volume") if item.get("type") == "csi")
    return GroupBlock(
        name=_name(block),
        count=count if isinstance(count, int) and not isinstance(count, bool) else None,
        volumes=tuple(requests),
        tasks=tuple(map(_task, labelled(block, "task"))),
        body=block,
    )


def _volume_request(block: values.Map) -> VolumeRequest:
    return VolumeRequest(
        name=_name(block),
        source=text(block, "source"),
        read_only=block.get("read_only") is True,
        access_mode=text(block, "access_mode"),
        attachment_mode=text(block, "attachment_mode"),
        per_alloc=block.get("per_alloc") is True,
        body=block,
    )


def _task(block: values.Map) -> TaskBlock:
    plugins = values.blocks(block, "csi_plugin")
    return TaskBlock(
        name=_name(block),
        driver=text(block, "driver"),
        config=values.block(block, "config"),
        env=values.block(block, "env"),
        plugin=_csi_plugin(plugins[0]) if plugins else None,
        body=block,
    )


def _csi_plugin(block: values.Map) -> CsiPluginBlock:
    return CsiPluginBlock(
        id=text(block, "id"),
        type=text(block, "type"),
        mount_dir=text(block, "mount_dir"),
        stage_publish_base_dir=text(block, "stage_publish_base_dir"),
        health_timeout_s=duration_s(block.get("health_timeout")),
        body=block,
    )
