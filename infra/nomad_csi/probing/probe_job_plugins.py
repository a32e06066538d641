"""
What the instances of plugins say on their own clients: one job runs the probe there, and its logs hold the answers.

The job runs once on each client that has an instance, asks those of all plugins, and is purged whatever happens. For a
status, Nomad is asked before the job, to know whom to ask, and again after it: an instance that was replaced meanwhile
is no silent one. The sockets are asked between both, so that Nomad's word is never older than theirs.
"""

import dataclasses
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nomad_csi import errors, nomad
from nomad_csi.csi import validation
from nomad_csi.health import found, instances
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.plan import model, probe_job
from nomad_csi.probing import probe_job_run, probed, probed_needs

# Which controller a probe job asks for which volumes, and what came back. Nothing secret goes into the job.


NOBODY = "no controller that could be asked on its client"
OLDER = "nomad-csi on the controller's client is an older one, which asks for no volumes"


@dataclass(frozen=True, kw_only=True)
class ProbedVolumes:
    """Registered volumes."""

    registered: Sequence[volumes.Volume] = ()
    with_secrets: frozenset[validation.Key] = frozenset()
    """Those of which it is known that they are used with secrets; Nomad does not show it."""

    def of(self, plugin_id: str) -> tuple[volumes.Volume, ...]:
        """Return the volumes of one plugin."""
        return tuple(item for item in self.registered if item.plugin_id == plugin_id)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """What one controller of a plugin is asked for."""

    alloc_id: str = ""
    node_id: str = ""
    questions: tuple[validation.ValidationQuestion, ...] = ()
    skipped: Mapping[validation.Key, str] = field(default_factory=dict)
    """Volumes that it is not asked for, and why."""


def volume_questions(
    record: plugins.Plugin,
    needs: Sequence[volumes.Volume],
    with_secrets: Collection[validation.Key],
    known: Mapping[str, nodes.Node],
    job: probe_job.ProbeJob,
) -> Asking:
    """
    Return what is asked of the plugin's first controller whose client takes the job; a healthy one where there is one.

    One of them, since all ask the same API, which throttles. Without controllers nothing is asked, and nothing missing.
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
    """Return what is asked of *volume*; its secrets are not known here."""
    return validation.ValidationQuestion(
        key=volumes.key_of(volume),
        external_id=volume.external_id or volume.volume_id,
        uses=tuple((item.access_mode, item.attachment_mode) for item in volume.capabilities),
        context=volume.context,
        parameters=volume.parameters,
    )


def environment(askings: Iterable[Asking], wait_s: float) -> dict[str, str]:
    """Return what the job carries; half of *wait_s* is for the volumes, so that the answer comes in time."""
    by_allocation = {item.alloc_id: item.questions for item in askings if item.questions}
    return validation.packed(validation.ValidationTask(seconds=wait_s / 2, by_allocation=by_allocation))


def answered(
    asked: Asking, answers: Mapping[str, probed.ClientAnswer]
) -> tuple[Mapping[validation.Key, validation.Validated], Mapping[validation.Key, str]]:
    """Return what the controller said, and the volumes on which it said nothing, with the reason."""
    if not asked.questions:
        return {}, asked.skipped
    answer = answers.get(asked.node_id)
    found = answer.validated.get(asked.alloc_id) if answer else None
    if found is not None:
        try:
            return validation.of_json(found, asked.questions), asked.skipped
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return {}, _silent(asked, f"the answer of its client cannot be read: {error}")
    return {}, _silent(asked, _why(asked, answer))


def _why(asked: Asking, answer: probed.ClientAnswer | None) -> str:
    if answer is None or answer.problem:
        advice = f"; {answer.advice}" if answer and answer.advice else ""
        return f"no answer from its controller's client: {answer.problem}{advice}" if answer else NOBODY
    said = answer.reports.get(asked.alloc_id)
    if said is None or not said.ready:
        return f"its controller is not ready: {said.status if said else 'missing'}"
    return OLDER if said.controller_capabilities is not None else "its controller serves no such part of CSI"


def _silent(asked: Asking, why: str) -> dict[validation.Key, str]:
    return {**asked.skipped, **{item.key: why for item in asked.questions}}


# The job itself, and its answers.


Told = Sequence[tuple[model.PluginExpectation, found.PluginFound]]

ON_THE_WAY = "running"
"""Status of an allocation that may have a socket before Nomad knows an instance."""


@dataclass(frozen=True, kw_only=True)
class OnNodes:
    """How instances are asked on their clients."""

    job: probe_job.ProbeJob
    """Its id and clients are filled in."""

    timeout_s: float = probe_job.WAIT_S
    """For all clients together."""

    is_strict: bool = False
    """Whether a job that Nomad refuses is an error, and no answer of its clients: for who would ask again and again."""

    tell: Callable[[str], None] = lambda _: None
    """Told what is being done."""


@dataclass(frozen=True, kw_only=True)
class ProbeJobAnswers:
    """What came of one job."""

    by_client: Mapping[str, probed.ClientAnswer]
    """By id of the client."""

    known: frozenset[str]
    """Allocations that were there before it."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Names of clients by id."""

    volumes: Mapping[str, Asking] = field(default_factory=dict)
    """What controllers were asked for, by plugin."""


def ask(
    client: nomad.Nomad,
    told: Iterable[found.PluginFound],
    how: OnNodes,
    needs: ProbedVolumes,
    cancelled: threading.Event,
) -> ProbeJobAnswers:
    """
    Return what clients answer on which an instance of what Nomad *told* is, or an allocation that may become one.

    A controller of each plugin is asked for those of its volumes in *needs* that take no secrets.
    The token needs ``submit-job``, ``read-job`` and ``read-logs`` in the job's namespace.
    That Nomad refuses the job or its logs is what each of its clients answers, unless *how* is strict.
    Raises `errors.NomadApiError` where Nomad gives no answer, `errors.NomadCsiError` where the job stays behind,
    `errors.CancelledError`.
    """
    all_told = tuple(told)
    places = {alloc_id: node_id for seen in all_told for alloc_id, _, node_id in _asked(seen)}
    if not places:
        return ProbeJobAnswers(by_client={}, known=frozenset())
    known = {node.node_id: node for node in nodes.list_nodes(client)}
    records = [seen.plugin for seen in all_told if seen.plugin]
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


def merged(told: Told, said: ProbeJobAnswers) -> tuple[found.PluginFound, ...]:
    """Return what Nomad *told* of each plugin after the job, with what its clients *said*."""
    return tuple(
        dataclasses.replace(seen, probed={**seen.probed, **dict(_answers(expectation, seen, said))})
        for expectation, seen in told
    )


def compared(
    plugin_id: str, record: plugins.Plugin | None, said: ProbeJobAnswers, needs: ProbedVolumes
) -> probed.ProbedPlugin:
    """Return the answers of one plugin, with what they have against its volumes in *needs*, and Nomad's *record*."""
    mine = needs.of(plugin_id)
    rows = probed.judge(record, said.names, said.by_client) if record else ()
    answers, skipped = answered(said.volumes.get(plugin_id, Asking()), said.by_client)
    findings = (
        *probed_needs.judge(plugin_id, rows, mine),
        *probed.judge_without_secrets(plugin_id, mine, answers, skipped),
    )
    return probed.ProbedPlugin(plugin_id=plugin_id, rows=rows, findings=findings)


def _answers(
    expectation: model.PluginExpectation, seen: found.PluginFound, said: ProbeJobAnswers
) -> Iterator[tuple[tuple[str, found.Role], found.Probed]]:
    """Yield the own words of instances; where there is none, one that was heard on this machine stays."""
    for alloc_id, role, node_id in _asked(seen):
        answer = said.by_client.get(node_id)
        word = probed.merged(expectation.provider, role, alloc_id, answer, is_new=alloc_id not in said.known)
        here = seen.probed.get((alloc_id, role), found.NOT_ASKED)
        if word.reached or not here.reached:
            yield (alloc_id, role), word


def _asked(seen: found.PluginFound) -> Iterator[tuple[str, found.Role, str]]:
    """Yield allocation, role and client of each instance, and of what runs and is none yet in Nomad's record."""
    there = instances.all_of(seen.plugin)
    for item in there:
        yield item.alloc_id, item.role, item.node_id
    counted = {item.alloc_id for item in there}
    for ran in seen.ran:
        allocation = ran.allocation
        if ran.is_wanted and allocation.client_status == ON_THE_WAY and allocation.alloc_id not in counted:
            yield allocation.alloc_id, "controller" if ran.job_type == "service" else "node", allocation.node_id
