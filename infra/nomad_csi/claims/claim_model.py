"""What is known of claims, and the words for it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi import findings
from nomad_csi.aws import records as aws_records
from nomad_csi.nomad.records import nodes as records_nodes
from nomad_csi.nomad.records import plugins
from nomad_csi.nomad.records import volumes as volume_records

Status = Literal["live", "ended", "vanished", "node-down"]
"""
``live``: its allocation may use the volume. ``ended``: the allocation has ended for good. ``vanished``: Nomad does not
know the allocation any more. ``node-down``: its client is down, out of reach or unknown.
"""


@dataclass(frozen=True, kw_only=True)
class ObservedClaims:
    """What was asked of Nomad, and of EC2."""

    volumes: tuple[volume_records.Volume, ...]
    """Claimed ones; where EC2 was asked, also EBS volumes that nothing claims."""

    nodes: Mapping[str, records_nodes.Node]
    """All clients by id; described are those that claims name, where EC2 was asked."""

    plugins: Mapping[str, plugins.Plugin | None]
    """Those of claimed volumes by id."""

    ec2: aws_records.ObservedAttachments | None
    """``None``: EC2 was not asked."""

    now_ns: int
    """By Nomad's own clock, as its times are."""


@dataclass(frozen=True, kw_only=True)
class ClaimStatus:
    """One claim, and whether it means anything any more."""

    claim: volume_records.Claim
    status: Status

    node_status: str = ""
    """Status of the client; ``unknown`` where Nomad has forgotten it, empty where the claim names none."""

    instance_id: str = ""
    """EC2 instance of the client; empty where it is not known."""

    instance_state: str = ""
    """Empty where EC2 was not asked."""

    @property
    def has_ended(self) -> bool:
        """Whether Nomad itself counts the allocation as over, whatever became of its client."""
        return self.status == "vanished" or self.claim.client_status in volume_records.ENDED


@dataclass(frozen=True, kw_only=True)
class VolumeClaims:
    """One volume, and who holds it."""

    volume: volume_records.Volume
    claims: tuple[ClaimStatus, ...]
    ebs: aws_records.AttachedVolume | None
    """``None``: EC2 was not asked, or this is no EBS volume."""

    findings: tuple[findings.Finding, ...]

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return self.volume.key

    @property
    def is_held(self) -> bool:
        """Whether an allocation uses the volume, or may as far as anybody here can tell."""
        return not all(item.has_ended for item in self.claims)
