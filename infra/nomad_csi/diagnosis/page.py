"""A report arranged for a page: grouped and sorted, the worst first. Pure; the template has texts and markup."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from nomad_csi.diagnosis.cluster_report import NOT_CHECKED, ClusterReport, Row, grouped
from nomad_csi.findings import Finding, causes, printing
from nomad_csi.health import plugins
from nomad_csi.text import listing

SHOWN = 5
"""Findings of one code that are shown initially; the others can be expanded."""

ROWS = 50
"""Unhealthy rows of one table that are shown initially; the others can be expanded."""

Kind = Literal["good", "warn", "bad", "unsure"]
"""Severity of a status, for its colour."""

_ORDER: tuple[Kind, ...] = ("bad", "unsure", "warn", "good")
"""The most severe first."""

_GOOD = frozenset({"healthy", "ok", "live", "ready", "verified"})
_WARN = frozenset({"starting", "restarted", "outdated", "draining", "ineligible", "ended", "warning", "unverified"})
_UNSURE = frozenset({NOT_CHECKED, "not verified", "initializing"})


def kind_of(status: str) -> Kind:
    """Return the severity of *status*: a status, the state of a client or of a claim, a severity."""
    if status in _GOOD:
        return "good"
    if status in _UNSURE:
        return "unsure"
    return "warn" if status in _WARN else "bad"


def _worst(statuses: Iterable[str]) -> Kind:
    """Return the most severe kind of *statuses*."""
    return min(map(kind_of, statuses), key=_ORDER.index)


def render_page(report: ClusterReport) -> Row:
    """Return the values for the template: the report's data, and its rows with what only the page shows."""
    data = report.data
    clients = [_client(row) for row in data["clients"]]
    volumes = [_volume(row) for row in data["volumes"]]
    claims = [_claim(volume, claim, report.findings) for volume in data["claims"] for claim in volume["claims"]]
    of_plugins = [row | {"kind": _plugin_kind(row)} for row in data["plugins"]]
    zone_of = {client["node_id"]: client["zone"] for client in clients}
    ill = [client["zone"] for client in clients if client["state"] == "ready" and client["kind"] != "good"]
    return {
        "report": data,
        "heading": heading(report),
        "status": status(report),
        "totals": printing.totals(report.findings),
        "versions": ", ".join(sorted({server["version"] for server in data["cluster"]["servers"]})),
        "unexpected": report.unexpected,
        "left_out": [item for item in data["not_checked"] if item["is_expected"]],
        "tiles": [
            _tile("plugins", data, of_plugins, "healthy"),
            _tile("clients", data, clients, "healthy"),
            _tile("volumes", data, volumes, "ok", more=_sizes(volumes)),
            _tile("claims", data, claims, "live", unread=data["claims_unread"]),
        ],
        "problems": list(_problems(report.findings)),
        "zones": [(zone, ill.count(zone["name"])) for zone in data["zones"]],
        "checked": grouped(data["evidence"], lambda item: item["what"]),
        "plugins": [(row, _instances(row, zone_of)) for row in of_plugins],
        "clients": _split(clients, lambda row: row["zone"]),
        "volumes": _split(volumes, lambda row: ", ".join(row["zones"])),
        "claims": _split(claims, lambda row: row["of"]),
    }


def heading(report: ClusterReport) -> str:
    """Return the title, or one that names the region or the server; ``global`` names no region in particular."""
    cluster = report.data["cluster"]
    region = "" if cluster["region"] == "global" else cluster["region"]
    return report.title or f"Storage of {region or cluster['address'].rpartition('://')[2]}"


def status(report: ClusterReport) -> tuple[str, Kind]:
    """Return the overall status as a phrase, and its severity."""
    if report.errors:
        return printing.totals(report.findings), "bad"
    if report.unexpected:
        return "not everything could be checked", "unsure"
    if report.findings:
        return f"no errors, {listing.grouped(len(report.findings), 'warning')}", "warn"
    return "no errors", "good"


# Rows, with their kind.


def _client(row: Row) -> Row:
    wrong = [f"{name}: {status}" for name, status in row["statuses"].items() if kind_of(status) != "good"]
    kinds = {"kind": _worst((row["state"], *row["statuses"].values())), "state_kind": kind_of(row["state"])}
    return {**row, **kinds, "remark": "; ".join(wrong)}


def _volume(row: Row) -> Row:
    size = listing.size(row["size_bytes"]) if row["size_bytes"] else "-"
    return {**row, "key": f"{row['namespace']}/{row['volume_id']}", "kind": kind_of(row["status"]), "size": size}


def _plugin_kind(row: Row) -> Kind:
    """Return the severity of a plugin: a deviation that its policy allows is a warning."""
    if row["status"] in {NOT_CHECKED, plugins.HEALTHY}:
        return kind_of(row["status"])
    return "warn" if row["ok"] else "bad"


def _instances(plugin: Row, zone_of: Mapping[str, str]) -> Row:
    """Return the instances; of one that reports no zone, as controllers do, with the zone of its client."""
    rows = [
        {
            **row,
            "zone": row["zone"] or zone_of.get(row["node_id"], ""),
            "kind": "warn" if row["extra"] else kind_of(row["status"]),
        }
        for row in plugin.get("instances", ())
    ]
    return _split(rows, lambda row: row["zone"])


_OF_CLAIMS = frozenset({"claim-without-node-plugin", "claim-without-controller", "claim-node-draining"})
"""Codes of findings about a claim that is live."""


def _claim(volume: Row, claim: Row, findings: Iterable[Finding]) -> Row:
    """Return a claim with its client, and with the codes of findings about it: ``live, claim-without-node-plugin``."""
    key, client = f"{volume['namespace']}/{volume['volume_id']}", claim["node_name"]
    about = [
        each
        for each in findings
        if each.code in _OF_CLAIMS
        and f"volume {key}" in (*each.about, each.subject)
        and (each.code == "claim-without-controller" or each.subject.endswith(f" {client}"))
    ]
    name, state = client or claim["node_id"] or "-", claim["node_status"]
    return claim | {
        "key": key,
        "of": volume["namespace"],
        "kind": _worst((claim["status"], *(each.severity for each in about))),
        "status": ", ".join(dict.fromkeys((claim["status"], *(each.code for each in about)))),
        "client": name if state in {"ready", ""} else f"{name} ({state})",
    }


def _split(rows: Sequence[Row], group_of: Callable[[Row], str]) -> Row:
    """Return unhealthy rows, to be shown, and all in groups, to be expanded; rows without a group come last."""
    groups = grouped(rows, group_of)
    names = sorted(groups, key=lambda name: (not name, name))
    return {"wrong": [row for row in rows if row["kind"] != "good"], "groups": {name: groups[name] for name in names}}


# The top of the page.


def _sizes(volumes: Iterable[Row]) -> str:
    """Return the sum of their sizes, each storage once: ``120GiB, 3 of unknown size``; empty if none is known."""
    sizes = {row["external_id"]: row["size_bytes"] for row in volumes if row["external_id"]}
    unknown = sum(not size for size in sizes.values())
    total = sum(sizes.values())
    return f"{listing.size(total)}{f', {unknown:,} of unknown size' if unknown else ''}" if total else ""


def _tile(
    label: str, data: Mapping[str, Any], rows: Sequence[Row], fine: str, *, more: str = "", unread: int = 0
) -> Row:
    """Return a number at the top of the page, with the section that it links to."""
    total = data["totals"][label]
    if total is None:
        return {"label": label, "count": "?", "remark": "not read", "kind": "unsure"}
    kinds: list[Kind] = [row["kind"] for row in rows]
    wrong = sum(kind != "good" for kind in kinds)
    remarks = [f"{wrong:,} not {fine}" if wrong else f"all {fine}", *filter(None, [more])]
    if unread:
        remarks.append(f"claims of {listing.grouped(unread, 'volume')} not read")
        kinds.append("unsure")
    kind = min(kinds, key=_ORDER.index, default="good")
    return {"label": label, "count": total, "remark": "; ".join(remarks) if total else "none", "kind": kind}


def _problems(findings: Iterable[Finding]) -> Iterator[Row]:
    """Yield all findings of one code that nothing explains; a single warning is shown, several are not urgent."""
    by_code = grouped(causes.roots(findings), lambda pair: (pair[0].severity, pair[0].code, pair[0].found_by))
    for (severity, *_), pairs in by_code.items():
        items = [item for item, _ in pairs]
        hints = {item.advice for item in items}
        shown = SHOWN if severity == "error" else len(items) == 1
        following = printing.alike(each for _, consequences in pairs for each in consequences)
        yield {
            "first": items[0],
            "kind": kind_of(severity),
            "advice": hints.pop() if len(hints) == 1 else "",
            "shown": items[:shown],
            "folded": items[shown:],
            "consequences": [(group[0], listing.shortened([each.subject for each in group])) for group in following],
        }
