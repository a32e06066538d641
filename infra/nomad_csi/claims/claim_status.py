"""
The status of claims: is the allocation that holds a volume there, and is the volume where its claims say. Pure.

Source: hashicorp/nomad, ``nomad/structs/csi.go``, ``nomad/core_sched.go`` and ``nomad/config.go``, 2026-08-21; tried
on Nomad 2.0.6-dev, 2026-08.
"""

from nomad_csi.claims import claim_findings, claim_model
from nomad_csi.nomad.records import claim_holders, nodes, volumes

_AWAY = frozenset({"down", "disconnected"})


def judge(found: claim_model.ObservedClaims) -> tuple[claim_model.VolumeClaims, ...]:
    """Return the status of each volume of *found*, in their order."""
    return tuple(_volume(found, volume) for volume in found.volumes)


def instance_of(node: nodes.Node | None) -> str:
    """Return the EC2 instance that a described *node* runs on; empty where it does not say."""
    return node.attributes.get("unique.platform.aws.instance-id", "") if node else ""


def _volume(found: claim_model.ObservedClaims, volume: volumes.Volume) -> claim_model.VolumeClaims:
    judged = tuple(_claim(found, claim) for claim in volume.claims)
    ebs = found.ec2.volumes.get(volume.external_id) if found.ec2 else None
    seen = (
        *(finding for item in judged for finding in claim_findings.of_claim(found, volume, item)),
        *claim_findings.of_plugin(found, volume),
        *(claim_findings.of_storage(volume, judged, ebs) if ebs else ()),
    )
    return claim_model.VolumeClaims(volume=volume, claims=judged, ebs=ebs, findings=seen)


def _claim(found: claim_model.ObservedClaims, claim: volumes.Claim) -> claim_model.ClaimStatus:
    if not claim.node_id:
        return claim_model.ClaimStatus(claim=claim, status="vanished")
    node = found.nodes.get(claim.node_id)
    instance_id = instance_of(node)
    node_status = node.status if node else "unknown"
    status: claim_model.Status = "live"
    if node is None or node_status in _AWAY:
        status = "node-down"
    elif claim.client_status in claim_holders.ENDED:
        status = "ended"
    return claim_model.ClaimStatus(
        claim=claim,
        status=status,
        node_status=node_status,
        instance_id=instance_id,
        instance_state=found.ec2.instances.get(instance_id, "") if found.ec2 else "",
    )
