"""
What there is of a plugin: asked of Nomad, and of the instances themselves where their sockets are on this machine.

Nomad keeps a plugin's socket at ``<data_dir>/client/csi/plugins/<alloc_id>/csi.sock`` on its client, in folders that
only root may enter. Source: hashicorp/nomad, ``client/allocrunner/taskrunner/plugin_supervisor_hook.go``; tried on
Nomad 2.0.6-dev, 2026-08.
"""

import dataclasses
import functools
import threading
from collections.abc import Callable, Iterable
from concurrent import futures
from typing import TypeVar

from nomad_csi import errors, nomad
from nomad_csi.csi import endpoint, probe
from nomad_csi.nomad import jobs, nodes, plugins
from nomad_csi.plan import model
from nomad_csi.verify import eligibility, found, instances

_Result = TypeVar("_Result")

PROBE_TIMEOUT_S = 5.0
"""For all questions to one instance; they are asked in parallel."""

WORKERS = 8
"""Calls at the same time. Nomad refuses the hundredth connection of one address."""


def gather_plugin(
    client: nomad.Nomad,
    expectation: model.PluginExpectation,
    job_ids: Iterable[str],
    *,
    probe_timeout_s: float = PROBE_TIMEOUT_S,
    cancelled: threading.Event | None = None,
) -> found.PluginFound:
    """
    Return what there is of a plugin whose jobs are *job_ids*.

    Raises `errors.NomadApiError` when Nomad does not answer, `errors.CancelledError` when *cancelled* is set while
    instances are asked. An instance that does not answer is a result.
    """
    ran: list[found.Ran] = []
    missing: list[str] = []
    for job_id in job_ids:
        job = jobs.get(client, expectation.namespace, job_id)
        if job is None or job.stopped:
            missing.append(job_id)
        ran.extend(_ran(client, expectation.namespace, job_id, job))
    plugin = plugins.get(client, expectation.plugin_id)
    return found.PluginFound(
        plugin=plugin,
        ran=tuple(ran),
        missing_jobs=tuple(missing),
        probed=_probe_all(expectation, plugin, probe_timeout_s, cancelled or threading.Event()),
    )


class Clients:
    """The cluster's clients, with what they say of themselves where that is asked for; not asked twice in vain."""

    def __init__(self, client: nomad.Nomad) -> None:
        self._client = client
        self._described: dict[tuple[str, int], nodes.Node] = {}

    def look(self, expectations: Iterable[model.PluginExpectation]) -> tuple[nodes.Node, ...]:
        """
        Return all clients; described are those of which one of *expectations* must know more than the list tells.

        Raises `errors.NomadApiError` when Nomad does not answer.
        """
        wanted = tuple(expectations)
        listed = nodes.list_nodes(self._client)
        unknown = [
            node
            for node in listed
            if any(eligibility.needs_description(item, node) for item in wanted) and _key(node) not in self._described
        ]
        asked = in_parallel(functools.partial(nodes.described, self._client, node) for node in unknown)
        self._described |= {_key(node): node for node in asked}
        return tuple(self._with_description(node) for node in listed)

    def _with_description(self, node: nodes.Node) -> nodes.Node:
        known = self._described.get(_key(node))
        return dataclasses.replace(node, attributes=known.attributes, meta=known.meta) if known else node


def _key(node: nodes.Node) -> tuple[str, int]:
    return node.node_id, node.modify_index


def in_parallel(calls: Iterable[Callable[[], _Result]]) -> list[_Result]:
    """Return the results of *calls* in their order, `WORKERS` at a time. The first error goes up."""
    with futures.ThreadPoolExecutor(max_workers=WORKERS) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def socket_path(client_data_dir: str, alloc_id: str) -> str:
    """Return where the client keeps the socket of the plugin task of *alloc_id*."""
    return f"{client_data_dir}/client/csi/plugins/{alloc_id}/csi.sock"


def _ran(client: nomad.Nomad, namespace: str, job_id: str, job: jobs.Job | None) -> list[found.Ran]:
    return [
        found.Ran(
            job_id=job_id,
            job_type=job.type if job else "",
            allocation=allocation,
            outdated=_outdated(allocation, job),
        )
        for allocation in jobs.allocations(client, namespace, job_id)
    ]


def _outdated(allocation: jobs.Allocation, job: jobs.Job | None) -> str:
    if job is None or allocation.job_version == job.version:
        return ""
    return f"it runs version {allocation.job_version} of its job, which is at version {job.version}"


def _probe_all(
    expectation: model.PluginExpectation,
    plugin: plugins.Plugin | None,
    timeout_s: float,
    cancelled: threading.Event,
) -> dict[tuple[str, found.Role], found.Probed]:
    if not expectation.client_data_dir:
        nowhere = found.Probed(reached=False, detail="the clients' data_dir is not known, so neither are the sockets")
        return {(item.alloc_id, item.role): nowhere for item in instances.all_of(plugin)}
    asked = instances.all_of(plugin)
    answers = in_parallel(functools.partial(_probe, expectation, item, timeout_s, cancelled) for item in asked)
    return {(item.alloc_id, item.role): answer for item, answer in zip(asked, answers, strict=True)}


def _probe(
    expectation: model.PluginExpectation, instance: plugins.Instance, timeout_s: float, cancelled: threading.Event
) -> found.Probed:
    path = socket_path(expectation.client_data_dir, instance.alloc_id)
    hidden = _hidden(path)
    if hidden:
        return found.Probed(reached=False, detail=hidden)
    answer = probe.probe(
        path, timeout_s=timeout_s, expect_name=expectation.provider, role=instance.role, cancelled=cancelled
    )
    return found.Probed(
        reached=True,
        healthy=answer.ready,
        provider=answer.name,
        version=answer.vendor_version,
        detail="" if answer.ready else f"{answer.verdict}: {answer.detail}",
    )


def _hidden(path: str) -> str:
    """Return why the instance of the socket at *path* cannot be asked from here; empty: it can."""
    try:
        obstacle = endpoint.obstacle(endpoint.parse(path))
    except errors.CsiError as error:
        return error.message
    if obstacle is None:
        return ""
    return found.SOCKET_ABSENT if obstacle.kind == "missing" else obstacle.message
