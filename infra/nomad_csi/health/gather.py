"""
Observe a plugin: read it from Nomad, and probe the instances whose sockets are on this machine.

Nomad keeps a plugin's socket at ``<data_dir>/client/csi/plugins/<alloc_id>/csi.sock`` on its client, in folders that
only root may enter. Source: hashicorp/nomad, ``client/allocrunner/taskrunner/plugin_supervisor_hook.go``; tried on
Nomad 2.0.6-dev, 2026-08.
"""

import dataclasses
import functools
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from http import HTTPStatus
from typing import TypeVar

from nomad_csi import concurrency, errors, nomad
from nomad_csi.csi import endpoint, probe
from nomad_csi.health import instances, observed_plugin
from nomad_csi.nomad import jobs, plugins
from nomad_csi.plan import model

# Jobs outside a plan that run a plugin of the plan.
#
# Of two instances of one plugin on a client, Nomad probes and lists the newer one, and ignores the other
# (tried on Nomad 2.0.6-dev, 2026-11). Its record of the plugin lists the jobs of both.


JobKey = tuple[str, str]
"""Namespace and job id."""


def other_jobs_of(
    client: nomad.Nomad, own: Collection[JobKey], plugin: plugins.Plugin | None
) -> tuple[observed_plugin.OtherJob, ...]:
    """
    Return the jobs in Nomad's record of *plugin* that are not *own*; none where these are not known.

    Two calls for each. A missing capability of the token is a result; raises `errors.NomadApiError` otherwise.
    """
    if not own or plugin is None:
        return ()
    others = sorted(plugin.jobs - frozenset(own))
    return tuple(job for pair in others if (job := _read(client, plugin.plugin_id, *pair)))


def _read(client: nomad.Nomad, plugin_id: str, namespace: str, job_id: str) -> observed_plugin.OtherJob | None:
    try:
        document = jobs.document(client, namespace, job_id)
        allocations = jobs.allocations(client, namespace, job_id)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return observed_plugin.OtherJob(namespace=namespace, job_id=job_id, unread=str(error))
    if document is None:
        return None
    tasks = jobs.tasks_of_document(document)
    kinds = [task.role for task in tasks if task.plugin_id == plugin_id]
    return observed_plugin.OtherJob(
        namespace=namespace,
        job_id=job_id,
        roles=frozenset(role for kind in kinds for role in observed_plugin.ROLES.get(kind, frozenset())),
        stands_for=kinds[0] if len(tasks) == len(kinds) == 1 else "",
        allocations=allocations,
    )


# All requests about one plugin.


_Result = TypeVar("_Result")

PROBE_TIMEOUT_S = 5.0
"""For all requests to one instance; instances are probed in parallel."""

WORKERS = 8
"""Concurrent calls to Nomad. It refuses the hundredth connection of one address."""

NOWHERE = observed_plugin.Probed(
    reached=False, detail="the sockets are not known, because the clients' data_dir is not"
)


def ask_nomad(
    client: nomad.Nomad, expectation: model.PluginExpectation, job_ids: Iterable[str]
) -> observed_plugin.ObservedPlugin:
    """Return a plugin as observed in Nomad: two calls for each job and one more, however many instances there are."""
    own = tuple(job_ids)
    plugin = plugins.get(client, expectation.plugin_id)  # first: whatever it lists is among the allocations then
    ran: list[observed_plugin.Ran] = []
    missing: list[str] = []
    for job_id in own:
        job = jobs.get(client, expectation.namespace, job_id)
        if job is None or job.stopped:
            missing.append(job_id)
        for allocation in jobs.allocations(client, expectation.namespace, job_id):
            old = "" if job is None or allocation.job_version == job.version else _outdated(allocation, job)
            ran.append(
                observed_plugin.Ran(
                    job_id=job_id, job_type=job.type if job else "", allocation=allocation, outdated=old
                )
            )
    return observed_plugin.ObservedPlugin(
        plugin=plugin,
        names_jobs=bool(own),
        ran=tuple(ran),
        missing_jobs=tuple(missing),
        others=other_jobs_of(client, {(expectation.namespace, job_id) for job_id in own}, plugin),
        now_ns=client.now_ns,
    )


def _outdated(allocation: jobs.Allocation, job: jobs.Job) -> str:
    return f"it runs version {allocation.job_version} of its job, which is at version {job.version}"


def probe_all(
    observed: Sequence[tuple[model.PluginExpectation, observed_plugin.ObservedPlugin]],
    *,
    timeout_s: float = PROBE_TIMEOUT_S,
    cancelled: threading.Event | None = None,
) -> tuple[observed_plugin.ObservedPlugin, ...]:
    """Return the plugins *observed* in Nomad with the probe results of all instances with sockets on this machine."""
    event = cancelled or threading.Event()
    asked = [
        (number, expectation, item)
        for number, (expectation, plugin) in enumerate(observed)
        for item in instances.all_of(plugin.plugin)
    ]
    answers = run_in_parallel(
        (
            functools.partial(_probe, expectation, item, timeout_s=timeout_s, cancelled=event)
            for _, expectation, item in asked
        ),
        workers=probe.AT_ONCE,
    )
    probed: list[dict[tuple[str, observed_plugin.Role], observed_plugin.Probed]] = [{} for _ in observed]
    for (number, _, item), answer in zip(asked, answers, strict=True):
        probed[number][item.alloc_id, item.role] = answer
    return tuple(
        dataclasses.replace(plugin, probed=answers_of) for (_, plugin), answers_of in zip(observed, probed, strict=True)
    )


def run_in_parallel(calls: Iterable[Callable[[], _Result]], *, workers: int = WORKERS) -> list[_Result]:
    """Return the results of *calls* in their order; the rest is as `concurrency.run_in_order` says."""
    return list(concurrency.run_in_order(calls, workers=workers))


def socket_path(client_data_dir: str, alloc_id: str) -> str:
    """Return the path of the socket of the plugin task of *alloc_id* on its client."""
    return f"{client_data_dir}/client/csi/plugins/{alloc_id}/csi.sock"


def _probe(
    expectation: model.PluginExpectation,
    instance: plugins.Instance,
    *,
    timeout_s: float,
    cancelled: threading.Event,
) -> observed_plugin.Probed:
    """Probe one instance."""
    if not expectation.client_data_dir:
        return NOWHERE
    path = socket_path(expectation.client_data_dir, instance.alloc_id)
    hidden = _hidden(path)
    if hidden:
        return observed_plugin.Probed(reached=False, detail=hidden)
    answer = probe.probe(
        path,
        timeout_s=timeout_s,
        expect_name=expectation.provider,
        role=instance.role,
        cancelled=cancelled,
    )
    return observed_plugin.Probed(
        reached=True,
        healthy=answer.ready,
        status=answer.status,
        provider=answer.name,
        version=answer.vendor_version,
        detail="" if answer.ready else f"{answer.status}: {answer.detail}",
    )


def _hidden(path: str) -> str:
    """Return why the instance of the socket at *path* cannot be probed from here; empty: it can."""
    try:
        endpoint.check(endpoint.parse(path))
    except errors.CsiError as error:
        return observed_plugin.SOCKET_ABSENT if error.message == endpoint.NO_SOCKET else error.message
    return ""
