"""
CSI plugins in Nomad. Plain data.

Source: hashicorp/nomad, ``nomad/structs/csi.go`` (``CSIPlugin``, ``CSIInfo``), 2026-08-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


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

    max_volumes: int | None
    """How many volumes the node can attach; ``None``: no limit is set, or this is a controller."""

    supports: frozenset[str]
    """Capabilities by Nomad's names: ``AttachDetach``, ``Expand`` ...; of a node also ``StageVolume``."""

    storage_node_id: str = ""
    """The storage provider's id of the client, such as an EC2 instance id; empty for a controller."""


@dataclass(frozen=True, kw_only=True)
class Plugin:
    """One CSI plugin: the instances of all jobs with its id."""

    plugin_id: str

    provider: str
    """The driver's own name, such as ``ebs.csi.aws.com``; empty until an instance was healthy."""

    version: str

    controller_required: bool
    """Known only after a controller instance was healthy; false before."""

    controllers: tuple[Instance, ...]
    nodes: tuple[Instance, ...]

    controllers_expected: int
    """Nomad's own count. 0 right after a system job is registered: never a measure of health on its own."""

    nodes_expected: int

    jobs: frozenset[tuple[str, str]] = frozenset()
    """Namespace and id of the jobs that Nomad expects instances from."""
