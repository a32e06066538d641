"""Nomad clients. Plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Node:
    """One Nomad client."""

    node_id: str
    name: str
    datacenter: str
    node_pool: str
    node_class: str

    status: str
    """``ready``, ``down``, ``initializing`` or ``disconnected``."""

    eligible: bool
    """Whether the scheduler may place new allocations on it."""

    draining: bool

    drivers: Mapping[str, bool]
    """Task drivers that the client detected -> whether they are healthy."""

    modify_index: int = 0
    """Increases with every change of the node."""

    version: str = ""
    """Its Nomad version, such as ``2.0.5``."""

    driver_attributes: Mapping[str, str] = field(default_factory=dict)
    """Attributes of its task drivers, such as ``driver.docker.privileged.enabled``."""

    driver_health: Mapping[str, str] = field(default_factory=dict)
    """Task driver -> its health description."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    """Such as ``cpu.arch``. Not in the list of nodes: empty until `described`."""

    meta: Mapping[str, str] = field(default_factory=dict)
    """Metadata that the operator sets on the client. Empty until `described`."""

    matches: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    """Attribute such as ``${meta.rack}`` and regular expression -> whether Nomad finds it there. Not in the list."""


# The servers of a region.
#
# Source: hashicorp/nomad, ``command/agent/agent_endpoint.go`` (``AgentMembersRequest``) and
# ``nomad/status_endpoint.go`` (``Members``: needs node read), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.


@dataclass(frozen=True, kw_only=True)
class Server:
    """One Nomad server."""

    name: str
    """Such as ``nomad-1.global``."""

    status: str
    """``alive``, ``failed``, ``leaving`` or ``left``."""

    version: str
    """Such as ``2.0.5``, ``1.10.7+ent`` or ``2.0.6-dev``."""
