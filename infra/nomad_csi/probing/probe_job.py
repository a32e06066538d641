"""
Asking the instances of a plugin on their own clients: a job runs the probe there, and its logs hold the answers.

The job runs once on each client that has an instance, and is purged whatever happens.
"""

import dataclasses
import threading
from collections.abc import Callable

from nomad_csi import errors, nomad
from nomad_csi.health import instances
from nomad_csi.nomad import nodes, plugins
from nomad_csi.plan import probe_job
from nomad_csi.probing import probe_job_run, probe_job_volumes, probed, volume_answers


def ask(
    client: nomad.Nomad,
    plugin_id: str,
    job: probe_job.ProbeJob,
    *,
    needs: probe_job_volumes.ProbedVolumes | None = None,
    wait_s: float = probe_job.WAIT_S,
    cancelled: threading.Event | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> probed.ProbedPlugin:
    """
    Return what the instances of *plugin_id* answered on their clients; what could not be asked is in it too.

    Args:
        client: the cluster; the token needs ``submit-job``, ``read-job`` and ``read-logs`` in the job's namespace.
        plugin_id: a CSI plugin of the cluster.
        job: how the probe gets onto the clients; its id and clients are filled in here.
        needs: registered volumes; a controller of the plugin is asked for those of them that need no secrets.
        wait_s: seconds for all clients together.
        cancelled: set to end the wait; the job is purged all the same.
        tell: told what is being done.

    Raises:
        errors.SpecError: the cluster has no such plugin.
        errors.NomadApiError: Nomad did not answer, or may not run the job or show its logs.
        errors.CancelledError: *cancelled* was set.

    """
    plugin = plugin_of(client, plugin_id)
    known = {node.node_id: node for node in nodes.list_nodes(client)}
    wanted = (item.node_id for item in instances.all_of(plugin))
    given = needs or probe_job_volumes.ProbedVolumes()
    mine = given.of(plugin_id)
    asking = probe_job_volumes.asking(plugin, mine, given.with_secrets, known, job)
    carrying = dataclasses.replace(job, environment=probe_job_volumes.environment([asking], wait_s))
    said = probe_job_run.answers(client, carrying, wanted, known, wait_s=wait_s, cancelled=cancelled, tell=tell)
    names = {node_id: node.name for node_id, node in known.items()}
    told = volume_answers.judge_without_secrets(plugin_id, mine, *probe_job_volumes.answered(asking, said))
    return probed.ProbedPlugin(plugin_id=plugin_id, rows=probed.judge(plugin, names, said), findings=told)


def plugin_of(client: nomad.Nomad, plugin_id: str) -> plugins.Plugin:
    """Return the plugin. Raises `errors.SpecError` with those that the cluster has where it lacks this one."""
    found = plugins.get(client, plugin_id)
    if found is None:
        there = ", ".join(plugins.list_ids(client)) or "it has none"
        problem = errors.Problem(path="plugin", got=repr(plugin_id), allowed=f"a CSI plugin of the cluster ({there})")
        raise errors.SpecError((problem,), source=client.connection.address)
    return found
