"""Whether the clients can run the plugins: task drivers and privileges. Pure."""

from collections.abc import Iterable, Iterator

from nomad_csi.diagnosis import facts
from nomad_csi.diagnosis.rules import plugins
from nomad_csi.diagnosis.rules.frame import rule
from nomad_csi.findings import causes, finding
from nomad_csi.nomad import jobs, nodes
from nomad_csi.spec import plugin as plugin_spec

Clients = tuple[nodes.Node, ...]
Tasks = tuple[jobs.PluginTask, ...]
PRIVILEGED = "driver.docker.privileged.enabled"
FOLDERS = "driver.docker.volumes.enabled"
_MOUNTING = frozenset({"node", "monolith"})
_MOUNT_RIGHTS = frozenset({"all", "sys_admin"})
"""Capabilities with which the kernel lets a container mount."""


_CODES = ("driver-nowhere", "driver-missing", "privileged-refused", "folders-refused")


@rule(*_CODES, clients="task drivers and privileges of the clients", tasks="")
def find_unable(_cluster: facts.Facts, clients: Clients, tasks: Tasks) -> Iterator[facts.Outcome]:
    """Yield clients on which plugins cannot run, and plugins that lack the privilege to mount."""
    for task in tasks:
        eligible = plugins.may_run(task, clients)
        yield from _driver(task, eligible)
        if task.task_driver == "docker" and task.privileged:
            yield from _refused("privileged-refused", task, eligible, PRIVILEGED, "requires privileged = true")
        if task.task_driver == "docker" and task.binds:
            yield from _refused("folders-refused", task, eligible, FOLDERS, f"mounts {facts.named([*task.binds])}")


@rule("privilege-missing", tasks="how plugins are run", plugin_jobs="")
def find_unprivileged(
    cluster: facts.Facts, tasks: Tasks, plugin_jobs: facts.ObservedPluginJobs
) -> Iterator[facts.Outcome]:
    """Yield plugins that lack the privilege to mount, and jobs of which it is not known."""
    for job, reason in sorted(plugin_jobs.hidden.items()):
        yield facts.Unchecked(check=f"how plugins are run by job {job}", reason=reason)
    for task in tasks:
        if _lacks_privileges(cluster, task):
            job = f"job {task.namespace}/{task.job_id}"
            yield finding("privilege-missing", facts.subject_of(task), found=f"{job} has no privileged = true")


def runs_on(task: jobs.PluginTask, clients: Clients) -> tuple[nodes.Node, ...]:
    """Return the clients on which *task* may run and whose task driver is healthy."""
    return tuple(node for node in plugins.may_run(task, clients) if node.drivers.get(task.task_driver, False))


def _driver(task: jobs.PluginTask, eligible: tuple[nodes.Node, ...]) -> Iterator[facts.Outcome]:
    without = [node for node in eligible if not node.drivers.get(task.task_driver, False)]
    if not without:
        return
    evidence = f"/v1/nodes: {task.task_driver} is not healthy on {facts.named([node.name for node in without])}"
    code = "driver-nowhere" if len(without) == len(eligible) else "driver-missing"
    all_nodes = (causes.of_all_nodes(task.plugin_id),) if task.role != "controller" else ()
    links = (*causes.of_task(task.plugin_id, task.role), *all_nodes)
    yield finding(code, facts.subject_of(task), found=evidence, links=links)


def _refused(
    code: str, task: jobs.PluginTask, eligible: Iterable[nodes.Node], attribute: str, wants: str
) -> Iterator[facts.Outcome]:
    """Yield *code* if there are clients whose Docker does not report *attribute*, which *task* needs."""
    refusing = [
        node.name
        for node in eligible
        if node.drivers.get("docker", False) and node.driver_attributes.get(attribute) not in {"true", "1"}
    ]
    if refusing:
        job = f"job {task.namespace}/{task.job_id}"
        evidence = f"{job} {wants}; /v1/nodes: {attribute} is not set on {facts.named(refusing)}"
        yield finding(code, facts.subject_of(task), found=evidence)


def _lacks_privileges(cluster: facts.Facts, task: jobs.PluginTask) -> bool:
    """Return whether *task* mounts from a container without the privilege; tasks of the spec are not checked."""
    planned = {(job.namespace, job.job_id): job.privileged for item in cluster.planned_plugins for job in item.jobs}
    is_wanted = planned.get((task.namespace, task.job_id), task.role in _MOUNTING)
    can = task.privileged or not task.capabilities.isdisjoint(_MOUNT_RIGHTS)
    return task.task_driver in plugin_spec.CONTAINERS and is_wanted and not can
