"""Rows of the tables of a page, each with how grave it is. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from nomad_csi.claims import claim_model, claims_report
from nomad_csi.health.instances import InstanceRow
from nomad_csi.report import model, words


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientRow:
    """One client."""

    client: model.ReportedClient
    state_kind: words.Kind
    kind: words.Kind
    """Of the client and of all instances on it."""

    remark: str
    """What is not well on it: its own state apart, ``aws-ebs0 node: hung``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PluginInstanceRow:
    """One instance of a plugin."""

    row: InstanceRow
    zone: str
    """Of the client, where the instance itself reports none: so for controllers."""

    kind: words.Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRow:
    """One volume."""

    volume: model.ReportedVolume
    kind: words.Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimRow:
    """One claim."""

    namespace: str
    key: str
    """Of the volume."""

    claim: claim_model.ClaimStatus
    job: str
    """``namespace/job``, or ``-`` where Nomad does not know the allocation any more."""

    client: str
    """Its name, with its status where that is not ``ready``."""

    since: str
    kind: words.Kind


def clients(report: model.ClusterReport) -> tuple[ClientRow, ...]:
    """Return a row for each client."""
    return tuple(_client(client) for client in report.clients)


def _client(client: model.ReportedClient) -> ClientRow:
    wrong = {name: word for name, word in client.statuses.items() if words.kind(word) != "good"}
    kind = words.worst(words.kind(word) for word in (client.state, *wrong.values()))
    remark = "; ".join(f"{name}: {word}" for name, word in wrong.items())
    return ClientRow(client=client, state_kind=words.kind(client.state), kind=kind, remark=remark)


def instances(plugin: model.ReportedPlugin, zones: Mapping[str, str]) -> tuple[PluginInstanceRow, ...]:
    """
    Return a row for each instance of *plugin*; *zones* are those of the clients, by node id.

    One that nobody asked for is worth knowing, and no more.
    """
    return tuple(
        PluginInstanceRow(
            row=row,
            zone=row.zone or zones.get(row.node_id, ""),
            kind="warn" if row.is_extra else words.kind(row.status),
        )
        for row in (plugin.status.instances if plugin.status else ())
    )


def volumes(report: model.ClusterReport) -> tuple[VolumeRow, ...]:
    """Return a row for each volume."""
    return tuple(VolumeRow(volume=volume, kind=words.kind(volume.status)) for volume in report.volumes)


def claims(report: model.ClusterReport) -> tuple[ClaimRow, ...]:
    """Return a row for each claim."""
    return tuple(
        ClaimRow(
            namespace=held.volume.namespace,
            key=held.key,
            claim=item,
            job=f"{item.claim.namespace}/{item.claim.job_id}" if item.claim.job_id else "-",
            client=_holder(item),
            since=claims_report.time_text(item.claim.since_ns),
            kind=words.kind(item.status),
        )
        for held in report.claims
        for item in held.claims
    )


def _holder(item: claim_model.ClaimStatus) -> str:
    name = item.claim.node_name or item.claim.node_id or "-"
    return name if item.node_status in {"ready", ""} else f"{name} ({item.node_status})"
