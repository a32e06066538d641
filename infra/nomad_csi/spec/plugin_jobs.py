"""The jobs of a plugin, as an operator writes what differs from the driver's own."""

from typing import Annotated, Literal

import pydantic

from nomad_csi.spec import base

TaskDriver = Literal["docker", "podman", "raw_exec", "exec"]
CONTAINERS: frozenset[str] = frozenset({"docker", "podman"})
"""Task drivers that run an image."""


class TaskDriverSpec(base.Model):
    """How the plugin's process is run on the clients."""

    name: TaskDriver = "docker"
    """``docker`` or ``podman``; ``raw_exec`` for clients without them; ``exec`` for controllers only."""

    command: base.Word | None = None
    """``raw_exec``, ``exec``: the driver's binary, absolute or on the client agent's PATH. Required there."""

    arguments: tuple[base.Text, ...] = ()
    """``raw_exec``, ``exec``: arguments of *command* that stand before the driver's own."""

    client_data_dir: base.Directory | None = None
    """``data_dir`` of the Nomad clients. Required for ``raw_exec``: no API reports it. Elsewhere only probes use it."""


class ControllerSpec(base.Model):
    """The controller job, where it differs from the plugin."""

    count: base.Count | None = None
    """Instances, on distinct clients; the driver's usual number when absent (EBS: 2, democratic-csi: 1)."""

    resources: base.ResourcesSpec | None = None
    task_driver: TaskDriverSpec | None = None


class NodeSpec(base.Model):
    """The node job, where it differs from the plugin."""

    resources: base.ResourcesSpec | None = None


class MonolithSpec(base.Model):
    """The job of a driver whose process is controller and node in one, where it differs from the plugin."""

    job_type: base.JobType | None = None
    """
    ``system`` runs one instance on each eligible client, ``service`` *count* instances; the driver's usual when absent.

    Nomad changes no job's type: another one replaces the job, which is stopped first, not while a volume is claimed.
    """

    count: base.Count | None = None
    """Instances of a service job; the driver's usual number when absent."""

    resources: base.ResourcesSpec | None = None


class JobIdsSpec(base.Model):
    """
    Ids of the plugin's jobs: for jobs that run already under other names, and are to be taken over.

    A job whose id changes is stopped and purged before the one of the new id is started, not while a volume is claimed.
    """

    controller: base.JobId | None = None
    """Of the controller job; ``plugin-PLUGIN_ID-controller`` when absent."""

    node: base.JobId | None = None
    """Of the node job; ``plugin-PLUGIN_ID-nodes`` when absent."""

    monolith: base.JobId | None = None
    """Of the job that is both; ``plugin-PLUGIN_ID-monolith`` when absent."""


class ConstraintSpec(base.Model):
    """On which clients the plugin may run."""

    attribute: base.Word
    """A runtime variable such as ``${attr.cpu.arch}``, ``${meta.storage}`` or ``${node.class}``."""

    operator: Literal[
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
    ] = "="
    """How to compare, in Nomad's words."""

    value: base.Text = ""
    """What to compare with. None for ``is_set`` and ``is_not_set``."""


class RestartSpec(base.Model):
    """How a plugin that ends is started again. It is never given up: after *attempts* Nomad waits and goes on."""

    attempts: Annotated[int, pydantic.Field(ge=1)] = 3
    """How often within *interval_s*."""

    interval_s: base.Count = 300
    """The interval, at least 5 s."""

    delay_s: base.Count = 15
    """Between an end and the next start."""


class UpdateSpec(base.Model):
    """How a changed job replaces its instances. Absent: as Nomad does by itself."""

    max_parallel: Annotated[int, pydantic.Field(ge=1)] = 1
    """Instances that are replaced at the same time."""

    min_healthy_time_s: base.Count = 10
    """How long a new one must be healthy before the next is replaced."""

    healthy_deadline_s: base.Count = 300
    """When a new one that is not healthy counts as failed."""

    auto_revert: bool = False
    """Whether Nomad goes back to the last version that was healthy."""


class ExtraArgumentsSpec(base.Model):
    """Arguments for the driver beyond those that the catalogue renders."""

    controller: tuple[base.Text, ...] = ()
    """For controllers, behind the rendered ones."""

    node: tuple[base.Text, ...] = ()
    """For node instances."""

    monolith: tuple[base.Text, ...] = ()
    """For instances that are both."""
