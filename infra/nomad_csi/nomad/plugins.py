"""
Read CSI plugins. They are global: no namespace.

Source: hashicorp/nomad, ``nomad/structs/csi.go`` (``CSIPlugin``, ``CSIInfo``), 2026-08-21.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pydantic

from nomad_csi.nomad import replies, request


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One running plugin task, in one of its roles; a monolith has both. Appears only after it was healthy once."""

    role: Literal["controller", "node"]
    node_id: str
    alloc_id: str

    healthy: bool
    """Nomad's status. It lags: a hung plugin shows after 46 s, one killed and restarted in place never does."""

    health_description: str

    provider: str = ""
    """The name that it reported, such as ``ebs.csi.aws.com``."""

    provider_version: str
    """``vendor_version`` of the plugin, such as ``v1.64.0``."""

    segments: Mapping[str, str]
    """Topology that the node reports; empty for a controller."""

    supports: frozenset[str]
    """Capabilities by Nomad's names: ``AttachDetach``, ``Expand`` ...; of a node also ``StageVolume``."""


@dataclass(frozen=True, kw_only=True)
class Topology(replies.Record):
    """The segments of a topology."""

    segments: replies.Texts = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _RoleInfo(replies.Record):
    """What an instance reports in one of its roles."""

    accessible_topology: Topology = field(default_factory=Topology)
    supports: frozenset[str] = frozenset()

    @pydantic.model_validator(mode="before")
    @classmethod
    def _prepared(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        names = {key.removeprefix("Supports") for key, value in values.items() if key.startswith("Supports") and value}
        stages = {"StageVolume"} if values.get("RequiresNodeStageVolume") else set()
        return replies.present(values) | {"Supports": names | stages}


@dataclass(frozen=True, kw_only=True)
class _Info(replies.Record):
    """An instance as Nomad shows it: by its client, for both roles."""

    alloc_id: str = ""
    healthy: bool = False
    health_description: str = ""
    provider: str = ""
    provider_version: str = ""
    controller_info: _RoleInfo = field(default_factory=_RoleInfo)
    node_info: _RoleInfo = field(default_factory=_RoleInfo)


def _instances(infos: Mapping[str, _Info | None], role: Literal["controller", "node"]) -> Iterator[Instance]:
    for node_id, item in sorted(infos.items()):
        info = item or _Info()
        own = info.controller_info if role == "controller" else info.node_info
        yield Instance(
            role=role,
            node_id=node_id,
            alloc_id=info.alloc_id,
            healthy=info.healthy,
            health_description=info.health_description,
            provider=info.provider,
            provider_version=info.provider_version,
            segments=own.accessible_topology.segments,
            supports=own.supports,
        )


_INFOS = dict[str, _Info | None]
_JOBS = tuple[dict[str, dict[str, Any] | None] | None, ...]
"""Of both roles: ``{NAMESPACE: {JOB: {"Expected": 1}}}``."""


def _jobs(roles: Iterable[Mapping[str, Mapping[str, Any] | None] | None]) -> Iterator[tuple[str, str]]:
    for role in roles:
        for namespace, jobs in (role or {}).items():
            yield from ((namespace, job_id) for job_id in jobs or {})


@dataclass(frozen=True, kw_only=True)
class Plugin(replies.Record):
    """One CSI plugin: the instances of all jobs with its id."""

    plugin_id: replies.Id = ""

    provider: str = ""
    """The driver's own name, such as ``ebs.csi.aws.com``; empty until an instance was healthy."""

    version: str = ""

    controller_required: bool = False
    """Known only after a controller instance was healthy; false before."""

    controllers: Annotated[
        tuple[Instance, ...], replies.Derived(_INFOS, lambda infos: tuple(_instances(infos, "controller")))
    ] = ()
    nodes: Annotated[tuple[Instance, ...], replies.Derived(_INFOS, lambda infos: tuple(_instances(infos, "node")))] = ()

    controllers_expected: int = 0
    """Nomad's own count. 0 right after a system job is registered: never a measure of health on its own."""

    nodes_expected: int = 0

    jobs: Annotated[frozenset[tuple[str, str]], replies.Derived(_JOBS, lambda roles: frozenset(_jobs(roles)))] = (
        frozenset()
    )
    """Namespace and id of the jobs that Nomad expects instances from."""

    @pydantic.model_validator(mode="before")
    @classmethod
    def _prepared(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        return replies.present(values) | {"Jobs": [values.get("ControllerJobs"), values.get("NodeJobs")]}


def get(nomad: request.Nomad, plugin_id: str) -> Plugin | None:
    """Return the plugin; ``None``: no job has that id. Its record exists before any instance."""
    return replies.one(nomad, request.path_of("plugin", "csi", plugin_id), Plugin, absent="plugin not found")


def list_ids(nomad: request.Nomad) -> tuple[str, ...]:
    """Return the ids of all CSI plugins, sorted. Without ``type`` Nomad would return an empty list."""
    plugins = replies.many(nomad, request.path_of("plugins"), Plugin, query={"type": "csi"})
    return tuple(sorted(item.plugin_id for item in plugins))
