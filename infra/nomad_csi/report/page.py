"""A report as a page shows it: grouped, sorted, the worst first. Pure; text and markup are the template's."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from nomad_csi.claims import claims_report
from nomad_csi.findings import Finding
from nomad_csi.report import model, tables
from nomad_csi.text import listing

SHOWN = 5
"""Errors of one code that are shown at once; the rest can be opened."""

ROWS = 50
"""Rows of one table that are shown at once, of what is not well; the rest can be opened."""


class GradedRow(Protocol):
    """A row of a table."""

    @property
    def kind(self) -> tables.Kind:
        """How grave it is."""
        ...


_Row = TypeVar("_Row", bound=GradedRow)


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A number at the top of the page."""

    label: str
    count: int
    remark: str
    kind: tables.Kind
    target: str
    """Id of the section that tells more."""


@dataclass(frozen=True, kw_only=True)
class FindingGroup:
    """All findings of one code."""

    code: str
    severity: str
    kind: tables.Kind
    found_by: str
    advice: str
    """Where all of them advise the same; else empty."""

    shown: tuple[Finding, ...]
    """The first; none of warnings, which can all wait."""

    folded: tuple[Finding, ...]


@dataclass(frozen=True, kw_only=True)
class RowGroup(Generic[_Row]):
    """Rows of a table that belong together."""

    name: str
    rows: tuple[_Row, ...]


@dataclass(frozen=True, kw_only=True)
class Split(Generic[_Row]):
    """Rows of a table: what is not well, to be shown, and everything in groups, to be opened."""

    wrong: tuple[_Row, ...]
    groups: tuple[RowGroup[_Row], ...]


@dataclass(frozen=True, kw_only=True)
class PluginView:
    """A plugin and its instances."""

    plugin: model.ReportedPlugin
    word: str
    kind: tables.Kind
    instances: Split[tables.PluginInstanceRow]


@dataclass(frozen=True, kw_only=True)
class ZoneView:
    """A zone, and its clients as a picture."""

    zone: model.Zone
    chart: tables.Chart


@dataclass(frozen=True, kw_only=True)
class Page:
    """All that the template needs."""

    report: model.ClusterReport
    status: str
    kind: tables.Kind
    asked_at: str
    nomad_versions: str
    tool_version: str
    tiles: tuple[Tile, ...]
    problems: tuple[FindingGroup, ...]
    zones: tuple[ZoneView, ...]
    plugins: tuple[PluginView, ...]
    clients: Split[tables.ClientRow]
    volumes: Split[tables.VolumeRow]
    claims: Split[tables.ClaimRow]


def of(report: model.ClusterReport, tool_version: str) -> Page:
    """Return the page of *report*, made by *tool_version* of this package."""
    status, kind = tables.of_report(report)
    of_clients, of_claims = tables.clients(report), tables.claims(report)
    of_volumes = tables.volumes(report)
    return Page(
        report=report,
        status=status,
        kind=kind,
        asked_at=claims_report.time_text(report.cluster.asked_ns),
        nomad_versions=", ".join(sorted({server.version for server in report.cluster.servers})),
        tool_version=tool_version,
        tiles=tuple(_tiles(report, of_clients, of_volumes, of_claims)),
        problems=tuple(_problems(report.findings)),
        zones=tuple(_zones(report, of_clients)),
        plugins=tuple(_plugin(report, plugin) for plugin in report.plugins),
        clients=_split(of_clients, lambda row: row.client.zone),
        volumes=_split(of_volumes, lambda row: ", ".join(row.volume.zones)),
        claims=_split(of_claims, lambda row: row.namespace),
    )


def _tiles(
    report: model.ClusterReport,
    clients: Sequence[tables.ClientRow],
    volumes: Sequence[tables.VolumeRow],
    claims: Sequence[tables.ClaimRow],
) -> Iterable[Tile]:
    kinds = [tables.of_plugin(plugin)[1] for plugin in report.plugins]
    yield _tile("plugins", kinds, "healthy")
    yield _tile("clients", [row.kind for row in clients], "well")
    yield _tile("volumes", [row.kind for row in volumes], "in order")
    held = sum(volume.claims for volume in report.volumes)
    seen = [row.kind for row in claims]
    yield _tile("claims", seen, "live", count=held, unread=report.claims_unread)


def _tile(label: str, kinds: Sequence[tables.Kind], fine: str, *, count: int | None = None, unread: int = 0) -> Tile:
    wrong = sum(kind != "good" for kind in kinds)
    remark = f"{wrong:,} not {fine}" if wrong else f"all {fine}"
    if unread:
        remark += f"; holders of {listing.grouped(unread, 'volume')} not read"
    total = len(kinds) if count is None else count
    kind = tables.worst((*kinds, "unsure") if unread else kinds)
    return Tile(label=label, count=total, remark=remark if total else "none", kind=kind, target=label)


def _problems(found: Iterable[Finding]) -> Iterable[FindingGroup]:
    by_code: dict[tuple[str, str, str], list[Finding]] = defaultdict(list)
    for item in found:
        by_code[item.severity, item.code, item.found_by].append(item)
    for (severity, code, found_by), items in by_code.items():
        hints = {item.advice for item in items}
        advice = hints.pop() if len(hints) == 1 else ""
        shown = SHOWN if severity == "error" else 0
        yield FindingGroup(
            code=code,
            severity=severity,
            kind="bad" if severity == "error" else "warn",
            found_by=found_by,
            advice=advice,
            shown=tuple(items[:shown]),
            folded=tuple(items[shown:]),
        )


def _zones(report: model.ClusterReport, rows: Iterable[tables.ClientRow]) -> Iterable[ZoneView]:
    kinds: dict[str, list[tables.Kind]] = defaultdict(list)
    for row in rows:
        kinds[row.client.zone].append(row.kind)
    for zone in report.zones:
        yield ZoneView(zone=zone, chart=tables.chart_of(kinds[zone.name]))


def _plugin(report: model.ClusterReport, plugin: model.ReportedPlugin) -> PluginView:
    word, kind = tables.of_plugin(plugin)
    rows = tables.instances(plugin, {client.node_id: client.zone for client in report.clients})
    return PluginView(plugin=plugin, word=word, kind=kind, instances=_split(rows, lambda row: row.zone))


def _split(rows: Sequence[_Row], group_of: Callable[[_Row], str]) -> Split[_Row]:
    groups: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        groups[group_of(row)].append(row)
    return Split(
        wrong=tuple(row for row in rows if row.kind != "good"),
        groups=tuple(
            RowGroup(name=name, rows=tuple(groups[name])) for name in sorted(groups, key=lambda name: (not name, name))
        ),
    )
