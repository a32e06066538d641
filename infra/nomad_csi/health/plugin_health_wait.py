"""Wait until a plugin is verified healthy, with status lines; after the timeout raise the reasons."""

import dataclasses
import itertools

from nomad_csi import errors, findings
from nomad_csi.findings import printing
from nomad_csi.frame import resource
from nomad_csi.health import clients, events, observation, plugins, probe_run, stability
from nomad_csi.plan import model, program_jobs
from nomad_csi.spec import plugin as spec
from nomad_csi.text import foreign

INTERVAL_S = 0.5
"""Seconds between two checks of a small cluster."""

INTERVAL_MAX_S = 5.0
"""Seconds between two checks of a large cluster, where a check itself is slow."""

OUTAGE_S = 30.0
"""Tolerated outage of Nomad while waiting: a leader election took 3.8 s (tried on Nomad 2.0.6-dev)."""

PROBE_MIN_S = 5.0
"""Minimum timeout of a probe job, however little of the timeout is left."""

CAUSE_LIMIT = 200
"""Maximum length of a reason in a status line."""

NEXT = (
    "next: `nomad-csi verify` with the spec shows each instance, and `nomad alloc logs -stderr ALLOCATION` "
    "its log; the jobs of the plugin stay, and it is safe to run again"
)
"""The next step for a plugin that did not become healthy in time."""

SHOWN = 8
"""Maximum number of causes, and of explanations, in an error."""


def drop_job(expectation: model.PluginExpectation) -> model.PluginExpectation:
    """Return the expectation without a probe job on the clients: Nomad's status is then sufficient evidence."""
    if expectation.on_nodes is None:
        return expectation
    return dataclasses.replace(expectation, evidence="nomad", on_nodes=None)


def wait(
    context: resource.Context, expectation: model.PluginExpectation, job_ids: tuple[str, ...]
) -> plugins.PluginStatus:
    """
    Return the status of a plugin once it has been healthy for ``expectation.stable_s`` without a restart.

    With ``expectation.on_nodes`` a job then probes its instances on their clients, unless all answer from here.

    Raises:
        errors.CancelledError: the user interrupted.
        errors.NomadApiError: Nomad refused, or was unreachable for longer than `OUTAGE_S`.
        errors.NomadCsiError: waiting cannot make it healthy, or it was not verified in time; with the reasons.

    """
    return _Wait(context, expectation, job_ids).run()


class _Wait:
    """One wait: the last observation, and its start."""

    def __init__(
        self, context: resource.Context, expectation: model.PluginExpectation, job_ids: tuple[str, ...]
    ) -> None:
        self._context = context
        self._client = context.client
        self._clock = context.client.clock
        self._expectation = expectation
        self._job_ids = job_ids
        self._timeout_s = context.timeout_s or expectation.timeout_s
        self._started = self._answered = self._clock.now()
        self._stability = stability.Stability(expectation)
        self._clients = clients.ClientCache(context.client)
        self._observer = self._observer_of(drop_job(expectation))
        self._latest: observation.Observation | None = None
        self._probed: observation.Observation | None = None
        """The last result of a probe job on the clients."""
        self._shown = ""

    def run(self) -> plugins.PluginStatus:
        while True:
            began, pause_s = self._clock.now(), INTERVAL_S
            latest = self._observe(self._observer)
            if latest is not None and self._is_steady(latest):
                run = self._expectation.on_nodes
                if run is None or latest.status.evidence == "csi":
                    return latest.status
                pause_s = INTERVAL_MAX_S
                probed = self._probe_by_job(run, latest.status)
                if probed is not None and self._is_verified(probed):
                    return probed.status
            took_s = self._clock.now() - began
            if self._left_s <= 0:
                raise self._late()
            pause_s = min(self._left_s, INTERVAL_MAX_S, max(pause_s, 2 * took_s))
            if self._clock.wait(self._context.cancelled, pause_s):
                raise self._cancelled()

    @property
    def _left_s(self) -> float:
        return self._started + self._timeout_s - self._clock.now()

    def _observer_of(
        self, expectation: model.PluginExpectation, on_nodes: probe_run.OnNodes | None = None
    ) -> observation.Observer:
        wanted = observation.WatchedPlugin(expectation=expectation, job_ids=self._job_ids)
        return observation.Observer(
            self._client,
            [wanted],
            cancelled=self._context.cancelled,
            on_nodes=on_nodes,
            client_cache=self._clients,
        )

    def _is_steady(self, latest: observation.Observation) -> bool:
        if self._latest is None and latest.status.capacity:
            head = f"plugin {self._expectation.plugin_id} cannot become healthy; nothing was registered"
            raise errors.NomadCsiError("\n  ".join([head, *map(str, latest.status.capacity)]))
        self._latest = latest
        steady = self._stability.observe(self._clock.now(), latest.status, latest.plugin)
        if not steady:
            waits_for = f", watched for {self._expectation.stable_s:g} s"
            if not latest.status.ok:
                reason = _cause(latest.status)
                waits_for = f": {reason}" if reason else ""
            self._report_progress(f"{latest.status.counts}{waits_for}")
        return steady

    def _is_verified(self, probed: observation.Observation) -> bool:
        """Return whether the result of a probe job verifies the plugin; restarts during the job count."""
        self._probed = probed
        if not probed.status.ok:
            reason = _cause(probed.status) or _csi_answers(probed.status)
            self._report_progress(f"{probed.status.counts}, asked over CSI: {reason}")
            return False
        return self._stability.observe(self._clock.now(), probed.status, probed.plugin)

    def _probe_by_job(self, run: spec.OnNodesSpec, known: plugins.PluginStatus) -> observation.Observation | None:
        """Return the result of a probe job on the clients; ``None`` as in `_observe`."""
        names = ", ".join(dict.fromkeys(row.node_name for row in known.instances))
        how = probe_run.OnNodes(
            job=program_jobs.probe_of(
                run, namespace=self._expectation.namespace, region=self._client.connection.region
            ),
            timeout_s=min(run.timeout_s, max(self._left_s, PROBE_MIN_S)),
            report=lambda line: self._report_progress(
                foreign.shortened(f"{known.counts}, {line}: {names}", CAUSE_LIMIT)
            ),
        )
        return self._observe(self._observer_of(self._expectation, how))

    def _observe(self, observer: observation.Observer) -> observation.Observation | None:
        """Return an observation; ``None`` while Nomad is unreachable, for a short outage since its last answer."""
        began = self._clock.now()
        try:
            [latest] = observer.observe()
        except errors.CancelledError:
            raise self._cancelled() from None
        except errors.NomadApiError as error:
            if not resource.is_unreachable(error) or began - self._answered > OUTAGE_S:
                raise
            self._stability.lose_sight()
            self._report_progress(f"{self._client.connection.address} is not reachable, asking again: {error.message}")
            return None
        self._answered = self._clock.now()
        return latest

    def _report_progress(self, text: str) -> None:
        if text != self._shown:
            self._shown = text
            self._context.status(text)

    def _cancelled(self) -> errors.CancelledError:
        return errors.CancelledError(
            f"cancelled while waiting for plugin {self._expectation.plugin_id}; nothing was registered"
        )

    def _late(self) -> errors.NomadCsiError:
        """Return why the plugin is not verified: counts, findings, and Nomad's events of its tasks."""
        head = f"plugin {self._expectation.plugin_id} is not verified healthy after {self._timeout_s:g} s"
        if self._latest is None:
            return errors.NomadCsiError(
                f"{head}: {self._client.connection.address} did not answer; nothing was registered"
            )
        latest = self._latest if self._probed is None or not self._latest.status.ok else self._probed
        status = latest.status
        wrong = (*findings.errors_of(status.findings), *self._stability.unsteady)
        said = " ".join(finding.found for finding in wrong)
        more = [item for item in status.explanations if item.text not in said]
        lines = [*printing.as_lines(wrong)[:SHOWN], *(f"{item.where}: {item.text}" for item in more[:SHOWN])]
        if self._probed is not None:
            lines.append(f"asked over CSI by a job: {_csi_answers(self._probed.status)}")
        elif not wrong:
            lines.append(
                f"it was not healthy for {self._expectation.stable_s:g} s, or did not answer itself, in time: "
                "raise timeout_s"
            )
        fetched = () if status.ok else self._explained(latest)
        return errors.NomadCsiError(
            "\n  ".join([f"{head}: {status.counts}; nothing was registered", *lines, *map(str, fetched), NEXT])
        )

    def _explained(self, latest: observation.Observation) -> tuple[events.Cause, ...]:
        """Return the explanations of an unhealthy status."""
        from nomad_csi.health import explaining  # noqa: PLC0415  # only a failed wait needs it

        return explaining.explain(self._client, self._expectation, latest.plugin, latest.status)


def _cause(status: plugins.PluginStatus) -> str:
    """Return the first known reason, shortened: of an instance, or of a task that never became one."""
    rows = (f"{row.node_name}: {row.detail}" for row in status.instances if row.code and row.detail)
    tasks = (f"{item.where}: {item.text}" for item in status.explanations)
    return foreign.shortened(next(itertools.chain(rows, tasks), ""), CAUSE_LIMIT)


def _csi_answers(status: plugins.PluginStatus) -> str:
    """Return the CSI probe result of each instance, shortened: ``node on client-1: ready``."""
    rows = [f"{row.role} on {row.node_name}: {foreign.clean(row.socket)}" for row in status.instances]
    return foreign.shortened(", ".join(rows), 2 * CAUSE_LIMIT)
