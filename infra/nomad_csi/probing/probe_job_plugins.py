"""
What the instances of a plan's plugins say on their own clients, for statuses: one job asks those of all plugins.

Nomad is asked before the job, to know whom to ask, and again after it: an instance that was replaced meanwhile is no
silent one. The sockets are asked between both, so that Nomad's word is never older than theirs.
"""

import dataclasses
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nomad_csi import errors, findings, nomad
from nomad_csi.health import found, instances
from nomad_csi.nomad import nodes
from nomad_csi.plan import model, probe_job
from nomad_csi.probing import probe_job as volume_probes
from nomad_csi.probing import probe_job_run, probed, probed_needs

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

    volumes: Mapping[str, volume_probes.Asking] = field(default_factory=dict)
    """What controllers were asked for, by plugin."""


def ask(
    client: nomad.Nomad,
    told: Told,
    how: OnNodes,
    needs: volume_probes.ProbedVolumes,
    cancelled: threading.Event | None = None,
) -> ProbeJobAnswers:
    """
    Return what clients answer on which an instance of what Nomad *told* is, or an allocation that may become one.

    A controller of each plugin is asked for those of its volumes in *needs* that take no secrets.
    That Nomad refuses the job or its logs is what each of its clients answers, unless *how* is strict.
    Raises `errors.NomadApiError` where Nomad gives no answer, `errors.NomadCsiError` where the job stays behind,
    `errors.CancelledError`.
    """
    places = {alloc_id: node_id for _, seen in told for alloc_id, _, node_id in _asked(seen)}
    if not places:
        return ProbeJobAnswers(by_client={}, known=frozenset())
    known = {node.node_id: node for node in nodes.list_nodes(client)}
    asked = {
        expectation.plugin_id: volume_probes.volume_questions(
            seen.plugin, needs.of(expectation.plugin_id), needs.with_secrets, known, how.job
        )
        for expectation, seen in told
    }
    job = dataclasses.replace(how.job, environment=volume_probes.environment(asked.values(), how.timeout_s))
    try:
        answers = probe_job_run.answers(
            client, job, places.values(), known, wait_s=how.timeout_s, cancelled=cancelled, tell=how.tell
        )
    except errors.NomadApiError as error:
        if error.kind != "refused" or how.is_strict:
            raise
        why = probed.ClientAnswer(
            problem=f"Nomad refused what the probe needs: {error.message}", advice=error.advice, reports={}
        )
        answers = dict.fromkeys(places.values(), why)
    names = {node_id: node.name for node_id, node in known.items()}
    return ProbeJobAnswers(by_client=answers, known=frozenset(places), names=names, volumes=asked)


def merged(told: Told, said: ProbeJobAnswers) -> tuple[found.PluginFound, ...]:
    """Return what Nomad *told* of each plugin after the job, with what its clients *said*."""
    return tuple(
        dataclasses.replace(seen, probed={**seen.probed, **dict(_answers(expectation, seen, said))})
        for expectation, seen in told
    )


def deep(
    expectation: model.PluginExpectation,
    seen: found.PluginFound,
    said: ProbeJobAnswers,
    needs: volume_probes.ProbedVolumes,
) -> tuple[findings.Finding, ...]:
    """Return what the answers of one plugin have against its volumes in *needs*, and against what Nomad remembers."""
    mine = needs.of(expectation.plugin_id)
    rows = probed.judge(seen.plugin, said.names, said.by_client) if seen.plugin else ()
    asked = said.volumes.get(expectation.plugin_id, volume_probes.Asking())
    answers, skipped = volume_probes.answered(asked, said.by_client)
    return (
        *probed_needs.judge(expectation.plugin_id, rows, mine),
        *probed.judge_without_secrets(expectation.plugin_id, mine, answers, skipped),
    )


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
