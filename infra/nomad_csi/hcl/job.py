"""
The parts of a job file that concern CSI: plugins, volume requests of groups, task drivers and their configuration.

Input is HCL2, HCL in JSON (``{"job": {"name": {...}}}``) or JSON of Nomad's API (``{"Job": {...}}``), which `api`
converts to the shape of the others. Names without a field here stay in the ``body`` of their part.

Source: hashicorp/nomad, ``jobspec2/types.config.go``, ``api/jobs.go``, ``api/tasks.go``, 2026-08-21.
"""

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from nomad_csi.hcl import api, values

_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of a job file."""

    body: values.Map


BlockT = TypeVar("BlockT", bound=Block)


@dataclass(frozen=True, kw_only=True)
class CsiPluginBlock(Block):
    """The ``csi_plugin`` block of a task."""

    id: str
    type: str
    """``controller``, ``node`` or ``monolith`` in a valid file."""

    mount_dir: str
    """Empty: Nomad's default, ``/csi``."""

    stage_publish_base_dir: str
    health_timeout_s: float | None
    """``None``: Nomad's default, 30 seconds."""


@dataclass(frozen=True, kw_only=True)
class TaskBlock(Block):
    """A task: its task driver and configuration."""

    name: str
    driver: str
    config: values.Map
    """Configuration of the task driver; Nomad's validation does not check it."""

    env: values.Map
    plugin: CsiPluginBlock | None

    @property
    def image(self) -> str:
        """The container image; empty where the task driver uses none."""
        return text(self.config, "image")

    @property
    def arguments(self) -> list[str]:
        """The arguments of the command."""
        return values.texts(self.config, "args")

    def line_of_argument(self, index: int) -> int:
        """Return the line of one of the `arguments`."""
        return values.line_of(self.config.get("args"), index, self.config.at("args"))


@dataclass(frozen=True, kw_only=True)
class VolumeRequest(Block):
    """The ``volume`` block of a group, of type ``csi``."""

    name: str
    source: str
    read_only: bool
    access_mode: str
    attachment_mode: str
    per_alloc: bool


@dataclass(frozen=True, kw_only=True)
class GroupBlock(Block):
    """A group of tasks that run on one client."""

    name: str
    count: int | None
    """``None``: unset, which means one."""

    volumes: tuple[VolumeRequest, ...]
    tasks: tuple[TaskBlock, ...]


@dataclass(frozen=True, kw_only=True)
class JobFile(Block):
    """A job."""

    id: str
    type: str
    namespace: str
    """Empty: unset, so the caller's namespace applies."""

    groups: tuple[GroupBlock, ...]

    def plugins(self) -> Iterator[tuple[GroupBlock, TaskBlock, CsiPluginBlock]]:
        """Yield each CSI plugin with its group and task."""
        for group in self.groups:
            for task in group.tasks:
                if task.plugin is not None:
                    yield group, task, task.plugin


def jobs(content: values.Map) -> tuple[JobFile, ...]:
    """Return the jobs in *content*, a result of `read`; none where it is not a job file."""
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
    """Return the string at *name*; empty where there is none."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def duration_s(value: Any) -> float | None:
    """Return seconds: ``"1m30s"`` is 90, a number is nanoseconds as in the API; ``None`` for other values."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value / _NANOSECONDS
    parts = _DURATION.findall(value) if isinstance(value, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != value:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def _name(block: values.Map) -> str:
    return block.labels[0] if block.labels else ""


def _read(kind: type[BlockT], block: values.Map, **own: Any) -> BlockT:
    """Return *block* as a *kind*: strings and booleans by the names of its fields, and its *own* values."""
    found: dict[str, Any] = {"body": block}
    for item in dataclasses.fields(kind):
        if item.type is str:
            found[item.name] = text(block, item.name)
        elif item.type is bool:
            found[item.name] = block.get(item.name) is True
    return kind(**found | own)


def _job(block: values.Map) -> JobFile:
    groups = tuple(map(_group, labelled(block, "group")))
    job_id, kind = text(block, "id") or _name(block), text(block, "type") or "service"
    return _read(JobFile, block, id=job_id, type=kind, groups=groups)


def _group(block: values.Map) -> GroupBlock:
    count = block.get("count")
    requests = (item for item in labelled(block, "volume") if item.get("type") == "csi")
    return _read(
        GroupBlock,
        block,
        name=_name(block),
        count=count if isinstance(count, int) and not isinstance(count, bool) else None,
        volumes=tuple(_read(VolumeRequest, item, name=_name(item)) for item in requests),
        tasks=tuple(map(_task, labelled(block, "task"))),
    )


def _task(block: values.Map) -> TaskBlock:
    plugins = [
        _read(CsiPluginBlock, item, health_timeout_s=duration_s(item.get("health_timeout")))
        for item in values.blocks(block, "csi_plugin")
    ]
    config, env = values.block(block, "config"), values.block(block, "env")
    return _read(TaskBlock, block, name=_name(block), config=config, env=env, plugin=next(iter(plugins), None))
