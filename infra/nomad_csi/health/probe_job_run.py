"""
Run the probe job in the cluster: register it, wait for it, read its logs, and always purge it.

It runs once on each named client. Reading the logs takes one call for each client; everything else
takes a number of calls that does not grow with them.
"""

import contextlib
import dataclasses
import functools
import json
import re
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from nomad_csi import errors, nomad
from nomad_csi.csi import report
from nomad_csi.health import gather, probed
from nomad_csi.nomad import jobs, nodes
from nomad_csi.nomad.records import volumes
from nomad_csi.plan import probe_job
from nomad_csi.text import listing

POLL_S = 0.5
"""Between two checks of the job's allocations; at least twice the duration of a check."""

REMOVE_S = 10.0
"""How long probes may take to end after the job is stopped, in seconds."""

READERS = 16
"""Logs that are read concurrently: each call goes to a client. Nomad refuses an address's 101st connection."""

LOG_TIMEOUT_S = 10.0
"""For one log: a client serves it, and may be down."""

READ_S = 20.0
"""Minimum timeout for all logs together, in seconds; it is as long as that of the probes otherwise."""

LEFT = re.compile(rf"{probe_job.PREFIX}-[0-9a-f]{{8}}")
"""Id of a job of this module."""

LOG_BYTES = 1 << 20
"""Log bytes that are read: far more than a client with fifty plugins writes."""


def answers(
    client: nomad.Nomad,
    job: probe_job.ProbeJob,
    wanted: Iterable[str],
    known: Mapping[str, nodes.Node],
    *,
    wait_s: float,
    cancelled: threading.Event,
    tell: Callable[[str], None],
) -> dict[str, probed.ClientAnswer]:
    """
    Return the answer of each of the clients *wanted*, by its id; for one that cannot be probed, why.

    Args:
        client: the cluster; the token needs ``submit-job``, ``read-job`` and ``read-logs`` in the job's namespace,
            and ``list-jobs`` to remove jobs that an earlier run left behind.
        job: how the probe gets onto the clients; its id and clients are filled in here.
        wanted: ids of clients.
        known: the cluster's clients by id.
        wait_s: seconds for all clients together; their logs may take as long again.
        cancelled: set to end the wait; the job is purged all the same.
        tell: logs progress.

    Raises:
        errors.NomadApiError: Nomad did not respond, or the token may not run the job or read its logs.
        errors.NomadCsiError: the job could not be removed; with the command that does.
        errors.CancelledError: *cancelled* was set.

    """
    ids = sorted(set(wanted))
    found = {node_id: item for node_id in ids if (item := why_not(known.get(node_id), job)) is not None}
    asked = tuple(node_id for node_id in ids if node_id not in found)
    if asked:
        run = dataclasses.replace(job, job_id=f"{job.job_id}-{secrets.token_hex(4)}", node_ids=asked)
        _remove_left(client, job.namespace, tell)
        tell(f"asking {listing.counted(len(asked), 'client')} with job {run.job_id}")
        found |= _run(client, run, wait_s, cancelled)
    return found


def why_not(node: nodes.Node | None, job: probe_job.ProbeJob) -> probed.ClientAnswer | None:
    """Return why the job cannot run on the client; ``None``: it can."""
    if node is None:
        return _nothing("Nomad does not know the client any more", "ask again: its allocations are on their way out")
    if node.status != "ready":
        return _nothing(f"the client is {node.status}", "check the client with `nomad node status`")
    if node.draining or not node.eligible:
        why = "the client is draining" if node.draining else "the client is not eligible for scheduling"
        return _nothing(why, f"no job is placed there now; ask on the client itself: {_BY_HAND}")
    if not node.drivers.get(job.task_driver, False):
        fix = "enable it, or run the probe in an image" if job.task_driver == "raw_exec" else "enable it"
        why = f"the task driver {job.task_driver} is not healthy on the client"
        return _nothing(why, f"{fix}; or ask on the client itself: {_BY_HAND}")
    return None


_BY_HAND = "nomad-csi csi probe --folder STATE_DIR/csi/plugins"


def _nothing(problem: str, advice: str = "") -> probed.ClientAnswer:
    return probed.ClientAnswer(problem=problem, advice=advice)


def _run(
    client: nomad.Nomad, job: probe_job.ProbeJob, wait_s: float, cancelled: threading.Event
) -> Mapping[str, probed.ClientAnswer]:
    """Run the job, and return the answer of each of its clients."""
    with _running(client, job) as parsed:
        ran = _wait(client, job, client.clock.now() + wait_s, cancelled)
        until = client.clock.now() + max(wait_s, READ_S)
        reads = (functools.partial(_read, client, job, item, until) for item in ran.values())
        read = dict(zip(ran, gather.run_in_parallel(reads, workers=READERS), strict=True))
        late = "" if len(read) >= len(job.node_ids) else _unplaced(client, parsed, wait_s)
    return {node_id: read.get(node_id) or _nothing(late) for node_id in job.node_ids}


def _remove_left(client: nomad.Nomad, namespace: str, tell: Callable[[str], None]) -> None:
    """
    Purge ended jobs of runs that were killed.

    This may include a job whose logs another run still reads: logs and allocations of a purged job remain until
    garbage collection, and purging an absent job is no error.
    """
    try:
        left = jobs.list_jobs(client, namespace, f"{probe_job.PREFIX}-")
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        tell(f"jobs that earlier probes left behind were not searched for: {error}")
        return
    for job in left:
        if job.status == "dead" and LEFT.fullmatch(job.job_id):
            tell(f"removing job {job.job_id}, which an earlier probe left behind")
            jobs.stop(client, namespace, job.job_id, purge=True)


def _unplaced(client: nomad.Nomad, parsed: Mapping[str, Any], wait_s: float) -> str:
    """Return why clients got no task; Nomad's reason is from a plan, which names no client."""
    late = f"the probe was not placed there within {wait_s:g} s"
    try:
        reason = jobs.plan(client, parsed).failed_groups.get(probe_job.TASK, "")
    except errors.NomadApiError as error:
        reason = f"not reported, {error.message}"
    suffix = f" (Nomad's reason: {reason})" if reason else ""
    return f"{late}{suffix}: compare the job's node pool, datacenters and room"


@contextlib.contextmanager
def _running(client: nomad.Nomad, job: probe_job.ProbeJob) -> Iterator[Mapping[str, Any]]:
    """Keep the job registered for as long as the block runs; yield it as Nomad has it."""
    from nomad_csi.render import documents  # noqa: PLC0415  # with the template engine; few runs of the provider need it

    source = documents.probe_job_file(job)
    parsed = jobs.parse(client, source, namespace=job.namespace)
    may_be_there = True  # also if an interrupt comes before the reply
    try:
        try:
            jobs.register(client, parsed, source=source, enforce_index=0)
        except errors.NomadApiError as error:
            may_be_there = error.kind == "ambiguous"
            raise
        yield parsed
    finally:
        if may_be_there:
            _remove(client, job)


def _wait(
    client: nomad.Nomad, job: probe_job.ProbeJob, deadline: float, cancelled: threading.Event
) -> dict[str, jobs.Allocation]:
    """Return the job's allocations by node, once all have ended or the client's clock passes *deadline*."""
    while True:
        began = client.clock.now()
        found = {item.node_id: item for item in jobs.allocations(client, job.namespace, job.job_id)}
        ended = [node_id for node_id, item in found.items() if item.client_status in volumes.ENDED]
        if len(ended) >= len(job.node_ids) or client.clock.now() >= deadline:
            return found
        if client.clock.wait(cancelled, max(POLL_S, 2 * (client.clock.now() - began))):
            raise errors.CancelledError(f"interrupted: {len(ended)} of {len(job.node_ids)} clients had answered")


def _read(
    client: nomad.Nomad, job: probe_job.ProbeJob, allocation: jobs.Allocation, until: float
) -> probed.ClientAnswer:
    """
    Return the probe results that one client logged; no log is read after *until* on the client's clock.

    Raises `errors.NomadApiError` if the token may not read logs.
    """
    if allocation.client_status not in volumes.ENDED:
        return _nothing(f"the probe had not ended there in time: it is {allocation.client_status}")
    if client.clock.now() >= until:
        return _nothing("its log was not read in time: the logs of other clients took too long", "raise --timeout")
    try:
        text = jobs.tail_log(
            client,
            job.namespace,
            allocation.alloc_id,
            probe_job.TASK,
            stream="stdout",
            length=LOG_BYTES,
            timeout_s=LOG_TIMEOUT_S,
        )
    except errors.NomadApiError as error:
        if error.status == HTTPStatus.FORBIDDEN:
            raise
        return _nothing(_failure(client, job, allocation) or f"its log could not be read: {error.message}")
    try:
        return _answer(json.loads(text))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        return _nothing(_failure(client, job, allocation) or f"what the probe printed there is no answer: {error}")


def _answer(document: Any) -> probed.ClientAnswer:
    reports = {alloc_id: report.parse_report(found) for alloc_id, found in document["reports"].items()}
    validated = document.get("validated", {})
    return probed.ClientAnswer(problem=str(document["problem"]), reports=reports, validated=dict(validated))


def _failure(client: nomad.Nomad, job: probe_job.ProbeJob, allocation: jobs.Allocation) -> str:
    """Return why the probe failed there, from the last failure event and the end of its log; empty: it did not."""
    if allocation.client_status == "complete":
        return ""
    failures = [event.message for event in allocation.task_events if event.type in {"Driver Failure", "Setup Failure"}]
    if failures:
        return f"the probe could not start: {failures[-1]}; see whether {job.command!r} is there and can be run"
    try:
        log = jobs.tail_log(client, job.namespace, allocation.alloc_id, probe_job.TASK, length=2000)
    except errors.NomadApiError:
        log = ""
    last = next((line for line in reversed(log.splitlines()) if line.strip()), "")
    return f"the probe failed: {last}" if last else f"the probe {allocation.client_status}"


def _remove(client: nomad.Nomad, job: probe_job.ProbeJob) -> None:
    """
    Stop the job, wait for its tasks to end, and purge it; after `REMOVE_S` purge it in any case.

    Raises `errors.NomadCsiError` if Nomad refuses: the operator must remove it.
    """
    deadline = client.clock.now() + REMOVE_S
    try:
        jobs.stop(client, job.namespace, job.job_id, purge=False)
        while client.clock.now() < deadline and _is_alive(client, job):
            client.clock.sleep(POLL_S)
        jobs.stop(client, job.namespace, job.job_id, purge=True)
    except errors.NomadApiError as error:
        by_hand = f"nomad job stop -purge -namespace {job.namespace} {job.job_id}"
        raise errors.NomadCsiError(f"job {job.job_id} is left behind: {error}; remove it: {by_hand}") from error


def _is_alive(client: nomad.Nomad, job: probe_job.ProbeJob) -> bool:
    """Return whether a probe still runs, as far as the token may see: it may be able to stop a job but not read it."""
    try:
        found = jobs.allocations(client, job.namespace, job.job_id)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return False
    return any(item.client_status not in volumes.ENDED for item in found)
