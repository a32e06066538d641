"""Wait until a plugin is verified healthy, with status lines; after the timeout raise the reasons."""

import dataclasses
import functools
import itertools
import threading
import time
from collections.abc import Callable
from concurrent import futures
from typing import Any, TypeVar

from nomad_csi import errors, findings, side_by_side
from nomad_csi.findings import printing
from nomad_csi.frame import resource
from nomad_csi.health import clients, events, observation, plugins, probe_job_plugins, probe_job_run, stability
from nomad_csi.plan import model
from nomad_csi.text import foreign

_Result = TypeVar("_Result")

INTERVAL_S = 0.5
"""Seconds between two checks of a small cluster."""

INTERVAL_MAX_S = 5.0
"""Seconds between two checks of a large cluster, where a check itself is slow."""

OUTAGE_S = 30.0
"""Tolerated outage of Nomad while waiting: a leader election took 3.8 s (tried on Nomad 2.0.6-dev)."""

CANCEL_POLL_S = 0.1
"""Maximum delay of a cancellation."""

LOOK_MIN_S = 5.0
"""Minimum time for a check, however little of the timeout is left."""

EXPLAIN_S = 10.0
"""Timeout for reading explanations, beyond that of the wait: logs come from clients, which may be down."""

REMOVE_S = probe_job_run.REMOVE_S + 10.0
"""Timeout for removing an interrupted probe job, including the requests to Nomad."""

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
        self._started = self._clock.now()
        self._answered = self._started
        self._stability = stability.Stability(expectation)
        wanted = observation.WatchedPlugin(expectation=drop_job(expectation), job_ids=job_ids)
        self._clients = clients.ClientCache(context.client)
        self._observer = observation.Observer(
            context.client, [wanted], cancelled=context.cancelled, client_cache=self._clients
        )
        self._latest: observation.Observation | None = None
        self._probed: observation.Observation | None = None
        """The last result of a probe job on the clients."""
        self._shown = ""

    def run(self) -> plugins.PluginStatus:
        while True:
            began = self._clock.now()
            seen, least = self._observe(), INTERVAL_S
            if seen is not None and self._is_steady(seen):
                if not self._needs_job(seen):
                    return seen.status
                probed, least = self._probe_by_job(seen.status), INTERVAL_MAX_S
                if probed is not None and self._is_verified(probed):
                    return probed.status
            took = self._clock.now() - began
            left = self._deadline - self._clock.now()
            if left <= 0:
                raise errors.NomadCsiError(self._late())
            if self._clock.wait(self._context.cancelled, min(left, INTERVAL_MAX_S, max(least, 2 * took))):
                raise self._cancelled()

    @property
    def _deadline(self) -> float:
        return self._started + self._timeout_s

    @property
    def _call_s(self) -> float:
        """Timeout of a call."""
        return max(self._deadline - self._clock.now(), LOOK_MIN_S)

    def _is_steady(self, seen: observation.Observation) -> bool:
        if self._latest is None and seen.status.capacity:
            raise errors.NomadCsiError(_hopeless(self._expectation.plugin_id, seen.status.capacity))
        self._latest = seen
        steady = self._stability.observe(self._clock.now(), seen.status, seen.seen)
        if not steady:
            self._report_progress(_status(seen.status, self._expectation.stable_s))
        return steady

    def _needs_job(self, seen: observation.Observation) -> bool:
        """Return whether a job must probe the instances: one is configured, and not all instances answer from here."""
        return self._expectation.on_nodes is not None and seen.status.evidence != "csi"

    def _is_verified(self, probed: observation.Observation) -> bool:
        """Return whether the result of a probe job verifies the plugin; restarts during the job count."""
        self._probed = probed
        if not probed.status.ok:
            self._report_progress(
                f"{probed.status.counts}, asked over CSI: {_cause(probed.status) or _csi_answers(probed.status)}"
            )
            return False
        return self._stability.observe(self._clock.now(), probed.status, probed.seen)

    def _observe(self) -> observation.Observation | None:
        """Return an observation; ``None`` while Nomad is unreachable, for a short outage."""
        try:
            outcome = _start(self._observer.observe)
            if not self._ends(outcome, self._call_s):
                raise errors.NomadCsiError(self._late())
            [seen] = outcome.result()
        except errors.CancelledError:
            raise self._cancelled() from None
        except errors.NomadApiError as error:
            self._pass_over(error)
            return None
        self._answered = self._clock.now()
        return seen

    def _probe_by_job(self, known: plugins.PluginStatus) -> observation.Observation | None:
        """Return the result of a probe job on the clients; ``None`` as in `_observe`."""
        run = self._expectation.on_nodes
        if run is None:
            return None
        names = ", ".join(sorted({row.node_name for row in known.instances}))
        stop = threading.Event()
        how = probe_job_plugins.OnNodes(
            job=dataclasses.replace(run.job, region=self._client.connection.region),
            timeout_s=run.wait_s,
            is_strict=True,
            tell=lambda line: self._report_progress(foreign.shortened(f"{known.counts}, {line}: {names}", CAUSE_LIMIT)),
        )
        wanted = observation.WatchedPlugin(expectation=self._expectation, job_ids=self._job_ids)
        observer = observation.Observer(
            self._client, [wanted], cancelled=stop, on_nodes=how, client_cache=self._clients
        )
        outcome = _start(observer.observe)
        try:
            if not self._ends(outcome, self._call_s):
                raise errors.NomadCsiError(self._late())
            [probed] = outcome.result()
        except errors.NomadApiError as error:
            self._answered = self._clock.now()  # the job is slow: the next check measures the outage
            self._pass_over(error)
            return None
        finally:
            stop.set()
            self._await_removal(outcome)
        self._answered = self._clock.now()
        return probed

    def _await_removal(self, outcome: futures.Future[Any]) -> None:
        """Wait until an interrupted probe job is removed; warn where it could not be."""
        if outcome.done():
            return
        futures.wait([outcome], REMOVE_S)
        error = outcome.exception() if outcome.done() else f"its probe job had not ended after {REMOVE_S:g} s"
        if error and not isinstance(error, errors.CancelledError):
            self._context.warn(f"plugin {self._expectation.plugin_id}: {error}")

    def _pass_over(self, error: errors.NomadApiError) -> None:
        """Report that Nomad is unreachable; raise *error* where it refused, or after `OUTAGE_S`."""
        if not resource.is_unreachable(error) or self._clock.now() - self._answered > OUTAGE_S:
            raise error
        self._stability.lose_sight()
        self._report_progress(f"{self._client.connection.address} is not reachable, asking again: {error.message}")

    def _ends(self, outcome: futures.Future[Any], timeout_s: float) -> bool:
        """
        Wait until *outcome* is done; return whether it is after *timeout_s* by the system's clock.

        Raises when the user interrupts. An abandoned call ends by its own deadlines, and blocks nothing.
        """
        until = time.monotonic() + timeout_s
        while not futures.wait([outcome], CANCEL_POLL_S).done:
            if self._context.cancelled.is_set():
                raise self._cancelled()
            if time.monotonic() > until:
                return False
        return True

    def _report_progress(self, text: str) -> None:
        if text != self._shown:
            self._shown = text
            self._context.status(text)

    def _cancelled(self) -> errors.CancelledError:
        return errors.CancelledError(
            f"cancelled while waiting for plugin {self._expectation.plugin_id}; nothing was registered"
        )

    def _late(self) -> str:
        """Return why the plugin is not verified: counts, findings, and Nomad's events of its tasks."""
        head = f"plugin {self._expectation.plugin_id} is not verified healthy after {self._timeout_s:g} s"
        if self._latest is None:
            return f"{head}: {self._client.connection.address} did not answer; nothing was registered"
        latest = self._latest if self._probed is None or not self._latest.status.ok else self._probed
        status = latest.status
        wrong = (*findings.errors_of(status.findings), *self._stability.unsteady)
        fetched = self._explained(latest)
        said = " ".join(finding.found for finding in wrong)
        more = [item for item in status.explanations if item.text not in said]
        lines = [*printing.as_lines(wrong)[:SHOWN], *(f"{item.where}: {item.text}" for item in more[:SHOWN])]
        if self._probed is not None:
            lines.append(f"asked over CSI by a job: {_csi_answers(self._probed.status)}")
        elif not wrong and self._needs_job(latest):
            lines.append("Nomad calls it healthy; its own answers were not there in time: raise timeout_s")
        elif not wrong:
            lines.append(f"it is healthy, but was not seen so for {self._expectation.stable_s:g} s: raise timeout_s")
        lines += [*map(str, fetched), NEXT]
        return "\n  ".join([f"{head}: {status.counts}; nothing was registered", *lines])

    def _explained(self, seen: observation.Observation) -> tuple[events.Cause, ...]:
        """Return the explanations of an unhealthy status."""
        if seen.status.ok:
            return ()
        from nomad_csi.health import explaining  # noqa: PLC0415  # with the linter; only a failed wait needs it

        asked = functools.partial(
            explaining.explain, self._client, self._expectation, self._job_ids, seen.seen, seen.status
        )
        outcome = _start(asked)
        if self._ends(outcome, EXPLAIN_S):
            return outcome.result()
        return (events.Cause(kind="note", where="(logs)", text=f"not read within {EXPLAIN_S:g} s"),)


def _start(call: Callable[[], _Result]) -> futures.Future[_Result]:
    """Return the future of *call*, which runs in a thread that the process does not wait for at its end."""
    outcome: futures.Future[_Result] = futures.Future()
    work = functools.partial(side_by_side.settle, call, outcome)
    threading.Thread(target=work, name="nomad-csi-health", daemon=True).start()
    return outcome


def _hopeless(plugin_id: str, capacity: tuple[findings.Finding, ...]) -> str:
    return "\n  ".join([f"plugin {plugin_id} cannot become healthy; nothing was registered", *map(str, capacity)])


def _status(status: plugins.PluginStatus, stable_s: float) -> str:
    """Return ``1/2 nodes, 2/2 controllers``, with the first known reason, or what is still waited for."""
    if status.ok:
        return f"{status.counts}, watched for {stable_s:g} s"
    cause = _cause(status)
    return f"{status.counts}: {cause}" if cause else status.counts


def _cause(status: plugins.PluginStatus) -> str:
    """Return the first known reason, shortened: of an instance, or of a task that never became one."""
    rows = (f"{row.node_name}: {row.detail}" for row in status.instances if row.code and row.detail)
    tasks = (f"{item.where}: {item.text}" for item in status.explanations)
    return foreign.shortened(next(itertools.chain(rows, tasks), ""), CAUSE_LIMIT)


def _csi_answers(status: plugins.PluginStatus) -> str:
    """Return the CSI probe result of each instance, shortened: ``node on client-1: ready``."""
    rows = [f"{row.role} on {row.node_name}: {foreign.clean(row.socket)}" for row in status.instances]
    return foreign.shortened(", ".join(rows), 2 * CAUSE_LIMIT)
