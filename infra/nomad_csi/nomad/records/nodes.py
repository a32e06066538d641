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
    """Task driver -> whether it is there and healthy."""

    modify_index: int = 0
    """Raised by every change of the node."""

    version: str = ""
    """Of its Nomad, such as ``2.0.5``."""

    driver_attributes: Mapping[str, str] = field(default_factory=dict)
    """What its task drivers say of themselves, such as ``driver.docker.privileged.enabled``."""

    driver_health: Mapping[str, str] = field(default_factory=dict)
    """Task driver -> why it is healthy or not, in its words."""

    attributes: Mapping[str, str] = field(default_factory=dict)
    """Such as ``cpu.arch``. The list of nodes does not show them: empty until `described`."""

    meta: Mapping[str, str] = field(default_factory=dict)
    """What the operator says of the client. Empty until `described`."""
