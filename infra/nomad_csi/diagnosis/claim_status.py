"""
Claim status: whether the claiming allocation exists, and where its client stands. Pure.

Source: hashicorp/nomad, ``nomad/structs/csi.go``, ``nomad/core_sched.go`` and ``nomad/config.go``, 2026-08-21; tested
on Nomad 2.0.6-dev, 2026-08.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from nomad_csi.aws import records as aws_records
from nomad_csi.nomad import nodes, volumes

Status = Literal["live", "ended", "vanished", "node-down"]
"""
``live``: its allocation may use the volume. ``ended``: the allocation has ended for good. ``vanished``: Nomad no longer
knows the allocation. ``node-down``: its client is down, disconnected or unknown.
"""

_AWAY = frozenset({"down", "disconnected"})


@dataclass(frozen=True, kw_only=True)
class ClaimStatus:
    """One claim, and whether it is still valid."""

    claim: volumes.Claim
    status: Status

    node_status: str = ""
    """Status of the client; ``unknown`` if Nomad has garbage-collected it, empty if the claim names none."""

    instance_id: str = ""
    """EC2 instance of the client; empty if unknown."""

    instance_state: str = ""
    """Empty if EC2 was not asked."""

    @property
    def has_ended(self) -> bool:
        """Whether Nomad itself counts the allocation as ended, whatever the state of its client."""
        return self.status == "vanished" or self.claim.client_status in volumes.ENDED


@dataclass(frozen=True, kw_only=True)
class VolumeClaims:
    """One volume and its claims."""

    volume: volumes.Volume
    claims: tuple[ClaimStatus, ...]
    ebs: aws_records.AttachedVolume | None = None
    """``None``: EC2 was not asked, or this is not an EBS volume."""

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return self.volume.key

    @property
    def is_held(self) -> bool:
        """Whether an allocation uses the volume, or may use it as far as can be determined."""
        return not all(item.has_ended for item in self.claims)


def judge(
    registered: Iterable[volumes.Volume], clients: Iterable[nodes.Node], ec2: aws_records.ObservedAttachments | None
) -> tuple[VolumeClaims, ...]:
    """
    Return the status of the claims of each volume *registered*, in the same order.

    *clients* are all clients, with attributes if EC2 was asked; *ec2* is ``None`` if it was not.
    """
    by_id = {node.node_id: node for node in clients}
    return tuple(
        VolumeClaims(
            volume=volume,
            claims=tuple(_claim(claim, by_id, ec2) for claim in volume.claims),
            ebs=ec2.volumes.get(volume.external_id) if ec2 else None,
        )
        for volume in registered
    )


def instance_of(node: nodes.Node | None) -> str:
    """Return the EC2 instance that a described *node* runs on; empty if its attributes do not name one."""
    return node.attributes.get("unique.platform.aws.instance-id", "") if node else ""


def _claim(
    claim: volumes.Claim, clients: Mapping[str, nodes.Node], ec2: aws_records.ObservedAttachments | None
) -> ClaimStatus:
    if not claim.node_id:
        return ClaimStatus(claim=claim, status="vanished")
    node = clients.get(claim.node_id)
    instance_id = instance_of(node)
    node_status = node.status if node else "unknown"
    status: Status = "live"
    if node is None or node_status in _AWAY:
        status = "node-down"
    elif claim.client_status in volumes.ENDED:
        status = "ended"
    return ClaimStatus(
        claim=claim,
        status=status,
        node_status=node_status,
        instance_id=instance_id,
        instance_state=ec2.instances.get(instance_id, "") if ec2 else "",
    )
