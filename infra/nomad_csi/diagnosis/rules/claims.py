"""Claims that stay, clients of claims that drain or are lost, storage that is attached otherwise, mounts that fail."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.claim_status import ClaimStatus, VolumeClaims
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import Finding, causes, finding
from nomad_csi.nomad import jobs, nodes, plugins, volumes
from nomad_csi.text import foreign, listing

# Allocations that ended, and clients that are lost.


GRACE_S = 600.0
"""
How long an ended allocation may keep its claim: every five minutes Nomad releases the claims of allocations that ended
five minutes before.
"""

_GONE = frozenset({"terminated", aws_records.MISSING})
_NS_IN_S = 1_000_000_000

_CLAIMS = "who claims volumes"


@rule("claim-vanished", "claim-ended", "claim-ending", claims=_CLAIMS)
def find_ended(cluster: facts.Facts, claims: Sequence[VolumeClaims]) -> Iterator[facts.Outcome]:
    """Yield claims of allocations that have ended, or that Nomad does not know."""
    for volume, item in ((each, item) for each in claims for item in each.claims):
        subject, claim = f"volume {volume.key}", item.claim
        repair = f"release the claim with `nomad-csi claims repair {volume.key}`"
        if item.status == "vanished":
            yield finding(
                "claim-vanished",
                subject,
                expected="a claim of an allocation that Nomad knows",
                found=f"a {claim.mode} claim of allocation {claim.alloc_id}, which Nomad does not know",
                advice=repair,
            )
        elif item.status == "ended":
            logs = f"look into the logs of the plugin's controller and node task, then {repair}"
            is_stuck = not claim.changed_ns or cluster.now_ns - claim.changed_ns > GRACE_S * _NS_IN_S
            yield finding(
                "claim-ended" if is_stuck else "claim-ending",
                subject,
                expected=f"a claim that is released within {GRACE_S / 60:g} minutes of its allocation's end",
                found=volumes.holder(claim),
                advice=logs if is_stuck else "",
            )


@rule("claim-node-down", claims="")
def find_lost_clients(_cluster: facts.Facts, claims: Sequence[VolumeClaims]) -> Iterator[facts.Outcome]:
    """Yield a finding for each client that is down, disconnected or unknown, with the claims that it holds."""
    lost: dict[str, list[tuple[VolumeClaims, ClaimStatus]]] = {}
    for volume in claims:
        for item in volume.claims:
            if item.status == "node-down":
                lost.setdefault(item.claim.node_id, []).append((volume, item))
    yield from map(_lost_client, lost.values())


def _lost_client(claims: Sequence[tuple[VolumeClaims, ClaimStatus]]) -> Finding:
    """Return the finding on one client."""
    keys = list(dict.fromkeys(volume.key for volume, _ in claims))
    subjects = [f"volume {key}" for key in keys]
    item = claims[0][1]
    machine = f", its instance {item.instance_id} is {item.instance_state}" if item.instance_state else ""
    return finding(
        "claim-node-down",
        f"client {item.claim.node_name or item.claim.node_id}",
        expected="claims of allocations on a client that is up",
        found=f"it is {item.node_status}{machine}; allocations there claim {listing.shortened(keys)}",
        advice=f"{_when_down(item)}, then release each claim with `nomad-csi claims repair {keys[0]}`",
        about=tuple(subjects),
        links=(*subjects, causes.of_client(item.claim.node_id)),
    )


def _when_down(item: ClaimStatus) -> str:
    if item.instance_state in _GONE:
        return "the instance is gone and can no longer write: replace the client if you need it"
    if item.instance_state == "stopped":
        return "start the client again, or terminate its instance"
    return "start the client again, or make sure that its machine is off: its tasks may still write"


# Clients that drain, or run no healthy instance of the volumes' plugin.


RUN_AGAIN = (
    "run the plugin on this client again: start its node job with `pulumi up`, or `nomad-csi apply` and the spec; "
    "`nomad-csi verify` shows why an instance is not healthy"
)
"""What to do where a ready client has no healthy instance."""

Plugins = Mapping[str, plugins.Plugin]
_Claims = list[tuple[volumes.Volume, volumes.Claim]]


@rule(
    "claim-node-draining",
    "claim-without-node-plugin",
    claimed="claims on draining or ineligible clients",
    plugins="",
    clients="",
)
def find_drains(
    cluster: facts.Facts, claimed: Sequence[volumes.Volume], plugins: Plugins, clients: Sequence[nodes.Node]
) -> Iterator[facts.Outcome]:
    """
    Yield findings on claims on clients that drain, or have no healthy node plugin for them.

    A client that is not ready is not checked here: its claims are `claim-node-down`.
    """
    for item in facts.value(cluster.claims_read).unread:
        yield facts.Unchecked(check=f"who claims {item.what}", reason=item.reason)
    by_client: dict[str, _Claims] = defaultdict(list)
    for volume in claimed:
        for claim in volume.claims:
            by_client[claim.node_id].append((volume, claim))
    ready = [node for node in clients if node.status == "ready"]
    for node in sorted(ready, key=lambda item: (item.name, item.node_id)):
        yield from _client_findings(node, by_client[node.node_id], plugins)


def _client_findings(node: nodes.Node, claims: _Claims, running: Plugins) -> Iterator[Finding]:
    is_leaving = node.draining or not node.eligible
    state = "draining" if node.draining else "not eligible for scheduling" if is_leaving else "ready"
    live = [volume for volume, claim in claims if claim.client_status not in volumes.ENDED]
    if live and is_leaving:
        yield finding(
            "claim-node-draining",
            f"client {node.name}",
            found=f"{state}; allocations there claim {_named(live)}",
            about=_subjects(live),
            names={"CLIENT": node.node_id[:8]},
            links=(causes.of_client(node.node_id),),
        )
    for plugin_id in sorted({volume.plugin_id for volume, _ in claims}):
        plugin = running.get(plugin_id)
        if any(item.node_id == node.node_id and item.healthy for item in (plugin.nodes if plugin else ())):
            continue
        stranded = [volume for volume, _ in claims if volume.plugin_id == plugin_id]
        yield finding(
            "claim-without-node-plugin",
            f"plugin {plugin_id} on {node.name}",
            expected="a healthy instance until nothing there claims its volumes",
            found=f"none; the client is {state}, and {_named(stranded)} claimed there",
            about=_subjects(stranded),
            advice="" if is_leaving else RUN_AGAIN,
            names={"CLIENT": node.node_id[:8]},
            links=(f"node instance of plugin {plugin_id} on {node.name}", causes.of_all_nodes(plugin_id)),
        )


def _named(claimed: Iterable[volumes.Volume]) -> str:
    """Return ``default/a, default/b and 3 more``."""
    return listing.shortened(sorted({volume.key for volume in claimed}))


def _subjects(claimed: Iterable[volumes.Volume]) -> tuple[str, ...]:
    return tuple(sorted({f"volume {volume.key}" for volume in claimed}))


# Attachments in EC2 that are not those of the claims.


@rule(
    "attached-unclaimed",
    "attached-detaching",
    "attached-elsewhere",
    attachments="where EC2 has claimed volumes attached",
    claims="",
)
def find_attached(
    _cluster: facts.Facts, attachments: aws_records.ObservedAttachments, claims: Sequence[VolumeClaims]
) -> Iterator[facts.Outcome]:
    """Yield the differences between EC2's attachments and the claims of each volume."""
    for volume in claims:
        ebs = attachments.volumes.get(volume.volume.external_id)
        if ebs is None or ebs.state == aws_records.MISSING:  # of which `storage-missing` speaks
            continue
        holders = {item.instance_id for item in volume.claims}
        if not volume.claims and ebs.attachments:
            is_leaving = all(each.state == "detaching" for each in ebs.attachments)
            yield finding(
                "attached-detaching" if is_leaving else "attached-unclaimed",
                f"volume {volume.key}",
                expected="a volume that is detached when nothing claims it",
                found=str(ebs),
                advice="" if is_leaving else _when_attached(ebs),
            )
        elif "" not in holders and any(each.instance_id not in holders for each in ebs.attachments):
            yield finding(
                "attached-elsewhere",
                f"volume {volume.key}",
                expected=f"{ebs.external_id} on the instance of its claim, {', '.join(sorted(holders))}",
                found=str(ebs),
                advice=_when_attached(ebs),
            )


def _when_attached(ebs: aws_records.AttachedVolume) -> str:
    return (
        "make sure that nothing there has it mounted, then "
        f"`aws ec2 detach-volume --volume-id {ebs.external_id}`; until then, nothing may claim it"
    )


# Allocations that fail to get a volume.


@rule("volume-mount-failing", "mounts-unread", failed_mounts="allocations that fail to get a volume", volumes="")
def find_failing(
    _cluster: facts.Facts, failed_mounts: facts.FailedMounts, volumes: Sequence[facts.ExaminedVolume]
) -> Iterator[facts.Outcome]:
    """
    Yield the volumes that allocations ask for and fail to get, and namespaces whose allocations were not listed.

    Where the error of an allocation names some of them, it failed for these.
    """
    for namespace, reason in failed_mounts.unread.items():
        yield finding("mounts-unread", f"namespace {namespace}", found=reason)
    by_volume: dict[str, list[jobs.FailedMount]] = defaultdict(list)
    for item in failed_mounts.failed:
        ids = failed_mounts.wanted.get(item.alloc_id, ())
        for volume_id in [each for each in ids if _names(item.error or "", each)] or ids:
            by_volume[f"{item.namespace}/{volume_id}"].append(item)
    plugins_of = {volume.key: volume.plugin_id for volume in volumes if volume.is_registered}
    for key, items in by_volume.items():
        if key in plugins_of:
            yield _failing(f"volume {key}", plugins_of[key], items)


def _names(error: str, volume_id: str) -> bool:
    """Return whether *error* names the volume: ``could not claim volume data: ...``."""
    return re.search(rf'\bvolume "?{re.escape(volume_id)}"?(?=[\s:,]|$)', error) is not None


def _failing(subject: str, plugin_id: str, items: list[jobs.FailedMount]) -> Finding:
    names = [f"{item.alloc_id[:8]} of job {item.job_id} on {item.node_name}" for item in items]
    return finding(
        "volume-mount-failing",
        subject,
        expected="allocations that mount it",
        found=f"{listing.counted(len(items), 'failed allocation')} ({listing.shortened(names)}): "
        f"{foreign.clean(items[-1].error or '')}",
        names={"ALLOC": items[-1].alloc_id[:8]},
        links=(subject, *causes.of_plugin(plugin_id), *(causes.of_client(item.node_id) for item in items)),
    )
