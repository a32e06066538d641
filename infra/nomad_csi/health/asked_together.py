"""
Batched CSI probes of plugins that are waited for: one probe job for all plugins with the same job.

Requests within `GATHER_S` form one batch. Requests during a batch of the same kind form the next one.
"""

import dataclasses
import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent import futures
from dataclasses import dataclass, field

from nomad_csi import errors, nomad, side_by_side
from nomad_csi.clock import SYSTEM, Clock
from nomad_csi.health import observation, probe_job_plugins, probe_job_run
from nomad_csi.plan import model, probe_job

GATHER_S = 1.0
"""Seconds in which a batch gathers requests: a plugin that is waited for is checked twice in that time."""

LEAVE_S = probe_job_run.REMOVE_S + 10.0
"""Timeout for removing an interrupted job, including the requests to Nomad, in seconds."""

Ask = Callable[
    [probe_job.ProbeRun, Sequence[observation.WatchedPlugin], threading.Event, Callable[[str], None]],
    Sequence[observation.Observation],
]
"""Probes all plugins of a run at once, in their order, until the event is set; the callback gets its progress."""


@dataclass(kw_only=True, eq=False)
class _Batch:
    """Plugins that are probed together."""

    kind: probe_job.ProbeRun
    items: list[observation.WatchedPlugin] = field(default_factory=list)
    waiting: int = 0
    """Number of tickets that still wait."""

    stop: threading.Event = field(default_factory=threading.Event)
    """Set when no ticket waits any more."""

    lines: list[str] = field(default_factory=list)
    answers: futures.Future[Sequence[observation.Observation]] = field(default_factory=futures.Future)

    def run(self, ask: Ask) -> Sequence[observation.Observation]:
        return () if self.stop.is_set() else ask(self.kind, self.items, self.stop, self.lines.append)

    def wait(self, seconds: float) -> bool:
        return bool(futures.wait([self.answers], seconds).done)


class Ticket:
    """One plugin's place in a batch."""

    def __init__(self, batch: _Batch, lock: threading.Lock, leave_s: float) -> None:
        self._batch = batch
        self._lock = lock
        self._leave_s = leave_s
        self._place = len(batch.items) - 1
        self._shown = 0
        self._is_read = False

    def wait(self, seconds: float) -> bool:
        """Wait up to *seconds*; return whether the batch is done."""
        return self._batch.wait(seconds)

    def news(self) -> Sequence[str]:
        """Return the progress lines of the batch since the last call."""
        lines = self._batch.lines[self._shown :]
        self._shown += len(lines)
        return lines

    def answer(self) -> observation.Observation:
        """Return the result of a batch that is done. Raises what its probe raised."""
        self._is_read = True
        return self._batch.answers.result()[self._place]

    def leave(self) -> str:
        """
        Stop waiting. The last ticket to leave stops the batch, and waits until it has cleaned up.

        Return the error of the cleanup; empty where there is none, or the result was read.
        """
        with self._lock:
            self._batch.waiting -= 1
            is_last = not self._batch.waiting
            if is_last:
                self._batch.stop.set()
        if not is_last or self._is_read:
            return ""
        if not self._batch.wait(self._leave_s):
            return f"what was being asked had not ended after {self._leave_s:g} s: {''.join(self._batch.lines[-1:])}"
        error = self._batch.answers.exception()
        return "" if error is None or isinstance(error, errors.CancelledError) else str(error)


class Batches:
    """Gathers the probe requests of several threads. Thread-safe."""

    def __init__(self, ask: Ask, *, leave_s: float, gather_s: float, clock: Clock = SYSTEM) -> None:
        self._ask = ask
        self._leave_s = leave_s
        self._gather_s = gather_s
        self._clock = clock
        self._lock = threading.Lock()
        self._gathering: list[_Batch] = []
        self._working: list[probe_job.ProbeRun] = []

    def join(self, kind: probe_job.ProbeRun, item: observation.WatchedPlugin) -> Ticket:
        """Add *item* to a batch of its *kind*; the caller must `leave` the ticket, also after an error."""
        with self._lock:
            open_ = (each for each in self._gathering if each.kind == kind and not each.stop.is_set())
            batch = next(open_, None)
            if batch is None:
                batch = _Batch(kind=kind)
                self._gathering.append(batch)
            batch.items.append(item)
            batch.waiting += 1
            ticket = Ticket(batch, self._lock, self._leave_s)
            if kind not in self._working:
                self._working.append(kind)
                threading.Thread(target=self._work, args=(kind,), name="nomad-csi-batches", daemon=True).start()
        return ticket

    def _work(self, kind: probe_job.ProbeRun) -> None:
        """Run one batch of *kind* after the other, until there is none."""
        while True:
            self._clock.sleep(self._gather_s)
            with self._lock:
                batch = next((each for each in self._gathering if each.kind == kind), None)
                if batch is None:
                    self._working.remove(kind)
                    return
                self._gathering.remove(batch)
            side_by_side.settle(functools.partial(batch.run, self._ask), batch.answers)


# The batches of a cluster.


_LOCK = threading.Lock()
_BATCHES: weakref.WeakKeyDictionary[nomad.Nomad, Batches] = weakref.WeakKeyDictionary()


def join(client: nomad.Nomad, expectation: model.PluginExpectation, job_ids: tuple[str, ...]) -> Ticket:
    """Add the plugin to a batch of the job of ``expectation.on_nodes``, in the connection's region."""
    run = expectation.on_nodes
    assert run is not None  # noqa: S101  # the caller has checked
    run = dataclasses.replace(run, job=dataclasses.replace(run.job, region=client.connection.region))
    return _batches_of(client).join(run, observation.WatchedPlugin(expectation=expectation, job_ids=job_ids))


def _batches_of(client: nomad.Nomad) -> Batches:
    """Return the batches of *client*, shared by all threads."""
    held = weakref.ref(client)

    def ask(
        run: probe_job.ProbeRun,
        wanted: Sequence[observation.WatchedPlugin],
        stop: threading.Event,
        tell: Callable[[str], None],
    ) -> Sequence[observation.Observation]:
        there = held()
        if there is None:
            raise errors.CancelledError("the connection to Nomad is closed")
        how = probe_job_plugins.OnNodes(job=run.job, timeout_s=run.wait_s, is_strict=True, tell=tell)
        return observation.Observer(there, wanted, cancelled=stop, on_nodes=how).observe()

    with _LOCK:
        return _BATCHES.setdefault(client, Batches(ask, leave_s=LEAVE_S, gather_s=GATHER_S, clock=client.clock))
