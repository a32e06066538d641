"""Claims as JSON and as a table."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from nomad_csi import exit_codes, findings
from nomad_csi.aws import records as aws_records
from nomad_csi.aws import regions
from nomad_csi.diagnosis import claim_status
from nomad_csi.findings import causes, printing
from nomad_csi.nomad import volumes as volume_records
from nomad_csi.text import foreign, listing, table

_NS_IN_S = 1_000_000_000


@dataclass(frozen=True, kw_only=True)
class ClaimsReport:
    """The claims report."""

    volumes: tuple[claim_status.VolumeClaims, ...]

    raw_findings: tuple[findings.Finding, ...] = ()

    ec2: regions.Region = regions.NONE
    """Where EC2 was queried for the attachments of the EBS volumes, or why not."""

    unread: tuple[volume_records.Unread, ...] = ()
    """Claimed volumes that the token may not read."""

    @property
    def findings(self) -> tuple[findings.Finding, ...]:
        """All findings; each that another one explains has that as cause."""
        return causes.assign(self.raw_findings)

    @property
    def ok(self) -> bool:
        """Whether no claim is stuck and all claims were read; warnings do not count."""
        return not self.exit_code

    @property
    def exit_code(self) -> int:
        """0: no claim is stuck. 1: at least one is. 2: none is as far as is known, but not all could be read."""
        if findings.errors_of(self.findings):
            return exit_codes.CHANGES
        is_known = self.ec2.name or self.ec2.is_expected
        return 0 if is_known and not self.unread else exit_codes.ERROR

    def as_json(self) -> dict[str, Any]:
        """
        Return the report as JSON values. Keys stay stable once released.

        ``{"ok": bool, "asked_ec2": bool, "volumes": [...], "findings": [...], "not_read": [...]}``. A volume has
        ``namespace``, ``volume_id``, ``plugin_id``, ``external_id``, ``claims`` and ``ebs``, which is null if EC2 was
        not asked for it. ``since`` is the time in UTC at which the allocation was created; an unknown value is an empty
        string. An entry of ``not_read`` has ``namespace``, ``volume_ids`` and ``reason``.
        """
        return {
            "ok": self.ok,
            "asked_ec2": bool(self.ec2.name),
            "volumes": [
                volume_as_json(volume)
                for volume in self.volumes
                if volume.claims or any(item.subject == f"volume {volume.key}" for item in self.raw_findings)
            ],
            "findings": printing.as_json(self.findings),
            "not_read": [
                {"namespace": item.namespace, "volume_ids": list(item.volume_ids), "reason": item.reason}
                for item in self.unread
            ],
        }

    def as_table(self, width: int = 120, *, colour: bool = False) -> str:
        """Return the report as aligned text of at most *width* columns if possible, ending in a newline."""
        rows = [_row(volume, item) for volume in self.volumes for item in volume.claims]
        head = ("volume", "status", "client", "state", "mode", "since", "allocation", "job")
        texts = [table.columns([head, *rows], width, colour=colour)] if rows else []
        if self.findings:
            texts.append(printing.as_text(self.findings, width, colour=colour))
        texts += [f"not read: {item}" for item in self.unread]
        texts.append(self._sum())
        return "\n\n".join(texts) + "\n"

    def _sum(self) -> str:
        count = sum(len(volume.claims) for volume in self.volumes)
        asked = f"; {self.ec2.reason}" if self.ec2.reason else ""
        unread = sum(len(item.volume_ids) for item in self.unread)
        also = f"; {listing.counted(unread, 'claimed volume')} not read" if unread else ""
        return f"{listing.counted(count, 'claim')}: {printing.totals(self.findings)}{also}{asked}"


def time_text(time_s: float) -> str:
    """Return a time in seconds since 1970 in UTC, such as ``2026-11-21T14:52:41Z``; 0 is empty."""
    return dt.datetime.fromtimestamp(time_s, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if time_s else ""


def _row(volume: claim_status.VolumeClaims, item: claim_status.ClaimStatus) -> table.Row:
    claim = item.claim
    return (
        volume.key,
        item.status,
        claim.node_name or claim.node_id or "-",
        claim.client_status or "-",
        claim.mode,
        time_text(claim.since_ns // _NS_IN_S) or "-",
        claim.alloc_id,
        foreign.clean(f"{claim.namespace}/{claim.job_id}") if claim.job_id else "-",
    )


def volume_as_json(volume: claim_status.VolumeClaims) -> dict[str, Any]:
    """Return *volume* as `ClaimsReport.as_json` has it."""
    names = ("namespace", "volume_id", "plugin_id", "external_id")
    return {name: getattr(volume.volume, name) for name in names} | {
        "claims": [_claim_json(item) for item in volume.claims],
        "ebs": _ebs_json(volume.ebs) if volume.ebs else None,
    }


def _claim_json(item: claim_status.ClaimStatus) -> dict[str, Any]:
    names = ("alloc_id", "mode", "namespace", "job_id", "node_id", "node_name", "client_status", "desired_status")
    of_node = ("status", "node_status", "instance_id", "instance_state")
    return {
        **{name: getattr(item.claim, name) for name in names},
        "since": time_text(item.claim.since_ns // _NS_IN_S),
        **{name: getattr(item, name) for name in of_node},
    }


def _ebs_json(ebs: aws_records.AttachedVolume) -> dict[str, Any]:
    names = ("instance_id", "state", "device", "instance_state")
    return {
        "state": ebs.state,
        "attachments": [{name: getattr(each, name) for name in names} for each in ebs.attachments],
    }
