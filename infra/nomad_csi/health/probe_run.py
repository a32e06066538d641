"""
Probe plugin instances on their own clients: one job runs the probe there, and its logs hold the results.

The job runs once on each client that has an instance, probes those of all plugins, and is always purged. Reading the
logs takes one call for each client; everything else takes a number of calls that does not grow with them. For a
status, Nomad is read before the job, to select instances, and again after it, so that its status is never older than
the probes.
"""

import contextlib
import dataclasses
import functools
import json
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.csi import records
from nomad_csi.health import eligibility, events, gather, instances, observed_plugin, probed
from nomad_csi.nomad import jobs, nodes
from nomad_csi.nomad.volumes import ENDED
from nomad_csi.plan import model, program_jobs
from nomad_csi.text import listing

POLL_S = 0.5
"""Between two checks of the job's allocations; at least twice the duration of a check."""

REMOVE_S = 10.0
"""How long probes may take to end after the job is stopped, in seconds."""

READERS = 16
"""Logs that are read concurrently: each call goes to a client. Nomad refuses an address's 101st connection."""

LOG_TIMEOUT_S = 10.0
"""For one log: a client serves it, and may be down."""

LOG_BYTES = 1 << 20
"""Log bytes that are read: far more than a client with fifty plugins writes."""


# The job, and its results.


Observed = Sequence[tuple[model.PluginExpectation, observed_plugin.ObservedPlugin]]

Answers = Mapping[str, probed.ClientAnswer]
"""By id of the client."""


@dataclass(frozen=True, kw_only=True)
class OnNodes:
    """Options for probing instances on their clients."""

    job: program_jobs.ProbeJob
    """Its id and clients are filled in."""

    timeout_s: float = program_jobs.WAIT_S
    """For all clients together."""

    report: Callable[[str], None] = lambda _: None
    """Logs progress."""


def merged(observed: Observed, results: Answers) -> tuple[observed_plugin.ObservedPlugin, ...]:
    """Return the plugins *observed* in Nomad after the job, with the probe *results* of their clients."""
    complete: list[observed_plugin.ObservedPlugin] = []
    for expectation, plugin in observed:
        by_instance = {
            (item.alloc_id, item.role): probed.merged(
                expectation.provider, item.role, item.alloc_id, results.get(item.node_id)
            )
            for item in instances.all_of(plugin.plugin)
        }
        complete.append(dataclasses.replace(plugin, probed=by_instance))
    return tuple(complete)


# One run of the job.


def ask(
    client: nomad.Nomad, observed: Iterable[observed_plugin.ObservedPlugin], how: OnNodes, cancelled: threading.Event
) -> Answers:
    """
    Return the answer of each client with an instance of the *observed* plugins; for one that cannot be probed, why.

    The token needs ``submit-job``, ``read-job`` and ``read-logs`` in the job's namespace. The time for the logs is not
    part of the timeout.

    Raises:
        errors.NomadApiError: Nomad did not respond, or the token may not run the job or read its logs.
        errors.NomadCsiError: the job could not be removed; with the command that does.
        errors.CancelledError: *cancelled* was set; the job is purged all the same.

    """
    ids = sorted({item.node_id for plugin in observed for item in instances.all_of(plugin.plugin)})
    known = {node.node_id: node for node in nodes.list_nodes(client)} if ids else {}
    answers = {node_id: item for node_id in ids if (item := why_not(known.get(node_id), how.job)) is not None}
    asked = tuple(node_id for node_id in ids if node_id not in answers)
    if asked:
        run = dataclasses.replace(how.job, job_id=f"{how.job.job_id}-{secrets.token_hex(4)}", node_ids=asked)
        how.report(f"asking {listing.counted(len(asked), 'client')} with job {run.job_id}")
        answers |= _run(client, run, how.timeout_s, cancelled)
    return answers


def why_not(node: nodes.Node | None, job: program_jobs.ProbeJob) -> probed.ClientAnswer | None:
    """Return why the job cannot run on the client; ``None``: it can."""
    state = eligibility.state(node, job.task_driver) if node else "not known to Nomad any more"
    advice = "probe on the client itself: nomad-csi csi probe --folder STATE_DIR/csi/plugins"
    return probed.ClientAnswer(problem=f"no job is placed on the client: {state}", advice=advice) if state else None


def _run(
    client: nomad.Nomad, job: program_jobs.ProbeJob, wait_s: float, cancelled: threading.Event
) -> Mapping[str, probed.ClientAnswer]:
    """Run the job, and return the answer of each of its clients."""
    with _running(client, job):
        ran = _wait(client, job, client.clock.now() + wait_s, cancelled)
        reads = (functools.partial(_read, client, job, item) for item in ran.values())
        read = dict(zip(ran, gather.run_in_parallel(reads, workers=READERS), strict=True))
    late = f"the probe was not placed there within {wait_s:g} s: compare the job's node pool, datacenters and room"
    return {node_id: read.get(node_id) or probed.ClientAnswer(problem=late) for node_id in job.node_ids}


@contextlib.contextmanager
def _running(client: nomad.Nomad, job: program_jobs.ProbeJob) -> Iterator[None]:
    """Keep the job registered for as long as the block runs."""
    from nomad_csi.hcl import documents  # noqa: PLC0415  # with the template engine; few runs of the provider need it

    source = documents.probe_job_file(job)
    parsed = jobs.parse(client, source, namespace=job.namespace)
    may_be_there = True  # also if an interrupt comes before the reply
    try:
        try:
            jobs.register(client, parsed, source=source, enforce_index=0)
        except errors.NomadApiError as error:
            may_be_there = error.kind == "ambiguous"
            raise
        yield
    finally:
        if may_be_there:
            _remove(client, job)


def _wait(
    client: nomad.Nomad, job: program_jobs.ProbeJob, deadline: float, cancelled: threading.Event
) -> dict[str, jobs.Allocation]:
    """Return the job's allocations by node, once all have ended or the client's clock passes *deadline*."""
    while True:
        began = client.clock.now()
        by_node = {item.node_id: item for item in jobs.allocations(client, job.namespace, job.job_id)}
        ended = [node_id for node_id, item in by_node.items() if item.client_status in ENDED]
        if len(ended) >= len(job.node_ids) or client.clock.now() >= deadline:
            return by_node
        if client.clock.wait(cancelled, max(POLL_S, 2 * (client.clock.now() - began))):
            raise errors.CancelledError(f"interrupted: {len(ended)} of {len(job.node_ids)} clients had answered")


def _read(client: nomad.Nomad, job: program_jobs.ProbeJob, allocation: jobs.Allocation) -> probed.ClientAnswer:
    """Return the probe results that one client logged. Raises `errors.NomadApiError` if the token may not read logs."""
    if allocation.client_status not in ENDED:
        problem = f"the probe had not ended there in time: it is {allocation.client_status}"
        return probed.ClientAnswer(problem=problem)
    read = functools.partial(jobs.tail_log, client, job.namespace, allocation.alloc_id, program_jobs.TASK)
    try:
        document = json.loads(read(stream="stdout", length=LOG_BYTES, timeout_s=LOG_TIMEOUT_S))
        reports = {alloc_id: records.parse_report(item) for alloc_id, item in document["reports"].items()}
        return probed.ClientAnswer(problem=str(document["problem"]), reports=reports)
    except errors.NomadApiError as error:
        if error.status == HTTPStatus.FORBIDDEN:
            raise
        problem = f"its log could not be read: {error.message}"
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        problem = f"what the probe printed there is no answer: {error}"
    if allocation.client_status != "complete":
        problem = f"the probe failed {events.on_client(allocation)}: {events.cause(allocation)}"
    return probed.ClientAnswer(problem=problem)


def _remove(client: nomad.Nomad, job: program_jobs.ProbeJob) -> None:
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


def _is_alive(client: nomad.Nomad, job: program_jobs.ProbeJob) -> bool:
    """Return whether a probe still runs, as far as the token may see: it may be able to stop a job but not read it."""
    try:
        allocations = jobs.allocations(client, job.namespace, job.job_id)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return False
    return any(item.client_status not in ENDED for item in allocations)
