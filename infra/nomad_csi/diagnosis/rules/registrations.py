"""Compare registered volumes with their owner records, storage and plugins. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nomad_csi.aws import records as aws_records
from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import drains
from nomad_csi.findings import Finding, causes, finding
from nomad_csi.nomad.records import plugins as plugin_records
from nomad_csi.plan import jobs
from nomad_csi.plan import volumes as tags
from nomad_csi.volumes import owner_records

# Compare owner records with the registered volumes.


def check_owner_records(found: facts.ObservedCluster) -> Iterator[facts.Outcome]:
    """Yield owner records of volumes that are not registered, and storage that a plugin created for such a volume."""
    records = yield from facts.known(found.owner_records, "owner records of volumes")
    if records is None or isinstance(found.volumes, facts.Unknown):
        return
    registered = {volume.key for volume in found.volumes if volume.is_registered}
    left: dict[str, list[str]] = defaultdict(list)
    for key, owner in sorted(records.items()):
        if key in registered:
            continue
        if owner.storage_name and owner.external_id:
            yield _kept(key, owner)
        else:
            left[str(owner)].append(key)
    for label, keys in sorted(left.items()):
        evidence = f"/v1/var/nomad-csi/volumes: {label} has {facts.named(keys)}; /v1/volumes: not registered"
        yield finding("owner-record-without-volume", f"stack {label}", found=evidence)


def _kept(key: str, owner: owner_records.OwnerRecord) -> Finding:
    evidence = (
        f"/v1/var/nomad-csi/volumes: plugin {owner.plugin_id} created {owner.external_id} as {key} for {owner}; "
        "/v1/volumes: not registered"
    )
    fix = (
        f"run `nomad-csi apply` with the spec of {owner}, which registers it again; or, where its data is not needed, "
        f"`nomad-csi remove {key} --delete-data --owner {owner}`"
    )
    return finding("storage-not-registered", f"storage {owner.external_id}", found=evidence, advice=fix)


# Orphaned objects: registrations without storage, tagged storage without a registration.


_SHOWN = (tags.OWNER_TAG, tags.VOLUME_TAG, tags.FILE_SYSTEM_TAG)


def check_left_over(found: facts.ObservedCluster, account: facts.Account) -> Iterator[facts.Outcome]:
    """Yield registrations without storage, and storage without a registration."""
    volumes = found.known_volumes
    yield from _ebs(account, volumes)
    yield from _efs(account, volumes)
    if isinstance(found.volumes, facts.Unknown):
        return  # reported by the check of volumes; nothing can be called unregistered
    registered = {volume.external_id for volume in volumes}
    systems = {parts[0] for volume in volumes if (parts := aws_records.parts(volume.external_id))}
    ours = (yield from facts.known(account.ours, "unregistered EBS volumes of this package")) or {}
    for external_id in sorted(set(ours) - registered - _kept_ids(found)):
        yield _unregistered(external_id, ours[external_id].tags, "EC2 DescribeVolumes")
    seen = yield from facts.known(account.file_systems, "unregistered file systems of this package")
    if seen is not None:
        for system_id, system in sorted(seen.file_systems.items()):
            if (tags.OWNER_TAG in system.tags or tags.VOLUME_TAG in system.tags) and system_id not in systems:
                yield _unregistered(system_id, system.tags, "EFS DescribeFileSystems")


def _kept_ids(found: facts.ObservedCluster) -> set[str]:
    """Return the ids of created storage that owner records name: reported by the check of owner records."""
    return {owner.external_id for owner in found.known_owner_records.values() if owner.storage_name}


def _unregistered(external_id: str, found: Mapping[str, str], where: str) -> Finding:
    tag_text = ", ".join(f"{key}={found[key]}" for key in _SHOWN if key in found)
    evidence = f"{where}: {external_id} has {tag_text}; /v1/volumes: no volume with that external id"
    return finding("storage-not-registered", f"storage {external_id}", found=evidence)


def _ebs(account: facts.Account, volumes: tuple[facts.ExaminedVolume, ...]) -> Iterator[facts.Outcome]:
    if isinstance(account.volumes, facts.Unknown):
        return  # reported by the check of storage
    for volume in volumes:
        if facts.is_ebs(volume) and volume.external_id not in account.volumes:
            yield _missing(account, volume, "EC2 DescribeVolumes", "none")


def _efs(account: facts.Account, volumes: tuple[facts.ExaminedVolume, ...]) -> Iterator[facts.Outcome]:
    wanted = [(volume, parts) for volume in volumes if (parts := aws_records.parts(volume.external_id))]
    seen = (yield from facts.known(account.file_systems, f"storage of {len(wanted)} EFS volumes")) if wanted else None
    if seen is None:
        return
    for volume, (system_id, point_id) in wanted:
        system = seen.file_systems.get(system_id)
        if system is None or system.state in aws_records.LEAVING:
            yield _missing(account, volume, "EFS DescribeFileSystems", system.state if system else "none")
        elif point_id and seen.access_points.get(point_id) != system_id:
            found = f"{point_id} does not belong to {system_id}"
            yield _missing(account, volume, "EFS DescribeAccessPoints", found)


def _missing(account: facts.Account, volume: facts.ExaminedVolume, call: str, found: str) -> Finding:
    evidence = f"{volume.place}: external id {volume.external_id}; {call} in {account.region}: {found}"
    return finding("storage-missing", volume.subject, found=evidence)


# Plugins without volumes, volumes without plugins, claims without a healthy controller.


def check_plugins(found: facts.ObservedCluster) -> Iterator[facts.Outcome]:
    """Yield volumes that no plugin serves, and plugins that serve no volume."""
    plugins = yield from facts.known(found.plugins, "plugins of the volumes, and their controllers")
    volumes = yield from facts.known(found.volumes, "volumes and their claims")
    if plugins is None or volumes is None:
        return
    yield from _stopped(found)
    by_plugin: dict[str, list[facts.ExaminedVolume]] = defaultdict(list)
    for volume in volumes:
        by_plugin[volume.plugin_id].append(volume)
    for plugin_id, served in sorted(by_plugin.items()):
        registered = [volume for volume in served if volume.is_registered]
        if plugin_id not in plugins and registered:
            keys = facts.named([volume.key for volume in registered])
            evidence = f"/v1/volumes: {len(registered)} with plugin {plugin_id} ({keys}); /v1/plugins: no such plugin"
            links = (f"plugin {plugin_id}", *causes.of_plugin(plugin_id))
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


def _stopped(found: facts.ObservedCluster) -> Iterator[facts.Outcome]:
    """Yield the jobs of the spec that are stopped; absent ones may be run yet."""
    for job in (job for item in (found.plan.plugins if found.plan else ()) for job in item.jobs):
        if (job.namespace, job.job_id) in found.stopped_jobs:
            of_role = causes.of_role(job.plugin_id, job.role)
            yield finding(
                "job-missing",
                f"job {job.namespace}/{job.job_id}",
                expected=f"running, for plugin {job.plugin_id}",
                found="/v1/job: it is stopped",
                links=causes.of_plugin(job.plugin_id) if job.role == "monolith" else (of_role,),
            )


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
