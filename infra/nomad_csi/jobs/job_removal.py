"""Stop a plugin job, wait until its tasks have ended, purge it: in this order, so that no task is orphaned."""

from nomad_csi import errors, nomad
from nomad_csi.frame import resource
from nomad_csi.nomad import jobs, volumes
from nomad_csi.nomad.http import replies
from nomad_csi.nomad.records import volumes as volume_records

TIMEOUT_S = 120.0
"""Longer than Nomad's ``kill_timeout`` (5 s, at most 30 s by default) of several tasks one after another."""

INTERVAL_S = 0.25


def remove(context: resource.Context, job: jobs.Job) -> None:
    """
    Stop and purge *job*.

    A purge straight after the stop can leave the task and its mounts behind on a client (tried on Nomad 2.0.6-dev).
    Raises `errors.CancelledError` when interrupted, `errors.NomadCsiError` when tasks do not end in time; the job is
    stopped then, and the next run continues from there.
    """
    if not job.stopped:
        jobs.stop(context.client, job.namespace, job.job_id, purge=False)
    _wait_until_ended(context, job)
    jobs.stop(context.client, job.namespace, job.job_id, purge=True)


def refuse_serving(client: nomad.Nomad, job: jobs.Job, document: replies.ReplyObject) -> None:
    """
    Raise `errors.RefusedError` while a volume of a plugin in *document* is claimed.

    Without the plugin Nomad releases the claim, but the volume stays mounted and attached (tried on Nomad 2.0.6-dev).
    """
    served = frozenset(replies.text(plugin, "ID") for plugin in jobs.csi_plugins(document))
    claimed = [item for item in volumes.list_volumes(client, "*") if item.plugin_id in served and _is_claimed(item)]
    if claimed:
        named = ", ".join(f"{item.namespace}/{item.volume_id}" for item in claimed)
        raise errors.RefusedError(
            f"job {job.namespace}/{job.job_id} runs on: volumes of its plugin are claimed, and would stay mounted and "
            f"attached without it: {named}; stop the jobs that use them and run again"
        )


def _is_claimed(volume: volumes.ListedVolume) -> bool:
    return volume.readers + volume.writers > 0


def _wait_until_ended(context: resource.Context, job: jobs.Job) -> None:
    timeout_s = context.timeout_s or TIMEOUT_S
    clock = context.client.clock
    deadline = clock.now() + timeout_s
    while running := _running(context.client, job):
        context.status(f"{len(running)} tasks are stopping" if len(running) > 1 else "1 task is stopping")
        if context.cancelled.is_set():
            raise errors.CancelledError(f"interrupted: job {job.namespace}/{job.job_id} is stopped, not purged")
        if clock.now() > deadline:
            raise errors.NomadCsiError(_late(job, running, timeout_s))
        clock.wait(context.cancelled, INTERVAL_S)


def _running(client: nomad.Nomad, job: jobs.Job) -> tuple[jobs.Allocation, ...]:
    found = jobs.allocations(client, job.namespace, job.job_id)
    return tuple(allocation for allocation in found if allocation.client_status not in volume_records.ENDED)


def _late(job: jobs.Job, running: tuple[jobs.Allocation, ...], timeout_s: float) -> str:
    where = ", ".join(f"{item.alloc_id[:8]} on {item.node_name} ({item.client_status})" for item in running)
    return (
        f"job {job.namespace}/{job.job_id} is stopped, but after {timeout_s:g} s allocations still run: {where}; "
        "it was not purged: check these clients, then run again"
    )
