"""Check that a client exists in the topology of each volume. Needs no data from AWS. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import clients as of_clients
from nomad_csi.diagnosis.rules import machines
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import finding
from nomad_csi.health import eligibility
from nomad_csi.nomad import nodes
from nomad_csi.nomad import volumes as volume_records

ZONE_ATTRIBUTE = eligibility.CLIENT_ATTRIBUTES[0]


@rule("topology-key-unknown", "volume-out-of-reach", volumes="", plugins="")
def find_out_of_reach(
    found: facts.ObservedCluster,
    volumes: tuple[facts.ExaminedVolume, ...],
    **_known: object,
) -> Iterator[facts.Outcome]:
    """Yield volumes whose topology no client satisfies."""
    unknown: dict[tuple[str, str], list[str]] = defaultdict(list)
    nowhere: dict[tuple[str, str], list[str]] = defaultdict(list)
    reported = {plugin_id: segments_of(found, plugin_id) for plugin_id in {volume.plugin_id for volume in volumes}}
    for volume in volumes:
        seen = reported[volume.plugin_id]
        if not seen or not volume.segments:
            continue
        keys = {key for segments in volume.segments for key in segments}
        strange = keys - {key for segments in seen for key in segments}
        if strange:
            unknown[volume.plugin_id, ", ".join(sorted(strange))].append(volume.key)
        elif not any(volume_records.reaches(volume.segments, segments) for segments in seen):
            topology = " or ".join(sorted({volume_records.place_text(place) for place in volume.segments}))
            nowhere[volume.plugin_id, topology].append(volume.key)
    for (plugin_id, keys_), named in sorted(unknown.items()):
        evidence = f"/v1/volumes: {keys_} on {facts.named(named)}; /v1/plugin/csi/{plugin_id}: no client reports it"
        yield finding("topology-key-unknown", f"plugin {plugin_id}", found=evidence)
    for (plugin_id, topology), named in sorted(nowhere.items()):
        evidence = f"/v1/volumes: {topology} of {facts.named(named)}; /v1/plugin/csi/{plugin_id}: no client there"
        yield finding("volume-out-of-reach", f"plugin {plugin_id}", found=evidence, about=_subjects(named))
    if not isinstance(found.clients, facts.Unknown):
        yield from _planned(found, volumes, found.clients)


def _planned(
    found: facts.ObservedCluster, volumes: tuple[facts.ExaminedVolume, ...], clients: tuple[nodes.Node, ...]
) -> Iterator[facts.Outcome]:
    """Yield zones of the spec's storage in which no client may run the plugin."""
    wanted: dict[tuple[str, str], list[str]] = defaultdict(list)
    for volume in volumes:
        if volume.planned_zone and not segments_of(found, volume.plugin_id):
            wanted[volume.plugin_id, volume.planned_zone].append(volume.key)
    tasks = {task.plugin_id: task for task in machines.tasks_of(found, machines.EBS) if task.role != "controller"}
    for (plugin_id, zone), named in sorted(wanted.items()):
        if plugin_id not in tasks or of_clients.unjudged(tasks[plugin_id], clients):  # reported by the rule of clients
            continue
        places = of_clients.may_run(tasks[plugin_id], clients)
        zones = {node.name: node.attributes.get(ZONE_ATTRIBUTE, "") for node in places}
        if all(zones.values()) and zone not in zones.values():
            evidence = (
                f"the spec: {zone} of {facts.named(named)}; /v1/node: clients in {zone_names(set(zones.values()))}"
            )
            yield finding("volume-out-of-reach", f"plugin {plugin_id}", found=evidence, about=_subjects(named))
        elif zone not in zones.values():
            silent = [name for name, own in zones.items() if not own]
            reason = f"{facts.named(silent)} have no attribute {ZONE_ATTRIBUTE}, and the plugin does not run there yet"
            yield facts.Unchecked(check=f"whether a client of plugin {plugin_id} is in {zone}", reason=reason)


def _subjects(keys: list[str]) -> tuple[str, ...]:
    return tuple(f"volume {key}" for key in keys)


def zone_names(zones: set[str]) -> str:
    """Return text on the zones."""
    return facts.named(list(zones)) or "no zone: there are none"


def segments_of(found: facts.ObservedCluster, plugin_id: str) -> list[Mapping[str, str]]:
    """Return the distinct topologies that the plugin's clients report."""
    plugin = found.known_plugins.get(plugin_id)
    seen = {tuple(sorted(item.segments.items())) for item in plugin.nodes if item.segments} if plugin else set()
    return [dict(item) for item in sorted(seen)]
