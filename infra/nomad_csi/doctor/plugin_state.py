"""Plugins without volumes, volumes without plugins, claims without a controller. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nomad_csi.doctor import model
from nomad_csi.findings import finding
from nomad_csi.health import drain_findings
from nomad_csi.nomad.records import plugins as plugin_records

OWNER_META = "nomad-csi.owner"


def check(found: model.ObservedCluster) -> Iterator[model.Outcome]:
    """Yield what nobody serves, and who serves nobody."""
    plugins, unchecked = model.known(found.plugins, "plugins of the volumes, and their controllers")
    yield from unchecked
    volumes, unchecked = model.known(found.volumes, "volumes and their claims")
    yield from unchecked
    if plugins is None or volumes is None:
        return
    by_plugin: dict[str, list[model.ExaminedVolume]] = defaultdict(list)
    for volume in volumes:
        by_plugin[volume.plugin_id].append(volume)
    for plugin_id, served in sorted(by_plugin.items()):
        registered = [volume for volume in served if volume.is_registered]
        if plugin_id not in plugins and registered:
            keys = model.named([volume.key for volume in registered])
            evidence = f"/v1/volumes: {len(registered)} with plugin {plugin_id} ({keys}); /v1/plugins: no such plugin"
            yield finding("plugin-missing", f"plugin {plugin_id}", found=evidence)
        yield from _claimed(found, plugin_id, registered)
    yield from _drains(found, plugins)
    yield from _unused(found, frozenset(by_plugin))


def _claimed(
    found: model.ObservedCluster, plugin_id: str, registered: list[model.ExaminedVolume]
) -> Iterator[model.Outcome]:
    plugins = {} if isinstance(found.plugins, model.Unknown) else found.plugins
    plugin = plugins.get(plugin_id)
    claimed = [volume.key for volume in registered if volume.claims]
    if plugin is None or not claimed or any(item.healthy for item in plugin.controllers):
        return
    tasks = () if isinstance(found.tasks, model.Unknown) else found.tasks
    has_controller = any(task.plugin_id == plugin_id and task.role != "node" for task in tasks)
    if plugin.controller_required or plugin.controllers_expected or has_controller:
        evidence = (
            f"/v1/plugin/csi/{plugin_id}: {len(plugin.controllers)} controllers, none healthy; /v1/volumes: "
            f"{len(claimed)} claimed ({model.named(claimed)})"
        )
        yield finding(
            "claim-without-controller",
            f"plugin {plugin_id}",
            found=evidence,
            about=tuple(f"volume {key}" for key in claimed),
        )


def _drains(found: model.ObservedCluster, plugins: Mapping[str, plugin_records.Plugin]) -> Iterator[model.Outcome]:
    claimed, unchecked = model.known(found.claimed, "claims on draining or ineligible clients")
    yield from unchecked
    clients = () if isinstance(found.clients, model.Unknown) else found.clients
    yield from drain_findings.check(claimed or (), plugins, clients)


def _unused(found: model.ObservedCluster, used: frozenset[str]) -> Iterator[model.Outcome]:
    tasks = () if isinstance(found.tasks, model.Unknown) else found.tasks
    planned = {item.plugin_id for item in found.plan.plugins} if found.plan else set()
    ours: dict[str, list[str]] = defaultdict(list)
    for task in tasks:
        if task.meta.get(OWNER_META):
            ours[task.plugin_id].append(f"{task.namespace}/{task.job_id} of {task.meta[OWNER_META]}")
    for plugin_id, jobs in sorted(ours.items()):
        if plugin_id not in used and plugin_id not in planned:
            evidence = f"/v1/job: {model.named(sorted(set(jobs)))}; /v1/volumes: none with plugin {plugin_id}"
            yield finding("plugin-unused", f"plugin {plugin_id}", found=evidence)
