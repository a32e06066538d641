"""A report arranged for a page: grouped and sorted, the worst first. Pure; the template has texts and markup."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nomad_csi.diagnosis import claim_status, claims_report, page_data
from nomad_csi.findings import Finding, causes, printing
from nomad_csi.health.instances import InstanceRow
from nomad_csi.text import listing

SHOWN = 5
"""Findings of one code that are shown initially; the others can be expanded."""

ROWS = 50
"""Unhealthy rows of one table that are shown initially; the others can be expanded."""


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A number at the top of the page, and the section that it links to."""

    label: str
    count: int
    remark: str
    kind: page_data.Kind


@dataclass(frozen=True, kw_only=True)
class FindingGroup:
    """All findings of one code."""

    first: Finding
    kind: page_data.Kind
    advice: str
    """The common advice of all findings; empty if they differ."""

    shown: Sequence[Finding]
    """The first ones; of warnings, which are not urgent, only a single one."""

    folded: Sequence[Finding]
    consequences: Sequence[tuple[Finding, str]]
    """What follows from these findings: one of each kind, with the subjects of all."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """Rows of a table, each with its `kind`: unhealthy rows, to be shown, and all rows in groups, to be expanded."""

    wrong: Sequence[Any]
    groups: Mapping[str, Sequence[Any]]
    """By name; rows without one come last."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PluginInstanceRow:
    """One instance of a plugin."""

    row: InstanceRow
    zone: str
    """Zone of the client, if the instance itself reports none, as for controllers."""

    @property
    def kind(self) -> page_data.Kind:
        """Its severity; an unexpected instance is at most informational."""
        return "warn" if self.row.is_extra else page_data.kind_of(self.row.status)


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimRow:
    """One claim on a volume."""

    held: claim_status.VolumeClaims
    item: claim_status.ClaimStatus
    problems: Sequence[Finding]
    """Findings about the claim, or its volume where that is claimed."""

    @property
    def kind(self) -> page_data.Kind:
        """The worst of its status and of the findings about it."""
        return page_data.worst(map(page_data.kind_of, (self.item.status, *(item.severity for item in self.problems))))

    @property
    def status(self) -> str:
        """Its status, with the codes of the findings about it: ``live, claim-without-node-plugin``."""
        return ", ".join(dict.fromkeys((self.item.status, *(item.code for item in self.problems))))

    @property
    def client(self) -> str:
        """The name of its client, with its status if that is not ``ready``."""
        name = self.item.claim.node_name or self.item.claim.node_id or "-"
        return name if self.item.node_status in {"ready", ""} else f"{name} ({self.item.node_status})"

    @property
    def since(self) -> str:
        """Creation time of its allocation."""
        return claims_report.time_text(self.item.claim.since_ns)


@dataclass(frozen=True, kw_only=True)
class Page:
    """The values for the template."""

    report: page_data.ClusterReport
    tiles: Iterable[Tile]
    problems: Sequence[FindingGroup]
    zones: Sequence[tuple[page_data.Zone, int]]
    """Each with the number of its ready clients that have a problem."""

    checked: Mapping[str, Sequence[page_data.EvidenceCount]]
    """How many were checked by which means."""

    plugins: Sequence[tuple[page_data.ReportedPlugin, Split]]
    clients: Split
    volumes: Split
    claims: Split


def render_page(report: page_data.ClusterReport) -> Page:
    """Build the page of *report*."""
    zone_of = {client.node_id: client.zone for client in report.clients}
    claims = [
        ClaimRow(held=held, item=item, problems=_problems_of_claim(report.findings, held, item))
        for held in report.claims
        for item in held.claims
    ]
    return Page(
        report=report,
        tiles=_tiles(report, claims),
        problems=tuple(_problems(report.findings)),
        zones=tuple(_zones(report)),
        plugins=tuple((plugin, _instances(plugin, zone_of)) for plugin in report.plugins),
        checked=page_data.grouped(report.evidence, lambda item: item.what),
        clients=_split(report.clients, lambda client: client.zone),
        volumes=_split(report.volumes, lambda volume: ", ".join(volume.zones)),
        claims=_split(claims, lambda row: row.held.volume.namespace),
    )


_OF_CLAIMS = frozenset({"claim-without-node-plugin", "claim-without-controller", "claim-node-draining"})
"""Codes of findings about a claim that is live."""


def _problems_of_claim(
    found: Iterable[Finding], held: claim_status.VolumeClaims, item: claim_status.ClaimStatus
) -> tuple[Finding, ...]:
    """Return the findings about the claim: about its volume, and where they name a client, about its client."""
    subject, client = f"volume {held.key}", item.claim.node_name
    return tuple(
        each
        for each in found
        if each.code in _OF_CLAIMS
        and subject in (each.about or (each.subject,))
        and (each.code == "claim-without-controller" or each.subject.endswith(f" {client}"))
    )


def _tiles(report: page_data.ClusterReport, claims: Sequence[ClaimRow]) -> Iterator[Tile]:
    yield _tile("plugins", report.plugins, "healthy")
    yield _tile("clients", report.clients, "healthy")
    yield _tile("volumes", report.volumes, "ok", more=_sizes(report.volumes))
    held = sum(volume.claims for volume in report.volumes)
    yield _tile("claims", claims, "live", count=held, unread=report.claims_unread)


def _sizes(volumes: Iterable[page_data.ReportedVolume]) -> str:
    """Return the sum of their sizes, each storage once: ``120GiB, 3 of unknown size``; empty if none is known."""
    sizes = {volume.external_id: volume.size_bytes for volume in volumes if volume.external_id}
    unknown = sum(not size for size in sizes.values())
    total = sum(sizes.values())
    return f"{listing.size(total)}{f', {unknown:,} of unknown size' if unknown else ''}" if total else ""


def _tile(
    label: str, rows: Sequence[Any], fine: str, *, more: str = "", count: int | None = None, unread: int = 0
) -> Tile:
    kinds = [row.kind for row in rows]
    wrong = sum(kind != "good" for kind in kinds)
    remarks = [f"{wrong:,} not {fine}" if wrong else f"all {fine}", *filter(None, [more])]
    if unread:
        remarks.append(f"claims of {listing.grouped(unread, 'volume')} not read")
        kinds.append("unsure")
    total = len(rows) if count is None else count
    return Tile(label=label, count=total, remark="; ".join(remarks) if total else "none", kind=page_data.worst(kinds))


def _problems(found: Iterable[Finding]) -> Iterator[FindingGroup]:
    roots = causes.roots(found)
    by_code = page_data.grouped(roots, lambda pair: (pair[0].severity, pair[0].code, pair[0].found_by))
    for (severity, *_), pairs in by_code.items():
        items = [item for item, _ in pairs]
        hints = {item.advice for item in items}
        shown = SHOWN if severity == "error" else len(items) == 1
        following = printing.alike(each for _, consequences in pairs for each in consequences)
        yield FindingGroup(
            first=items[0],
            kind=page_data.kind_of(severity),
            advice=hints.pop() if len(hints) == 1 else "",
            shown=items[:shown],
            folded=items[shown:],
            consequences=tuple((group[0], listing.shortened([each.subject for each in group])) for group in following),
        )


def _zones(report: page_data.ClusterReport) -> Iterator[tuple[page_data.Zone, int]]:
    by_zone = page_data.grouped(report.clients, lambda client: client.zone)
    for zone in report.zones:
        there = by_zone[zone.name]
        ill = sum(client.state == "ready" and client.kind != "good" for client in there)
        yield zone, ill


def _instances(plugin: page_data.ReportedPlugin, zone_of: Mapping[str, str]) -> Split:
    found = plugin.status.instances if plugin.status else ()
    rows = [PluginInstanceRow(row=row, zone=row.zone or zone_of.get(row.node_id, "")) for row in found]
    return _split(rows, lambda row: row.zone)


def _split(rows: Sequence[Any], group_of: Callable[[Any], str]) -> Split:
    groups = page_data.grouped(rows, group_of)
    names = sorted(groups, key=lambda name: (not name, name))
    return Split(wrong=[row for row in rows if row.kind != "good"], groups={name: groups[name] for name in names})
