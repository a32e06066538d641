"""Compare registered volumes with their owner records, storage and plugins. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import drains
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import causes, finding
from nomad_csi.nomad import plugins as plugin_records
from nomad_csi.plan import jobs
from nomad_csi.volumes.owner_records import OwnerRecord

Volumes = tuple[facts.ExaminedVolume, ...]

# Compare owner records with the registered volumes.


@rule("owner-record-without-volume", owner_records="owner records of volumes", volumes="")
def find_left_records(
    _found: facts.ObservedCluster, owner_records: Mapping[str, OwnerRecord], volumes: Volumes
) -> Iterator[facts.Outcome]:
    """Yield owner records of volumes that are not registered, and that keep no storage."""
    registered = {volume.key for volume in volumes if volume.is_registered}
    left: dict[str, list[str]] = defaultdict(list)
    for key, owner in sorted(owner_records.items()):
        if key not in registered and not owner.keeps_storage:
            left[str(owner)].append(key)
    for label, keys in sorted(left.items()):
        evidence = f"/v1/var/nomad-csi/volumes: {label} has {facts.named(keys)}; /v1/volumes: not registered"
        yield finding("owner-record-without-volume", f"stack {label}", found=evidence)


# Plugins without volumes, volumes without plugins, claims without a healthy controller.


@rule("job-missing", plugins="", volumes="")
def find_stopped(found: facts.ObservedCluster, **_known: object) -> Iterator[facts.Outcome]:
    """Yield the jobs of the spec that are stopped; absent ones may be run yet."""
    for job in (job for item in (found.plan.plugins if found.plan else ()) for job in item.jobs):
        if (job.namespace, job.job_id) in found.stopped_jobs:
            of_role = (
                causes.of_plugin(job.plugin_id)
                if job.role == "monolith"
                else (causes.of_role(job.plugin_id, job.role),)
            )
            all_nodes = (causes.of_all_nodes(job.plugin_id),) if job.role != "controller" else ()
            yield finding(
                "job-missing",
                f"job {job.namespace}/{job.job_id}",
                expected=f"running, for plugin {job.plugin_id}",
                found="/v1/job: it is stopped",
                links=(*of_role, *all_nodes),
            )


_NEEDS = {"plugins": "plugins of the volumes, and their controllers", "volumes": "volumes and their claims"}
_CODES = ("plugin-missing", "volume-unschedulable", "claim-without-controller", "plugin-unused")
_DRAINS = ("claim-node-draining", "claim-without-node-plugin", "controller-draining")


@rule(*_CODES, *_DRAINS, **_NEEDS)
def find_unserved(
    found: facts.ObservedCluster, plugins: Mapping[str, plugin_records.Plugin], volumes: Volumes
) -> Iterator[facts.Outcome]:
    """Yield volumes that no plugin serves, and plugins that serve no volume."""
    by_plugin: dict[str, list[facts.ExaminedVolume]] = defaultdict(list)
    for volume in volumes:
        by_plugin[volume.plugin_id].append(volume)
    for plugin_id, served in sorted(by_plugin.items()):
        registered = [volume for volume in served if volume.is_registered]
        if plugin_id not in plugins and registered:
            keys = facts.named([volume.key for volume in registered])
            evidence = f"/v1/volumes: {len(registered)} with plugin {plugin_id} ({keys}); /v1/plugins: no such plugin"
            links = (f"plugin {plugin_id}", *causes.of_plugin(plugin_id), causes.of_all_nodes(plugin_id))
            yield finding("plugin-missing", f"plugin {plugin_id}", found=evidence, links=links)
        stuck = [volume.key for volume in registered if not volume.schedulable]
        if stuck:
            yield finding(
                "volume-unschedulable",
                f"plugin {plugin_id}",
                found=f"/v1/volumes: Schedulable is false for {facts.named(stuck)}",
                about=tuple(f"volume {key}" for key in stuck),
                names={"PLUGIN": plugin_id},
                links=causes.of_plugin(plugin_id),
            )
        yield from _claimed(found, plugin_id, registered)
    yield from _drains(found, plugins)
    yield from _unused(found, frozenset(by_plugin))


def _claimed(
    found: facts.ObservedCluster, plugin_id: str, registered: list[facts.ExaminedVolume]
) -> Iterator[facts.Outcome]:
    plugin = found.known_plugins.get(plugin_id)
    claimed = [volume.key for volume in registered if volume.claims]
    if plugin is None or not claimed or any(item.healthy for item in plugin.controllers):
        return
    has_controller = any(task.plugin_id == plugin_id and task.role != "node" for task in found.known_tasks)
    if plugin.controller_required or plugin.controllers_expected or has_controller:
        evidence = (
            f"/v1/plugin/csi/{plugin_id}: {len(plugin.controllers)} controllers, none healthy; /v1/volumes: "
            f"{len(claimed)} claimed ({facts.named(claimed)})"
        )
        yield finding(
            "claim-without-controller",
            f"plugin {plugin_id}",
            found=evidence,
            about=tuple(f"volume {key}" for key in claimed),
            names={"PLUGIN": plugin_id},
            links=(causes.of_role(plugin_id, "controller"),),
        )


def _drains(found: facts.ObservedCluster, plugins: Mapping[str, plugin_records.Plugin]) -> Iterator[facts.Outcome]:
    claimed = yield from facts.known(found.claimed, "claims on draining or ineligible clients")
    yield from drains.check(claimed or (), plugins, found.known_clients)


def _unused(found: facts.ObservedCluster, used: frozenset[str]) -> Iterator[facts.Outcome]:
    planned = {item.plugin_id for item in found.plan.plugins} if found.plan else set()
    ours: dict[str, list[str]] = defaultdict(list)
    for task in found.known_tasks:
        if task.meta.get(jobs.OWNER_META):
            ours[task.plugin_id].append(f"{task.namespace}/{task.job_id} of {task.meta[jobs.OWNER_META]}")
    for plugin_id, names in sorted(ours.items()):
        if plugin_id not in used and plugin_id not in planned:
            evidence = f"/v1/job: {facts.named(sorted(set(names)))}; /v1/volumes: none with plugin {plugin_id}"
            yield finding("plugin-unused", f"plugin {plugin_id}", found=evidence)
