"""
Asking the instances of a plugin on their own clients: a job runs the probe there, and its logs hold the answers.

The job runs once on each client that has an instance, and is purged whatever happens.
"""

import dataclasses
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nomad_csi import errors, nomad
from nomad_csi.csi import validation
from nomad_csi.health import instances
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.plan import probe_job
from nomad_csi.probing import probe_job_run, probed

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
    record: plugins.Plugin | None,
    needs: Sequence[volumes.Volume],
    with_secrets: Collection[validation.Key],
    known: Mapping[str, nodes.Node],
    job: probe_job.ProbeJob,
) -> Asking:
    """
    Return what is asked of the plugin's first controller whose client takes the job; a healthy one where there is one.

    One of them, since all ask the same API, which throttles. Without controllers nothing is asked, and nothing missing.
    """
    if record is None or not record.controllers:
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


def ask(
    client: nomad.Nomad,
    plugin_id: str,
    job: probe_job.ProbeJob,
    *,
    needs: ProbedVolumes | None = None,
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
    given = needs or ProbedVolumes()
    mine = given.of(plugin_id)
    asking = volume_questions(plugin, mine, given.with_secrets, known, job)
    carrying = dataclasses.replace(job, environment=environment([asking], wait_s))
    said = probe_job_run.answers(client, carrying, wanted, known, wait_s=wait_s, cancelled=cancelled, tell=tell)
    names = {node_id: node.name for node_id, node in known.items()}
    told = probed.judge_without_secrets(plugin_id, mine, *answered(asking, said))
    return probed.ProbedPlugin(plugin_id=plugin_id, rows=probed.judge(plugin, names, said), findings=told)


def plugin_of(client: nomad.Nomad, plugin_id: str) -> plugins.Plugin:
    """Return the plugin. Raises `errors.SpecError` with those that the cluster has where it lacks this one."""
    found = plugins.get(client, plugin_id)
    if found is None:
        there = ", ".join(plugins.list_ids(client)) or "it has none"
        problem = errors.Problem(path="plugin", got=repr(plugin_id), allowed=f"a CSI plugin of the cluster ({there})")
        raise errors.SpecError((problem,), source=client.connection.address)
    return found
