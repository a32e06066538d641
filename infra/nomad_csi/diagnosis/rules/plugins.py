"""The health of plugins as `health` judges it; jobs and plugins that are absent. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import Finding, causes, finding, registry
from nomad_csi.health import eligibility, observation
from nomad_csi.nomad import jobs, nodes
from nomad_csi.nomad import plugins as records

ABSENT = ("job-missing", "plugin-missing")
"""Codes of plugins that the lists of Nomad show, too, without their health."""

_CHAPTERS = ("Expected plugins", "Number of instances", "Plugin instances")
OF_HEALTH = tuple(
    code
    for title in _CHAPTERS
    for code, row in registry.chapters()[title].items()
    if "verify" in row.commands and code not in ABSENT
)


@rule(*OF_HEALTH, observed="health of the plugins")
def find_unhealthy(_cluster: facts.Facts, observed: Sequence[observation.Observation]) -> Iterator[facts.Outcome]:
    """Yield the findings on the health of plugins and of their instances."""
    yield from (item for plugin in observed for item in plugin.status.findings if item.code in OF_HEALTH)


@rule(*ABSENT)
def find_absent(cluster: facts.Facts) -> Iterator[facts.Outcome]:
    """Yield jobs and plugins that are absent: by their health, else by the lists."""
    observed = facts.known_or(cluster.observed, ())
    by_health = [item for plugin in observed for item in plugin.status.findings if item.code in ABSENT]
    yield from by_health
    reported = {(item.code, item.subject) for item in by_health}
    by_lists = (*_stopped(cluster), *_without_plugin(cluster))
    yield from (item for item in by_lists if (item.code, item.subject) not in reported)


def _stopped(cluster: facts.Facts) -> Iterator[Finding]:
    """Yield the jobs of the spec that are stopped; absent ones may be run yet."""
    stopped = facts.known_or(cluster.plugin_jobs, facts.ObservedPluginJobs()).stopped
    for job in (job for item in cluster.planned_plugins for job in item.jobs):
        if (job.namespace, job.job_id) in stopped:
            all_nodes = (causes.of_all_nodes(job.plugin_id),) if job.role != "controller" else ()
            yield finding(
                "job-missing",
                f"job {job.namespace}/{job.job_id}",
                expected=f"running, for plugin {job.plugin_id}",
                found="/v1/job: it is stopped",
                links=(*causes.of_task(job.plugin_id, job.role), *all_nodes),
            )


def _without_plugin(cluster: facts.Facts) -> Iterator[Finding]:
    """Yield the plugins of registered volumes that Nomad does not have."""
    if isinstance(cluster.plugins, facts.Unknown):
        return
    served: dict[str, list[str]] = {}
    for volume in facts.known_or(cluster.volumes, ()):
        if volume.is_registered and volume.plugin_id not in cluster.plugins:
            served.setdefault(volume.plugin_id, []).append(volume.key)
    for plugin_id, keys in sorted(served.items()):
        shown = f"/v1/volumes: {len(keys)} with plugin {plugin_id} ({facts.named(keys)}); /v1/plugins: no such plugin"
        yield finding(
            "plugin-missing",
            f"plugin {plugin_id}",
            expected="a plugin known to Nomad",
            found=shown,
            links=(f"plugin {plugin_id}", *causes.of_plugin(plugin_id), causes.of_all_nodes(plugin_id)),
        )


def providers(cluster: facts.Facts) -> dict[str, str]:
    """Return the driver's name by plugin id, if known."""
    planned = {item.plugin_id: item.expectation.provider for item in cluster.planned_plugins}
    running = {
        plugin_id: item.provider for plugin_id, item in facts.known_or(cluster.plugins, {}).items() if item.provider
    }
    return planned | running


def tasks_of(cluster: facts.Facts, provider: str) -> list[jobs.PluginTask]:
    """Return the plugin tasks of a driver."""
    known = providers(cluster)
    return [task for task in facts.known_or(cluster.tasks, ()) if known.get(task.plugin_id) == provider]


def may_run(task: jobs.PluginTask, clients: Sequence[nodes.Node]) -> tuple[nodes.Node, ...]:
    """Return the clients on which *task* may run, with or without its task driver."""
    return eligibility.eligible_nodes(eligibility.ignore_task_driver(task), clients)


def segments_of(cluster: facts.Facts, plugin_id: str) -> list[Mapping[str, str]]:
    """Return the topologies that the plugin's clients report."""
    plugin: records.Plugin | None = facts.known_or(cluster.plugins, {}).get(plugin_id)
    return [item.segments for item in plugin.nodes] if plugin else []
