"""
Claim status: whether the claiming allocation exists, and whether the volume is attached as claimed. Pure.

Source: hashicorp/nomad, ``nomad/structs/csi.go``, ``nomad/core_sched.go`` and ``nomad/config.go``, 2026-08-21; tested
on Nomad 2.0.6-dev, 2026-08.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nomad_csi import findings
from nomad_csi.aws import records as aws_records
from nomad_csi.findings import Finding, causes, finding
from nomad_csi.nomad import jobs, nodes, plugins, volumes
from nomad_csi.text import foreign, listing

# Observed claims and their status values.


Status = Literal["live", "ended", "vanished", "node-down"]
"""
``live``: its allocation may use the volume. ``ended``: the allocation has ended for good. ``vanished``: Nomad no longer
knows the allocation. ``node-down``: its client is down, disconnected or unknown.
"""


@dataclass(frozen=True, kw_only=True)
class ObservedClaims:
    """The claims as Nomad and EC2 report them."""

    volumes: tuple[volumes.Volume, ...]
    """Claimed volumes; if EC2 was asked, also unclaimed EBS volumes."""

    nodes: Mapping[str, nodes.Node]
    """All clients by id; with attributes for those that claims name, if EC2 was asked."""

    plugins: Mapping[str, plugins.Plugin | None]
    """The plugins of claimed volumes by id."""

    ec2: aws_records.ObservedAttachments | None
    """``None``: EC2 was not asked."""

    now_ns: int
    """Nomad's own clock, as for its timestamps."""


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
    ebs: aws_records.AttachedVolume | None
    """``None``: EC2 was not asked, or this is not an EBS volume."""

    findings: tuple[findings.Finding, ...]

    @property
    def key(self) -> str:
        """``namespace/volume_id``."""
        return self.volume.key

    @property
    def is_held(self) -> bool:
        """Whether an allocation uses the volume, or may use it as far as can be determined."""
        return not all(item.has_ended for item in self.claims)


# Findings on claims, each with its evidence and the next step.


GRACE_S = 600.0
"""
How long an ended allocation may keep its claim: every five minutes Nomad releases the claims of allocations that ended
five minutes before.
"""

WITHOUT_CONTROLLER = "claim-without-controller"
"""Code: a volume is claimed, and no controller can detach it."""

_GONE = frozenset({"terminated", aws_records.MISSING})
_NS_IN_S = 1_000_000_000


def findings_of_claim(found: ObservedClaims, volume: volumes.Volume, item: ClaimStatus) -> Iterator[findings.Finding]:
    """Yield the findings on one claim; on a client that is away, see `find_lost_clients`."""
    subject = f"volume {volume.key}"
    repair = f"release the claim with `nomad-csi claims repair {volume.key}`"
    claim = item.claim
    if item.status == "vanished":
        yield findings.finding(
            "claim-vanished",
            subject,
            expected="a claim of an allocation that Nomad knows",
            found=f"a {claim.mode} claim of allocation {claim.alloc_id}, which Nomad does not know",
            advice=repair,
        )
    elif item.status == "ended":
        is_stuck = not claim.changed_ns or found.now_ns - claim.changed_ns > GRACE_S * _NS_IN_S
        yield findings.finding(
            "claim-ended" if is_stuck else "claim-ending",
            subject,
            expected=f"a claim that is released within {GRACE_S / 60:g} minutes of its allocation's end",
            found=volumes.holder(claim),
            advice=f"look into the logs of the plugin's controller and node task, then {repair}" if is_stuck else "",
        )


def _instance(item: ClaimStatus) -> str:
    return f", its instance {item.instance_id} is {item.instance_state}" if item.instance_state else ""


def _when_down(item: ClaimStatus) -> str:
    if item.instance_state in _GONE:
        return "the instance is gone and can no longer write: replace the client if you need it"
    if item.instance_state == "stopped":
        return "start the client again, or terminate its instance"
    return "start the client again, or make sure that its machine is off: its tasks may still write"


def findings_of(judged: Sequence[VolumeClaims]) -> Iterator[findings.Finding]:
    """Yield all findings on claims: on clients that are away, then volume by volume."""
    yield from find_lost_clients(judged)
    yield from (item for volume in judged for item in volume.findings)


def find_lost_clients(judged: Iterable[VolumeClaims]) -> Iterator[findings.Finding]:
    """Yield a finding for each client that is down, disconnected or unknown, with the claims that it holds."""
    lost: dict[str, list[tuple[VolumeClaims, ClaimStatus]]] = {}
    for volume in judged:
        for item in volume.claims:
            if item.status == "node-down":
                lost.setdefault(item.claim.node_id, []).append((volume, item))
    yield from (_lost_client(held) for held in lost.values())


def _lost_client(held: Sequence[tuple[VolumeClaims, ClaimStatus]]) -> findings.Finding:
    """Return the finding on one client: of the volume if it holds one claim, else of the client."""
    keys = list(dict.fromkeys(volume.key for volume, _ in held))
    subjects = [f"volume {key}" for key in keys]
    _, item = held[0]
    claim = item.claim
    is_one = len(held) == 1
    claims = volumes.holder(claim) if is_one else f"{len(held)} claims of {listing.shortened(subjects)}"
    repair = f"release the claim with `nomad-csi claims repair {keys[0]}`"
    return findings.finding(
        "claim-node-down",
        subjects[0] if is_one else f"client {claim.node_name or claim.node_id}",
        expected="a claim of an allocation on a client that is up",
        found=f"{claims}; the client is {item.node_status}{_instance(item)}",
        advice=f"{_when_down(item)}, then {repair}{'' if is_one else ', one volume after the other'}",
        links=(*subjects, causes.of_client(claim.node_id)),
    )


def find_missing_controller(
    volume: volumes.Volume, plugin: plugins.Plugin | None, *, healthy: int
) -> Iterator[findings.Finding]:
    """Yield a finding if the volume is claimed, needs a controller, and its plugin has no *healthy* one."""
    is_required = volume.controller_required or (plugin is not None and plugin.controller_required)
    if volume.claims and is_required and not healthy:
        yield findings.finding(
            WITHOUT_CONTROLLER,
            f"volume {volume.key}",
            expected=f"a healthy controller of plugin {volume.plugin_id}, to detach the volume when it is released",
            found=f"{len(plugin.controllers)} controllers, none healthy" if plugin else "no such plugin",
            names={"PLUGIN": volume.plugin_id},
            links=(causes.of_role(volume.plugin_id, "controller"),),
        )


def findings_of_storage(
    volume: volumes.Volume, judged: tuple[ClaimStatus, ...], ebs: aws_records.AttachedVolume
) -> Iterator[findings.Finding]:
    """Yield a finding for each difference between EC2's attachments and the volume's claims."""
    subject = f"volume {volume.key}"
    holders = {item.instance_id for item in judged}
    strangers = [place for place in ebs.attachments if place.instance_id not in holders]
    if ebs.state == aws_records.MISSING:
        yield findings.finding(
            "storage-missing",
            subject,
            expected=f"{volume.external_id} in EC2",
            found="no such volume in this region",
        )
    elif not judged and ebs.attachments:
        is_leaving = all(place.state == "detaching" for place in ebs.attachments)
        yield findings.finding(
            "attached-detaching" if is_leaving else "attached-unclaimed",
            subject,
            expected="a volume that is detached when nothing claims it",
            found=str(ebs),
            advice="" if is_leaving else _when_attached(ebs),
        )
    elif strangers and "" not in holders:
        yield findings.finding(
            "attached-elsewhere",
            subject,
            expected=f"{volume.external_id} on the instance of its claim, {', '.join(sorted(holders))}",
            found=str(ebs),
            advice=_when_attached(ebs),
        )


def _when_attached(ebs: aws_records.AttachedVolume) -> str:
    return (
        "make sure that nothing there has it mounted, then "
        f"`aws ec2 detach-volume --volume-id {ebs.external_id}`; until then, nothing may claim it"
    )


# The status of a volume and of its claims.


_AWAY = frozenset({"down", "disconnected"})


def judge(found: ObservedClaims) -> tuple[VolumeClaims, ...]:
    """Return the status of each volume of *found*, in the same order."""
    return tuple(_volume(found, volume) for volume in found.volumes)


def instance_of(node: nodes.Node | None) -> str:
    """Return the EC2 instance that a described *node* runs on; empty if its attributes do not name one."""
    return node.attributes.get("unique.platform.aws.instance-id", "") if node else ""


def _volume(found: ObservedClaims, volume: volumes.Volume) -> VolumeClaims:
    judged = tuple(_claim(found, claim) for claim in volume.claims)
    ebs = found.ec2.volumes.get(volume.external_id) if found.ec2 else None
    plugin = found.plugins.get(volume.plugin_id)
    healthy = sum(item.healthy for item in plugin.controllers) if plugin else 0
    seen = (
        *(finding for item in judged for finding in findings_of_claim(found, volume, item)),
        *find_missing_controller(volume, plugin, healthy=healthy),
        *(findings_of_storage(volume, judged, ebs) if ebs else ()),
    )
    return VolumeClaims(volume=volume, claims=judged, ebs=ebs, findings=seen)


def _claim(found: ObservedClaims, claim: volumes.Claim) -> ClaimStatus:
    if not claim.node_id:
        return ClaimStatus(claim=claim, status="vanished")
    node = found.nodes.get(claim.node_id)
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
        instance_state=found.ec2.instances.get(instance_id, "") if found.ec2 else "",
    )


Key = tuple[str, str]
"""Namespace and id of a volume."""


def failing(
    failed: Iterable[jobs.FailedMount], wanted: Mapping[str, tuple[str, ...]], plugins: Mapping[Key, str]
) -> Iterator[Finding]:
    """
    Yield a finding for each volume of *plugins* (the plugin's id, by volume) that allocations fail to get.

    *wanted* are the ids of the volumes that an allocation asks for, by its id. Where its error names some of them, it
    failed for these.
    """
    by_volume: dict[Key, list[jobs.FailedMount]] = defaultdict(list)
    for item in failed:
        ids = wanted.get(item.alloc_id, ())
        for volume_id in [each for each in ids if _names(item.error, each)] or ids:
            by_volume[item.namespace, volume_id].append(item)
    for key, items in by_volume.items():
        if key in plugins:
            yield _finding(key, plugins[key], items)


def _names(error: str, volume_id: str) -> bool:
    """Return whether *error* names the volume: ``could not claim volume data: ...``."""
    return re.search(rf'\bvolume "?{re.escape(volume_id)}"?(?=[\s:,]|$)', error) is not None


def _finding(key: Key, plugin_id: str, items: list[jobs.FailedMount]) -> Finding:
    names = [f"{item.alloc_id[:8]} of job {item.job_id} on {item.node_name}" for item in items]
    subject = f"volume {key[0]}/{key[1]}"
    return finding(
        "volume-mount-failing",
        subject,
        expected="allocations that mount it",
        found=f"{listing.counted(len(items), 'failed allocation')} ({listing.shortened(names)}): "
        f"{foreign.clean(items[-1].error)}",
        names={"ALLOC": items[-1].alloc_id[:8]},
        links=(subject, *causes.of_plugin(plugin_id), *(causes.of_client(item.node_id) for item in items)),
    )
