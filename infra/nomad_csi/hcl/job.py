"""
The parts of a job file that concern CSI: plugins, volume requests of groups, task drivers and their configuration.

Input is HCL2, HCL in JSON (``{"job": {"name": {...}}}``) or JSON of Nomad's API (``{"Job": {...}}``), which `api`
converts to the shape of the others. Names without a field here stay in the ``body`` of their part.

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


class _TextOfBody:
    """A text of the body, by the field's own name."""

    def __init__(self, default: str = "") -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, block: "Block", owner: type | None = None) -> str:
        return text(block.body, self.name) or self.default


@dataclass(frozen=True)
class Block:
    """A part of a job file. Its fields raise `values.UnevaluatedError` for what only Nomad computes."""

    body: values.Map

    @property
    def name(self) -> str:
        """Its label."""
        return self.body.labels[0] if self.body.labels else ""


class CsiPluginBlock(Block):
    """The ``csi_plugin`` block of a task."""

    id = _TextOfBody()
    type = _TextOfBody()
    """``controller``, ``node`` or ``monolith`` in a valid file."""

    mount_dir = _TextOfBody("/csi")

    stage_publish_base_dir = _TextOfBody()

    @property
    def health_timeout_s(self) -> float | None:
        """Seconds; ``None``: Nomad's default, 30."""
        return duration_s(self.body.get("health_timeout"))


class TaskBlock(Block):
    """A task: its task driver and configuration."""

    driver = _TextOfBody()

    @property
    def config(self) -> values.Map:
        """Configuration of the task driver; Nomad's validation does not check it."""
        return values.block(self.body, "config")

    @property
    def env(self) -> values.Map:
        """Environment variables."""
        return values.block(self.body, "env")

    @property
    def plugin(self) -> CsiPluginBlock | None:
        """The CSI plugin that it runs."""
        return next((CsiPluginBlock(item) for item in values.blocks(self.body, "csi_plugin")), None)

    @property
    def image(self) -> str:
        """The container image; empty where the task driver uses none."""
        return text(self.config, "image")

    @property
    def arguments(self) -> list[str]:
        """The arguments of the command."""
        return values.texts(self.config, "args")

    @property
    def shown_arguments(self) -> list[str]:
        """The same, each of which may be a `values.Unevaluated`; none where the list is not known."""
        args = self.config.written("args")
        return [item if isinstance(item, str) else str(item) for item in args] if isinstance(args, list) else []


class VolumeRequest(Block):
    """The ``volume`` block of a group, of type ``csi``."""

    source = _TextOfBody()
    access_mode = _TextOfBody()
    attachment_mode = _TextOfBody()

    @property
    def read_only(self) -> bool:
        """Whether the group only reads."""
        return self.body.get("read_only") is True

    @property
    def per_alloc(self) -> bool:
        """Whether each allocation has a volume of its own."""
        return self.body.get("per_alloc") is True


class GroupBlock(Block):
    """A group of tasks that run on one client."""

    @property
    def count(self) -> int | None:
        """``None``: unset, which means one."""
        count = self.body.get("count")
        return count if isinstance(count, int) and not isinstance(count, bool) else None

    @property
    def volumes(self) -> tuple[VolumeRequest, ...]:
        """The CSI volumes that it requests."""
        return tuple(VolumeRequest(item) for item in labelled(self.body, "volume") if item.get("type") == "csi")

    @property
    def tasks(self) -> tuple[TaskBlock, ...]:
        """Its tasks."""
        return tuple(map(TaskBlock, labelled(self.body, "task")))


class JobFile(Block):
    """A job."""

    namespace = _TextOfBody()
    """Empty: unset, so the caller's namespace applies."""

    @property
    def id(self) -> str:
        """Its id, which is its label where it names none."""
        return shown(self.body, "id") or self.name

    type = _TextOfBody("service")

    @property
    def groups(self) -> tuple[GroupBlock, ...]:
        """Its groups."""
        return tuple(map(GroupBlock, labelled(self.body, "group")))

    def plugins(self) -> Iterator[tuple[GroupBlock, TaskBlock, CsiPluginBlock]]:
        """Yield each CSI plugin with its group and task."""
        for group in self.groups:
            for task in group.tasks:
                if task.plugin is not None:
                    yield group, task, task.plugin


def jobs(content: values.Map) -> tuple[JobFile, ...]:
    """Return the jobs in *content*, a result of `read`; none where it is not a job file."""
    body = api.job(content)
    return tuple(map(JobFile, [body] if body is not None else labelled(content, "job")))


def labelled(body: values.Map, name: str) -> list[values.Map]:
    """Return the blocks called *name*, each with its label; JSON writes the label as a key around the block."""
    blocks = []
    for block in values.blocks(body, name):
        if block.labels:
            blocks.append(block)
            continue
        for label in block:
            for inner in values.blocks(block, label):
                inner[values.LABELS] = [label]
                blocks.append(inner)
    return blocks


def text(body: values.Map, name: str) -> str:
    """Return the string at *name*; empty where there is none."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def shown(body: values.Map, name: str) -> str:
    """Return the string at *name*, or the source of its value if that is not known."""
    value = body.written(name)
    return value if isinstance(value, str) else ""


def as_text(value: Any) -> str:
    """
    Return *value* of an attribute as the string that Nomad makes of it: ``true``, ``1000`` for 1000.0.

    Source: hashicorp/nomad, ``jobspec2/hcl_conversions.go``, which converts by cty, 2026-08-21.
    """
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def duration_s(value: Any) -> float | None:
    """Return seconds: ``"1m30s"`` is 90, a number is nanoseconds as in the API; ``None`` for other values."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value / _NANOSECONDS
    parts = _DURATION.findall(value) if isinstance(value, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != value:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
