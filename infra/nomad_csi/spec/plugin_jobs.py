"""Spec of a plugin's jobs, where they differ from the driver's defaults."""

from typing import Annotated, Literal

import pydantic

from nomad_csi.spec import base

TaskDriver = Literal["docker", "podman", "raw_exec", "exec"]
CONTAINERS: frozenset[str] = frozenset({"docker", "podman"})
"""Task drivers that run an image."""


class TaskDriverSpec(base.Model):
    """How Nomad runs the plugin's process on the clients."""

    name: TaskDriver = "docker"
    """``docker`` or ``podman``; ``raw_exec`` for clients without them; ``exec`` for controllers only."""

    command: base.Word | None = None
    """The driver's binary: an absolute path, or on the client agent's PATH. Required for ``raw_exec`` and ``exec``."""

    arguments: tuple[base.Text, ...] = ()
    """``raw_exec``, ``exec``: arguments of *command* in front of the driver's arguments."""

    client_data_dir: base.Directory | None = None
    """``data_dir`` of the Nomad clients. Required for ``raw_exec``: no API reports it. Elsewhere only probes use it."""


class ControllerSpec(base.Model):
    """The controller job, where it differs from the plugin."""

    count: base.Count | None = None
    """Number of instances, on distinct clients; absent: the driver's default (EBS: 2, democratic-csi: 1)."""

    resources: base.ResourcesSpec | None = None
    task_driver: TaskDriverSpec | None = None


class NodeSpec(base.Model):
    """The node job, where it differs from the plugin."""

    resources: base.ResourcesSpec | None = None


class MonolithSpec(base.Model):
    """The job of a driver whose process is both controller and node, where it differs from the plugin."""

    job_type: base.JobType | None = None
    """
    ``system`` runs one instance on each eligible client, ``service`` *count* instances; absent: the driver's default.

    Nomad cannot change the type of a job: the job is stopped and replaced, but not while a volume is claimed.
    """

    count: base.Count | None = None
    """Number of instances of a service job; absent: the driver's default."""

    resources: base.ResourcesSpec | None = None


class JobIdsSpec(base.Model):
    """
    Ids of the plugin's jobs, to take over jobs that already run under other names.

    If an id changes, the old job is stopped and purged before the new one starts, but not while a volume is claimed.
    """

    controller: base.JobId | None = None
    """Id of the controller job; absent: ``plugin-PLUGIN_ID-controller``."""

    node: base.JobId | None = None
    """Id of the node job; absent: ``plugin-PLUGIN_ID-nodes``."""

    monolith: base.JobId | None = None
    """Id of the monolith job; absent: ``plugin-PLUGIN_ID-monolith``."""


ConstraintOperator = Literal[
    "=",
    "!=",
    ">",
    ">=",
    "<",
    "<=",
    "regexp",
    "version",
    "semver",
    "set_contains",
    "set_contains_any",
    "is_set",
    "is_not_set",
]


class ConstraintSpec(base.Model):
    """A condition that clients must meet to run the plugin."""

    attribute: base.Word
    """A runtime variable such as ``${attr.cpu.arch}``, ``${meta.storage}`` or ``${node.class}``."""

    operator: ConstraintOperator = "="
    """Nomad's comparison operator."""

    value: base.Text = ""
    """Value to compare with. Leave it out for ``is_set`` and ``is_not_set``."""


class RestartSpec(base.Model):
    """How Nomad restarts a plugin that ends. Nomad never gives up: after *attempts* it waits, then tries again."""

    attempts: Annotated[int, pydantic.Field(ge=1)] = 3
    """Restarts within *interval_s* before Nomad waits."""

    interval_s: base.Count = 300
    """Length of the interval in seconds, at least 5."""

    delay_s: base.Count = 15
    """Seconds between the end of the task and its next start."""


class UpdateSpec(base.Model):
    """How Nomad replaces the instances of a changed job. Absent: Nomad's defaults."""

    max_parallel: Annotated[int, pydantic.Field(ge=1)] = 1
    """Number of instances that are replaced at the same time."""

    min_healthy_time_s: base.Count = 10
    """Seconds for which a new instance must be healthy before the next one is replaced."""

    healthy_deadline_s: base.Count = 300
    """Seconds after which a new instance that is not healthy counts as failed."""

    auto_revert: bool = False
    """Whether Nomad reverts a failed update to the last healthy version."""


class ExtraArgumentsSpec(base.Model):
    """Arguments for the driver beyond those that the catalogue renders."""

    controller: tuple[base.Text, ...] = ()
    """For controllers, after the rendered arguments."""

    node: tuple[base.Text, ...] = ()
    """For node instances."""

    monolith: tuple[base.Text, ...] = ()
    """For monolith instances."""
