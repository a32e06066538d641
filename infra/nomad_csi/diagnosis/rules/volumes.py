"""Compare volumes with the spec, their plugins, and the topologies of their plugins' instances. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import Finding, causes, finding, registry
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.nomad import volumes as volume_records
from nomad_csi.plan import volumes as planned
from nomad_csi.text import foreign, listing
from nomad_csi.volumes import compare

Volumes = tuple[facts.ExaminedVolume, ...]
Registered = Mapping[str, volume_records.Volume | None]

CREATE = "run `pulumi up`, or `nomad-csi apply` with the spec"
REGISTER = "run `pulumi up`, or `nomad-csi apply` with the spec or the rendered file"
"""Advice for a volume that is not registered."""


@rule("volume-missing", *dict.fromkeys(registry.code_of_field().values()), registered="volumes of the spec")
def find_differences(cluster: facts.Facts, registered: Registered) -> Iterator[facts.Outcome]:
    """
    Yield volumes that are not registered, or not as specified.

    An external id that is not known yet is not compared. Secrets and the text of mount flags cannot be: Nomad redacts
    them.
    """
    for item in cluster.planned_volumes:
        is_made, actual = item.made_by_plugin, registered[item.key]
        if actual is None:
            yield finding(
                "volume-missing",
                f"volume {item.key}",
                expected="created by its plugin" if is_made else "registered",
                found="no such volume",
                advice=CREATE if is_made else REGISTER,
            )
            continue
        desired = planned.desired_document(item, cluster.external_ids)
        compared = compare.compare_volume(desired, actual, made_by_plugin=is_made)
        # If one makes Nomad refuse the update, in-place ones wait.
        for difference in compared.differences:
            yield _difference(f"volume {item.key}", difference, is_refused=compared.kind == "refused")


def _difference(subject: str, item: compare.Difference, *, is_refused: bool) -> Finding:
    code = registry.code_of_field()[item.field]
    words = (
        (item.field if code == "capacity-differs" else code.removesuffix("-differs"))
        .replace("_", " ")
        .replace("-", " ")
    )
    if isinstance(item.desired, dict):
        expected, shown = "as specified", ", ".join(_changed_keys(item.desired, item.actual))
    elif code == "capacity-differs":
        expected, shown = (listing.size(value) if value else "none" for value in (item.desired, item.actual))
    elif code == "topologies-differs":
        expected, shown = topologies_text(item.desired), topologies_text(item.actual)
    else:
        expected, shown = _text(item.desired), _text(item.actual)
    first = "first resolve the refused differences; then " if is_refused else ""
    advice = item.fix or f"{first}`pulumi up` or `nomad-csi apply` changes it in place"
    return finding(
        code,
        subject,
        expected=f"{words} {expected}",
        found=foreign.clean(shown),
        advice=f"{item.why}: {advice}" if item.why else advice,
    )


def _text(value: Any) -> str:
    return (", ".join(value) if isinstance(value, list) else str(value or "")) or "none"


def _changed_keys(desired: Mapping[str, str], actual: Mapping[str, str]) -> Iterator[str]:
    """Yield the keys that differ, without values: a driver's context may contain secrets."""
    for key in sorted(desired.keys() | actual.keys()):
        if key not in actual:
            yield f"{key} absent"
        elif key not in desired:
            yield f"{key} added"
        elif desired[key] != actual[key]:
            yield f"{key} changed"


def topologies_text(topologies: Iterable[Mapping[str, str]]) -> str:
    """Return ``zone=a or zone=b``."""
    shown = {" and ".join(f"{key}={value}" for key, value in sorted(each.items())) for each in topologies}
    return " or ".join(sorted(shown)) or "anywhere"


# Registered volumes and the instances of their plugins.


@rule("volume-unschedulable", volumes="volumes and their claims")
def find_unschedulable(_cluster: facts.Facts, volumes: Volumes) -> Iterator[facts.Outcome]:
    """Yield volumes that Nomad places no allocations for."""
    for volume in volumes:
        if volume.is_registered and not volume.schedulable:
            yield finding(
                "volume-unschedulable",
                volume.subject,
                expected="a volume that Nomad places allocations for",
                found=f"plugin {volume.plugin_id} without enough healthy instances",
                names={"PLUGIN": volume.plugin_id},
                links=(volume.subject, *causes.of_plugin(volume.plugin_id)),
            )


@rule("claim-without-controller", plugins="plugins of the volumes, and their controllers", volumes="")
def find_without_controller(
    _cluster: facts.Facts, plugins: Mapping[str, plugin_records.Plugin], volumes: Volumes
) -> Iterator[facts.Outcome]:
    """Yield claimed volumes that need a controller, and whose plugin has no healthy one."""
    for volume in volumes:
        if volume.claims:
            yield from without_controller(volume, plugins.get(volume.plugin_id))


def without_controller(volume: facts.ExaminedVolume, plugin: plugin_records.Plugin | None) -> Iterator[Finding]:
    """Yield the finding on a claimed *volume* if *plugin* has no healthy controller for it."""
    controllers = plugin.controllers if plugin else ()
    is_required = volume.controller_required or (plugin is not None and plugin.controller_required)
    if is_required and not any(item.healthy for item in controllers):
        yield finding(
            "claim-without-controller",
            volume.subject,
            expected=f"a healthy controller of plugin {volume.plugin_id}, to detach the volume when it is released",
            found=f"{len(controllers)} controllers, none healthy" if plugin else "no such plugin",
            names={"PLUGIN": volume.plugin_id},
            links=(causes.of_role(volume.plugin_id, "controller"),),
        )


# A client in the topology of each volume. Needs no data from AWS.


@rule("topology-key-unknown", "volume-out-of-reach", volumes="", plugins="")
def find_out_of_reach(cluster: facts.Facts, volumes: Volumes, **_known: object) -> Iterator[facts.Outcome]:
    """Yield volumes in whose topology no healthy node instance is; ``Schedulable`` in Nomad does not cover it."""
    instances = {plugin_id: cluster.nodes_of(plugin_id) for plugin_id in {volume.plugin_id for volume in volumes}}
    for volume in volumes:
        if any(volume.segments):
            yield from _reach(volume, instances[volume.plugin_id])


def _reach(volume: facts.ExaminedVolume, instances: tuple[facts.NodeInstance, ...]) -> Iterator[Finding]:
    topologies = [each for each in volume.segments if each]
    reported = {key for item in instances for key in item.segments}
    strange = {key for each in topologies for key in each} - reported
    healthy = [item for item in instances if item.is_healthy]
    wanted = f"{volume.source}: {topologies_text(topologies)}"
    if reported and strange:
        yield finding(
            "topology-key-unknown",
            volume.subject,
            expected=f"a topology of keys that clients of plugin {volume.plugin_id} report",
            found=f"{wanted}; /v1/plugin/csi/{volume.plugin_id}: no client reports {', '.join(sorted(strange))}",
        )
    elif healthy and not any(volume_records.reaches(topologies, item.segments) for item in healthy):
        zones = {item.zone for item in healthy}
        reachable = [item.subject for item in instances if volume_records.reaches(topologies, item.segments)]
        yield finding(
            "volume-out-of-reach",
            volume.subject,
            expected="a healthy node instance in its topology",
            found=f"{wanted}; /v1/plugin/csi/{volume.plugin_id}: healthy clients in {facts.named([*zones])}",
            links=(volume.subject, *reachable),
        )
