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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus

from nomad_csi import errors, nomad
from nomad_csi.csi import records, validation
from nomad_csi.health import eligibility, events, found, gather, instances, probed
from nomad_csi.nomad import jobs, nodes, plugins, volumes
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


# Which controller validates which volumes in a probe job, and the results. No secrets go into the job.


NO_CONTROLLER = "no controller that could be asked on its client"


@dataclass(frozen=True, kw_only=True)
class ProbedVolumes:
    """Registered volumes."""

    registered: Sequence[volumes.Volume] = ()
    with_secrets: frozenset[records.Key] = frozenset()
    """Volumes that are known to need secrets; Nomad does not show it."""

    def of(self, plugin_id: str) -> tuple[volumes.Volume, ...]:
        """Return the volumes of one plugin."""
        return tuple(item for item in self.registered if item.plugin_id == plugin_id)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Validation requests to one controller of a plugin."""

    alloc_id: str = ""
    node_id: str = ""
    questions: tuple[records.ValidationQuestion, ...] = ()
    skipped: Mapping[records.Key, str] = field(default_factory=dict)
    """Volumes that are not validated, and why."""


def volume_questions(
    record: plugins.Plugin,
    needs: Sequence[volumes.Volume],
    with_secrets: Collection[records.Key],
    known: Mapping[str, nodes.Node],
    job: program_jobs.ProbeJob,
) -> Asking:
    """
    Return the requests to the plugin's first controller whose client can run the job; healthy ones go first.

    Only one, since all call the same API, which throttles. Without controllers there are no requests and no findings.
    """
    if not record.controllers:
        return Asking()
    skipped = {volumes.key_of(item): probed.may_be_asked(item, with_secrets) for item in needs}
    askable = [item for item in record.controllers if why_not(known.get(item.node_id), job) is None]
    if not askable:
        return Asking(skipped={key: why or NO_CONTROLLER for key, why in skipped.items()})
    chosen = next((item for item in askable if item.healthy), askable[0])
    return Asking(
        alloc_id=chosen.alloc_id,
        node_id=chosen.node_id,
        questions=tuple(question(item) for item in needs if not skipped[volumes.key_of(item)]),
        skipped={key: why for key, why in skipped.items() if why},
    )


def question(volume: volumes.Volume) -> records.ValidationQuestion:
    """Return the validation request for *volume*; its secrets are not known here."""
    return records.ValidationQuestion(
        key=volumes.key_of(volume),
        external_id=volume.external_id or volume.volume_id,
        uses=tuple((item.access_mode, item.attachment_mode) for item in volume.capabilities),
        context=volume.context,
        parameters=volume.parameters,
    )


def environment(askings: Iterable[Asking], wait_s: float) -> dict[str, str]:
    """Return the job's environment; half of *wait_s* is for the volumes, so that the result comes in time."""
    by_allocation = {item.alloc_id: item.questions for item in askings if item.questions}
    return validation.packed(validation.ValidationTask(seconds=wait_s / 2, by_allocation=by_allocation))


def answered(
    asked: Asking, answers: Mapping[str, probed.ClientAnswer]
) -> tuple[Mapping[records.Key, records.Validated], Mapping[records.Key, str]]:
    """Return the controller's responses, and the volumes without one, with the reason."""
    answer = answers.get(asked.node_id)
    raw = answer.validated.get(asked.alloc_id) if answer else None
    why = NO_CONTROLLER
    if raw is not None:
        try:
            return validation.parse_answers(raw, asked.questions), asked.skipped
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            why = f"the answer of its client cannot be read: {error}"
    elif answer is not None:
        reported = answer.reports.get(asked.alloc_id)
        problem = answer.problem or (reported.status if reported else "missing")
        why = "; ".join(filter(None, [f"no result from its controller's client: {problem}", answer.advice]))
    return {}, {**asked.skipped, **{item.key: why for item in asked.questions}}


# The job, and its results.


Observed = Sequence[tuple[model.PluginExpectation, found.PluginFound]]


@dataclass(frozen=True, kw_only=True)
class OnNodes:
    """Options for probing instances on their clients."""

    job: program_jobs.ProbeJob
    """Its id and clients are filled in."""

    timeout_s: float = program_jobs.WAIT_S
    """For all clients together."""

    is_strict: bool = False
    """Whether a refused job is an error instead of a result for each client: for callers that probe repeatedly."""

    report: Callable[[str], None] = lambda _: None
    """Logs progress."""


@dataclass(frozen=True, kw_only=True)
class ProbeJobAnswers:
    """Results of one probe job."""

    by_client: Mapping[str, probed.ClientAnswer]
    """By id of the client."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Names of clients by id."""

    volumes: Mapping[str, Asking] = field(default_factory=dict)
    """Validation requests to controllers, by plugin."""


def ask(
    client: nomad.Nomad,
    observed: Iterable[found.PluginFound],
    how: OnNodes,
    needs: ProbedVolumes,
    cancelled: threading.Event,
) -> ProbeJobAnswers:
    """
    Return the probe results of the clients with an instance of the *observed* plugins.

    A controller of each plugin validates those of its volumes in *needs* that need no secrets.
    The token needs ``submit-job``, ``read-job`` and ``read-logs`` in the job's namespace.
    If Nomad refuses the job or its logs, that is the result of each client, unless *how* is strict.
    Raises `errors.NomadApiError` if Nomad does not respond, `errors.NomadCsiError` if the job cannot be removed,
    `errors.CancelledError`.
    """
    all_observed = tuple(observed)
    node_ids = {item.node_id for seen in all_observed for item in instances.all_of(seen.plugin)}
    if not node_ids:
        return ProbeJobAnswers(by_client={})
    known = {node.node_id: node for node in nodes.list_nodes(client)}
    records = [seen.plugin for seen in all_observed if seen.plugin]
    asked = {
        record.plugin_id: volume_questions(record, needs.of(record.plugin_id), needs.with_secrets, known, how.job)
        for record in records
    }
    job = dataclasses.replace(how.job, environment=environment(asked.values(), how.timeout_s))
    try:
        by_client = answers(client, job, node_ids, known, wait_s=how.timeout_s, cancelled=cancelled, report=how.report)
    except errors.NomadApiError as error:
        if error.kind != "refused" or how.is_strict:
            raise
        why = probed.ClientAnswer(problem=f"Nomad refused what the probe needs: {error.message}", advice=error.advice)
        by_client = dict.fromkeys(node_ids, why)
    names = {node_id: node.name for node_id, node in known.items()}
    return ProbeJobAnswers(by_client=by_client, names=names, volumes=asked)


def merged(observed: Observed, results: ProbeJobAnswers) -> tuple[found.PluginFound, ...]:
    """
    Return the plugins *observed* in Nomad after the job, with the probe *results* of their clients.

    Where a client gave none, a result from this machine is kept.
    """
    complete: list[found.PluginFound] = []
    for expectation, seen in observed:
        by_instance = dict(seen.probed)
        for item in instances.all_of(seen.plugin):
            answer = results.by_client.get(item.node_id)
            result = probed.merged(expectation.provider, item.role, item.alloc_id, answer)
            if result.reached or not by_instance.get((item.alloc_id, item.role), found.NOT_ASKED).reached:
                by_instance[item.alloc_id, item.role] = result
        complete.append(dataclasses.replace(seen, probed=by_instance))
    return tuple(complete)


def compared(
    plugin_id: str, record: plugins.Plugin | None, results: ProbeJobAnswers, needs: ProbedVolumes
) -> probed.ProbedPlugin:
    """Return the probe results of one plugin, and a controller's responses on its volumes in *needs*."""
    mine = needs.of(plugin_id)
    rows = probed.judge(record, results.names, results.by_client) if record else ()
    answers, skipped = answered(results.volumes.get(plugin_id, Asking()), results.by_client)
    findings = probed.judge_without_secrets(plugin_id, mine, answers, skipped)
    return probed.ProbedPlugin(plugin_id=plugin_id, rows=rows, findings=findings)


# One run of the job.


def answers(
    client: nomad.Nomad,
    job: program_jobs.ProbeJob,
    wanted: Iterable[str],
    known: Mapping[str, nodes.Node],
    *,
    wait_s: float,
    cancelled: threading.Event,
    report: Callable[[str], None],
) -> dict[str, probed.ClientAnswer]:
    """
    Return the answer of each of the clients *wanted*, by its id; for one that cannot be probed, why.

    Args:
        client: the cluster; the token needs ``submit-job``, ``read-job`` and ``read-logs`` in the job's namespace.
        job: how the probe gets onto the clients; its id and clients are filled in here.
        wanted: ids of clients.
        known: the cluster's clients by id.
        wait_s: seconds for all clients together; the time for their logs is not in it.
        cancelled: set to end the wait; the job is purged all the same.
        report: logs progress.

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
        report(f"asking {listing.counted(len(asked), 'client')} with job {run.job_id}")
        found |= _run(client, run, wait_s, cancelled)
    return found


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
        found = {item.node_id: item for item in jobs.allocations(client, job.namespace, job.job_id)}
        ended = [node_id for node_id, item in found.items() if item.client_status in ENDED]
        if len(ended) >= len(job.node_ids) or client.clock.now() >= deadline:
            return found
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
        validated = dict(document.get("validated", {}))
        return probed.ClientAnswer(problem=str(document["problem"]), reports=reports, validated=validated)
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
        found = jobs.allocations(client, job.namespace, job.job_id)
    except errors.NomadApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return False
    return any(item.client_status not in ENDED for item in found)
