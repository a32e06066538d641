"""Rows of the tables of a page, each with how grave it is. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from nomad_csi.claims import claim_model, claims_report
from nomad_csi.health import plugins
from nomad_csi.health.instances import InstanceRow
from nomad_csi.report import model
from nomad_csi.text import listing

# How grave a word is, for whoever paints it.


Kind = Literal["good", "warn", "bad", "unsure"]

ORDER: tuple[Kind, ...] = ("bad", "unsure", "warn", "good")
"""The gravest first."""

NOT_JUDGED = "not checked"

_GOOD = frozenset({"healthy", "ok", "live", "ready", "verified"})
_WARN = frozenset({"starting", "restarted", "outdated", "draining", "ineligible", "ended", "warning", "unverified"})
_UNSURE = frozenset({NOT_JUDGED, "not verified", "initializing"})


def kind_of(word: str) -> Kind:
    """Return how grave *word* is: a status, the state of a client or of a claim, a severity."""
    if word in _GOOD:
        return "good"
    if word in _UNSURE:
        return "unsure"
    return "warn" if word in _WARN else "bad"


def worst(kinds: Iterable[Kind]) -> Kind:
    """Return the gravest of *kinds*; ``good`` where there is none."""
    return min(kinds, key=ORDER.index, default="good")


def of_plugin(plugin: model.ReportedPlugin) -> tuple[str, Kind]:
    """Return the status of *plugin* and how grave it is: what its policy allows for is a warning."""
    if plugin.status is None:
        return NOT_JUDGED, "unsure"
    word = plugin.status.status
    if word == plugins.HEALTHY:
        return word, "good"
    return word, "warn" if plugin.status.ok else "bad"


def of_report(report: model.ClusterReport) -> tuple[str, Kind]:
    """Return the whole in a few words, and how grave it is."""
    if report.errors:
        return listing.grouped(report.errors, "error"), "bad"
    if report.unexpected:
        return "not everything could be checked", "unsure"
    if report.warnings:
        return f"no errors, {listing.grouped(report.warnings, 'warning')}", "warn"
    return "no errors", "good"


# Clients of a zone as small squares, one for each: a picture beside numbers that say the same.


_COLUMNS = {False: 20, True: 40}
_PITCH = {False: 9, True: 5}
"""Of a few clients, and of many."""

MANY = 100


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Squares as paths of SVG."""

    width: str
    height: str
    paths: tuple[tuple[Kind, str], ...]
    """Kind of the clients and the path of all their squares; what is not well comes first, as lozenges."""


def chart_of(kinds: Sequence[Kind]) -> Chart:
    """Return the chart of clients of these *kinds*."""
    ordered = sorted(kinds, key=ORDER.index)
    columns, pitch = _COLUMNS[len(ordered) > MANY], _PITCH[len(ordered) > MANY]
    rows = -(-len(ordered) // columns)
    paths: dict[Kind, list[str]] = {}
    for number, kind in enumerate(ordered):
        left, top = number % columns * pitch, number // columns * pitch
        draw = _square if kind == "good" else _lozenge
        paths.setdefault(kind, []).append(draw(left, top, pitch - 1))
    return Chart(
        width=str(min(len(ordered), columns) * pitch),
        height=str(rows * pitch),
        paths=tuple((kind, "".join(squares)) for kind, squares in paths.items()),
    )


def _square(left: int, top: int, side: int) -> str:
    return f"M{left} {top}h{side}v{side}h-{side}z"


def _lozenge(left: int, top: int, side: int) -> str:
    half = side / 2
    return f"M{left + half:g} {top}l{half:g} {half:g}l-{half:g} {half:g}l-{half:g}-{half:g}z"


# The rows.


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientRow:
    """One client."""

    client: model.ReportedClient
    state_kind: Kind
    kind: Kind
    """Of the client and of all instances on it."""

    remark: str
    """What is not well on it: its own state apart, ``aws-ebs0 node: hung``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PluginInstanceRow:
    """One instance of a plugin."""

    row: InstanceRow
    zone: str
    """Of the client, where the instance itself reports none: so for controllers."""

    kind: Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRow:
    """One volume."""

    volume: model.ReportedVolume
    kind: Kind


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
    kind: Kind


def clients(report: model.ClusterReport) -> tuple[ClientRow, ...]:
    """Return a row for each client."""
    return tuple(_client(client) for client in report.clients)


def _client(client: model.ReportedClient) -> ClientRow:
    wrong = {name: word for name, word in client.statuses.items() if kind_of(word) != "good"}
    kind = worst(kind_of(word) for word in (client.state, *wrong.values()))
    remark = "; ".join(f"{name}: {word}" for name, word in wrong.items())
    return ClientRow(client=client, state_kind=kind_of(client.state), kind=kind, remark=remark)


def instances(plugin: model.ReportedPlugin, zones: Mapping[str, str]) -> tuple[PluginInstanceRow, ...]:
    """
    Return a row for each instance of *plugin*; *zones* are those of the clients, by node id.

    One that nobody asked for is worth knowing, and no more.
    """
    return tuple(
        PluginInstanceRow(
            row=row,
            zone=row.zone or zones.get(row.node_id, ""),
            kind="warn" if row.is_extra else kind_of(row.status),
        )
        for row in (plugin.status.instances if plugin.status else ())
    )


def volumes(report: model.ClusterReport) -> tuple[VolumeRow, ...]:
    """Return a row for each volume."""
    return tuple(VolumeRow(volume=volume, kind=kind_of(volume.status)) for volume in report.volumes)


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
            kind=kind_of(item.status),
        )
        for held in report.claims
        for item in held.claims
    )


def _holder(item: claim_model.ClaimStatus) -> str:
    name = item.claim.node_name or item.claim.node_id or "-"
    return name if item.node_status in {"ready", ""} else f"{name} ({item.node_status})"
