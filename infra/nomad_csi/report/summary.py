"""What there is in each zone, and what is verified by what. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from nomad_csi.health import plugins, policy
from nomad_csi.report import model


def zones_of(
    clients: Iterable[model.ReportedClient],
    of_plugins: Sequence[model.ReportedPlugin],
    volumes: Iterable[model.ReportedVolume],
) -> tuple[model.Zone, ...]:
    """Return all zones that a client or a volume is in, by name; clients of which none is known come last."""
    zone_of = {client.node_id: client.zone for client in clients}
    bound = [volume for volume in volumes if len(volume.zones) == 1]
    of_clients = Counter(client.zone for client in clients)
    ready = Counter(client.zone for client in clients if client.state == "ready")
    of_volumes = Counter(volume.zones[0] for volume in bound)
    claimed = Counter(volume.zones[0] for volume in bound if volume.claims)
    wrong = Counter(volume.zones[0] for volume in bound if volume.status != "ok")
    healthy: Counter[tuple[str, str]] = Counter()
    wanted: Counter[tuple[str, str]] = Counter()
    for plugin in of_plugins:
        for row in policy.counted(plugin.status.instances) if plugin.status else ():
            place = (plugin.plugin_id, row.zone or zone_of.get(row.node_id, ""))
            wanted[place] += 1
            healthy[place] += row.status == plugins.HEALTHY
    names = set(of_clients) | set(of_volumes) | {zone for _, zone in wanted}
    return tuple(
        model.Zone(
            name=name,
            clients=of_clients[name],
            ready=ready[name],
            plugins={
                plugin.plugin_id: (healthy[plugin.plugin_id, name], wanted[plugin.plugin_id, name])
                for plugin in of_plugins
            },
            volumes=of_volumes[name],
            claimed=claimed[name],
            wrong_volumes=wrong[name],
        )
        for name in sorted(names, key=lambda name: (not name, name))
    )


def evidence_of(
    of_plugins: Iterable[model.ReportedPlugin], volumes: Sequence[model.ReportedVolume]
) -> tuple[model.EvidenceCount, ...]:
    """Return how much each kind of evidence stands behind, from the strongest to none."""
    return tuple(item for item in _evidence(of_plugins, volumes) if item.of and (item.verified or item.tier != "-"))


def _evidence(
    of_plugins: Iterable[model.ReportedPlugin], volumes: Sequence[model.ReportedVolume]
) -> Iterator[model.EvidenceCount]:
    rows = [row for plugin in of_plugins if plugin.status for row in plugin.status.instances]
    by_instance = Counter(row.evidence if row.status == plugins.HEALTHY else "-" for row in rows)
    by_volume = Counter(volume.evidence for volume in volumes)
    yield model.EvidenceCount(tier="smoke", what="volumes", verified=by_volume["smoke"], of=len(volumes))
    yield model.EvidenceCount(tier="csi", what="plugin instances", verified=by_instance["csi"], of=len(rows))
    yield model.EvidenceCount(tier="nomad", what="plugin instances", verified=by_instance["nomad"], of=len(rows))
    yield model.EvidenceCount(tier="nomad", what="volumes", verified=by_volume["nomad"], of=len(volumes))
    yield model.EvidenceCount(tier="-", what="plugin instances", verified=by_instance["-"], of=len(rows))
    yield model.EvidenceCount(tier="-", what="volumes", verified=by_volume["-"], of=len(volumes))
