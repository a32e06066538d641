"""What a plugin that is in no spec is expected to be: what its own jobs ask for. Pure."""

from collections.abc import Sequence

from nomad_csi.nomad.records import jobs, plugins
from nomad_csi.plan import model

_NODE_ROLES = frozenset({"node", "monolith"})


def expectation_of(plugin: plugins.Plugin, tasks: Sequence[jobs.PluginTask]) -> model.PluginExpectation:
    """
    Return what *plugin* is to be by its *tasks*: a node instance on each client that its one system job may run on.

    Where several jobs, or a service job, run node instances, Nomad's own count is taken, and that of what runs where it
    is less: Nomad counts 0 right after a job is registered. So it is for controllers.
    """
    on_nodes = [task for task in tasks if task.role in _NODE_ROLES]
    counted = on_nodes[0] if len(on_nodes) == 1 and on_nodes[0].job_type == "system" else None
    is_monolith = any(task.role == "monolith" for task in tasks)
    first = next(iter(on_nodes or tasks), None)
    return model.PluginExpectation(
        plugin_id=plugin.plugin_id,
        provider=plugin.provider,
        namespace=first.namespace if first else "default",
        controllers=0 if is_monolith else max(plugin.controllers_expected, len(plugin.controllers)),
        monolith=is_monolith,
        nodes=None if counted else max(plugin.nodes_expected, len(plugin.nodes)),
        datacenters=counted.datacenters if counted else ("*",),
        node_pool=counted.node_pool if counted else "all",
        constraints=counted.constraints if counted else (),
        task_driver=first.task_driver if first else "",
        evidence="nomad",
        timeout_s=0,
        stable_s=0,
    )
