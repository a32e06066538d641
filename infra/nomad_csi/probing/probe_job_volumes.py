"""Which controller a probe job asks for which volumes, and what came back. Nothing secret goes into the job."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nomad_csi.csi import validation
from nomad_csi.nomad import nodes, plugins, volumes
from nomad_csi.plan import probe_job
from nomad_csi.probing import probe_job_run, probed, volume_answers

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
    questions: Sequence[validation.ValidationQuestion] = ()
    skipped: Mapping[validation.Key, str] = field(default_factory=dict)
    """Volumes that it is not asked for, and why."""


def asking(
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
    skipped = {volume_answers.key_of(item): volume_answers.may_be_asked(item, with_secrets) for item in needs}
    askable = [item for item in record.controllers if probe_job_run.why_not(known.get(item.node_id), job) is None]
    if not askable:
        return Asking(skipped={key: why or NOBODY for key, why in skipped.items()})
    chosen = next((item for item in askable if item.healthy), askable[0])
    return Asking(
        alloc_id=chosen.alloc_id,
        node_id=chosen.node_id,
        questions=tuple(question(item) for item in needs if not skipped[volume_answers.key_of(item)]),
        skipped={key: why for key, why in skipped.items() if why},
    )


def question(volume: volumes.Volume) -> validation.ValidationQuestion:
    """Return what is asked of *volume*; its secrets are not known here."""
    return validation.ValidationQuestion(
        key=volume_answers.key_of(volume),
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
