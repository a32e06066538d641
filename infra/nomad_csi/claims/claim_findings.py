"""What is wrong with claims, each with its evidence and the next step. Pure."""

from collections.abc import Iterator

from nomad_csi import findings
from nomad_csi.aws.records import attachments
from nomad_csi.claims import claim_model
from nomad_csi.nomad.records import claim_holders, plugins, volumes

GRACE_S = 600.0
"""How long an ended allocation may hold on: every five minutes Nomad frees what ended five minutes before."""

WITHOUT_CONTROLLER = "claim-without-controller"
"""Code: a volume is claimed, and no controller can detach it."""

_GONE = frozenset({"terminated", attachments.MISSING})
_NS_IN_S = 1_000_000_000


def of_claim(
    found: claim_model.ObservedClaims, volume: volumes.Volume, item: claim_model.ClaimStatus
) -> Iterator[findings.Finding]:
    """Yield what is wrong with one claim."""
    subject = f"volume {volume.namespace}/{volume.volume_id}"
    repair = f"release the claim with `nomad-csi claims --repair {volume.namespace}/{volume.volume_id}`"
    claim = item.claim
    if item.status == "vanished":
        yield findings.finding(
            "claim-vanished",
            subject,
            expected="a claim of an allocation that Nomad knows",
            found=f"a {claim.mode} claim of allocation {claim.alloc_id}, which Nomad does not know",
            advice=repair,
        )
    elif item.status == "node-down":
        yield findings.finding(
            "claim-node-down",
            subject,
            expected="a claim of an allocation on a client that is up",
            found=f"{claim_holders.holder(claim)}; the client is {item.node_status}{_instance(item)}",
            advice=f"{_when_down(item)}, then {repair}",
        )
    elif item.status == "ended":
        is_stuck = not claim.changed_ns or found.now_ns - claim.changed_ns > GRACE_S * _NS_IN_S
        yield findings.finding(
            "claim-ended",
            subject,
            severity="error" if is_stuck else "warning",
            expected=f"a claim that is released within {GRACE_S / 60:g} minutes of its allocation's end",
            found=claim_holders.holder(claim),
            advice=f"look into the logs of the plugin's controller and node task, then {repair}"
            if is_stuck
            else "wait: Nomad is releasing the claim, or tries again",
        )


def _instance(item: claim_model.ClaimStatus) -> str:
    return f", its instance {item.instance_id} is {item.instance_state}" if item.instance_state else ""


def _when_down(item: claim_model.ClaimStatus) -> str:
    if item.instance_state in _GONE:
        return "the instance is gone and can no longer write: replace the client if you need it"
    if item.instance_state == "stopped":
        return "start the client again, or terminate its instance"
    return "start the client again, or make sure that its machine is off: its tasks may still write"


def of_plugin(found: claim_model.ObservedClaims, volume: volumes.Volume) -> Iterator[findings.Finding]:
    """Yield that nobody could detach a claimed volume."""
    plugin = found.plugins.get(volume.plugin_id)
    healthy = sum(item.healthy for item in plugin.controllers) if plugin else 0
    yield from without_controller(volume, plugin, healthy=healthy)


def without_controller(
    volume: volumes.Volume, plugin: plugins.Plugin | None, *, healthy: int
) -> Iterator[findings.Finding]:
    """Yield that a volume is claimed while none of its plugin's controllers is *healthy*, where it needs one."""
    is_required = volume.controller_required or (plugin is not None and plugin.controller_required)
    if volume.claims and is_required and not healthy:
        yield findings.finding(
            WITHOUT_CONTROLLER,
            f"volume {volume.namespace}/{volume.volume_id}",
            expected=f"a healthy controller of plugin {volume.plugin_id}, to detach the volume when it is released",
            found=f"{len(plugin.controllers)} controllers, none healthy" if plugin else "no such plugin",
        )


def of_storage(
    volume: volumes.Volume, judged: tuple[claim_model.ClaimStatus, ...], ebs: attachments.AttachedVolume
) -> Iterator[findings.Finding]:
    """Yield where EC2 has the volume otherwise than its claims say."""
    subject = f"volume {volume.namespace}/{volume.volume_id}"
    holders = {item.instance_id for item in judged}
    strangers = [place for place in ebs.attachments if place.instance_id not in holders]
    if ebs.state == attachments.MISSING:
        yield findings.finding(
            "storage-missing",
            subject,
            expected=f"{volume.external_id} in EC2",
            found="no such volume in this region",
        )
    elif not judged and ebs.attachments:
        is_leaving = all(place.state == "detaching" for place in ebs.attachments)
        yield findings.finding(
            "attached-unclaimed",
            subject,
            severity="warning" if is_leaving else "error",
            expected="a volume that is detached when nothing claims it",
            found=str(ebs),
            advice="wait until EC2 has detached it" if is_leaving else _when_attached(ebs),
        )
    elif strangers and "" not in holders:
        yield findings.finding(
            "attached-elsewhere",
            subject,
            expected=f"{volume.external_id} on the instance of its claim, {', '.join(sorted(holders))}",
            found=str(ebs),
            advice=_when_attached(ebs),
        )


def _when_attached(ebs: attachments.AttachedVolume) -> str:
    return (
        "make sure that nothing there has it mounted, then "
        f"`aws ec2 detach-volume --volume-id {ebs.external_id}`; until then, nothing may claim it"
    )
