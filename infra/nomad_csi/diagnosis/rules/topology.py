"""Check that a client exists in the topology of each volume. Needs no data from AWS. Pure."""

from collections.abc import Iterator

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import specified
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import Finding, finding
from nomad_csi.health import eligibility
from nomad_csi.nomad import volumes as volume_records

ZONE_ATTRIBUTE = eligibility.CLIENT_ATTRIBUTES[0]


@rule("topology-key-unknown", "volume-out-of-reach", volumes="", plugins="")
def find_out_of_reach(
    found: facts.Facts, volumes: tuple[facts.ExaminedVolume, ...], **_known: object
) -> Iterator[facts.Outcome]:
    """Yield volumes in whose topology no healthy node instance is; ``Schedulable`` in Nomad does not cover it."""
    instances = {plugin_id: found.nodes_of(plugin_id) for plugin_id in {volume.plugin_id for volume in volumes}}
    for volume in volumes:
        if any(volume.segments):
            yield from _reach(volume, instances[volume.plugin_id])


def _reach(volume: facts.ExaminedVolume, instances: tuple[facts.NodeInstance, ...]) -> Iterator[Finding]:
    topologies = [each for each in volume.segments if each]
    reported = {key for item in instances for key in item.segments}
    strange = {key for each in topologies for key in each} - reported
    healthy = [item for item in instances if item.is_healthy]
    wanted = f"{volume.source}: {specified.topologies_text(topologies)}"
    if reported and strange:
        yield finding(
            "topology-key-unknown",
            volume.subject,
            expected=f"a topology of keys that clients of plugin {volume.plugin_id} report",
            found=f"{wanted}; /v1/plugin/csi/{volume.plugin_id}: no client reports {', '.join(sorted(strange))}",
        )
    elif healthy and not any(volume_records.reaches(topologies, item.segments) for item in healthy):
        there_are = {item.zone for item in healthy}
        there = [item.subject for item in instances if volume_records.reaches(topologies, item.segments)]
        yield finding(
            "volume-out-of-reach",
            volume.subject,
            expected="a healthy node instance in its topology",
            found=f"{wanted}; /v1/plugin/csi/{volume.plugin_id}: healthy clients in {facts.named([*there_are])}",
            links=(volume.subject, *there),
        )
