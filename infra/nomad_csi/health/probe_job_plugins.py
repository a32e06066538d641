"""
Probe plugin instances on their own clients: one job runs the probe there, and its logs hold the results.

The job runs once on each client that has an instance, probes those of all plugins, and is always purged. For a
status, Nomad is read before the job, to select instances, and again after it: an instance that was replaced meanwhile
is not silent. The sockets are probed between both reads, so that Nomad's status is never older than the probes.
"""

import dataclasses
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nomad_csi import errors, nomad
from nomad_csi.csi import validation
from nomad_csi.health import found, instances, probe_job_run, probed, probed_needs
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.plan import model, probe_job

# Which controller validates which volumes in a probe job, and the results. No secrets go into the job.


NOBODY = "no controller that could be asked on its client"
OLDER = "nomad-csi on the controller's client is an older one, which asks for no volumes"


@dataclass(frozen=True, kw_only=True)
class ProbedVolumes:
    """Registered volumes."""

    registered: Sequence[volumes.Volume] = ()
    with_secrets: frozenset[validation.Key] = frozenset()
    """Volumes that are known to need secrets; Nomad does not show it."""

    def of(self, plugin_id: str) -> tuple[volumes.Volume, ...]:
        """Return the volumes of one plugin."""
        return tuple(item for item in self.registered if item.plugin_id == plugin_id)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Validation requests to one controller of a plugin."""

    alloc_id: str = ""
    node_id: str = ""
    questions: tuple[validation.ValidationQuestion, ...] = ()
    skipped: Mapping[validation.Key, str] = field(default_factory=dict)
    """Volumes that are not validated, and why."""


def volume_questions(
    record: plugins.Plugin,
    needs: Sequence[volumes.Volume],
    with_secrets: Collection[validation.Key],
    known: Mapping[str, nodes.Node],
    job: probe_job.ProbeJob,
) -> Asking:
    """
    Return the requests to the plugin's first controller whose client can run the job; healthy ones go first.

    Only one, since all call the same API, which throttles. Without controllers there are no requests and no findings.
    """
    if not record.controllers:
        return Asking()
    skipped = {volumes.key_of(item): probed.may_be_asked(item, with_secrets) for item in needs}
    askable = [item for item in record.controllers if probe_job_run.why_not(known.get(item.node_id), job) is None]
    if not askable:
        return Asking(skipped={key: why or NOBODY for key, why in skipped.items()})
    chosen = next((item for item in askable if item.healthy), askable[0])
    return Asking(
        alloc_id=chosen.alloc_id,
        node_id=chosen.node_id,
        questions=tuple(question(item) for item in needs if not skipped[volumes.key_of(item)]),
        skipped={key: why for key, why in skipped.items() if why},
    )


def question(volume: volumes.Volume) -> validation.ValidationQuestion:
    """Return the validation request for *volume*; its secrets are not known here."""
    return validation.ValidationQuestion(
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
) -> tuple[Mapping[validation.Key, validation.Validated], Mapping[validation.Key, str]]:
    """Return the controller's responses, and the volumes without one, with the reason."""
    if not asked.questions:
        return {}, asked.skipped
    answer = answers.get(asked.node_id)
    found = answer.validated.get(asked.alloc_id) if answer else None
    if found is not None:
        try:
            return validation.parse_answers(found, asked.questions), asked.skipped
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return {}, _silent(asked, f"the answer of its client cannot be read: {error}")
    return {}, _silent(asked, _why(asked, answer))


def _why(asked: Asking, answer: probed.ClientAnswer | None) -> str:
    if answer is None or answer.problem:
        advice = f"; {answer.advice}" if answer and answer.advice else ""
        return f"no answer from its controller's client: {answer.problem}{advice}" if answer else NOBODY
    reported = answer.reports.get(asked.alloc_id)
    if reported is None or not reported.ready:
        return f"its controller is not ready: {reported.status if reported else 'missing'}"
    return OLDER if reported.controller_capabilities is not None else "its controller serves no such part of CSI"


def _silent(asked: Asking, why: str) -> dict[validation.Key, str]:
    return {**asked.skipped, **{item.key: why for item in asked.questions}}


# The job, and its results.


Told = Sequence[tuple[model.PluginExpectation, found.PluginFound]]

ON_THE_WAY = "running"
"""Status of an allocation that may have a socket before Nomad lists its instance."""


@dataclass(frozen=True, kw_only=True)
class OnNodes:
    """Options for probing instances on their clients."""

    job: probe_job.ProbeJob
    """Its id and clients are filled in."""

    timeout_s: float = probe_job.WAIT_S
    """For all clients together."""

    is_strict: bool = False
    """Whether a refused job is an error instead of a result for each client: for callers that probe repeatedly."""

    tell: Callable[[str], None] = lambda _: None
    """Logs progress."""


@dataclass(frozen=True, kw_only=True)
class ProbeJobAnswers:
    """Results of one probe job."""

    by_client: Mapping[str, probed.ClientAnswer]
    """By id of the client."""

    known: frozenset[str]
    """Allocations that existed before it."""

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
    Return the probe results of the clients with an instance of the *observed* plugins, or a starting one.

    A controller of each plugin validates those of its volumes in *needs* that need no secrets.
    The token needs ``submit-job``, ``read-job`` and ``read-logs`` in the job's namespace.
    If Nomad refuses the job or its logs, that is the result of each client, unless *how* is strict.
    Raises `errors.NomadApiError` if Nomad does not respond, `errors.NomadCsiError` if the job cannot be removed,
    `errors.CancelledError`.
    """
    all_observed = tuple(observed)
    places = {alloc_id: node_id for seen in all_observed for alloc_id, _, node_id in _asked(seen)}
    if not places:
        return ProbeJobAnswers(by_client={}, known=frozenset())
    known = {node.node_id: node for node in nodes.list_nodes(client)}
    records = [seen.plugin for seen in all_observed if seen.plugin]
    asked = {
        record.plugin_id: volume_questions(record, needs.of(record.plugin_id), needs.with_secrets, known, how.job)
        for record in records
    }
    job = dataclasses.replace(how.job, environment=environment(asked.values(), how.timeout_s))
    try:
        answers = probe_job_run.answers(
            client, job, places.values(), known, wait_s=how.timeout_s, cancelled=cancelled, tell=how.tell
        )
    except errors.NomadApiError as error:
        if error.kind != "refused" or how.is_strict:
            raise
        why = probed.ClientAnswer(problem=f"Nomad refused what the probe needs: {error.message}", advice=error.advice)
        answers = dict.fromkeys(places.values(), why)
    names = {node_id: node.name for node_id, node in known.items()}
    return ProbeJobAnswers(by_client=answers, known=frozenset(places), names=names, volumes=asked)


def merged(observed: Told, results: ProbeJobAnswers) -> tuple[found.PluginFound, ...]:
    """Return the plugins *observed* in Nomad after the job, with the probe *results* of their clients."""
    return tuple(
        dataclasses.replace(seen, probed={**seen.probed, **dict(_answers(expectation, seen, results))})
        for expectation, seen in observed
    )


def compared(
    plugin_id: str, record: plugins.Plugin | None, results: ProbeJobAnswers, needs: ProbedVolumes
) -> probed.ProbedPlugin:
    """Return the probe results of one plugin, compared with its volumes in *needs* and with Nomad's *record*."""
    mine = needs.of(plugin_id)
    rows = probed.judge(record, results.names, results.by_client) if record else ()
    answers, skipped = answered(results.volumes.get(plugin_id, Asking()), results.by_client)
    findings = (
        *probed_needs.judge(plugin_id, rows, mine),
        *probed.judge_without_secrets(plugin_id, mine, answers, skipped),
    )
    return probed.ProbedPlugin(plugin_id=plugin_id, rows=rows, findings=findings)


def _answers(
    expectation: model.PluginExpectation, seen: found.PluginFound, results: ProbeJobAnswers
) -> Iterator[tuple[tuple[str, found.Role], found.Probed]]:
    """Yield the probe results of instances; without one, a result from this machine is kept."""
    for alloc_id, role, node_id in _asked(seen):
        answer = results.by_client.get(node_id)
        result = probed.merged(expectation.provider, role, alloc_id, answer, is_new=alloc_id not in results.known)
        here = seen.probed.get((alloc_id, role), found.NOT_ASKED)
        if result.reached or not here.reached:
            yield (alloc_id, role), result


def _asked(seen: found.PluginFound) -> Iterator[tuple[str, found.Role, str]]:
    """Yield allocation, role and client of each instance, and of running allocations that Nomad does not list yet."""
    there = instances.all_of(seen.plugin)
    for item in there:
        yield item.alloc_id, item.role, item.node_id
    counted = {item.alloc_id for item in there}
    for ran in seen.ran:
        allocation = ran.allocation
        if ran.is_wanted and allocation.client_status == ON_THE_WAY and allocation.alloc_id not in counted:
            yield allocation.alloc_id, "controller" if ran.job_type == "service" else "node", allocation.node_id
