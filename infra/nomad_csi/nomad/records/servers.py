"""
The servers of a region. Plain data.

Source: hashicorp/nomad, ``command/agent/agent_endpoint.go`` (``AgentMembersRequest``) and ``nomad/status_endpoint.go``
(``Members``: needs node read), 2026-08-21; tried on Nomad 2.0.6-dev, 2026-11.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Server:
    """One Nomad server."""

    name: str
    """Such as ``nomad-1.global``."""

    status: str
    """``alive``, ``failed``, ``leaving`` or ``left``."""

    version: str
    """Such as ``2.0.5``, ``1.10.7+ent`` or ``2.0.6-dev``."""
