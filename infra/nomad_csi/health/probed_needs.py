"""
Compare a plugin's probe results with the needs of its registered volumes and with Nomad's cached data. Pure.

Nomad reads a plugin's topology, limit and version once per allocation, and schedules by these cached values.
Source: hashicorp/nomad, ``client/pluginmanager/csimanager/fingerprint.go``, ``scheduler/feasible/feasible.go``
(``CSIVolumeChecker``), ``nomad/structs/node.go`` (``CSITopology.MatchFound``), 2026-08-21.
"""

from collections.abc import Iterator, Sequence

from nomad_csi import findings
from nomad_csi.health import probed
from nomad_csi.nomad.records import volumes
from nomad_csi.text import foreign, listing

CONSTRAINTS = "VOLUME_ACCESSIBILITY_CONSTRAINTS"


def judge(
    plugin_id: str, rows: Sequence[probed.ProbedInstance], needs: Sequence[volumes.Volume]
) -> tuple[findings.Finding, ...]:
    """Return findings from comparing the probe results in *rows* with the registered volumes *needs* of the plugin."""
    answered = [row for row in rows if row.report and row.ready]
    nodes = [row for row in answered if row.role == "node"]
    held = _claimed_by_client(needs)
    return (
        *(found for row in answered for found in _remembered(plugin_id, row)),
        *_differing(plugin_id, answered),
        *_capabilities(plugin_id, answered, needs),
        *(_places(plugin_id, nodes, needs) if nodes and all(row.ready for row in rows if row.role == "node") else ()),
        *(found for row in nodes for found in _check_claims_on_node(plugin_id, row, held.get(row.node_id, ()))),
    )


def _remembered(plugin_id: str, row: probed.ProbedInstance) -> Iterator[findings.Finding]:
    """Yield differences between an instance's responses and Nomad's cached values."""
    report, instance = row.report, row.instance
    if report is None:
        return
    pairs = [("version", instance.provider_version, report.vendor_version)]
    if row.role == "node":
        pairs += [
            ("topology", volumes.place_text(instance.segments), volumes.place_text(report.segments)),
            ("limit of volumes", _limit(instance.max_volumes), _limit(report.max_volumes)),
        ]
    for what, remembered, answered in pairs:
        if remembered and remembered != answered:
            yield findings.finding(
                "nomad-remembers-other",
                _subject(plugin_id, row),
                expected=f"the {what} that Nomad remembers: {remembered}",
                found=answered or "nothing",
                advice=f"Nomad asks once for each allocation; for a new one: nomad alloc stop {instance.alloc_id[:8]}",
            )


def _differing(plugin_id: str, rows: Sequence[probed.ProbedInstance]) -> Iterator[findings.Finding]:
    """Yield a role whose instances report different capabilities: Nomad uses those of any one of them."""
    for role in ("controller", "node"):
        reported = {
            " ".join(
                (row.report.controller_capabilities if role == "controller" else row.report.node_capabilities) or ()
            )
            for row in rows
            if row.role == role and row.report
        }
        if len(reported) > 1:
            yield findings.finding(
                "instance-capabilities-differ",
                f"plugin {plugin_id}",
                expected=f"the same capabilities of all its {role} instances",
                found=foreign.clean(" | ".join(sorted(reported))),
            )


def _capabilities(
    plugin_id: str, rows: Sequence[probed.ProbedInstance], needs: Sequence[volumes.Volume]
) -> Iterator[findings.Finding]:
    """Yield capabilities that volumes need and the plugin does not report."""
    placed = [item for item in needs if item.topologies]
    reported = [row.report.plugin_capabilities for row in rows if row.report]
    if placed and reported and not any(CONSTRAINTS in capabilities for capabilities in reported):
        yield _lacking(plugin_id, CONSTRAINTS, placed, "deregister them and register them without a topology_request")
    controllers = [row.report.controller_capabilities or () for row in rows if row.report and row.role == "controller"]
    growing = [item for item in needs if 0 < item.capacity_bytes < item.capacity_min_bytes]
    if growing and controllers and not any("EXPAND_VOLUME" in found for found in controllers):
        yield _lacking(
            plugin_id, "EXPAND_VOLUME", growing, "the driver cannot grow volumes: ask for the size they have"
        )


def _lacking(plugin_id: str, name: str, needs: Sequence[volumes.Volume], advice: str) -> findings.Finding:
    return findings.finding(
        "capability-lacking",
        f"plugin {plugin_id}",
        expected=f"{name}, which {_named(needs)} need{'s' if len(needs) == 1 else ''}",
        found="a plugin that does not claim it",
        advice=advice,
    )


def _places(
    plugin_id: str, nodes: Sequence[probed.ProbedInstance], needs: Sequence[volumes.Volume]
) -> Iterator[findings.Finding]:
    """Yield each volume whose topology no client of the plugin satisfies."""
    places = [dict(place) for place in {tuple(sorted(row.report.segments.items())) for row in nodes if row.report}]
    for item in needs:
        if item.topologies and not any(volumes.reaches(item.topologies, place) for place in places):
            there = "; ".join(sorted({volumes.place_text(place) for place in places}))
            yield findings.finding(
                "volume-out-of-reach",
                f"volume {item.key}",
                expected=f"a client of plugin {plugin_id} in {_wanted(item)}",
                found=foreign.clean(there or "clients that name no place"),
                advice="add a client there, or compare the key of its topology_request with what the plugin answers",
            )


def _check_claims_on_node(
    plugin_id: str, row: probed.ProbedInstance, held: Sequence[volumes.Volume]
) -> Iterator[findings.Finding]:
    """Yield findings from comparing one client's claims, of the volumes *held*, with its plugin's responses."""
    if row.report is None:
        return
    for item in held:
        if item.topologies and not volumes.reaches(item.topologies, row.report.segments):
            there = volumes.place_text(row.report.segments) or "no place"
            yield findings.finding(
                "claimed-out-of-place",
                f"volume {item.key}",
                expected=f"claims from {_wanted(item)} only",
                found=f"one on {row.node_name or row.node_id}, in {there}",
            )
    yield from _room(plugin_id, row, held)


def _room(plugin_id: str, row: probed.ProbedInstance, held: Sequence[volumes.Volume]) -> Iterator[findings.Finding]:
    limit = row.report.max_volumes if row.report else None
    if limit is None or len(held) < limit:
        return
    yield findings.finding(
        "client-over-limit" if len(held) > limit else "client-full",
        _subject(plugin_id, row),
        expected=f"at most {limit} volumes, the limit that the plugin answers",
        found=f"{len(held)} claimed ones",
    )


def _claimed_by_client(needs: Sequence[volumes.Volume]) -> dict[str, list[volumes.Volume]]:
    """Return the volumes that are claimed on each client, by its id."""
    found: dict[str, list[volumes.Volume]] = {}
    for volume in needs:
        for node_id in {item.node_id for item in volume.claims if item.client_status not in volumes.ENDED}:
            found.setdefault(node_id, []).append(volume)
    return found


def _wanted(volume: volumes.Volume) -> str:
    return " or ".join(volumes.place_text(place) for place in volume.topologies)


def _limit(count: int | None) -> str:
    return "none" if count is None else str(count)


def _named(needs: Sequence[volumes.Volume]) -> str:
    return listing.shortened([item.key for item in needs], 3)


def _subject(plugin_id: str, row: probed.ProbedInstance) -> str:
    return f"plugin {plugin_id} ({row.role}) on {row.node_name or row.node_id}"
